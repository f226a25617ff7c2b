#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The command when its process gets no luck: signals without end, reads and
writes that do only a part, no descriptors left, disks that are full."""
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile

from cmdtest import (GEN, PERFCLOCK, TOP, Load, Skip, check, main, need_root,
                     need_tracepoints, online, perfclock, recordings, summary,
                     test)

EVENT = 'raw_syscalls:sys_enter'
STORM = os.path.join(TOP, 'build/tests/tools/storm.so')


def storm(**settings):
    """Environment in which the process has a hard time: see storm.c."""
    if not os.path.exists(STORM):
        raise Skip('build/tests/tools/storm.so is not built')
    return dict(os.environ, LD_PRELOAD=STORM,
                **{'STORM_' + key: str(n) for key, n in settings.items()})


@test
def a_storm_of_signals_breaks_no_session():
    need_tracepoints()
    for more in ([], ['--provider', 'membarrier', '--clock', 'monotonic'],
                 ['--provider', 'cpu-visit']):
        with Load(online()[:2]):
            result, _ = summary('trace', '-e', EVENT, '-a', '--duration',
                                '1', *more, env=storm(US=200))
        check(result['events'] > 100 and not result['late'], str(result))
        check(result['proven'], str(result))


@test
def a_storm_of_signals_breaks_no_command():
    need_tracepoints()
    for args in (['stat', 'syscalls', '--duration', '0.5'],
                 ['compare', '-e', EVENT, '--duration', '0.5'],
                 ['trace', '-e', EVENT, '--', 'sh', '-c', 'sleep 0.2'],
                 ['info'], ['now']):
        got = perfclock(*args, env=storm(US=200))
        check(got.returncode == 0, '%s: %d %s' % (args, got.returncode,
                                                   got.stderr))


@test
def files_are_read_and_written_however_slowly():
    with tempfile.TemporaryDirectory() as d:
        for number, path in enumerate(recordings(d)):
            want = '%s/want%d' % (d, number)
            check(perfclock('sort', path, '-o', want).returncode == 0)
            report = perfclock('check', '--json', path).stdout
            for n, hard in enumerate(({'SHORT': 24}, {'EINTR': 2},
                                      {'SHORT': 24, 'EINTR': 3, 'US': 200})):
                env, out = storm(**hard), '%s/out%d.%d' % (d, number, n)
                got = perfclock('sort', path, '-o', out, env=env)
                check(got.returncode == 0, got.stderr)
                with open(want, 'rb') as a, open(out, 'rb') as b:
                    check(a.read() == b.read(), '%s %s' % (path, hard))
                got = perfclock('check', '--json', path, env=env)
                check(got.stdout == report, '%s %s' % (path, hard))


@test
def temporary_files_are_read_and_written_however_slowly():
    with tempfile.TemporaryDirectory() as d:
        path, want, out = d + '/large', d + '/want', d + '/out'
        with open(path, 'wb') as f:
            subprocess.run([GEN, '--large', str(6 << 20), '0'],
                           stdout=f, check=True)
        args = ['sort', path, '--memory', '4']
        result, _ = summary(*args, '-o', want)
        check(result['spilled_bytes'] > 0, str(result))
        got = perfclock(*args, '-o', out, env=storm(SHORT=5000, EINTR=3))
        check(got.returncode == 0, got.stderr)
        with open(want, 'rb') as a, open(out, 'rb') as b:
            check(a.read() == b.read(), 'another file')


@test
def a_stream_may_come_byte_by_byte():
    with tempfile.TemporaryDirectory() as d:
        for path in recordings(d):
            with open(path, 'rb') as f:
                content = f.read()
            want = subprocess.run([PERFCLOCK, 'sort', path],
                                  capture_output=True, timeout=60).stdout
            child = subprocess.Popen([PERFCLOCK, 'sort', '-'], bufsize=0,
                                     stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE)
            for byte in content:
                child.stdin.write(bytes([byte]))
            child.stdin.close()
            check(child.stdout.read() == want and not child.wait(60), path)


def limited(n):
    return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (n, n))


def sweep(*args):
    """With no descriptor more than it starts with, with one more, and so on:
    one clear line each time, until there are enough."""
    refusals = 0
    for n in range(4, 100):
        got = perfclock(*args, preexec_fn=limited(n))
        if got.returncode == 127:
            continue                # not even the loader had enough
        if got.returncode == 0:
            return refusals
        check(got.returncode == 1, '%d descriptors: exit %d: %s' % (
            n, got.returncode, got.stderr))
        check('open files' in got.stderr, '%d descriptors: %s' % (
            n, got.stderr))
        refusals += 1
    raise AssertionError('never enough: ' + got.stderr)


@test
def too_few_descriptors_are_told_of_by_live_commands():
    need_tracepoints()
    cpu = str(online()[0])
    for more in ([], ['--provider', 'membarrier', '--clock', 'monotonic'],
                 ['--provider', 'cpu-visit']):
        check(sweep('trace', '-q', '-e', EVENT, '-C', cpu, '--duration',
                    '0.05', *more) > 0)
    sweep('compare', '-e', EVENT, '-C', cpu, '--duration', '0.05')
    sweep('stat', 'syscalls', '-C', cpu, '--duration', '0.05')


@test
def too_few_descriptors_are_told_of_by_commands_on_files():
    with tempfile.TemporaryDirectory() as d:
        path = recordings(d)[0]
        sweep('check', path)
        sweep('sort', path, '-o', d + '/sorted')
        check(not [x for x in os.listdir(d) if x.startswith('sorted.')])
        check(sweep('trace', '-q', '--replay', path) > 0)


def told_of_a_full_disk(args, **more):
    got = perfclock(*args, **more)
    check(got.returncode == 1, '%s: exit %d: %s' % (args, got.returncode,
                                                    got.stderr))
    check('No space left' in got.stderr, '%s: %s' % (args, got.stderr))


@test
def a_full_disk_is_told_of_by_commands_on_files():
    with tempfile.TemporaryDirectory() as d:
        path = recordings(d)[0]
        for args in (['check', '--json=/dev/full', path],
                     ['check', '--plot', '/dev/full', path],
                     ['sort', path, '-o', d + '/out', '--json=/dev/full']):
            told_of_a_full_disk(args)
        with open('/dev/full', 'w') as full:
            for args in (['check', path], ['check', '--json', path],
                         ['sort', path], ['info'], ['now'], ['--help']):
                told_of_a_full_disk(args, stdout=full)


@test
def a_full_disk_is_told_of_by_live_commands():
    need_tracepoints()
    few = ['-e', EVENT, '--duration', '0.1']
    for args in (['trace', '-o', '/dev/full'] + few,
                 ['trace', '-q', '--json=/dev/full'] + few,
                 ['compare', '--json=/dev/full'] + few,
                 ['stat', 'syscalls', '--json=/dev/full', '--duration',
                  '0.1'],
                 ['info', '--json=/dev/full']):
        told_of_a_full_disk(args)
    with open('/dev/full', 'w') as full:
        for args in (['trace'] + few, ['compare'] + few,
                     ['stat', 'syscalls', '--duration', '0.1']):
            told_of_a_full_disk(args, stdout=full)


def on_a_small_disk(*args, size='64k'):
    """Run with such a disk at /mnt: the command's end and what it said, and
    on stdout what it left there."""
    need_root()
    script = ('mount -t tmpfs -o size=%s none /mnt && "$@" >/dev/null; '
              'status=$?; ls -A /mnt; exit $status' % size)
    got = subprocess.run(['unshare', '-m', 'sh', '-c', script, 'sh',
                          PERFCLOCK] + list(args), capture_output=True,
                         text=True, timeout=60)
    if re.match('unshare:|mount:', got.stderr):
        raise Skip('no mount namespace: ' + got.stderr.strip())
    return got


@test
def a_disk_that_gets_full_is_told_of_and_cleaned_up():
    with tempfile.TemporaryDirectory() as d:
        path = d + '/large.data'
        with open(path, 'wb') as f:
            subprocess.run([GEN, '--large', str(8 << 20), '0'], stdout=f,
                           check=True)
        for args in (['-o', '/mnt/out'],
                     ['-o', d + '/out', '--memory', '4', '--tmp-dir', '/mnt']):
            got = on_a_small_disk('sort', path, *args)
            check(got.returncode == 1 and 'No space left' in got.stderr,
                  '%s: exit %d: %s' % (args, got.returncode, got.stderr))
            check(not got.stdout, 'left behind: ' + got.stdout)
            check(os.listdir(d) == ['large.data'], str(os.listdir(d)))


@test
def a_disk_that_gets_full_while_tracing_is_told_of():
    need_tracepoints()
    with Load(online()[:2]):
        got = on_a_small_disk('trace', '-e', EVENT, '-a', '-o', '/mnt/out',
                              '--duration', '20')
    check(got.returncode == 1 and 'No space left' in got.stderr, got.stderr)


@test
def a_picture_without_its_end_is_told_of():
    need_tracepoints()
    if not shutil.which('gnuplot'):
        raise Skip('gnuplot is not installed (Debian: gnuplot-nox)')
    got = on_a_small_disk('compare', '-e', EVENT, '--duration', '0.1',
                          '--plot', '/mnt/out.svg', size='4k')
    check(got.returncode == 1 and '/mnt/out.svg' in got.stderr, got.stderr)


if __name__ == '__main__':
    sys.exit(main())
