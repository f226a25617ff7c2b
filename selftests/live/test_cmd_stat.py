#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""perfclock stat and compare: numbers, and the table on a terminal."""
import fcntl
import json
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

from cmdtest import (PERFCLOCK, Load, Skip, check, main, need_tracepoints,
                     online, perfclock, refused, summary, test, tracepoint_id)

CALLS = 5000
LOOP = 'import os\nfor i in range(%d): os.getppid()' % CALLS


def by_name(result):
    return {g['name']: g for g in result['groups']}


@test
def every_call_of_a_command_is_counted():
    result, _ = summary('stat', 'syscalls', '--', sys.executable, '-c', LOOP)
    check(not result['lost'], str(result['lost']))
    check(by_name(result)['getppid']['count'] == CALLS,
          str(by_name(result).get('getppid')))
    check(result['pairs'] == sum(g['count'] for g in result['groups']))


@test
def an_own_pair_agrees_with_the_preset():
    result, _ = summary('stat', '--begin', 'raw_syscalls:sys_enter', '--end',
                        'raw_syscalls:sys_exit', '--key', 'common_pid',
                        '--by', 'id', '--', sys.executable, '-c', LOOP)
    check(by_name(result)['id=110']['count'] == CALLS,
          str(sorted(by_name(result))))


@test
def no_duration_is_negative_or_absurd():
    begin = time.monotonic()
    with Load():
        result, _ = summary('stat', 'syscalls', '--duration', '1.5')
    longest = (time.monotonic() - begin) * 1e9
    check(result['groups'])
    for g in result['groups']:
        check(0 <= g['min_ns'] <= g['mean_ns'] <= g['max_ns'] < longest,
              str(g))
        check(g['min_ns'] <= g['p50_ns'] <= g['p99_ns'] <= g['max_ns'], str(g))
    check(result['reversed'] == 0)
    for key in ('unpaired_begins', 'unpaired_ends', 'open',
                'mispaired_unordered'):
        check(key in result, key)


@test
def rows_per_task():
    result, _ = summary('stat', 'syscalls', '--per', 'comm', '--', 'sh', '-c',
                        'cat /dev/null; true')
    check(any(n.startswith('cat ') for n in by_name(result)),
          str(sorted(by_name(result))))


@test
def wakeups_are_paired_with_the_switch():
    result, _ = summary('stat', 'sched', '--duration', '1')
    check(result['pairs'] > 10, str(result['pairs']))


PRESETS = {'softirq': 'irq:softirq_entry', 'irq': 'irq:irq_handler_entry',
           'block': 'block:block_rq_issue', 'kvm': 'kvm:kvm_exit'}


@test
def all_presets_run():
    for preset, begin in PRESETS.items():
        got = perfclock('stat', preset, '--duration', '0.3')
        if tracepoint_id(begin) is None:      # a kernel without it
            refused(got, 1, begin)
            continue
        check(got.returncode == 0, preset + ': ' + got.stderr)
        check(got.stdout.split('\n')[0].split()[:2] == ['count', 'total'],
              got.stdout)


@test
def rows_are_sorted_by_the_column_named():
    for column in ('total', 'count', 'max', 'mean', 'p99', 'name'):
        result, got = summary('stat', 'syscalls', '--sort', column, '--',
                              'ls', '-l', '/proc/self/fd')
        key = column if column in ('count', 'name') else column + '_ns'
        rows = [(g[key], g['name']) for g in result['groups']]
        check(len(rows) > 5, str(rows))
        # The greatest first; the same by name, as names all are.
        want = sorted(rows, key=lambda row: row[1])
        if column != 'name':
            want.sort(key=lambda row: -row[0])
        check(rows == want, '%s: %s' % (column, rows))
        places = [got.stdout.find('\n%s ' % name) for _, name in rows]
        check(-1 not in places and places == sorted(places),
              got.stdout)


@test
def piped_tables_are_plain_blocks():
    with Load(online()[:1]):
        got = perfclock('stat', 'syscalls', '--duration', '1.6', '--refresh',
                        '0.5')
    check('\033' not in got.stdout)
    check(3 <= got.stdout.count(' a reader without order mispairs') <= 6,
          got.stdout)


@test
def histograms_add_up():
    result, got = summary('stat', 'syscalls', '--histogram', '--', 'true')
    for g in result['groups']:
        check(sum(n for _, n in g['histogram']) == g['count'], str(g))
    check('##' in got.stdout)


class Terminal:
    """The command on a pseudo-terminal, and the screen it makes of it."""

    def __init__(self, *args, rows=24, columns=80):
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.environ['TERM'] = 'xterm'
            os.execv(PERFCLOCK, [PERFCLOCK] + list(args))
        self.resize(rows, columns)
        self.raw = b''

    def resize(self, rows, columns):
        self.rows, self.columns = rows, columns
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ,
                    struct.pack('HHHH', rows, columns, 0, 0))

    def read(self, seconds):
        end = time.monotonic() + seconds
        while True:
            left = end - time.monotonic()
            if left < 0 or not select.select([self.fd], [], [], left)[0]:
                return
            try:
                piece = os.read(self.fd, 65536)
            except OSError:
                return
            if not piece:
                return
            self.raw += piece

    def wait_for(self, text, seconds=10):
        """Read until the newest screen has the text."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.read(0.2)
            if text in self.screen():
                return
        raise AssertionError('%r never on the screen:\n%s' %
                             (text, self.screen()))

    def screen(self):
        """The newest whole drawing, without its escapes."""
        text = self.raw.decode(errors='replace')
        done = text[:text.rfind('\033[J')]
        return re.sub(r'\033\[[0-9;?]*[A-Za-z]', '',
                      done[done.rfind('\033[H'):])

    def key(self, keys):
        self.raw = b''
        os.write(self.fd, keys.encode())

    def end(self, seconds=15):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.read(0.1)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.read(0.2)
                return os.waitstatus_to_exitcode(status)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        raise AssertionError('did not end')


@test
def the_table_obeys_its_keys():
    with Load(online()[:1]):
        t = Terminal('stat', 'syscalls')
        t.wait_for('getppid')
        check('sort (total)' in t.screen(), t.screen())
        t.key('s')
        t.wait_for('sort (count)')
        t.key('S')
        t.wait_for('sort (total)')
        t.key('h')
        t.wait_for('..')                 # of a histogram's ranges
        t.key('\033[B\033[B')
        t.wait_for('getppid')
        check('\033[7m' in t.raw.decode(errors='replace'), 'no row marked')
        t.key('q')
        check(t.end() == 0)
    tail = t.raw.decode(errors='replace')
    check('\033[?1049l' in tail and '\033[?25h' in tail,
          'the terminal was not given back')
    check('getppid' in tail[tail.find('\033[?1049l'):],
          'no table after the end')


@test
def the_table_fits_the_terminal_as_it_changes():
    with Load(online()[:1]):
        t = Terminal('stat', 'syscalls', rows=24, columns=80)
        t.wait_for('getppid')
        for rows, columns in ((40, 132), (10, 40), (5, 20), (24, 80)):
            t.resize(rows, columns)
            t.raw = b''
            t.read(1.5)
            shown = t.screen().replace('\r', '').split('\n')
            check(1 < len(shown) <= rows, '%d lines in %d rows' %
                  (len(shown), rows))
            for line in shown:
                check(len(line) <= columns, '%d columns: %r' %
                      (columns, line))
        os.kill(t.pid, signal.SIGINT)
        check(t.end() == 0)


@test
def the_terminal_is_given_back_when_it_is_told_to_end():
    t = Terminal('stat', 'syscalls')
    t.wait_for('count')
    before = t.raw
    os.kill(t.pid, signal.SIGTERM)
    check(t.end() == 0)
    check(b'\033[?1049l' in t.raw and before)


@test
def compare_holds_all_policies_against_the_same_records():
    with Load():
        result, got = summary('compare', '-e', 'raw_syscalls:sys_enter', '-a',
                              '--interval', '0', '--duration', '3')
    policies = result['policies']
    check(policies['watermark']['late'] == 0, str(policies['watermark']))
    check(policies['none']['late'] > 0, str(policies['none']))
    for name in ('none', 'pass-max', 'min-max', 'first-min', 'round-start',
                 'backoff=1000', 'backoff=1000000', 'backoff=10000000'):
        for key in ('late', 'max_late_ns', 'held_max', 'lag_ns'):
            check(key in policies[name], name + ' ' + key)
        check(name in got.stdout, name)


@test
def the_plot_is_an_svg_picture():
    if not shutil.which('gnuplot'):
        raise Skip('gnuplot is not installed')
    with tempfile.TemporaryDirectory() as d, Load():
        path = os.path.join(d, "it's $HOME.svg")
        got = perfclock('compare', '-e', 'raw_syscalls:sys_enter', '--plot',
                        path, '--duration', '1')
        check(got.returncode == 0, got.stderr)
        with open(path) as f:
            text = f.read()
        check('<svg' in text and '</svg>' in text and 'watermark' in text)


@test
def a_plot_without_gnuplot_is_refused_before_the_run():
    got = perfclock('compare', '-e', 'sched:sched_switch', '--plot', 'x.svg',
                    env=dict(os.environ, PATH='/nosuch'))
    check(got.returncode == 1 and 'gnuplot' in got.stderr, got.stderr)
    check(not os.path.exists('x.svg'))


if __name__ == '__main__':
    sys.exit(main(need_tracepoints))
