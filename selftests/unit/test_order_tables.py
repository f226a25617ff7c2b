#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Pass tables: every policy gives the numbers that were worked out by hand.

Each tables/NAME.order, through "perfclock compare --script", must give what
tables/NAME.expect.json says. And: errors in a script name line and column, and
--trace tells what was late.
"""
import glob
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PERFCLOCK = os.path.join(os.environ.get('BUILD', 'build'), 'perfclock')

# (script, where, words of the message)
BAD_SCRIPTS = [
    ('', '1:1', "'end' is missing"),
    ('round start=1\nend\n', '1:1', "'rings N' must come first"),
    ('rings 0\nend\n', '1:7', 'there can be 1 to'),
    ('rings 4097\nend\n', '1:7', 'there can be 1 to'),
    ('rings two\nend\n', '1:7', 'not a number'),
    ('rings 2\nrings 2\nend\n', '2:1', 'twice'),
    ('rings 2\nread 0: 1\nend\n', '2:1', 'before the first round'),
    ('rings 2\nround start=1 stop=2\nend\n', '2:15', "not 'stop'"),
    ('rings 2\nround start=1 start=2\nend\n', '2:15', 'twice'),
    ('rings 2\nround start 1\nend\n', '2:12', "'=' is missing"),
    ('rings 2\nround\nread 2: 1\nend\n', '3:6', 'no ring 2'),
    ('rings 2\nround\nread 1 5\nend\n', '3:8', "':' is missing"),
    ('rings 2\nround\nread 1: 5 -6\nend\n', '3:11', 'not a number'),
    ('rings 2\nround\nread 1: 5 6ns\nend\n', '3:12', 'no digit'),
    ('rings 2\nround\nread 1: 18446744073709551616\nend\n', '3:9',
     'greater than 2^64-1'),
    ('rings 2\nround\nread 1: 5 lost:7\nend\n', '3:11', 'not a number'),
    ('rings 2\nround\nend of it\n', '3:5', 'too much'),
    ('rings 2\nround\nend\nround\n', '4:1', "nothing may follow 'end'"),
    ('rings 2\n  turn\nend\n', '2:3', "'turn' is none of"),
    ('rings 2\nround\nread 0: 1\n', '4:1', "'end' is missing"),
    ('rings 2\nround\0\nend\n', '2:6', 'NUL'),
]


# What tables/NAME.expect.json says of each policy.
NUMBERS = {'late', 'max_late_ns', 'held_max', 'delivered_after_round', 'left'}


def compare(script, *args, text=None):
    return subprocess.run([PERFCLOCK, 'compare', '--script', script] +
                          list(args), input=text, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, universal_newlines=True,
                          timeout=20)


def check_table(path):
    """Differences, as texts."""
    with open(path[:-len('.order')] + '.expect.json') as f:
        want = json.load(f)
    done = compare(path, '--json')
    if done.returncode:
        return ['exit status %d: %s' % (done.returncode, done.stderr)]
    got = json.loads(done.stdout)
    bad = []
    if got['events'] != want['events']:
        bad.append('events: %s, not %s' % (got['events'], want['events']))
    # A policy, or one of its numbers, that nobody worked out is not tested.
    if set(want['policies']) != set(got['policies']):
        bad.append('policies: %s, not %s' % (sorted(got['policies']),
                                             sorted(want['policies'])))
    for policy, numbers in want['policies'].items():
        if set(numbers) != NUMBERS:
            bad.append('%s: its numbers are to be worked out' % policy)
        for key, value in numbers.items():
            have = got['policies'].get(policy, {}).get(key)
            if have != value:
                bad.append('%s %s: %s, not %s' % (policy, key, have, value))
    return bad


def check_bad_script(text, where, words):
    done = compare('-', text=text)
    bad = []
    if done.returncode != 1:
        bad.append('exit status %d, not 1' % done.returncode)
    if done.stdout:
        bad.append('something on stdout')
    if '-:%s: ' % where not in done.stderr or words not in done.stderr:
        bad.append('said: %s' % done.stderr.strip())
    if done.stderr.count('\n') != 1:
        bad.append('not one line')
    return bad


def check_trace():
    done = compare(os.path.join(HERE, 'tables/first-min-empty-ring.order'),
                   '--trace', '--policy', 'first-min,watermark')
    bad = [line for line in (
        'round 2: clock 100 at its start, watermark 95',
        '  reads ring 0: 55 90',
        '  first-min        up to 60, holds 1; delivers 60@1',
        '                   LATE: 55@0 came 5 ns behind what was already '
        'delivered',
        '  watermark        below 95, holds 0; delivers 55@0 60@1 70@1 90@0 '
        '92@1',
    ) if line not in done.stdout.splitlines()]
    return ['missing: %r' % line for line in bad] + (
        [done.stdout] if bad else [])


def check_usage():
    table = os.path.join(HERE, 'tables/equal-stamps.order')
    bad = []
    for args, status in ((['--policy', 'best'], 2),
                         (['--policy', 'backoff='], 2),
                         (['--policy', 'backoff=1x'], 2),
                         (['--trace', '--json'], 2),
                         (['--policy', 'backoff=7,none'], 0)):
        done = compare(table, *args)
        if done.returncode != status:
            bad.append('%s: exit status %d, not %d' % (args, done.returncode,
                                                       status))
    done = compare('/nonexistent/table.order')
    if done.returncode != 1 or '/nonexistent/table.order' not in done.stderr:
        bad.append('no such file: %d, %s' % (done.returncode, done.stderr))
    return bad


def main():
    tables = sorted(glob.glob(os.path.join(HERE, 'tables', '*.order')))
    tests = [('table ' + os.path.basename(t)[:-len('.order')],
              check_table, (t,)) for t in tables]
    tests += [('bad script %d is refused at %s: %s' % (i, b[1], b[2]),
               check_bad_script, b) for i, b in enumerate(BAD_SCRIPTS, 1)]
    tests += [('the trace tells what was late', check_trace, ()),
              ('policies and options are checked', check_usage, ())]
    print('TAP version 13\n1..%d' % len(tests))
    failed = 0
    for i, (name, fn, args) in enumerate(tests, 1):
        try:
            bad = fn(*args)
        except Exception as e:          # a test that can't run has failed
            bad = ['%s: %s' % (type(e).__name__, e)]
        failed += bool(bad)
        print('%sok %d %s' % ('not ' if bad else '', i, name.replace('#', '')))
        for text in bad:
            print('# ' + text.replace('\n', '\n# '))
    return 1 if failed or not tables else 0


if __name__ == '__main__':
    sys.exit(main())
