/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/* Internal: a sort under way; sort.c has the records, frame.c the rest. */
#ifndef PERFCLOCK_LIB_PERFDATA_SORT_H
#define PERFCLOCK_LIB_PERFDATA_SORT_H

#include "perfdata/internal.h"
#include "perfdata/output.h"
#include "perfdata/spill.h"
#include "perfdata/window.h"

/* An AUXTRACE record, which the feature AUXTRACE points at. */
struct sort_moved {
	uint64_t from, to;	/* offset in the input, in the output */
};

struct sorter {
	struct perfclock_perfdata *p;	/* what is read now */
	struct perfclock_perfdata_sort_opts opts;
	struct perfclock_perfdata_sort_stats st;
	struct window window;
	struct spill spill;
	struct pd_output out;
	int aside;			/* payloads; -1: none so far */
	uint64_t aside_used;
	struct sort_moved *moved;
	size_t nr_moved, moved_room;
	uint64_t key;			/* of the newest stamped record */
	uint64_t newest;		/* greatest stamp read */
	uint64_t emitted;		/* greatest key of the current run */
	uint64_t data_bytes;		/* of all records, payloads included */
	uint64_t told;			/* progress was told at */
	bool spilling, spill_ready;
	bool direct;			/* the first run goes to the output */
	bool out_of_window;		/* direct, and it can't go on */
};

/* What stands before and behind the records. */
int frame_write_head(struct sorter *s, uint64_t data_size);
int frame_patch_head(struct sorter *s, uint64_t data_size);
int frame_write_tail(struct sorter *s, uint64_t data_size);

/* The file of payloads, made when it is needed first. */
int sort_need_aside(struct sorter *s);

#endif /* PERFCLOCK_LIB_PERFDATA_SORT_H */
