# SPDX-License-Identifier: GPL-2.0
"""The initramfs of a test guest: a cpio archive (newc), written here."""
import lzma
import os
import re
import stat
import subprocess

import debian

S_DIR = stat.S_IFDIR | 0o755
S_LINK = stat.S_IFLNK | 0o777
S_EXEC = stat.S_IFREG | 0o755
S_FILE = stat.S_IFREG | 0o644
GUEST_LIBS = {'amd64': 'lib/x86_64-linux-gnu', 'arm64': 'lib/aarch64-linux-gnu'}


class Image:
    """Files by their path in the guest (without the leading slash)."""

    def __init__(self, arch='amd64'):
        self.arch = arch
        self.entries = {}

    def add(self, guest, data, mode=S_FILE):
        """A file with that content; the folders above it come with it."""
        guest = os.path.normpath(guest).strip('/')
        above = os.path.dirname(guest)
        if above and above not in self.entries:
            self.add(above, b'', S_DIR)
        if isinstance(data, str):
            data = data.encode()
        self.entries[guest] = (mode, data)

    def add_file(self, host, guest):
        """A file or folder of the host; a program brings its libraries."""
        if os.path.isdir(host):
            for name in sorted(os.listdir(host)):
                self.add_file(os.path.join(host, name), guest + '/' + name)
            return
        try:
            with open(host, 'rb') as f:
                data = f.read()
        except OSError as error:
            raise debian.Error('%s: %s' % (host, error.strerror))
        runs = os.access(host, os.X_OK)
        self.add(guest, data, S_EXEC if runs else S_FILE)
        if data[:4] == b'\x7fELF':
            self._add_libraries(host)

    def _add_libraries(self, host):
        got = subprocess.run(['ldd', host], stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, check=False)
        for line in got.stdout.decode().splitlines():
            if 'not found' in line:
                raise debian.Error('%s: shared library %s' %
                                   (host, line.strip()))
            match = re.search(r'(?:(\S+) => )?(/\S+) \(0x', line)
            if not match:
                continue
            name, path = match.groups()
            # The loader stands where the program says, the rest in one place.
            where = path if name is None else '%s/%s' % (
                GUEST_LIBS[self.arch], os.path.basename(name))
            if where.strip('/') not in self.entries:
                with open(path, 'rb') as f:
                    self.add(where, f.read(), S_EXEC)

    def add_busybox(self, path):
        """busybox, and a link for each of its commands."""
        self.add_file(path, 'bin/busybox')
        names = BUSYBOX_COMMANDS if self.arch != 'amd64' else \
            subprocess.run([path, '--list'], stdout=subprocess.PIPE,
                           check=True).stdout.decode().split()
        for name in names:
            self.entries.setdefault('bin/' + name, (S_LINK, b'busybox'))

    def write(self, path):
        with open(path + '.tmp', 'wb') as f:
            for inode, name in enumerate(sorted(self.entries), 1):
                mode, data = self.entries[name]
                write_entry(f, inode, name, mode, data)
            write_entry(f, 0, 'TRAILER!!!', 0, b'')
        os.rename(path + '.tmp', path)


def write_entry(f, inode, name, mode, data):
    links = 2 if stat.S_ISDIR(mode) else 1
    fields = (inode, mode, 0, 0, links, 0, len(data), 0, 0, 0, 0,
              len(name) + 1, 0)
    head = b'070701' + b''.join(b'%08X' % field for field in fields) + \
        name.encode() + b'\0'
    f.write(head + b'\0' * (-len(head) % 4))
    f.write(data + b'\0' * (-len(data) % 4))


# What a foreign busybox is linked as: it cannot be asked here.
BUSYBOX_COMMANDS = '''[ awk basename cat chmod chown cp cut date dd dirname
dmesg echo egrep env expr false find grep head hostname id insmod kill ln ls
lsmod mkdir mknod mktemp mount mv nproc od printf ps pwd readlink rm rmdir
rmmod sed seq setsid sh sleep sort stat stty su sync sysctl tail taskset tee
test timeout touch tr true umount uname uniq usleep wc xargs yes'''.split()

DRIVERS = ['virtio_pci', 'virtio_console']


def find_modules(folder):
    """{module name: path} of every module file below a folder."""
    found = {}
    for where, _, names in os.walk(folder):
        for name in names:
            match = re.fullmatch(r'(.*)\.ko(\.xz)?', name)
            if match:
                found[match.group(1).replace('-', '_')] = \
                    os.path.join(where, name)
    return found


def add_drivers(image, modules_folder):
    """What the report's port needs and the kernel has not built in."""
    found = find_modules(modules_folder)
    order = []

    def add(name):
        guest = 'vm/%s.ko' % name
        if name not in found or guest in image.entries:
            return
        with open(found[name], 'rb') as f:
            data = f.read()
        if found[name].endswith('.xz'):
            data = lzma.decompress(data)
        image.add(guest, data)
        needs = re.search(rb'\0depends=([^\0]*)\0', data)
        for need in needs.group(1).decode().split(',') if needs else []:
            add(need)
        order.append('/%s\n' % guest)

    for name in DRIVERS:
        add(name)
    image.add('vm/drivers', ''.join(order))
