#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Break the rule on purpose: the tests that hold it must notice.

    BUILD=build test_order_mutations.py

Each mutation changes a few words in one file of userspace/lib/order/. A test
program is linked with the broken file in place of the sound one; it must fail.
A mutation whose text is no longer found fails too: it must be kept up to date.
So does a test that fails with nothing broken: it would notice anything.
"""
import os
import subprocess
import sys
import tempfile

EXPLORE = ['selftests/unit/test_explore.c', 'selftests/unit/explore.c']
RANDOM = ['selftests/unit/test_order_random.c']

# (name, file, [(old, new)...], test sources, tests to run)
MUTATIONS = [
    ('deliver up to and including W', 'round.c',
     [('r->proven, fn, fn_ctx', 'r->proven + 1, fn, fn_ctx')],
     EXPLORE, 'watermark_2_rings'),
    ('load W after the heads', 'round.c',
     [('\terr = r->ops->watermark(r->ctx, &r->loaded);\n'
       '\tif (err)\n\t\treturn err;\n', ''),
      ('\tr->nr_rings = nr_rings;\n',
       '\terr = r->ops->watermark(r->ctx, &r->loaded);\n'
       '\tif (err)\n\t\treturn err;\n\tr->nr_rings = nr_rings;\n')],
     EXPLORE, 'watermark_2_rings'),
    ('skip a ring', 'round.c',
     [('r->at = r->turns = 0;\n\tr->open', 'r->at = 1;\n\tr->open')],
     EXPLORE, 'watermark_2_rings'),
    ('deliver by the W of a round that was cut short', 'round.c',
     [('\t\tr->cut_short++;\n', '\t\tprove(r, r->loaded);\n')],
     EXPLORE, 'watermark_rounds_cut_short'),
    ('deliver by W although memory was full', 'round.c',
     [('least < r->loaded ? least : r->loaded', 'r->loaded')],
     EXPLORE, 'watermark_full_memory'),
    ('deliver what equals the limit', 'merge.c',
     [('head->key >= limit', 'head->key > limit'),
      ('return key < m->below', 'return key <= m->below')],
     RANDOM, ''),
    ('forget the ring in equal stamps', 'merge.c',
     [('there < packed ? there : packed', 'there >> 3 <= packed >> 3 ? '
       'there : packed'),
      ('there < packed ? packed : there', 'there >> 3 <= packed >> 3 ? '
       'packed : there')],
     RANDOM, ''),
    ('forget the place in equal stamps', 'queue.c',
     [('ka < kb : a < b', 'ka < kb : a > b')],
     RANDOM, ''),
    ('leave inversions as they are', 'queue.c',
     [('if (key < q->main.last_key && key && !queue_empty(q))', 'if (0)')],
     RANDOM, ''),
    ('put what is placed first into side runs', 'queue.c',
     [('last_key && key && !q', 'last_key && !q')],
     RANDOM, ''),
    ('take what is late for in time', 'order.c',
     [('p.stamp < o->greatest)', 'p.stamp < o->greatest - 1)')],
     RANDOM, ''),
    ('drop the end of a chunk', 'queue.c',
     [('run->rd = run->first->data;',
       'run->rd = (char *)item_next(item_at(run->first->data));')],
     RANDOM, ''),
    ('go on in a burst after the callback said stop', 'merge.c',
     [('packed < second && !ret', 'packed < second')],
     RANDOM, ''),
    ('never deliver before the end', 'round.c',
     [('r->completed++;\n\tprove(r, r->loaded);', 'r->completed++;')],
     EXPLORE, 'watermark_4_rings'),
]

FLAGS = ('-std=gnu11 -O1 -w -fno-strict-aliasing -D_GNU_SOURCE -Iuapi '
         '-Iuserspace/lib/include -Iuserspace/lib -Iselftests').split()


def mutate(name, edits):
    """The text of a file with the edits made, or None."""
    with open('userspace/lib/order/' + name) as f:
        text = f.read()
    for old, new in edits:
        if text.count(old) != 1:
            return None
        text = text.replace(old, new)
    return text


def build(text, sources, build_dir, tmp):
    """Link the sources with the broken file; the program's path."""
    broken = os.path.join(tmp, 'broken.c')
    program = os.path.join(tmp, 'program')
    with open(broken, 'w') as f:
        f.write(text)
    cc = os.environ.get('CC', 'cc').split()
    subprocess.run(cc + FLAGS + ['-o', program, broken] + sources +
                   [build_dir + '/libperfclock.a'] +
                   os.environ.get('PC_LDLIBS', '-lpthread').split(),
                   check=True)
    return program


def passes(text, sources, tests, build_dir):
    """Do the tests pass with this text in the place of its file's?"""
    with tempfile.TemporaryDirectory() as tmp:
        program = build(text, sources, build_dir, tmp)
        try:
            done = subprocess.run([program] + ([tests] if tests else []),
                                  stdout=subprocess.PIPE, timeout=60,
                                  stderr=subprocess.STDOUT)
        except subprocess.TimeoutExpired:
            return False        # a hang is noticed, too
    # One that was skipped, or that nobody knows, has not run.
    ran = [line for line in done.stdout.decode().splitlines()
           if line.startswith('ok ') and ' # SKIP' not in line]
    return done.returncode == 0 and bool(ran)


def survives(mutation, build_dir):
    """None if the tests noticed, else what to say."""
    _, name, edits, sources, tests = mutation
    text = mutate(name, edits)
    if text is None:
        return 'its text is not found in %s: bring it up to date' % name
    if passes(text, sources, tests, build_dir):
        return 'all tests pass with it'
    return None


def complains(sources, tests, build_dir):
    """None if the tests pass with nothing broken, else what to say."""
    if passes(mutate('merge.c', []), sources, tests, build_dir):
        return None
    return 'it fails, or does not run, with nothing broken'


def main():
    build_dir = os.environ.get('BUILD', 'build')
    sound = sorted({(tests, tuple(sources))
                    for _, _, _, sources, tests in MUTATIONS})
    todo = [('sound: ' + (tests or sources[0]), complains,
             (list(sources), tests)) for tests, sources in sound]
    todo += [('noticed: ' + m[0], survives, (m,)) for m in MUTATIONS]
    print('TAP version 13\n1..%d' % len(todo))
    bad = 0
    for i, (name, fn, args) in enumerate(todo, 1):
        why = fn(*args, build_dir)
        bad += why is not None
        print('%sok %d %s%s' % ('not ' if why else '', i, name,
                                '\n# %s' % why if why else ''),
              flush=True)
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
