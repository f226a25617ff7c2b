/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Small recordings, made in memory: for unit tests and as a fuzzer's corpus.
 * A recording is begun, gets its records, and is ended, which puts the sizes
 * into its header:
 *
 *	struct gen g;
 *
 *	gen_begin(&g, &(struct gen_opts){ .nr_cpus = 2 });
 *	gen_sample(&g, 0, stamp, cpu, NULL, 0);
 *	gen_end(&g);
 *	... g.buf, g.used ...
 *	gen_free(&g);
 */
#ifndef SELFTESTS_GEN_H
#define SELFTESTS_GEN_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <perfclock/perfdata.h>

#include "bytes.h"

#define GEN_ATTRS	4
#define GEN_FEATURES	32

/* What most recorders of today ask for. */
#define GEN_SAMPLE_TYPE	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |	\
			 PERF_SAMPLE_TID | PERF_SAMPLE_TIME |		\
			 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)

struct gen_opts {
	bool pipe, big, old_magic;
	bool no_sample_id;	/* no trailers */
	bool zero_size;		/* attr.size 0, as the first perf wrote */
	unsigned int attr_size;	/* of perf_event_attr; 0: 112 */
	unsigned int nr_attrs;	/* 0: 1 */
	unsigned int nr_cpus;	/* ids per attribute; 0: 2 */
	uint64_t sample_type[GEN_ATTRS];	/* 0: GEN_SAMPLE_TYPE */
	uint64_t read_format;
	bool use_clockid;
	uint32_t clockid;
};

struct gen {
	uint8_t *buf;
	size_t used, room;
	struct gen_opts o;
	size_t record;		/* where the open record begins */
	size_t data;		/* where the records begin */
	struct {
		unsigned int bit;
		const void *bytes;
		size_t size;
	} features[GEN_FEATURES];
	unsigned int nr_features;
};

static inline void gen_bytes(struct gen *g, const void *p, size_t n)
{
	if (g->used + n > g->room) {
		g->room = (g->used + n) * 2;
		g->buf = realloc(g->buf, g->room);
		if (!g->buf)
			abort();
	}
	if (p)
		memcpy(g->buf + g->used, p, n);
	else
		memset(g->buf + g->used, 0, n);
	g->used += n;
}

static inline void gen_u64(struct gen *g, uint64_t v)
{
	if (g->o.big != HOST_BIG_ENDIAN)
		v = __builtin_bswap64(v);
	gen_bytes(g, &v, 8);
}

static inline void gen_u32(struct gen *g, uint32_t v)
{
	if (g->o.big != HOST_BIG_ENDIAN)
		v = __builtin_bswap32(v);
	gen_bytes(g, &v, 4);
}

static inline void gen_u16(struct gen *g, uint16_t v)
{
	if (g->o.big != HOST_BIG_ENDIAN)
		v = __builtin_bswap16(v);
	gen_bytes(g, &v, 2);
}

/* Overwrite what stands at a place. */
static inline void gen_set_u64(struct gen *g, size_t at, uint64_t v)
{
	put_u64(g->buf + at, v, g->o.big);
}

static inline void gen_set_u16(struct gen *g, size_t at, uint16_t v)
{
	if (g->o.big != HOST_BIG_ENDIAN)
		v = __builtin_bswap16(v);
	memcpy(g->buf + at, &v, 2);
}

static inline void gen_record(struct gen *g, uint32_t type)
{
	g->record = g->used;
	gen_u32(g, type);
	gen_u16(g, 0);
	gen_u16(g, 0);
}

static inline void gen_record_end(struct gen *g)
{
	gen_set_u16(g, g->record + 6, g->used - g->record);
}

static inline uint64_t gen_type(const struct gen *g, unsigned int attr)
{
	return g->o.sample_type[attr] ? g->o.sample_type[attr] :
					GEN_SAMPLE_TYPE;
}

/* The id of an attribute on a CPU. */
static inline uint64_t gen_id(unsigned int attr, unsigned int cpu)
{
	return 1000 + attr * 100 + cpu;
}

static inline void gen_attr_bytes(struct gen *g, unsigned int attr)
{
	const unsigned int size = g->o.attr_size;
	const size_t start = g->used;
	uint64_t flags = (g->o.no_sample_id ? 0 : 1ull << 18) |
			 (g->o.use_clockid ? 1ull << 25 : 0);
	unsigned int i;

	gen_u32(g, PERF_TYPE_SOFTWARE);
	gen_u32(g, g->o.zero_size ? 0 : size);
	gen_u64(g, attr);
	gen_u64(g, 1);			/* period */
	gen_u64(g, gen_type(g, attr));
	gen_u64(g, g->o.read_format);
	/* Bitfields begin at the other end on big endian, in each byte. */
	for (i = 0; i < 8; i++) {
		uint8_t byte = flags >> i * 8, rev = 0, k;

		for (k = 0; k < 8; k++)
			rev |= (byte >> k & 1) << (7 - k);
		gen_bytes(g, g->o.big ? &rev : &byte, 1);
	}
	gen_bytes(g, NULL, 16);
	if (size > 64)
		gen_bytes(g, NULL, size - 64);
	if (size >= 96) {
		size_t end = g->used;

		g->used = start + 92;
		gen_u32(g, g->o.clockid);
		g->used = end;
	}
}

static inline void gen_ids(struct gen *g, unsigned int attr)
{
	unsigned int cpu;

	for (cpu = 0; cpu < g->o.nr_cpus; cpu++)
		gen_u64(g, gen_id(attr, cpu));
}

static inline void gen_pipe_attr(struct gen *g, unsigned int attr)
{
	gen_record(g, PERFCLOCK_PERFDATA_HEADER_ATTR);
	gen_attr_bytes(g, attr);
	gen_ids(g, attr);
	gen_record_end(g);
}

static inline void gen_file_header(struct gen *g)
{
	const unsigned int entry = g->o.attr_size + 16;
	const size_t ids = 104, one = g->o.nr_cpus * 8;
	const size_t attrs = ids + one * g->o.nr_attrs;
	unsigned int i;

	gen_u64(g, entry);
	gen_u64(g, attrs);
	gen_u64(g, entry * g->o.nr_attrs);
	gen_u64(g, attrs + entry * g->o.nr_attrs);	/* data */
	gen_u64(g, 0);
	gen_bytes(g, NULL, 16 + 32);	/* event types, features */
	for (i = 0; i < g->o.nr_attrs; i++)
		gen_ids(g, i);
	for (i = 0; i < g->o.nr_attrs; i++) {
		gen_attr_bytes(g, i);
		gen_u64(g, ids + one * i);
		gen_u64(g, one);
	}
}

static inline void gen_begin(struct gen *g, const struct gen_opts *o)
{
	unsigned int i;

	memset(g, 0, sizeof(*g));
	g->o = *o;
	if (!g->o.attr_size)
		g->o.attr_size = 112;
	if (!g->o.nr_attrs)
		g->o.nr_attrs = 1;
	if (!g->o.nr_cpus)
		g->o.nr_cpus = 2;
	gen_bytes(g, g->o.old_magic ? "PERFFILE" :
		  g->o.big ? "2ELIFREP" : "PERFILE2", 8);
	gen_u64(g, g->o.pipe ? 16 : 104);
	if (g->o.pipe)
		for (i = 0; i < g->o.nr_attrs; i++)
			gen_pipe_attr(g, i);
	else
		gen_file_header(g);
	g->data = g->used;
}

/* The fields that samples and trailers have in common, in two runs. */
static inline void gen_tid_time(struct gen *g, uint64_t type, uint64_t stamp)
{
	if (type & PERF_SAMPLE_TID) {
		gen_u32(g, 10);
		gen_u32(g, 11);
	}
	if (type & PERF_SAMPLE_TIME)
		gen_u64(g, stamp);
}

static inline void gen_ids_cpu(struct gen *g, uint64_t type, uint64_t id,
			       int cpu)
{
	if (type & PERF_SAMPLE_ID)
		gen_u64(g, id);
	if (type & PERF_SAMPLE_STREAM_ID)
		gen_u64(g, id);
	if (type & PERF_SAMPLE_CPU) {
		gen_u32(g, cpu);
		gen_u32(g, 0);
	}
}

/* extra: behind the fixed part, as READ, CALLCHAIN, RAW ... would stand. */
static inline void gen_sample(struct gen *g, unsigned int attr, uint64_t stamp,
			      int cpu, const void *extra, size_t size)
{
	const uint64_t type = gen_type(g, attr);
	const uint64_t id = gen_id(attr, cpu < 0 ? 0 : cpu);

	gen_record(g, PERF_RECORD_SAMPLE);
	if (type & PERF_SAMPLE_IDENTIFIER)
		gen_u64(g, id);
	if (type & PERF_SAMPLE_IP)
		gen_u64(g, 0x400000);
	gen_tid_time(g, type, stamp);
	if (type & PERF_SAMPLE_ADDR)
		gen_u64(g, 0x600000);
	gen_ids_cpu(g, type, id, cpu);
	if (type & PERF_SAMPLE_PERIOD)
		gen_u64(g, 1);
	gen_bytes(g, extra, size);
	gen_record_end(g);
}

/* The trailer that sample_id_all gives to all but samples. */
static inline void gen_trailer(struct gen *g, unsigned int attr,
			       uint64_t stamp, int cpu)
{
	const uint64_t type = gen_type(g, attr);
	const uint64_t id = gen_id(attr, cpu < 0 ? 0 : cpu);

	if (g->o.no_sample_id)
		return;
	gen_tid_time(g, type, stamp);
	gen_ids_cpu(g, type, id, cpu);
	if (type & PERF_SAMPLE_IDENTIFIER)
		gen_u64(g, id);
}

static inline void gen_comm(struct gen *g, unsigned int attr, uint64_t stamp,
			    int cpu, const char name[8])
{
	gen_record(g, PERF_RECORD_COMM);
	gen_u32(g, 10);
	gen_u32(g, 11);
	gen_bytes(g, name, 8);
	gen_trailer(g, attr, stamp, cpu);
	gen_record_end(g);
}

static inline void gen_lost(struct gen *g, uint64_t stamp, int cpu,
			    uint64_t lost)
{
	gen_record(g, PERF_RECORD_LOST);
	gen_u64(g, gen_id(0, cpu));
	gen_u64(g, lost);
	gen_trailer(g, 0, stamp, cpu);
	gen_record_end(g);
}

/* A record of one's own making: a type and its bytes. */
static inline void gen_raw(struct gen *g, uint32_t type, const void *bytes,
			   size_t size)
{
	gen_record(g, type);
	gen_bytes(g, bytes, size);
	gen_record_end(g);
}

static inline void gen_round(struct gen *g)
{
	gen_raw(g, PERFCLOCK_PERFDATA_FINISHED_ROUND, NULL, 0);
}

/* An AUXTRACE record with its bytes behind it. */
static inline void gen_auxtrace(struct gen *g, const void *bytes,
				uint64_t size)
{
	gen_record(g, PERFCLOCK_PERFDATA_AUXTRACE);
	gen_u64(g, size);
	gen_bytes(g, NULL, 32);
	gen_record_end(g);
	gen_bytes(g, bytes, size);
}

/* To be written by gen_end(), which needs the bytes still; in bit order. */
static inline void gen_feature(struct gen *g, unsigned int bit,
			       const void *bytes, size_t size)
{
	g->features[g->nr_features].bit = bit;
	g->features[g->nr_features].bytes = bytes;
	g->features[g->nr_features++].size = size;
}

static inline void gen_end(struct gen *g)
{
	size_t at = g->used + g->nr_features * 16;
	uint64_t bits = 0;
	unsigned int i;

	if (g->o.pipe)
		return;
	gen_set_u64(g, 48, g->used - g->data);
	for (i = 0; i < g->nr_features; i++) {
		bits |= 1ull << g->features[i].bit;
		gen_u64(g, at);
		gen_u64(g, g->features[i].size);
		at += g->features[i].size;
	}
	gen_set_u64(g, 72, bits);
	for (i = 0; i < g->nr_features; i++)
		gen_bytes(g, g->features[i].bytes, g->features[i].size);
}

static inline void gen_free(struct gen *g)
{
	free(g->buf);
	memset(g, 0, sizeof(*g));
}

#endif /* SELFTESTS_GEN_H */
