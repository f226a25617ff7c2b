# SPDX-License-Identifier: GPL-2.0
"""Debian's kernels: which there are, and how one becomes bootable.

A kernel is the image, the modules and the headers of one Debian version,
unpacked into a folder of the cache named for release and version.
"""
import os
import re

import debian
import debug_kernel


class Kernel:
    """What is known of a kernel before anything is fetched."""

    def __init__(self, suite, image, headers, arch='amd64', threads='multi',
                 machine='pc', line=None):
        self.suite = suite
        self.image = image
        self.headers = headers
        self.arch = arch
        # TCG with newer guests: patching code under a CPU that runs it can
        # raise a stray int3 there, so one thread runs all virtual CPUs. With
        # the debug kernel, idle and in several threads, it stands still for
        # seconds now and then, until something else wakes it up.
        self.threads = threads
        # QEMU's pc has a loop for the interrupts of PCI in its ACPI tables,
        # so long that a debug kernel on a busy host gives it up; q35 not.
        self.machine = machine
        # The report goes through this serial line: the virtio port of 7.3 is
        # dead after a suspend (the kernel takes the host for unconnected).
        self.line = line

    @property
    def codename(self):
        return self.suite.split('-')[0]


KERNELS = {
    '5.10': Kernel('bullseye', 'linux-image-amd64', 'linux-headers-amd64'),
    '6.1': Kernel('bookworm', 'linux-image-amd64', 'linux-headers-amd64'),
    '6.1-rt': Kernel('bookworm', 'linux-image-rt-amd64',
                     'linux-headers-rt-amd64'),
    '6.12': Kernel('trixie', 'linux-image-amd64', 'linux-headers-amd64',
                   threads='single'),
    '7.3': Kernel('trixie-backports', 'linux-image-amd64',
                  'linux-headers-amd64', threads='single', machine='q35',
                  line='ttyS1'),
    '6.1-arm64': Kernel('bookworm', 'linux-image-arm64',
                        'linux-headers-arm64', arch='arm64'),
    # Built from source, not fetched: debug_kernel.py.
    'debug': Kernel('bookworm', None, None, threads='single', machine='q35'),
}
MATRIX = [name for name in KERNELS if name != 'debug']
ALIASES = {'bullseye': '5.10', 'bookworm': '6.1', 'trixie': '6.12',
           'trixie-backports': '7.3', 'default': '6.1'}


class Unpacked:
    """A kernel in the cache, ready to build modules for and to boot."""

    def __init__(self, kernel, release, image, kdir, modules, tools=()):
        self.kernel = kernel
        self.arch = kernel.arch
        self.release = release
        self.image = image
        self.kdir = kdir
        self.modules = modules      # folder of its drivers
        self.tools = list(tools)    # packages that building for it needs


def first_existing(root, *paths):
    for path in paths:
        if os.path.exists(os.path.join(root, path)):
            return os.path.join(root, path)
    raise debian.Error('%s: none of %s' % (root, ' '.join(paths)))


def lookup(name):
    name = ALIASES.get(name, name)
    if name not in KERNELS:
        raise debian.Error("unknown kernel '%s'; there are: %s" %
                           (name, ' '.join(sorted(KERNELS))))
    return KERNELS[name]


def depends(fields):
    """The names of all packages that a package names as needed."""
    return re.findall(r'[a-z0-9][a-z0-9.+-]+',
                      re.sub(r'\(.*?\)', '', fields.get('Depends', '')))


def closure(apt, package, found):
    """The versioned linux-* packages that a package pulls in, and itself."""
    if package in found:
        return
    found[package] = apt.show(package)
    for depend in depends(found[package]):
        if re.match(r'linux-(image|binary|modules|base|headers|kbuild)-\d',
                    depend) and not depend.endswith(('-dbg', '-unsigned')):
            closure(apt, depend, found)


def resolve(apt, kernel):
    """(release, packages of image and headers with their fields)."""
    found = {}
    closure(apt, kernel.image, found)
    closure(apt, kernel.headers, found)
    for meta in (kernel.image, kernel.headers):
        del found[meta]
    for name in found:
        match = re.fullmatch(r'linux-image-(\d.*)', name)
        if match and 'linux-headers-' + match.group(1) in found:
            return match.group(1), found
    raise debian.Error('%s and %s of %s are of different versions: try '
                       'again later' % (kernel.image, kernel.headers,
                                        kernel.suite))


def relocate(where, root):
    """Make the headers, now in where, find each other below root, not /."""
    src = os.path.join(where, 'usr/src')
    for folder in os.listdir(src):
        for name in ('Makefile', '.kernelvariables'):
            path = os.path.join(src, folder, name)
            if not folder.endswith(('-common', '-common-rt')) and \
                    os.path.exists(path):
                with open(path) as f:
                    text = f.read()
                text = re.sub(r'(?<![\w/])/usr/(src|lib)/linux-',
                              r'%s/usr/\1/linux-' % root, text)
                with open(path, 'w') as f:
                    f.write(text)


def unpack(name):
    """Fetch and unpack a kernel, if the cache has not got it."""
    kernel = lookup(name)
    if kernel is KERNELS['debug']:
        return debug_kernel_unpacked()
    with debian.locked('%s-%s' % (kernel.suite, kernel.arch)):
        apt = debian.Apt(kernel.suite, kernel.arch)
        release, packages = resolve(apt, kernel)
        version = packages['linux-image-' + release]['Version']
        root = os.path.join(debian.cache_dir('kernel'), '%s_%s_%s' % (
            release, version.replace(':', '+'), kernel.arch))

        def fill(where):
            names = list(packages)
            if kernel.arch != 'amd64':
                # The tools in linux-kbuild run here, not in the guest.
                kbuild = [n for n in names if n.startswith('linux-kbuild-')]
                names = [n for n in names if n not in kbuild]
                debian.Apt(kernel.suite).unpack(kbuild, where)
            apt.unpack(names, where)
            relocate(where, root)

        debian.make_dir(root, fill)
    tools = {name for package in packages
             if package.startswith('linux-kbuild-')
             for name in depends(packages[package])}
    return Unpacked(
        kernel, release,
        first_existing(root, 'boot/vmlinuz-' + release,
                       'usr/lib/modules/%s/vmlinuz' % release),
        os.path.join(root, 'usr/src/linux-headers-' + release),
        first_existing(root, 'lib/modules/' + release,
                       'usr/lib/modules/' + release),
        sorted(tools))


def debug_kernel_unpacked():
    source = debug_kernel.folder()
    return Unpacked(KERNELS['debug'], debug_kernel.release(source),
                    os.path.join(source, 'arch/x86/boot/bzImage'), source,
                    os.path.join(source, 'drivers'))
