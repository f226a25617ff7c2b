# SPDX-License-Identifier: GPL-2.0
"""Debian packages for the harness: fetched by apt, kept in a cache.

Each pair of suite and architecture has an apt root of its own in the cache,
so nothing here needs root or changes the machine. The mirror is the one that
the machine's apt uses; apt checks every signature against Debian's keyring.

What is in the cache is complete: a file or folder gets its name by rename(),
after apt has verified it, under a lock. So an interrupted run leaves nothing
that a later one could trip over, and two runs at once wait for each other.
"""
import contextlib
import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg'
LISTS_LIFE = 24 * 3600  # seconds until the package lists are fetched anew


class Error(Exception):
    """What went wrong, and what to do: for the user's eyes."""


def say(text):
    print(text, file=sys.stderr, flush=True)


def cache_dir(*parts):
    base = os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache')
    path = os.path.join(base, 'perfclock', *parts)
    os.makedirs(path, exist_ok=True)
    return path


@contextlib.contextmanager
def locked(name, how=fcntl.LOCK_EX):
    """Hold the cache's lock of that name; the kernel drops it if we die."""
    with open(os.path.join(cache_dir('lock'), name), 'w') as f:
        fcntl.flock(f, how)
        yield


def run(argv, **kwargs):
    """Standard output of a command; Error with its last words otherwise."""
    got = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         stdin=subprocess.DEVNULL, **kwargs)
    if got.returncode:
        words = (got.stderr or got.stdout).decode(errors='replace').strip()
        raise Error('%s: exit status %d\n%s' %
                    (' '.join(argv[:3]), got.returncode, words[-2000:]))
    return got.stdout.decode(errors='replace')


def make_dir(path, fill):
    """path, made by fill(temporary path) unless it is there already."""
    if not os.path.isdir(path):
        temporary = path + '.tmp'
        shutil.rmtree(temporary, ignore_errors=True)
        os.makedirs(temporary)
        fill(temporary)
        os.rename(temporary, path)
    return path


def mirrors():
    """(URI of Debian, URI of its security archive), as apt has them."""
    uris = run(['apt-get', 'update', '--print-uris'])
    main = security = None
    for uri, suite in re.findall(r"^'(\S+?)/dists/(\S+?)/(?:In)?Release'",
                                 uris, re.M):
        if '-security' in suite:
            security = security or uri
        elif re.fullmatch(r'[a-z]+(-updates|-backports)?', suite) and \
                re.search(r'/debian/?$', uri):
            main = main or uri
    if not main:
        raise Error('no Debian mirror among the sources of apt on this '
                    'machine (apt-get update --print-uris): add one to '
                    '/etc/apt/sources.list.d')
    return main, security or main.rstrip('/') + '-security'


class Apt:
    """An apt root: one suite (with its updates), one architecture."""

    def __init__(self, suite, arch='amd64'):
        self.suite = suite
        self.arch = arch
        self.codename = suite.split('-')[0]
        self.root = cache_dir('apt', '%s-%s' % (suite, arch))
        self.env = dict(os.environ, LC_ALL='C',
                        APT_CONFIG=os.path.join(self.root, 'apt.conf'))
        self.stamp = os.path.join(self.root, 'updated')
        self.memory = os.path.join(self.root, 'shown.json')
        self.lock = 'apt-%s-%s' % (suite, arch)
        self.updated = False

    def _configure(self):
        for part in ('lists/partial', 'archives/partial',
                     'etc/preferences.d'):
            os.makedirs(os.path.join(self.root, part), exist_ok=True)
        # How the machine reaches its mirror (proxies, time-outs) holds here.
        dump = run(['apt-config', 'dump'])
        network = re.findall(r'^Acquire::(?:https?|ftp|Retries|Check-)\S* .*$',
                             dump, re.M | re.I)
        lines = network + [
            'APT::Get::Assume-Yes "true";',
            'APT::Architecture "%s";' % self.arch,
            'APT::Architectures { "%s"; };' % self.arch,
            'APT::Install-Recommends "false";',
            'APT::Sandbox::User "root";',
            'Acquire::GzipIndexes "true";',
            'Acquire::Languages "none";',
            'Dir::Etc "%s/etc";' % self.root,
            'Dir::Etc::parts "/dev/null";',
            'Dir::Etc::main "/dev/null";',
            'Dir::Etc::sourceparts "/dev/null";',
            'Dir::Etc::sourcelist "%s/sources.list";' % self.root,
            'Dir::State "%s";' % self.root,
            'Dir::State::lists "%s/lists";' % self.root,
            'Dir::State::status "%s/status";' % self.root,
            'Dir::Cache "%s";' % self.root,
            'Dir::Cache::archives "%s/archives";' % self.root,
        ]
        if self.suite.endswith('-backports'):  # never chosen unasked
            lines.append('APT::Default-Release "%s";' % self.suite)
        self._write('apt.conf', lines)
        self._write('status', [])
        main, security = mirrors()
        # A suite that is archived keeps its last Release file for ever.
        options = 'signed-by=%s' % KEYRING
        if self.codename == 'bullseye':
            options += ' check-valid-until=no'
        suites = [(main, self.codename), (main, self.codename + '-updates'),
                  (security, self.codename + '-security')]
        if self.suite not in [name for _, name in suites]:
            suites.append((main, self.suite))
        self._write('sources.list', ['deb [%s] %s %s main' % (options, uri, s)
                                     for uri, s in suites])

    def _write(self, name, lines):
        with open(os.path.join(self.root, name), 'w') as f:
            f.write(''.join(line + '\n' for line in lines))

    def _run(self, argv, cwd=None):
        """A command of apt that reads the lists, while nobody renews them."""
        with locked(self.lock, fcntl.LOCK_SH):
            return run(argv, env=self.env, cwd=cwd)

    def _age(self):
        """Seconds since the lists were fetched; None if they never were."""
        try:
            return time.time() - os.path.getmtime(self.stamp)
        except OSError:
            return None

    def update(self, newer_than=LISTS_LIFE):
        """Fetch the package lists, if they are older than that."""
        if self.updated and newer_than:
            return
        with locked(self.lock):
            age = self._age()
            if age is None or not 0 <= age < newer_than:
                self._configure()
                self._update(age)
        self.updated = True

    def _update(self, age):
        say('Fetching the package lists of %s, %s' % (self.suite, self.arch))
        try:
            run(['apt-get', 'update', '-q', '--error-on=any'], env=self.env)
            self._write('updated', [])
        except Error as error:
            if age is None:
                raise
            say('%s\nGoing on with package lists %d hours old.' %
                (error, age / 3600))

    def show(self, package):
        """The fields of the version of a package that apt would install."""
        return self.show_all([package])[0]

    def show_all(self, packages):
        """As show, of several; remembered until the lists are renewed."""
        self.update()
        known = self._remembered()
        unknown = [package for package in packages if package not in known]
        if unknown:
            known.update(self._ask(unknown))
            with open(self.memory + '.%d' % os.getpid(), 'w') as f:
                json.dump(known, f)
            os.rename(f.name, self.memory)
        return [known[package] for package in packages]

    def _remembered(self):
        try:
            if os.path.getmtime(self.memory) >= os.path.getmtime(self.stamp):
                with open(self.memory) as f:
                    return json.load(f)
        except OSError:
            pass
        return {}

    def _ask(self, packages):
        text = self._run(['apt-cache', 'show', '--no-all-versions'] + packages)
        stanzas = [dict(re.findall(r'^([A-Za-z0-9-]+): (.*)$', stanza, re.M))
                   for stanza in text.split('\n\n')]
        by_name = {fields.get('Package'): fields for fields in stanzas}
        missing = [package for package in packages if package not in by_name]
        if missing:
            raise Error('%s has no package %s' %
                        (self.suite, ' '.join(missing)))
        return {package: by_name[package] for package in packages}

    def dependencies(self, packages):
        """The packages and all that they depend on, by name."""
        self.update()
        plan = self._run(['apt-get', 'install', '-s', '-q'] + packages)
        return re.findall(r'^Inst (\S+)', plan, re.M)

    def fetch(self, packages):
        """The .deb files of packages, in order; they stay in the cache."""
        debs = cache_dir('deb')
        fields = self.show_all(packages)
        wanted = [os.path.join(debs, os.path.basename(f['Filename']))
                  for f in fields]
        missing = [f for f, path in zip(fields, wanted)
                   if not os.path.exists(path)]
        if missing:
            with tempfile.TemporaryDirectory(dir=debs) as where:
                self._download(missing, where)
                for f in missing:
                    name = os.path.basename(f['Filename'])
                    os.rename(self._find(where, f), os.path.join(debs, name))
        return wanted

    def unpack(self, packages, where):
        """Unpack packages into a folder; their files are not kept."""
        fields = self.show_all(packages)
        with tempfile.TemporaryDirectory(dir=cache_dir('deb')) as debs:
            self._download(fields, debs)
            unpack([self._find(debs, f) for f in fields], where)

    @staticmethod
    def _find(where, fields):
        # apt names the file with the epoch, the mirror names it without.
        return next(os.path.join(where, name) for name in os.listdir(where)
                    if name.startswith(fields['Package'] + '_'))

    def _download(self, missing, where):
        size = sum(int(f['Size']) for f in missing)
        names = [f['Package'] for f in missing]
        say('Fetching %d packages of %s, %.0f MB: %s' %
            (len(missing), self.suite, size / 1e6, ' '.join(
                names[:3] + ['...'] * (len(names) > 3))))
        argv = ['apt-get', 'download', '-q'] + \
            ['%s=%s' % (f['Package'], f['Version']) for f in missing]
        try:
            self._run(argv, where)
        except Error:
            # The mirror may have moved on since the lists were fetched.
            self.update(newer_than=0)
            self._run(argv, where)


def unpack(debs, where):
    for deb in debs:
        run(['dpkg-deb', '-x', deb, where])
