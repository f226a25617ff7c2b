#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Manual pages and completions say what --help says; what needs no events."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

from cmdtest import (PERFCLOCK, Skip, check, main, perfclock, recordings,
                     refused, test)


def commands():
    return [x.split()[0] for x in perfclock('--help').stdout.splitlines()
            if x.startswith('  ')]


def options(text):
    return set(re.findall(r'^ +(?:-\w, )?(--[a-z-]+)', text, re.M)) - \
        {'--help'}


@test
def manual_pages_have_all_options_and_no_others():
    for name in commands():
        with open('Documentation/man/perfclock-%s.1' % name) as f:
            text = f.read().replace('\\-', '-')
        heads = set()
        for line in re.findall(r'^\.TP\n(.*)', text, re.M):
            heads |= set(re.findall(r'\\fB(--[a-z-]+)\\fR', line))
        wanted = options(perfclock(name, '--help').stdout)
        check(heads - {'--help'} == wanted,
              '%s: %s' % (name, heads ^ wanted))
    with open('Documentation/man/perfclock.1') as f:
        text = f.read().replace('\\-', '-')
    for name in commands():
        check('.BR perfclock-%s (1)' % name in text, name)


def complete(line):
    script = ('PATH=%s:$PATH; . userspace/tools/completion/perfclock.bash\n'
              'COMP_LINE=$1; COMP_POINT=${#1}\n'
              'IFS=" " read -ra COMP_WORDS <<< "$1"\n'
              'case $1 in *" ") COMP_WORDS+=("") ;; esac\n'
              'COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _perfclock\n'
              'printf "%%s\\n" "${COMPREPLY[@]}"' % os.path.dirname(PERFCLOCK))
    got = subprocess.run(['bash', '-c', script, 'bash', line],
                         capture_output=True, text=True, timeout=30)
    check(not got.stderr, got.stderr)
    return set(got.stdout.split())


@test
def bash_completes_commands_options_and_values():
    check(complete('perfclock tr') == {'trace'}, str(complete('perfclock tr')))
    check(set(commands()) <= complete('perfclock '))
    check(complete('perfclock trace --delta') == {'--deltatime'})
    for name in commands():
        check(options(perfclock(name, '--help').stdout) | {'--help'} ==
              complete('perfclock %s --' % name), name)
    check(complete('perfclock stat sys') == {'syscalls'})
    check(complete('perfclock stat --sort p') == {'p99'})


@test
def bash_completes_events():
    if not os.access('/sys/kernel/tracing/available_events', os.R_OK):
        raise Skip('tracefs cannot be read')
    # Only what follows the colon is replaced.
    check('sched_switch' in complete('perfclock trace -e sched:sched_sw'))
    check('cpu-clock' in complete('perfclock trace -e cpu-c'))
    got = complete('perfclock trace -e cpu-clock,task-c')
    check(got == {'cpu-clock,task-clock'}, str(got))


def zsh_complete(*words):
    """What zsh's own functions are given to choose from."""
    script = ('compadd() { print -l -- "$@" }\n'
              '_describe() {\nlocal -a all=("${(P@)2}")\n'
              'print -l -- "${all[@]%%%%:*}"\n}\n_files() { }\n'
              'path=(%s $path); words=("$@"); CURRENT=$#; PREFIX=$words[-1]\n'
              'set --; source userspace/tools/completion/_perfclock' %
              os.path.dirname(PERFCLOCK))
    got = subprocess.run(['zsh', '-f', '-c', script, 'zsh', *words],
                         capture_output=True, text=True, timeout=30)
    check(not got.returncode and not got.stderr, got.stderr)
    return set(got.stdout.split())


@test
def zsh_completes_the_same():
    if not shutil.which('zsh'):
        raise Skip('zsh is not installed')
    check(zsh_complete('perfclock', '') == set(commands()))
    for name in commands():
        got = zsh_complete('perfclock', name, '--')
        check(got == options(perfclock(name, '--help').stdout) | {'--help'},
              '%s: %s' % (name, got))
    for option in ('--clock', '--provider', '--sort', '--per', '--color'):
        got = zsh_complete('perfclock', 'stat', option, '')
        check(got == complete('perfclock stat %s ' % option), str(got))
    check(zsh_complete('perfclock', 'stat', '') == complete('perfclock stat '))


@test
def values_to_complete_are_those_of_help():
    for command, option in (('trace', '--clock'), ('trace', '--color'),
                            ('stat', '--sort'), ('stat', '--per'),
                            ('trace', '--provider')):
        told = re.search(r'^ +%s \w+ +(.*)' % option,
                         perfclock(command, '--help').stdout, re.M)[1]
        told = re.sub(r'\(.*?\)|.*each|.*: | or|NS| too|,', ' ', told)
        got = complete('perfclock %s %s ' % (command, option))
        check(got == set(told.split()), '%s: %s' % (option, got))
    told = perfclock('stat', 'nosuch').stderr.split('there are ')[1]
    check(complete('perfclock stat ') ==
          set(told.split(' (see')[0].replace(',', '').split()),
          told)


@test
def now_is_what_the_clock_says():
    for name, clock in (('monotonic', time.CLOCK_MONOTONIC),
                        ('monotonic_raw', time.CLOCK_MONOTONIC_RAW),
                        ('boottime', time.CLOCK_BOOTTIME)):
        if name == 'monotonic':        # early in a second: zeros lead
            time.sleep(1 - time.clock_gettime(clock) % 1)
        begin = time.clock_gettime_ns(clock)
        text = perfclock('now', '--clock', name)
        between = time.clock_gettime_ns(clock)
        got = perfclock('now', '--clock', name, '--json')
        end = time.clock_gettime_ns(clock)
        check(re.match(r'\d+\.\d{9}\n$', text.stdout), text.stderr)
        check(begin <= int(text.stdout.replace('.', '')) <= between,
              text.stdout)
        result = json.loads(got.stdout)
        check(between <= result['now_ns'] <= end, got.stdout)
        check(result['clock'] == name and result['source'], got.stdout)
    refused(perfclock('now', '--source', 'sundial'), 2, 'sundial')
    refused(perfclock('now', '--clock', 'sundial'), 2, 'sundial')
    refused(perfclock('now', 'then'), 2, 'then')


def german(directory):
    """The environment of a user whose decimal point is a comma."""
    if not shutil.which('localedef'):
        raise Skip('localedef is not installed')
    got = subprocess.run(['localedef', '-i', 'de_DE', '-f', 'UTF-8',
                          os.path.join(directory, 'de_DE.UTF-8')],
                         capture_output=True, text=True)
    if got.returncode:
        raise Skip('localedef (package locales): ' + got.stderr.strip())
    env = dict(os.environ, LC_ALL='de_DE.UTF-8', LOCPATH=directory)
    got = subprocess.run(['locale', 'decimal_point'], capture_output=True,
                         text=True, env=env)
    check(got.stdout == ',\n', got.stdout)
    return env


@test
def numbers_are_the_same_in_every_locale():
    with tempfile.TemporaryDirectory() as directory:
        here = german(directory)
        there = dict(os.environ, LC_ALL='C.UTF-8')
        recording = recordings(directory)[0]
        got = perfclock('check', recording, env=here)
        check(re.search(r'of \d+\.\d ', got.stdout), got.stdout + got.stderr)
        check(got.stdout == perfclock('check', recording, env=there).stdout)
        got = perfclock('info', '--json', env=here)
        check(re.search(r'\d\.\d', got.stdout), got.stdout + got.stderr)
        json.loads(got.stdout)


if __name__ == '__main__':
    sys.exit(main())
