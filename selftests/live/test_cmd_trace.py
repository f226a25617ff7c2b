#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""perfclock trace, as people and scripts use it."""
import calendar
import json
import os
import pty
import re
import signal
import subprocess
import sys
import tempfile
import time

from cmdtest import (Load, Skip, check, main, need_root, need_tracepoints,
                     online, perfclock, start, summary, test)

EVENT = 'raw_syscalls:sys_enter'
LINE = re.compile(r'^ *(?P<comm>.{1,16}) +(?P<tid>-?\d+) \[(?P<cpu>\d{3})\] '
                  r'+(?P<s>\d+)\.(?P<ns>\d{9}): (?P<event>[\w:]+): '
                  r'(?P<text>.*)$')


def lines(got):
    return [x for x in got.stdout.splitlines() if not x.startswith('#')]


@test
def lines_are_those_of_perf_script():
    got = perfclock('trace', '-e', EVENT, '--duration', '0.5')
    check(got.returncode == 0, got.stderr)
    check(len(lines(got)) > 5, 'hardly any line')
    for line in lines(got):
        match = LINE.match(line)
        check(match, line)
        check(match['event'] == EVENT)
        check(re.match(r'NR -?\d+ \(([0-9a-f]+, ){5}[0-9a-f]+\)( \w+)?$',
                       match['text']), match['text'])


@test
def order_holds_while_all_cpus_are_busy():
    with Load():
        result, got = summary('trace', '-e', EVENT, '-a', '--duration', '2')
    last, cpus = 0, set()
    for line in lines(got):
        match = LINE.match(line)
        stamp = int(match['s'] + match['ns'])
        check(stamp >= last, 'back in time: ' + line)
        last = stamp
        cpus.add(int(match['cpu']))
    check(cpus >= set(online()[:4]), 'only CPUs %s' % cpus)
    check(result['late'] == 0 and result['proven'], str(result))
    check(result['events'] == len(lines(got)),
          '%d events, %d lines' % (result['events'], len(lines(got))))


@test
def the_summary_has_what_scripts_rely_on():
    result, _ = summary('trace', '-e', EVENT, '--duration', '0.3')
    for key in ('events lost late max_late_ns provider proven rounds rings '
                'held_max cpu_ns_per_event duration_ns').split():
        check(key in result, key)
    check(set(result['lag_ns']) == {'p50', 'p99', 'max'})
    check(result['rings'] == len(online()), str(result['rings']))
    check(0.25e9 < result['duration_ns'] < 5e9)


@test
def json_alone_on_stdout_is_one_object():
    got = perfclock('trace', '-e', EVENT, '--duration', '0.2', '--json')
    check(got.returncode == 0 and json.loads(got.stdout)['events'] > 0)


@test
def jsonl_has_an_object_a_line():
    got = perfclock('trace', '-e', EVENT, '--duration', '0.3', '--jsonl')
    records = [json.loads(x) for x in got.stdout.splitlines()]
    check(len(records) > 5)
    for r in records:
        check(r['event'] == EVENT and len(r['fields']['args']) == 6)
    check(any(r['syscall'] for r in records))
    stamps = [r['time_ns'] for r in records]
    check(stamps == sorted(stamps))


@test
def max_events_ends_after_just_so_many():
    got = perfclock('trace', '-e', EVENT, '--max-events', '7')
    check(got.returncode == 0 and len(lines(got)) == 7, got.stdout)


@test
def a_command_is_traced_from_its_first_call_on():
    result, got = summary('trace', '-e', EVENT, '--', 'sh', '-c',
                          'cat /dev/null; exit 3')
    text = '\n'.join(lines(got))
    check(re.search(r'^ *cat +\d+ .* openat$', text, re.M), text[-2000:])
    check(' exit_group' in text)
    comms = {LINE.match(x)['comm'] for x in lines(got)}
    check('python3' not in comms or len(comms) < 5, str(comms))


@test
def a_filter_lets_only_what_matches_through():
    with Load(online()[:1]):
        got = perfclock('trace', '-e', EVENT, '--filter', 'id == 110',
                        '--duration', '0.5')
    check(got.returncode == 0, got.stderr)
    check(lines(got))
    for line in lines(got):
        check(': NR 110 (' in line, line)


@test
def a_glob_stands_for_what_it_matches():
    with Load(online()[:1]):
        got = perfclock('trace', '-e', 'raw_sys*:sys_e*', '--max-events',
                        '200')
    check(len(lines(got)) == 200, got.stderr)
    events = {LINE.match(x)['event'] for x in lines(got)}
    check(events == {'raw_syscalls:sys_enter', 'raw_syscalls:sys_exit'},
          str(events))


# Three calls, the second long after the first, the third soon after that.
PAUSES = ('import os, time\nos.getppid()\ntime.sleep(0.4)\nos.getppid()\n'
          'time.sleep(0.02)\nos.getppid()')


def times(option):
    got = perfclock('trace', '-e', EVENT, '--filter', 'id == 110', option,
                    '--', sys.executable, '-c', PAUSES)
    check(got.returncode == 0, got.stderr)
    found = [LINE.match(x) for x in lines(got)]
    check(len(found) == 3 and all(found), got.stdout)
    return [int(m['s'] + m['ns']) / 1e9 for m in found]


@test
def times_are_since_the_first_record_or_the_one_before():
    first, second, third = times('--reltime')
    check(first == 0 and second >= 0.4 and third >= second + 0.02,
          str((first, second, third)))
    first, second, third = times('--deltatime')
    check(first == 0 and second >= 0.4 and 0.02 <= third < second,
          str((first, second, third)))


@test
def times_are_those_of_the_wall_clock():
    begin = time.time()
    with Load(online()[:1]):
        got = perfclock('trace', '-e', EVENT, '--max-events', '5',
                        '--isotime', env=dict(os.environ, TZ='XYZ-5:30'))
    end = time.time()
    check(len(lines(got)) == 5, got.stderr)
    for line in lines(got):
        match = re.search(r' (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.(\d{9})'
                          r'\+0530: ', line)
        check(match, line)
        stamp = calendar.timegm(time.strptime(match[1], '%Y-%m-%dT%H:%M:%S'))
        stamp += int(match[2]) / 1e9 - 5.5 * 3600
        check(begin - 0.1 <= stamp <= end + 0.1, line)


@test
def fields_are_those_chosen():
    with Load(online()[:1]):
        got = perfclock('trace', '-e', EVENT, '--max-events', '5', '-F',
                        'cpu,event,id')
    check(len(lines(got)) == 5, got.stderr)
    for line in lines(got):
        check(re.match(r'^\[\d{3}\] %s: id=\d+$' % EVENT, line), line)


@test
def cpus_and_processes_are_those_chosen():
    with Load() as load:
        cpu = load.cpus[-1]
        got = perfclock('trace', '-e', EVENT, '-C', str(cpu), '--max-events',
                        '50')
        check(len(lines(got)) == 50, got.stderr)
        cpus = {int(LINE.match(x)['cpu']) for x in lines(got)}
        check(cpus == {cpu}, str(cpus))
        pid = load.children[0].pid
        got = perfclock('trace', '-e', EVENT, '-p', str(pid), '--max-events',
                        '50')
        check(len(lines(got)) == 50, got.stderr)
        tids = {int(LINE.match(x)['tid']) for x in lines(got)}
        check(tids == {pid}, str(tids))


def at_end_of(child, sig, after=0.7):
    time.sleep(after)
    child.send_signal(sig)
    out, err = child.communicate(timeout=20)
    return out, err


@test
def signals_end_it_in_order_with_the_summary():
    for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        child = start('trace', '-e', EVENT, '-a')
        out, err = at_end_of(child, sig)
        check(child.returncode == 0, '%d: %s' % (child.returncode, err))
        check(' events of ' in err, err)
        check(out.endswith('\n') and LINE.match(out.splitlines()[-1]))


@test
def a_second_signal_ends_it_at_once():
    # Nobody reads what it prints, so after the first it cannot come to an end.
    with Load():
        child = start('trace', '-e', EVENT, '-a')
        time.sleep(0.7)
        child.send_signal(signal.SIGINT)
        time.sleep(0.3)
        check(child.poll() is None, 'it ended: %s' % child.returncode)
        child.send_signal(signal.SIGINT)
        try:
            check(child.wait(10) == -signal.SIGINT, str(child.returncode))
        finally:
            child.kill()
            child.communicate()


def nice_of(given, *more):
    """That of the command while it traces, begun at the one given."""
    child = start('trace', '-q', '-e', EVENT, *more, stdout=subprocess.DEVNULL,
                  preexec_fn=lambda: os.setpriority(os.PRIO_PROCESS, 0, given))
    time.sleep(0.4)
    found = os.getpriority(os.PRIO_PROCESS, child.pid)
    _, err = at_end_of(child, signal.SIGINT, 0)
    check(child.returncode == 0, err)
    return found


@test
def the_reader_is_as_nice_as_the_manual_says():
    need_root()
    try:
        subprocess.run(['true'], check=True, preexec_fn=lambda:
                       os.setpriority(os.PRIO_PROCESS, 0, -20))
    except subprocess.SubprocessError as error:
        raise Skip('no right to be less nice') from error
    check(nice_of(0) == -20)
    check(nice_of(0, '--interval', '0') == -10)
    check(nice_of(5) == 5)
    check(nice_of(-3) == -3)
    # The command that is watched is not the reader.
    got = perfclock('trace', '-q', '-e', EVENT, '--', 'sh', '-c', 'nice >&2',
                    preexec_fn=lambda: os.setpriority(os.PRIO_PROCESS, 0, 0))
    check(got.stderr.split()[-1:] == ['0'], got.stderr)


@test
def what_nohup_ignores_stays_ignored():
    child = start('trace', '-e', EVENT, '--duration', '1.5', preexec_fn=lambda:
                  signal.signal(signal.SIGHUP, signal.SIG_IGN))
    at_end_of(child, signal.SIGHUP)
    check(child.returncode == 0)


def with_closed_reader(*args):
    r, w = os.pipe()
    child = start(*args, stdout=w)
    os.close(w)
    os.close(r)
    _, err = child.communicate(timeout=30)
    return child.returncode, err


@test
def a_reader_that_went_away_ends_it():
    for event in (EVENT, 'oom:mark_victim'):     # the second never happens
        status, err = with_closed_reader('trace', '-q', '-e', event,
                                         '--duration', '20')
        check(status == 1, str(status))
        check(err.count('reader of the output has gone') == 1, err)
        check('Traceback' not in err and 'events of' not in err, err)


@test
def a_full_disk_is_told():
    with open('/dev/full', 'w') as full:
        child = start('trace', '-e', EVENT, '--duration', '1', stdout=full)
        _, err = child.communicate(timeout=30)
    check(child.returncode == 1 and 'No space left' in err, err)


def on_terminal(args, env=None):
    """Output of the command with stdout on a pseudo-terminal."""
    leader, follower = pty.openpty()
    child = start(*args, stdout=follower, env=env)
    os.close(follower)
    out = b''
    try:
        while True:
            piece = os.read(leader, 65536)
            if not piece:
                break
            out += piece
    except OSError:
        pass                         # the other side has closed
    os.close(leader)
    child.communicate(timeout=20)
    check(child.returncode == 0)
    return out.decode(errors='replace')


@test
def colour_is_for_terminals_only_and_no_color_is_honoured():
    args = ['trace', '-e', EVENT, '--max-events', '3']
    env = dict(os.environ, TERM='xterm')
    env.pop('NO_COLOR', None)
    with Load(online()[:1]):
        check('\033[' in on_terminal(args, env))
        check('\033[' not in on_terminal(args, dict(env, NO_COLOR='1')))
        check('\033[' in on_terminal(args, dict(env, NO_COLOR='')))
        check('\033[' not in perfclock(*args, env=env).stdout)
        check('\033[' in perfclock(*args, '--color', 'always').stdout)


@test
def strict_says_by_its_status_that_records_were_lost():
    # A ring of a page, and a reader that sleeps: it must overflow.
    with Load():
        got = perfclock('trace', '-e', EVENT, '-a', '-m', '1', '--interval',
                        '300000', '--duration', '1.5', '--strict', '--json')
    check(json.loads(got.stdout)['lost'] > 0, got.stdout)
    check(got.returncode == 3, str(got.returncode))
    got = perfclock('trace', '-e', EVENT, '-q', '--max-events', '5',
                    '--strict')
    check(got.returncode == 0, 'nothing was lost: ' + got.stderr)


@test
def lost_records_are_told_where_they_are_missing():
    with Load():
        got = perfclock('trace', '-e', EVENT, '-a', '-m', '1', '--interval',
                        '300000', '--duration', '1.5')
    told = sum(int(x) for x in re.findall(r'^# CPU \d+: (\d+) records lost',
                                          got.stdout, re.M))
    total = int(re.search(r'(\d+) lost', got.stderr)[1])
    check(told == total > 0, '%d told, %d lost' % (told, total))


@test
def names_follow_a_task_that_renames_itself():
    code = ('import ctypes,os\nlibc=ctypes.CDLL(None)\n'
            'libc.prctl(15, b"newname")\nos.getppid()')
    _, got = summary('trace', '-e', EVENT, '--filter', 'id == 110', '--',
                     sys.executable, '-c', code)
    check(re.search(r'^ *newname +\d+ .* NR 110 ', got.stdout, re.M),
          got.stdout[-1000:])


@test
def a_perf_data_file_is_what_perf_reads():
    if subprocess.run(['perf', '--version'], capture_output=True).returncode:
        raise Skip('perf is not installed')
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, 'perf.data')
        with Load():
            result, got = summary('trace', '-e', EVENT + ',sched:sched_switch',
                                  '-o', path, '--duration', '1')
        check(not got.stdout)
        script = subprocess.run(['perf', 'script', '--ns', '-i', path],
                                capture_output=True, text=True, timeout=120)
        check(script.returncode == 0, script.stderr)
        check('out of order' not in script.stderr, script.stderr)
        shown = script.stdout.splitlines()
        check(len(shown) == result['events'],
              '%d lines, %d events' % (len(shown), result['events']))
        last = 0
        for line in shown:
            match = re.match(r'^.{16} +-?\d+ \[\d+\] +(\d+)\.(\d{9}): +([\w:]+): '
                             r'(.*)$', line)
            check(match, line)
            stamp = int(match[1] + match[2])
            check(stamp >= last, line)
            last = stamp
        check(any(' python3 ' in x or 'python' in x[:16] for x in shown),
              'no names of tasks')
        # The records lie in the file in that order, too.
        order = perfclock('check', '--json', path)
        check(order.returncode == 0, order.stderr)


@test
def both_texts_are_the_same():
    """What perf script makes of a recording, and what trace prints."""
    if subprocess.run(['perf', '--version'], capture_output=True).returncode:
        raise Skip('perf is not installed')
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, 'perf.data')
        args = ['-e', 'raw_syscalls:sys_enter', '--filter', 'id == 110',
                '--max-events', '20']
        code = 'import os\nfor i in range(50): os.getppid()'
        perfclock('trace', '-o', path, *args, '--', sys.executable, '-c', code)
        script = subprocess.run(['perf', 'script', '--ns', '-i', path],
                                capture_output=True, text=True, timeout=60)
        got = perfclock('trace', *args, '--', sys.executable, '-c', code)
    strip = re.compile(r'\s+\d+ \[\d+\] +\d+\.\d+: +')
    ours = [strip.sub(' ', x).replace(') getppid', ')')
            for x in lines(got)]
    perfs = [strip.sub(' ', x) for x in script.stdout.splitlines()]
    # Addresses in the arguments differ from run to run.
    cut = [re.sub(r'\(.*\)', '()', x) for x in ours]
    check(cut == [re.sub(r'\(.*\)', '()', x) for x in perfs],
          '%s\n%s' % (cut[:2], perfs[:2]))


if __name__ == '__main__':
    sys.exit(main(need_tracepoints))
