# SPDX-License-Identifier: GPL-2.0
"""Test programs in a guest: their TAP, made one stream."""
import os
import re
import shlex
import sys

RESULT = re.compile(r'^(not )?ok\b\s*\d*\s*(?:- )?(.*)$')
PLAN = re.compile(r'^1\.\.(\d+)(?:\s+#\s*SKIP\s*(.*))?', re.I)


class Stream:
    """Numbers the tests anew; the plan comes last, as TAP allows."""

    def __init__(self, out=sys.stdout):
        self.out = out
        self.count = self.failed = self.skipped = 0
        self.write('TAP version 13')

    def write(self, line):
        print(line, file=self.out, flush=True)

    def result(self, good, text):
        self.count += 1
        self.failed += not good
        if good and re.search(r'# SKIP\b', text, re.I):
            self.skipped += 1
        self.write('%sok %d %s' % ('' if good else 'not ', self.count, text))

    def end(self):
        self.write('1..%d' % self.count)
        return 1 if self.failed else 0


def merge(stream, name, output, end):
    """One program's tests; its own failures count as one test of its."""
    planned = None
    ran = failed = 0
    for line in output.splitlines():
        plan, result = PLAN.match(line), RESULT.match(line)
        if plan:
            planned = int(plan.group(1))
            if planned == 0:
                stream.result(True, '%s # SKIP %s' % (
                    name, plan.group(2) or 'no reason given'))
        elif result:
            ran += 1
            failed += bool(result.group(1))
            stream.result(not result.group(1),
                          '%s: %s' % (name, result.group(2)))
        elif not line.startswith('TAP version'):
            stream.write('# %s' % line.lstrip('# '))
    trouble = None
    if end is None:
        trouble = 'the guest died under it'
    elif end == 'exit 4' and not ran and planned is None:
        stream.result(True, '%s # SKIP no reason given' % name)
    elif end not in ('exit 0', 'exit 4') and not failed:
        trouble = '%s without a failed test' % end
    elif planned is None:
        trouble = 'no TAP plan'
    elif planned != ran:
        trouble = 'planned %d tests, ran %d' % (planned, ran)
    if trouble:
        stream.result(False, '%s: runs to its end' % name)
        stream.write('# %s: %s' % (name, trouble))


def seconds_for(program, default=120):
    """PROGRAM.settings may say timeout=SECONDS, as for tap-run."""
    try:
        with open(program + '.settings') as f:
            got = re.search(r'^timeout=(\d+)', f.read(), re.M)
    except OSError:
        got = None
    return int(got.group(1)) if got else default


def run_programs(machine, programs, stream, env=()):
    """Run TAP programs (with arguments, quoted) in a guest; its result."""
    for program in programs:
        words = shlex.split(program)
        packed = machine.pack(words)
        machine.add_job(os.path.basename(words[0]), seconds_for(words[0]),
                        shlex.join(['env', *env] + packed))
    result = machine.boot()
    stream.write('# kernel %s, %.0f s' % (result.release, result.seconds))
    for note in result.notes:
        stream.write('# ' + note)
    for name, output, end in result.jobs:
        merge(stream, name, output.decode(errors='replace'), end)
    for problem in result.problems:
        stream.write('# ' + problem)
    stream.result(not result.problems,
                  'guest runs to its end, module unloads, kernel log is clean')
    return result
