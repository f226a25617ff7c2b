# SPDX-License-Identifier: GPL-2.0
"""The debug kernel: Debian's source of 6.1, debug.config, built once.

The result is in the cache, named for the version and for what debug.config
says; a new version or another configuration is built anew.
"""
import hashlib
import os
import re
import shutil

import debian

SOURCE = 'linux-source-6.1'
CONFIG = os.path.join(os.path.dirname(__file__), 'debug.config')
LOCAL_VERSION = '-debug'


def wanted_options():
    with open(CONFIG) as f:
        return dict(re.findall(r'^(CONFIG_\w+)=(.*)$', f.read(), re.M))


def check_config(path):
    """Kconfig drops what does not fit together without a word: look."""
    with open(path) as f:
        got = dict(re.findall(r'^(CONFIG_\w+)=(.*)$', f.read(), re.M))
    wrong = [name for name, value in wanted_options().items()
             if got.get(name, 'n') != value]
    if wrong:
        raise debian.Error('%s: Kconfig does not take %s' %
                           (CONFIG, ' '.join(wrong)))


def unpack_source(apt, where):
    packages = os.path.join(where, 'package')
    debian.unpack(apt.fetch([SOURCE]), packages)
    debian.run(['tar', '-C', where, '-xf', os.path.join(
        packages, 'usr/src', SOURCE + '.tar.xz')])
    shutil.rmtree(packages)


def build(where):
    source = os.path.join(where, SOURCE)
    make = ['make', '-s', '-C', source, 'LOCALVERSION=' + LOCAL_VERSION]
    debian.run(make + ['KCONFIG_ALLCONFIG=' + CONFIG, 'allnoconfig'])
    check_config(os.path.join(source, '.config'))
    debian.say('Building the debug kernel: once, about ten minutes')
    debian.run(['nice'] + make + ['-j%d' % os.cpu_count(), 'bzImage',
                                  'modules'])


def prune(source):
    """Keep what booting and building modules need."""
    for folder, keep in (('', ('arch', 'include', 'scripts', 'tools')),
                         ('arch', ('x86',)), ('tools', ('objtool',))):
        where = os.path.join(source, folder)
        for name in os.listdir(where):
            path = os.path.join(where, name)
            if os.path.isdir(path) and name not in keep:
                shutil.rmtree(path)
    for name in ('vmlinux', 'vmlinux.o', 'vmlinux.a'):
        if os.path.exists(os.path.join(source, name)):
            os.unlink(os.path.join(source, name))


def folder():
    """The folder of the cache that holds it, built if need be."""
    with debian.locked('debug-kernel'):
        apt = debian.Apt('bookworm')
        version = apt.show(SOURCE)['Version']
        with open(CONFIG, 'rb') as f:
            digest = hashlib.sha256(f.read()).hexdigest()[:8]
        path = os.path.join(debian.cache_dir('kernel'),
                            'debug_%s_%s' % (version, digest))

        def fill(where):
            unpack_source(apt, where)
            build(where)
            prune(os.path.join(where, SOURCE))

        return os.path.join(debian.make_dir(path, fill), SOURCE)


def release(source):
    with open(os.path.join(source, 'include/config/kernel.release')) as f:
        return f.read().strip()
