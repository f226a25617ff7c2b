# SPDX-License-Identifier: GPL-2.0
"""A run of QEMU: start it, read the guest's report, judge its kernel log."""
import ctypes
import os
import re
import select
import signal
import struct
import subprocess
import time

PORT = 'perfclock.report'

# The emulator now and then hangs a guest while its kernel boots (a CPU does
# not hear of an interrupt). Until init says hello, nothing of ours has run, so
# such a boot says nothing about us: it is told of, and made once more.
BOOTS = 3
COME_UP = 120           # seconds for the hello, and for each CPU
COME_UP_CPU = 15        # so many more, on a busy host

# What a healthy kernel never says. Each is searched for in every line.
TROUBLE = re.compile('|'.join((
    r'Kernel panic', r'\bBUG:', r'\bOops\b', r'kernel BUG at',
    r'WARNING: CPU: \d', r'WARNING: .* at .*CPU#\d',
    r'WARNING: .*(lock|RCU|IRQ|recursion|bad unlock)',
    r'\bINFO: task .* blocked',
    r'rcu.*(detected|self-detected) .*stall', r'rcu.*kthread starved',
    r'(soft|hard) (lockup|LOCKUP)', r'\b(KASAN|KCSAN|UBSAN|KFENCE): ',
    r'ODEBUG: (?!selftest passed)',
    r'INFO: possible', r'unreferenced object', r'kmemleak: [1-9]\d* new',
    r'general protection fault', r'[Uu]nable to handle', r'Call [Tt]race:',
    r'refcount_t:', r'Voluntary context switch within RCU',
    r'DEBUG_LOCKS_WARN_ON', r'list_(add|del) corruption',
)))

# Faults of Linux itself, which are told of and fail nothing: what the first
# line of such a report says, and what a later one says. A report that names
# the module is never one of these.
KNOWN = (
    # 6.1, now and then while it resumes: an allocation wants a random number
    # and the timekeeper is still asleep.
    (re.compile(r'WARNING: CPU: .* ktime_get_seconds\+'),
     re.compile(r' (crng_|get_random_)\w+\+')),
)


class Result:
    """What a run gave. problems: why it failed, empty if it did not."""

    def __init__(self):
        self.release = None
        self.jobs = []          # [name, output, end or None]
        self.files = {}         # guest path: bytes
        self.problems = []
        self.notes = []         # what else the reader should know
        self.seconds = 0.0


def command(arch, model, line, cpus, memory, threads, image, initrd, append,
            log):
    """The QEMU command line; the report is its standard output.

    It leaves the guest through a virtio port, or through the serial line named.
    """
    qemu = {'amd64': 'qemu-system-x86_64', 'arm64': 'qemu-system-aarch64'}
    machine = {'amd64': ['-M', model, '-cpu', 'max'],
               'arm64': ['-M', 'virt', '-cpu', 'cortex-a72']}
    console = {'amd64': 'ttyS0', 'arm64': 'ttyAMA0'}
    words = ['console=' + console[arch], 'loglevel=7', 'printk.time=1',
             'panic=-1',
             'rcupdate.rcu_cpu_stall_timeout=60', 'watchdog_thresh=30',
             'random.trust_cpu=on', 'rdinit=/init'] + append
    way = ['-device', 'virtio-serial-pci',
           '-device', 'virtserialport,chardev=report,name=' + PORT]
    if line:
        words.append('perfclock_report=' + line)
        way = ['-serial', 'chardev:report']
    return [qemu[arch]] + machine[arch] + [
        '-accel', 'tcg,thread=' + threads, '-smp', str(cpus), '-m', memory,
        '-nodefaults', '-no-user-config', '-no-reboot', '-display', 'none',
        '-kernel', image, '-initrd', initrd, '-append', ' '.join(words),
        '-serial', 'file:' + log,
        '-chardev', 'stdio,id=report,signal=off'] + way


class Reader:
    """Takes the report apart; show(bytes) gets the output as it comes."""

    def __init__(self, result, show):
        self.result = result
        self.show = show
        self.data = b''
        self.done = False

    def feed(self, data):
        self.data += data
        while len(self.data) >= 5:
            kind, length = struct.unpack('<cI', self.data[:5])
            if len(self.data) < 5 + length:
                break
            self.frame(kind.decode('latin1'), self.data[5:5 + length])
            self.data = self.data[5 + length:]

    def frame(self, kind, load):
        result = self.result
        if kind == 'H':
            result.release = load.decode().split()[0]
        elif kind == 'B':
            result.jobs.append([load.decode(), b'', None])
        elif kind == 'O' and result.jobs:
            result.jobs[-1][1] += load
            self.show(load)
        elif kind == 'E' and result.jobs:
            result.jobs[-1][2] = load.decode()
        elif kind == 'D':
            path, _, data = load.partition(b'\0')
            path = path.decode()
            result.files[path] = result.files.get(path, b'') + data
        elif kind == 'F':
            result.problems.append('init: ' + load.decode(errors='replace'))
        elif kind == 'Z':
            self.done = True
        else:
            result.problems.append('report: unknown frame %r' % kind)


def boot(argv, log, limit, show, pauses=None, come_up=COME_UP):
    """Run QEMU until it ends or the limit (seconds) is up.

    pauses: for each job named, (after, seconds): the whole of QEMU stands
    still for so long, so long after the job began; the guest's time goes on.

    A guest that does not say hello is booted anew, up to BOOTS times in all;
    the logs of the boots that failed are kept as LOG.1 and so on.
    """
    notes = []
    for attempt in range(1, BOOTS + 1):
        result = boot_once(argv, log, limit, show, dict(pauses or {}),
                           come_up)
        if result.release or attempt == BOOTS:
            break
        kept = '%s.%d' % (log, attempt)
        os.replace(log, kept)
        notes.append('boot %d of %d did not reach init in %.0f s, booted '
                     'anew (its log: %s): %s' %
                     (attempt, BOOTS, result.seconds, kept,
                      '; '.join(result.problems[:2])))
    result.notes = notes + result.notes
    return result


def die_with_parent(libc=ctypes.CDLL(None), pr_set_pdeathsig=1):
    """In QEMU before it starts: no guest outlives a run that was killed."""
    libc.prctl(pr_set_pdeathsig, signal.SIGKILL)


def boot_once(argv, log, limit, show, pauses, come_up):
    """One boot, for better or worse."""
    result = Result()
    reader = Reader(result, show)
    begin = time.monotonic()
    open(log, 'w').close()
    # stdin stays open: at its end QEMU would close the port for the guest.
    with subprocess.Popen(argv, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE,
                          preexec_fn=die_with_parent) as qemu:
        try:
            alive = follow(qemu, reader, begin, limit, come_up, pauses)
        finally:
            qemu.kill()
            words = qemu.stderr.read().decode(errors='replace').strip()
    result.seconds = time.monotonic() - begin
    if words:
        result.problems.append('QEMU: ' + words[-500:])
    if alive:
        result.problems.append('hangs: killed after %.0f s' % result.seconds)
    elif not result.release:
        result.problems.append('no report: the guest did not come up')
    elif not reader.done:
        result.problems.append('the report breaks off: the guest died')
    problems, result.notes = search_log(log)
    result.problems += problems
    return result


def stand_still(qemu, reader, pauses, since):
    """Stop QEMU for a while, if that time of a job has come."""
    job = reader.result.jobs[-1][0] if reader.result.jobs else None
    if job not in pauses:
        return
    begin = since.setdefault(job, time.monotonic())
    after, seconds = pauses[job]
    if time.monotonic() - begin >= after:
        del pauses[job]
        qemu.send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        qemu.send_signal(signal.SIGCONT)


def follow(qemu, reader, begin, limit, come_up, pauses):
    """Feed the reader; true if QEMU is still alive when the time is up."""
    fd = qemu.stdout.fileno()
    since = {}
    while time.monotonic() - begin < (limit if reader.result.release
                                      else min(limit, come_up)):
        stand_still(qemu, reader, pauses, since)
        ready, _, _ = select.select([fd], [], [], 0.5)
        if not ready:
            continue
        data = os.read(fd, 1 << 16)
        if not data:
            qemu.wait()
            return False
        reader.feed(data)
    return True


def known_fault(report):
    """Is this a fault of Linux itself? A report's lines, first to last."""
    return any(first.search(report[0]) and
               any(later.search(line) for line in report[1:]) and
               not any('[perf_clock]' in line for line in report)
               for first, later in KNOWN)


def search_log(log):
    """What the kernel log says of trouble, and of faults that are known."""
    with open(log, errors='replace') as f:
        lines = [line.strip() for line in f]
    problems, notes = [], []
    number = 0
    while number < len(lines):
        line = lines[number]
        number += 1
        if not TROUBLE.search(line):
            continue
        said = 'kernel log, %s:%d: %s' % (log, number, line[:200])
        # A report ends with this line.
        end = next((i for i in range(number, min(number + 100, len(lines)))
                    if '---[ end trace' in lines[i]), None)
        if end and known_fault(lines[number - 1:end]):
            notes.append('a known fault of Linux: ' + said)
            number = end
        else:
            problems.append(said)
    return problems[:10], notes[:10]
