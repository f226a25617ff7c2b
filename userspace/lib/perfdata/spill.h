/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * Internal: ascending runs of records in a temporary file, and their merge.
 * Runs are merged in the order in which they were written, so that equal keys
 * keep that order.
 */
#ifndef PERFCLOCK_LIB_PERFDATA_SPILL_H
#define PERFCLOCK_LIB_PERFDATA_SPILL_H

#include "perfdata/output.h"
#include "perfdata/window.h"

struct spill_run {
	uint64_t start, end;	/* bytes of the file */
};

struct spill {
	int fd;
	struct pd_output out;
	struct spill_run *runs;
	size_t nr_runs, room;
	uint64_t bytes;		/* written in all */
};

/* dir: where the file goes. 0, -errno. */
int spill_init(struct spill *s, const char *dir);
void spill_free(struct spill *s);
int spill_begin_run(struct spill *s);		/* 0, -ENOMEM */
int spill_add(struct spill *s, const struct sort_record *r);
/* All runs, through fn, in order; memory: for buffers. Empties the spill. */
int spill_merge(struct spill *s, size_t memory, window_fn fn, void *ctx);

#endif /* PERFCLOCK_LIB_PERFDATA_SPILL_H */
