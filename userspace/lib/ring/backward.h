/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * Internal: a perf ring that the kernel writes backward (write_backward,
 * mapped read-only): it keeps the newest records and overwrites the oldest.
 * data_head begins at 0 and falls; from it on lie the records, newest first.
 * Only to be read while its output is paused and every writer has left.
 */
#ifndef PERFCLOCK_LIB_BACKWARD_H
#define PERFCLOCK_LIB_BACKWARD_H

#include "ring/ring.h"

/*
 * Hand over each record written since *prev (0 at first), oldest first, and
 * set *prev for the next time. The oldest, if half overwritten, is left out.
 * 0, -ENOMEM, or what take returned, which ends it.
 */
int pc_backward_read(struct pc_ring *r, uint64_t *prev,
		     int (*take)(const struct perf_event_header *h, void *ctx),
		     void *ctx);

#endif /* PERFCLOCK_LIB_BACKWARD_H */
