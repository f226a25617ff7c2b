# SPDX-License-Identifier: GPL-2.0
"""Recordings as perf writes them, made of bytes."""
import struct

STAMP = 1000000000000
# IDENTIFIER, IP, TID, TIME, CPU, PERIOD
SAMPLE_TYPE = 0x10187
HEADER = 104            # of a file; the ids follow
ATTR = 112              # of perf_event_attr; a section of ids follows


def record(kind, body):
    return struct.pack('<IHH', kind, 0, 8 + len(body)) + body


def sample(stamp, cpu):
    return record(9, struct.pack('<QQIIQIIQ', 1000 + cpu, 0x400000, 10, 11,
                                 stamp, cpu, 0, 1))


def lost(stamp, cpu, count):
    return record(2, struct.pack('<QQIIQIIQ', 1000 + cpu, count, 10, 11,
                                 stamp, cpu, 0, 1000 + cpu))


ROUND = record(68, b'')


def attribute(sample_type=SAMPLE_TYPE):
    """A perf_event_attr with sample_id_all."""
    attr = struct.pack('<IIQQQQQ', 1, ATTR, 0, 1, sample_type, 0, 1 << 18)
    return attr + bytes(ATTR - len(attr))


def recording(records, cpus=4, sample_type=SAMPLE_TYPE):
    """A file of today's perf with one event."""
    ids = b''.join(struct.pack('<Q', 1000 + cpu) for cpu in range(cpus))
    attr = attribute(sample_type) + struct.pack('<QQ', HEADER, len(ids))
    comm = record(3, struct.pack('<II8sIIQIIQ', 10, 11, b'app', 10, 11, STAMP,
                                 0, 0, 1000))
    data = comm + b''.join(records)
    at = HEADER + len(ids)
    head = b'PERFILE2' + struct.pack('<QQ', HEADER, len(attr))
    head += struct.pack('<QQQQ', at, len(attr), at + len(attr), len(data))
    return head + bytes(HEADER - len(head)) + ids + attr + data


def stream(records, cpus=4):
    """The same in pipe mode."""
    ids = b''.join(struct.pack('<Q', 1000 + cpu) for cpu in range(cpus))
    return b'PERFILE2' + struct.pack('<Q', 16) + \
        record(64, attribute() + ids) + b''.join(records)


def write(path, content):
    with open(path, 'wb') as f:
        f.write(content)
    return path


def read(path):
    with open(path, 'rb') as f:
        return f.read()
