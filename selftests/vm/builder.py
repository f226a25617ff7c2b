# SPDX-License-Identifier: GPL-2.0
"""Builds perf_clock.ko for a kernel, with the compiler that kernel wants.

A kernel of this machine's own Debian release is built for with this
machine's compiler, arm64 with its cross compiler. Any other release brings
its own: a tool root, packages of that release unpacked (not installed) into
the cache and entered by chroot in a mount namespace; needs no root where
user namespaces are allowed, which Debian does.
"""
import hashlib
import os
import re
import shlex

import debian

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), '../..'))

# Enough to run make and a compiler; what they depend on comes with them.
TOOLS = ['base-files', 'bash', 'binutils', 'coreutils', 'dash', 'diffutils',
         'findutils', 'grep', 'gzip', 'libc6-dev', 'make', 'mawk', 'perl-base',
         'sed', 'xz-utils']
LINKS = {'usr/bin/awk': 'mawk', 'bin/sh': 'dash'}


def host_codename():
    try:
        with open('/etc/os-release') as f:
            match = re.search(r'^VERSION_CODENAME=(\S+)', f.read(), re.M)
    except OSError:
        match = None
    return match.group(1) if match else None


def wanted_compiler(kdir):
    """The gcc that Debian built that kernel with: "gcc-12"."""
    with open(os.path.join(kdir, '.kernelvariables')) as f:
        return re.search(r'\bgcc-\d+\b', f.read()).group()


def tool_root(codename, packages):
    """The folder to chroot to for building with that release's tools."""
    packages = sorted(set(TOOLS + packages))
    digest = hashlib.sha256(' '.join(packages).encode()).hexdigest()[:8]
    with debian.locked('tools-' + codename):
        path = os.path.join(debian.cache_dir('tools'),
                            '%s-%s' % (codename, digest))

        def fill(where):
            apt = debian.Apt(codename)
            apt.unpack(apt.dependencies(packages), where)
            for link, target in LINKS.items():
                if not os.path.lexists(os.path.join(where, link)):
                    os.symlink(target, os.path.join(where, link))
            for folder in ('proc', 'dev', 'tmp'):
                os.makedirs(os.path.join(where, folder), exist_ok=True)

        return debian.make_dir(path, fill)


def enter(root, argv):
    """The command that runs argv in a tool root, tree and cache in place."""
    cache = debian.cache_dir()
    script = ['set -e', 'mount --rbind /proc %s/proc' % shlex.quote(root),
              'mount --rbind /dev %s/dev' % shlex.quote(root)]
    for path in (TOP, cache):
        os.makedirs(root + path, exist_ok=True)
        script.append('mount --bind %s %s' % (shlex.quote(path),
                                              shlex.quote(root + path)))
    script.append('exec chroot %s /usr/bin/env -i PATH=/usr/bin:/bin %s' %
                  (shlex.quote(root), shlex.join(argv)))
    user = [] if os.geteuid() == 0 else ['--map-root-user']
    return ['unshare', '--mount'] + user + ['sh', '-c', '\n'.join(script)]


def environment():
    """Ours without what an outer make would tell an inner one."""
    return {name: value for name, value in os.environ.items()
            if name not in ('MAKEFLAGS', 'MFLAGS', 'MAKEOVERRIDES',
                            'MAKELEVEL')}


# Target of make: where it leaves the module, below a folder of the release.
TARGETS = {'module': ('build/module', 'perf_clock.ko'),
           'inject-module': ('build/inject', 'perf_clock_inject.ko')}


def build_module(kernel, target='module', no_gp=False):
    """The path of a module of ours, built for an unpacked kernel."""
    folder, name = TARGETS[target]
    argv = ['make', '-s', '-C', TOP, target, 'KDIR=' + kernel.kdir,
            'MODULE_W=1', 'MODULE_WERROR=1']
    if no_gp:
        folder = folder.replace('build', 'build/no-gp')
        argv += ['BUILD=build/no-gp', 'MODULE_NO_GP=1']
    codename = kernel.kernel.codename
    if kernel.arch == 'arm64':
        argv += ['ARCH=arm64', 'CROSS_COMPILE=aarch64-linux-gnu-']
    elif codename != host_codename():
        root = tool_root(codename,
                         [wanted_compiler(kernel.kdir)] + kernel.tools)
        argv = enter(root, argv)
    # One build at a time: Kbuild writes beside the sources.
    with debian.locked('module'):
        debian.run(argv, env=environment())
    path = os.path.join(TOP, folder, kernel.release, name)
    if not os.path.exists(path):
        raise debian.Error('make %s left no %s' % (target, path))
    return path
