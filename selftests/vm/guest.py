# SPDX-License-Identifier: GPL-2.0
"""A guest: kernel, initramfs, jobs; from command line options to a result."""
import os
import shlex
import shutil

import builder
import debian
import image
import kernels
import machine

OUT = os.path.join(builder.TOP, 'build/vm')


class Guest:
    def __init__(self, args):
        self.args = args
        self.kernel = kernels.unpack(args.kernel)
        self.image = image.Image(self.kernel.arch)
        self.jobs = []
        os.makedirs(OUT, exist_ok=True)
        self._add_base()
        for pair in args.file:
            host, _, where = pair.rpartition(':')
            self.image.add_file(host, where)

    def _add_base(self):
        arch = self.kernel.arch
        self.image.add('init', read(build_init(arch)), image.S_EXEC)
        self.image.add_busybox(busybox(arch))
        for folder in ('proc', 'sys', 'dev', 'tmp', 'run', 'root'):
            self.image.add(folder, b'', image.S_DIR)
        self.image.add('etc/passwd', 'root:x:0:0:root:/root:/bin/sh\n'
                       'nobody:x:65534:65534:nobody:/:/bin/false\n')
        self.image.add('etc/group', 'root:x:0:\nnogroup:x:65534:\n')
        image.add_drivers(self.image, self.kernel.modules)
        if not self.args.no_module:
            self.image.add('vm/perf_clock.ko',
                           read(builder.build_module(self.kernel)))
            self.image.add('vm/modules', ('/vm/perf_clock.ko %s' %
                                          self.args.params).strip() + '\n')

    def pack(self, words):
        """Words with each that names a program packed, and named anew."""
        packed = []
        for word in words:
            if '/' in word and os.path.isfile(word) and \
                    os.access(word, os.X_OK):
                where = 'test/' + os.path.basename(word)
                self.image.add_file(word, where)
                word = '/' + where
            packed.append(word)
        return packed

    def add_job(self, name, seconds, command):
        for pair in reversed(self.args.env):
            name_, _, value = pair.partition('=')
            command = 'export %s=%s; %s' % (name_, shlex.quote(value), command)
        for text in (name, command):
            if '\n' in text or '\t' in text:
                raise debian.Error('no line breaks or tabs in %r' % text)
        self.jobs.append('%s\t%d\t%s\n' % (name, seconds, command))

    def boot(self, show=lambda data: None):
        """Run it all; files asked for are written where they were asked."""
        args = self.args
        back = dict(pair.split(':', 1) for pair in args.back)
        self.image.add('vm/jobs', ''.join(self.jobs))
        self.image.add('vm/back', ''.join(path + '\n' for path in back))
        base = os.path.join(OUT, args.name)
        initrd = '%s.%d.cpio' % (base, os.getpid())
        try:
            self.image.write(initrd)
            argv = machine.command(
                self.kernel.arch, args.smp, args.mem,
                args.threads or self.kernel.kernel.threads,
                self.kernel.image, initrd, args.append, base + '.log')
            if not shutil.which(argv[0]):
                raise debian.Error(argv[0] + ' is missing: run '
                                   '"scripts/install-deps vm matrix"')
            result = machine.boot(argv, base + '.log', args.timeout, show)
        finally:
            if os.path.exists(initrd):
                os.unlink(initrd)
        for path, data in result.files.items():
            with open(back[path], 'wb') as f:
                f.write(data)
        return result


def read(path):
    with open(path, 'rb') as f:
        return f.read()


def status_of(end):
    """An exit status of ours from how a job ended."""
    kind, _, number = (end or 'exit 1').partition(' ')
    if kind == 'timeout':
        return 124
    return int(number) + (128 if kind == 'signal' else 0)


def build_init(arch):
    """init, built from init.c if that is newer."""
    source = os.path.join(os.path.dirname(__file__), 'init.c')
    path = os.path.join(OUT, 'init-' + arch)
    if not os.path.exists(path) or \
            os.path.getmtime(path) < os.path.getmtime(source):
        cc = {'amd64': 'cc', 'arm64': 'aarch64-linux-gnu-gcc'}[arch]
        debian.run([cc, '-O2', '-Wall', '-static', '-o', path + '.tmp',
                    source])
        os.rename(path + '.tmp', path)
    return path


def busybox(arch):
    """A static busybox for that architecture."""
    with debian.locked('busybox-' + arch):
        apt = debian.Apt(kernels.KERNELS['6.1'].suite, arch)
        version = apt.show('busybox-static')['Version'].replace(':', '+')
        where = os.path.join(debian.cache_dir('busybox'),
                             '%s_%s' % (version, arch))
        debian.make_dir(where, lambda path: debian.unpack(
            apt.fetch(['busybox-static']), path))
    return os.path.join(where, 'bin/busybox')
