/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * Internal: where a record keeps its stamp, CPU, task, id and raw bytes.
 *
 * A sample has them after its header, a side-band record in a trailer at its
 * end (with sample_id_all), in this order, each present if its sample_type
 * bit is set, 8 bytes each:
 *
 *   sample:	IDENTIFIER IP TID TIME ADDR ID STREAM_ID CPU PERIOD
 *		READ... CALLCHAIN... RAW...
 *   trailer:	TID TIME ID STREAM_ID CPU IDENTIFIER
 */
#ifndef PERFCLOCK_LIB_LAYOUT_H
#define PERFCLOCK_LIB_LAYOUT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

/* Newer than the headers we may be built with. */
#define PC_RECORD_LOST_SAMPLES		13
#define PC_RECORD_CALLCHAIN_DEFERRED	22

/* Byte offsets from the record's start; 0: absent. */
struct pc_sample_layout {
	uint8_t tid, time, id, cpu;
	uint8_t fixed;		/* where the variable part begins */
};

/* Byte offsets back from the record's end; 0: absent. */
struct pc_trailer_layout {
	uint8_t tid, time, id, cpu;
	uint8_t size;
};

struct pc_layout {
	uint64_t sample_type;
	uint64_t read_format;
	struct pc_sample_layout sample;
	struct pc_trailer_layout trailer;	/* all 0: no sample_id_all */
};

struct pc_fields {
	uint64_t stamp;		/* 0: none */
	uint64_t id;		/* 0: none */
	uint64_t lost;
	const void *raw;
	uint32_t raw_size;
	int32_t cpu, pid, tid;	/* -1: unknown */
};

void pc_layout_init(struct pc_layout *l, const struct perf_event_attr *attr);

/* Can records of both be told apart or need not be: same places for all. */
bool pc_layout_same(const struct pc_layout *a, const struct pc_layout *b);

/* All fields; what a record is too short for stays unknown. */
void pc_layout_parse(const struct pc_layout *l,
		     const struct perf_event_header *h, struct pc_fields *f);

static inline uint64_t pc_load_u64(const void *p)
{
	uint64_t v;

	__builtin_memcpy(&v, p, sizeof(v));
	return v;
}

/* Stamp of a record; 0: it has none, or is too short for one. */
static inline uint64_t pc_layout_stamp(const struct pc_layout *l,
				       const struct perf_event_header *h)
{
	unsigned int at;

	if (h->type == PERF_RECORD_SAMPLE) {
		at = l->sample.time;
		if (!at || h->size < at + 8)
			return 0;
	} else {
		if (!l->trailer.time ||
		    h->size < sizeof(*h) + l->trailer.size)
			return 0;
		at = h->size - l->trailer.time;
	}
	return pc_load_u64((const char *)h + at);
}

/* Id of a record, by any layout that has IDENTIFIER; 0: none. */
static inline uint64_t pc_record_identifier(const struct perf_event_header *h)
{
	if (h->size < sizeof(*h) + 8)
		return 0;
	if (h->type == PERF_RECORD_SAMPLE)
		return pc_load_u64(h + 1);
	return pc_load_u64((const char *)h + h->size - 8);
}

/*
 * Does the stamp say when? LOST is stamped after its place was taken and may
 * pass its stamp on; READ is stamped outside the section that a grace period
 * waits for: both keep their place in the ring only.
 */
static inline bool pc_record_placed(uint32_t type, uint64_t stamp)
{
	return !stamp || stamp == UINT64_MAX || type == PERF_RECORD_LOST ||
	       type == PC_RECORD_LOST_SAMPLES || type == PERF_RECORD_READ;
}

#endif /* PERFCLOCK_LIB_LAYOUT_H */
