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
import os
import re
import shutil
import subprocess
import sys
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
def locked(name):
    """Hold the cache's lock of that name; the kernel drops it if we die."""
    with open(os.path.join(cache_dir('lock'), name), 'w') as f:
        fcntl.flock(f, fcntl.LOCK_EX)
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

    def update(self, force=False):
        """Fetch the package lists, if they are old."""
        stamp = os.path.join(self.root, 'updated')
        try:
            age = time.time() - os.path.getmtime(stamp)
        except OSError:
            age = None
        if self.updated or (not force and age is not None
                            and 0 <= age < LISTS_LIFE):
            return
        self._configure()
        say('Fetching the package lists of %s, %s' % (self.suite, self.arch))
        try:
            run(['apt-get', 'update', '-q', '--error-on=any'], env=self.env)
            self._write('updated', [])
        except Error as error:
            if age is None:
                raise
            say('%s\nGoing on with package lists %d hours old.' %
                (error, age / 3600))
        self.updated = True

    def show(self, package):
        """The fields of the version of a package that apt would install."""
        return self.show_all([package])[0]

    def show_all(self, packages):
        self.update()
        text = run(['apt-cache', 'show', '--no-all-versions'] + packages,
                   env=self.env)
        stanzas = [dict(re.findall(r'^([A-Za-z0-9-]+): (.*)$', stanza, re.M))
                   for stanza in text.split('\n\n')]
        by_name = {fields.get('Package'): fields for fields in stanzas}
        return [by_name[package] for package in packages]

    def dependencies(self, packages):
        """The packages and all that they depend on, by name."""
        self.update()
        plan = run(['apt-get', 'install', '-s', '-q'] + packages,
                   env=self.env)
        return re.findall(r'^Inst (\S+)', plan, re.M)

    def fetch(self, packages):
        """The .deb files of packages, in order."""
        fields = self.show_all(packages)
        wanted = [os.path.join(cache_dir('deb'),
                               os.path.basename(f['Filename']))
                  for f in fields]
        missing = [(f, path) for f, path in zip(fields, wanted)
                   if not os.path.exists(path)]
        if missing:
            self._download(missing)
        return wanted

    def _download(self, missing):
        size = sum(int(f['Size']) for f, _ in missing)
        names = [f['Package'] for f, _ in missing]
        say('Fetching %d packages of %s, %.0f MB: %s' %
            (len(missing), self.suite, size / 1e6, ' '.join(
                names[:3] + ['...'] * (len(names) > 3))))
        where = os.path.join(self.root, 'download')
        shutil.rmtree(where, ignore_errors=True)
        os.makedirs(where)
        argv = ['apt-get', 'download', '-q'] + \
            ['%s=%s' % (f['Package'], f['Version']) for f, _ in missing]
        try:
            run(argv, env=self.env, cwd=where)
        except Error:
            # The mirror may have moved on since the lists were fetched.
            self.update(force=True)
            run(argv, env=self.env, cwd=where)
        for f, path in missing:
            # apt names the file with the epoch, the mirror without.
            got = [name for name in os.listdir(where)
                   if name.startswith(f['Package'] + '_')]
            os.rename(os.path.join(where, got[0]), path)


def unpack(debs, where):
    """Unpack .deb files of the cache, which then are no longer needed."""
    for deb in debs:
        run(['dpkg-deb', '-x', deb, where])
    for deb in debs:
        os.unlink(deb)
