#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What bad input gets: one clear line, a status, and nothing half-printed."""
import os
import re
import subprocess
import sys

from cmdtest import (PERFCLOCK, Skip, as_nobody, check, main, need_root,
                     need_tracepoints, perfclock, refused, test)

EVENT = 'sched:sched_switch'


@test
def an_unknown_event():
    for command in ('trace', 'compare'):
        refused(perfclock(command, '-e', 'sched:sched_swich'), 1,
                'sched:sched_swich', 'sched:sched_switch')
    refused(perfclock('trace', '-e', 'nosuch:event'), 1, 'nosuch')
    refused(perfclock('trace', '-e', 'sched_switch'), 1,
            'did you mean sched:sched_switch')
    refused(perfclock('stat', '--begin', 'a:b', '--end', EVENT, '--key',
                      'tid'), 1, 'a:b')


@test
def a_glob_that_matches_nothing_or_too_much():
    refused(perfclock('trace', '-e', 'nosuch*:*'), 1, "'nosuch*:*'")
    refused(perfclock('trace', '-e', '*:*'), 1, 'narrow')


@test
def a_cpu_that_is_not_there():
    refused(perfclock('trace', '-e', EVENT, '-C', '4095'), 1, 'CPU 4095')
    refused(perfclock('trace', '-e', EVENT, '-C', '0-x'), 2, '0-x')


@test
def a_cpu_that_is_offline():
    need_root()
    path = '/sys/devices/system/cpu/cpu1/online'
    if not os.path.exists(path):
        raise Skip('CPU 1 cannot be taken offline')
    # All tests share the machine; a namespace shows another file instead.
    script = ('mount -t tmpfs none /mnt && echo 0 > /mnt/online && '
              'mount --bind /mnt/online /sys/devices/system/cpu/online && '
              'exec "$@"')
    got = subprocess.run(['unshare', '-m', 'sh', '-c', script, 'sh',
                          PERFCLOCK, 'trace', '-e', EVENT, '-C', '1'],
                         capture_output=True, text=True, timeout=30)
    if re.match('unshare:|mount:', got.stderr):
        raise Skip('no mount namespace: ' + got.stderr.strip())
    refused(got, 1, 'CPU 1', 'offline')


@test
def no_permission_names_the_sysctl_and_the_capability():
    need_root()
    with open('/proc/sys/kernel/perf_event_paranoid') as f:
        if int(f.read()) < 1:
            raise Skip('perf_event_paranoid lets everyone in')
    refused(perfclock('trace', '-e', 'cpu-clock', '-a', '--duration', '1',
                      preexec_fn=as_nobody), 1,
            'perf_event_paranoid', 'CAP_PERFMON')


@test
def tracefs_that_is_not_for_this_user():
    need_root()
    if os.stat('/sys/kernel/tracing').st_mode & 0o007:
        raise Skip('everyone may read tracefs here')
    refused(perfclock('trace', '-e', EVENT, preexec_fn=as_nobody), 1,
            'tracefs', 'root')
    refused(perfclock('trace', '-e', 'sched:*', preexec_fn=as_nobody), 1,
            'tracefs')


@test
def no_tracefs_at_all():
    need_root()
    for event in (EVENT, 'sched:*'):
        got = subprocess.run(
            ['unshare', '-m', 'sh', '-c',
             'umount -l /sys/kernel/tracing; '
             'umount -l /sys/kernel/debug 2>/dev/null; exec "$@"', 'sh',
             PERFCLOCK, 'trace', '-e', event],
            capture_output=True, text=True, timeout=30)
        if got.stderr.startswith('unshare:'):
            raise Skip('no mount namespace: ' + got.stderr.strip())
        refused(got, 1, 'tracefs', 'mount -t tracefs')


@test
def the_device_is_absent():
    if os.path.exists('/dev/perf_clock'):
        raise Skip('/dev/perf_clock is here')
    refused(perfclock('trace', '-e', EVENT, '--provider', 'module'), 1,
            '/dev/perf_clock')


@test
def a_device_of_another_kind():
    """Wrong size, magic or version: the library's tests have each."""
    for path in ('/dev/zero', '/etc/passwd'):
        refused(perfclock('trace', '-e', EVENT, '--provider', 'module',
                          '--device', path), 1, path)


@test
def a_filter_that_tracefs_refuses_is_told_in_its_words():
    got = perfclock('trace', '-e', EVENT, '--filter', 'nosuchfield == 1')
    check(got.returncode == 1 and not got.stdout, got.stderr)
    check('nosuchfield' in got.stderr and EVENT in got.stderr, got.stderr)
    if not os.geteuid():
        check('parse_error' in got.stderr and '^' in got.stderr, got.stderr)


@test
def a_process_or_command_that_is_not_there():
    refused(perfclock('trace', '-e', EVENT, '-p', '4194304'), 1, '4194304')
    got = perfclock('trace', '-e', EVENT, '--', '/nosuch/program')
    refused(got, 1, '/nosuch/program')


@test
def usage_errors_have_status_2_and_point_to_help():
    for args in (['trace'], ['trace', '--nosuch'], ['trace', '-e'],
                 ['trace', '-e', EVENT, 'word'], ['trace', '-e', ''],
                 ['trace', '-e', EVENT, '--duration', 'x'],
                 ['trace', '-e', EVENT, '--duration', '-1'],
                 ['trace', '-e', EVENT, '-m', '3'],
                 ['trace', '-e', EVENT, '-a', '-p', '1'],
                 ['trace', '-e', EVENT, '--reltime', '--deltatime'],
                 ['trace', '-e', EVENT, '--clock', 'sundial'],
                 ['trace', '-e', EVENT, '--'],
                 ['trace', '--filter', 'x', '-e', EVENT],
                 ['trace', '-e', EVENT, '--jsonl', '--json'],
                 ['stat'], ['stat', 'nosuch'], ['stat', '--begin', EVENT],
                 ['stat', 'syscalls', '--sort', 'x'],
                 ['stat', 'syscalls', '--per', 'x'],
                 ['stat', 'syscalls', '--key', 'tid'],
                 ['compare', '-e', EVENT, '--policy', 'x'],
                 ['compare', '-e', EVENT, '--trace'],
                 ['nosuch'], []):
        got = perfclock(*args)
        refused(got, 2, '--help')


@test
def a_pair_by_a_field_that_is_not_there_names_those_that_are():
    refused(perfclock('stat', '--begin', EVENT, '--end', EVENT, '--key',
                      'nosuch'), 1, 'nosuch', 'next_pid')
    refused(perfclock('stat', '--begin', 'cpu-clock', '--end', EVENT, '--key',
                      'tid'), 1, 'cpu-clock')


@test
def every_subcommand_has_help_with_examples():
    listed = perfclock('--help').stdout
    names = [x.split()[0] for x in listed.splitlines() if x.startswith('  ')]
    check({'trace', 'stat', 'compare', 'info', 'now'} <= set(names))
    for name in names:
        got = perfclock(name, '--help')
        check(got.returncode == 0 and not got.stderr, name)
        check('perfclock ' + name in got.stdout, name)
        check('Examples:' in got.stdout, name)
        check(perfclock('help', name).stdout == got.stdout, name)


if __name__ == '__main__':
    sys.exit(main(need_tracepoints))
