/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * Internal: where stamp, CPU, task and id stand in a perf record, given its
 * event's sample_type, in either byte order, and whether the record is long
 * enough for all that it says it has. The places are those of live rings
 * (ring/layout.h); here nothing in a record is believed before it was checked.
 */
#ifndef PERFCLOCK_LIB_SAMPLE_H
#define PERFCLOCK_LIB_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ring/layout.h"

/* What of a perf_event_attr decides the shape of records. */
struct sample_format {
	uint64_t sample_type;
	uint64_t read_format;
	uint64_t branch_sample_type;
	uint64_t sample_regs_user;
	uint64_t sample_regs_intr;
	bool sample_id_all;
	bool big_endian;
};

struct sample_layout {
	struct sample_format format;
	struct pc_layout places;	/* ring/layout.h */
};

/* What a record says of itself. */
struct sample_fields {
	uint64_t stamp;			/* 0: none */
	uint64_t id;			/* 0: none */
	int32_t cpu;			/* -1: unknown */
	int32_t pid;			/* -1: unknown */
	int32_t tid;
	uint64_t have;			/* PERF_SAMPLE_{TIME,ID,CPU,TID} */
};

void sample_layout_init(struct sample_layout *l,
			const struct sample_format *format);

/*
 * Read the fields of a record of 'size' bytes, header included: of a SAMPLE
 * from its fixed part, of another record from its trailer (none without
 * sample_id_all: all fields are then unknown). 0, or -EBADMSG: the record is
 * too short to hold what its event says it holds (fields are unknown).
 */
int sample_get_fields(const struct sample_layout *l, const void *record,
		      uint32_t size, struct sample_fields *f);

/*
 * Walk the whole of a SAMPLE. 0, or -EBADMSG with *what naming the member
 * that does not fit. raw, raw_size (may be NULL): the PERF_SAMPLE_RAW bytes,
 * NULL and 0 if there are none.
 */
int sample_walk(const struct sample_layout *l, const void *record,
		uint32_t size, const char **what, const void **raw,
		uint32_t *raw_size);

/* Least size of a kernel record's own part, header included; 0: unknown. */
uint32_t sample_record_min(uint32_t type);

#endif /* PERFCLOCK_LIB_SAMPLE_H */
