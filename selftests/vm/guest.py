# SPDX-License-Identifier: GPL-2.0
"""A guest: kernel, initramfs, jobs; from what is wanted to a result."""
import os
import shutil

import builder
import debian
import image
import kernels
import machine

OUT = os.path.join(builder.TOP, 'build/vm')


class Guest:
    """One boot: what goes in, what is run, what comes back."""

    def __init__(self, kernel='bookworm', cpus=4, memory='1G', append=(),
                 threads=None, timeout=240, name='run'):
        self.kernel = kernels.unpack(kernel)
        self.cpus = cpus
        self.memory = memory
        self.append = list(append)
        self.threads = threads or self.kernel.kernel.threads
        self.timeout = timeout
        self.base = os.path.join(OUT, name)
        self.image = image.Image(self.kernel.arch)
        self.jobs = []
        self.back = {}
        self.pauses = {}
        os.makedirs(OUT, exist_ok=True)
        self._add_base()

    def _add_base(self):
        arch = self.kernel.arch
        self.image.add('init', read(build_program('init.c', arch)),
                       image.S_EXEC)
        self.image.add_busybox(busybox(arch))
        for folder in ('proc', 'sys', 'dev', 'tmp', 'run', 'root'):
            self.image.add(folder, b'', image.S_DIR)
        self.image.add('etc/passwd', 'root:x:0:0:root:/root:/bin/sh\n'
                       'nobody:x:65534:65534:nobody:/:/bin/false\n')
        self.image.add('etc/group', 'root:x:0:\nnogroup:x:65534:\n')
        image.add_drivers(self.image, self.kernel.modules)

    def add_module(self, params='', load=True, no_gp=False):
        """perf_clock.ko, built now; as /vm/perf_clock.ko in the guest."""
        self.image.add('vm/perf_clock.ko', read(
            builder.build_module(self.kernel, no_gp=no_gp)))
        if load:
            self.image.add('vm/modules', ('/vm/perf_clock.ko %s' %
                                          params).strip() + '\n')

    def add_injector(self):
        """The test module that makes trouble; for the jobs to load."""
        self.image.add('vm/perf_clock_inject.ko', read(
            builder.build_module(self.kernel, 'inject-module')))

    def add_file(self, host, where):
        self.image.add_file(host, where)

    def bring_back(self, where, host):
        """Write the guest's file to the host's in the end."""
        self.back[where] = host

    def stand_still(self, job, after, seconds):
        """All of QEMU stops for seconds, so long after the job's begin."""
        self.pauses[job] = (after, seconds)

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
        for text in (name, command):
            if '\n' in text or '\t' in text:
                raise debian.Error('no line breaks or tabs in %r' % text)
        self.jobs.append('%s\t%d\t%s\n' % (name, seconds, command))

    def boot(self, show=lambda data: None):
        """Run it all; the files asked for are written."""
        self.image.add('vm/jobs', ''.join(self.jobs))
        self.image.add('vm/back', ''.join(path + '\n' for path in self.back))
        log = self.base + '.log'
        initrd = '%s.%d.cpio' % (self.base, os.getpid())
        try:
            self.image.write(initrd)
            argv = machine.command(self.kernel.arch,
                                   self.kernel.kernel.machine,
                                   self.kernel.kernel.line, self.cpus,
                                   self.memory, self.threads,
                                   self.kernel.image, initrd,
                                   self.append, log)
            if not shutil.which(argv[0]):
                raise debian.Error(argv[0] + ' is missing: run '
                                   '"scripts/install-deps vm matrix"')
            result = machine.boot(argv, log, self.timeout, show, self.pauses,
                                  machine.COME_UP +
                                  machine.COME_UP_CPU * self.cpus)
        finally:
            if os.path.exists(initrd):
                os.unlink(initrd)
        for path, data in result.files.items():
            with open(self.back[path], 'wb') as f:
                f.write(data)
        return result


def read(path):
    with open(path, 'rb') as f:
        return f.read()


TIMED_OUT = 124         # as timeout(1) has it


def status_of(end):
    """An exit status of ours from how a job ended."""
    kind, _, number = (end or 'exit 1').partition(' ')
    if kind == 'timeout':
        return TIMED_OUT
    return int(number) + (128 if kind == 'signal' else 0)


def build_program(source, arch='amd64'):
    """A program of this folder, static, built anew if its source is newer."""
    source = os.path.join(os.path.dirname(__file__), source)
    path = os.path.join(OUT, '%s-%s' % (
        os.path.basename(source).partition('.')[0], arch))
    if not os.path.exists(path) or \
            os.path.getmtime(path) < os.path.getmtime(source):
        cc = {'amd64': 'cc', 'arm64': 'aarch64-linux-gnu-gcc'}[arch]
        # Another run may be at it as well.
        mine = '%s.%d' % (path, os.getpid())
        debian.run([cc, '-O2', '-Wall', '-static', '-I',
                    os.path.join(builder.TOP, 'uapi'), '-o', mine, source])
        os.rename(mine, path)
    return path


def busybox(arch):
    """A static busybox for that architecture."""
    with debian.locked('busybox-' + arch):
        apt = debian.Apt(kernels.KERNELS['6.1'].suite, arch)
        version = apt.show('busybox-static')['Version'].replace(':', '+')
        where = os.path.join(debian.cache_dir('busybox'),
                             '%s_%s' % (version, arch))
        debian.make_dir(where, lambda path: apt.unpack(['busybox-static'],
                                                       path))
    return os.path.join(where, 'bin/busybox')
