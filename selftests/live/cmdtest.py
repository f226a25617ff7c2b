# SPDX-License-Identifier: GPL-2.0
"""What the drivers of the command share: TAP, running it, and load.

A test is a function with @test; it fails by an exception, and skips with
raise Skip(reason). PERFCLOCK names the command; build/perfclock else.
"""
import ctypes
import json
import os
import signal
import struct
import subprocess
import sys
import tempfile
import time
import traceback

TOP = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
PERFCLOCK = os.environ.get('PERFCLOCK', os.path.join(TOP, 'build/perfclock'))
GEN = os.path.join(TOP, 'build/fuzz/gen')
LIMIT = 60
TESTS = []


class Skip(Exception):
    pass


def test(fn):
    TESTS.append(fn)
    return fn


def perfclock(*args, limit=LIMIT, **kwargs):
    """Run it to its end."""
    return subprocess.run([PERFCLOCK] + list(args), stdin=subprocess.DEVNULL,
                          stdout=kwargs.pop('stdout', subprocess.PIPE),
                          stderr=subprocess.PIPE, text=True,
                          errors='replace', timeout=limit, **kwargs)


def start(*args, **kwargs):
    kwargs.setdefault('stdout', subprocess.PIPE)
    return subprocess.Popen([PERFCLOCK] + list(args),
                            stdin=subprocess.DEVNULL,
                            stderr=subprocess.PIPE, text=True, **kwargs)


def summary(*args, **kwargs):
    """The object that --json=FILE gets; the run must be fine."""
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, 'out.json')
        got = perfclock(args[0], '--json=' + path, *args[1:], **kwargs)
        check(got.returncode == 0, got.stderr)
        with open(path) as f:
            return json.load(f), got


def check(condition, what=''):
    if not condition:
        raise AssertionError(what or 'not so')


def recordings(directory):
    """Paths of recordings made there: a file, a pipe's, a compressed one."""
    subprocess.run([GEN, directory], check=True)
    found = []
    # The last only where there is libzstd. 104, 16: of a header's size.
    for name, size in (('mode-00.data', 104), ('mode-01.data', 16),
                       ('compressed.data', 104)):
        path = os.path.join(directory, name)
        if name.startswith('mode') or os.path.exists(path):
            with open(path, 'rb') as f:
                check(f.read(16)[8] == size, name)
            found.append(path)
    return found


def refused(got, status, *words):
    """Ended with that status, and one line on stderr that has the words."""
    check(got.returncode == status,
          'exit %d: %s' % (got.returncode, got.stderr))
    check(not got.stdout, 'something was printed: %r' % got.stdout)
    check(len(got.stderr.splitlines()) == 1, got.stderr)
    for word in words:
        check(word in got.stderr, '%r not in: %s' % (word, got.stderr))


class Load:
    """Loops of system calls, one pinned to each CPU given."""
    LOOP = ('import os,sys\nos.sched_setaffinity(0, {int(sys.argv[1])})\n'
            'while 1: os.getppid()')

    def __init__(self, cpus=None):
        self.cpus = cpus if cpus is not None else online()[:4]

    def __enter__(self):
        self.children = [subprocess.Popen([sys.executable, '-c', self.LOOP,
                                           str(cpu)]) for cpu in self.cpus]
        time.sleep(0.3)
        return self

    def __exit__(self, *what):
        for child in self.children:
            child.kill()
            child.wait()


def online():
    return sorted(os.sched_getaffinity(0))


def tracepoint_id(event):
    """Its number; None if this kernel has none such."""
    top = '/sys/kernel/tracing/events'
    if not os.path.isdir(top):
        top = '/sys/kernel/debug/tracing/events'
    if not os.path.isdir(top):
        raise Skip('no tracefs')
    path = os.path.join(top, event.replace(':', '/'), 'id')
    if not os.path.exists(path):
        return None
    with open(path, encoding='ascii') as f:
        return int(f.read())


def need_tracepoints():
    """Skip, with the reason, where system-wide tracepoints are not for us.

    The kernel is asked, not the command: that is to be tested.
    """
    numbers = {'x86_64': 298, 'aarch64': 241}
    machine = os.uname().machine
    if machine not in numbers:
        raise Skip('perf_event_open of %s is not known here' % machine)
    try:
        number = tracepoint_id('sched:sched_switch')
    except OSError as error:
        raise Skip('no tracepoints: %s' % error) from error
    if number is None:
        raise Skip('tracefs cannot be read, or has no sched:sched_switch')
    # struct perf_event_attr: type, size, config, all else zero.
    attr = struct.pack('=IIQ48x', 2, 64, number)
    libc = ctypes.CDLL(None, use_errno=True)
    fd = libc.syscall(numbers[machine], attr, -1, online()[0], -1, 0)
    if fd < 0:
        raise Skip('no tracepoints on whole CPUs: %s' %
                   os.strerror(ctypes.get_errno()))
    os.close(fd)


def as_nobody():
    """preexec_fn: give up all rights."""
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)


def need_root():
    if os.geteuid():
        raise Skip('not root')


def heed_signals():
    """Whoever started us may ignore some: nohup, a shell's &. Not the tests."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for sig in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(sig, signal.SIG_DFL)


def main(setup=None):
    heed_signals()
    os.chdir(TOP)
    print('TAP version 13\n1..%d' % len(TESTS), flush=True)
    failed = False
    reason = None
    if setup:
        try:
            setup()
        except Skip as skip:
            reason = str(skip)
    for number, fn in enumerate(TESTS, 1):
        result, note = 'ok', ''
        try:
            if reason is not None:
                raise Skip(reason)
            if len(sys.argv) > 1 and sys.argv[1] not in fn.__name__:
                raise Skip('not asked for')
            fn()
        except Skip as skip:
            note = ' # SKIP %s' % skip
        except Exception:        # a test's failure, of any kind
            result, failed = 'not ok', True
            for line in traceback.format_exc().splitlines():
                print('# ' + line)
        print('%s %d %s%s' % (result, number, fn.__name__, note), flush=True)
    return 1 if failed else 0
