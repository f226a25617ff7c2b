// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* Where a record keeps its stamp, CPU, task, id and raw bytes. */
#include <string.h>

#include "ring/layout.h"

static void sample_layout(struct pc_sample_layout *s, uint64_t type)
{
	unsigned int at = sizeof(struct perf_event_header);

	if (type & PERF_SAMPLE_IDENTIFIER) {
		s->id = at;
		at += 8;
	}
	if (type & PERF_SAMPLE_IP)
		at += 8;
	if (type & PERF_SAMPLE_TID) {
		s->tid = at;
		at += 8;
	}
	if (type & PERF_SAMPLE_TIME) {
		s->time = at;
		at += 8;
	}
	if (type & PERF_SAMPLE_ADDR)
		at += 8;
	if (type & PERF_SAMPLE_ID) {
		s->id = at;
		at += 8;
	}
	if (type & PERF_SAMPLE_STREAM_ID)
		at += 8;
	if (type & PERF_SAMPLE_CPU) {
		s->cpu = at;
		at += 8;
	}
	if (type & PERF_SAMPLE_PERIOD)
		at += 8;
	s->fixed = at;
}

static void trailer_layout(struct pc_trailer_layout *t, uint64_t type)
{
	unsigned int at = 0;

	/* From the end backwards. */
	if (type & PERF_SAMPLE_IDENTIFIER)
		t->id = at += 8;
	if (type & PERF_SAMPLE_CPU)
		t->cpu = at += 8;
	if (type & PERF_SAMPLE_STREAM_ID)
		at += 8;
	if (type & PERF_SAMPLE_ID)
		t->id = at += 8;
	if (type & PERF_SAMPLE_TIME)
		t->time = at += 8;
	if (type & PERF_SAMPLE_TID)
		t->tid = at += 8;
	t->size = at;
}

void pc_layout_init(struct pc_layout *l, const struct perf_event_attr *attr)
{
	memset(l, 0, sizeof(*l));
	l->sample_type = attr->sample_type;
	l->read_format = attr->read_format;
	sample_layout(&l->sample, attr->sample_type);
	if (attr->sample_id_all)
		trailer_layout(&l->trailer, attr->sample_type);
}

bool pc_layout_same(const struct pc_layout *a, const struct pc_layout *b)
{
	return a->sample_type == b->sample_type &&
	       a->read_format == b->read_format &&
	       a->trailer.size == b->trailer.size;
}

/* Bytes of PERF_SAMPLE_READ at p; 0: it does not fit into left. */
static size_t read_size(const struct pc_layout *l, const char *p, size_t left)
{
	uint64_t f = l->read_format;
	size_t n = 8, each = 8;
	uint64_t nr;

	if (f & PERF_FORMAT_TOTAL_TIME_ENABLED)
		n += 8;
	if (f & PERF_FORMAT_TOTAL_TIME_RUNNING)
		n += 8;
	if (f & PERF_FORMAT_ID)
		each += 8;
	if (f & (1U << 4))	/* PERF_FORMAT_LOST */
		each += 8;
	if (!(f & PERF_FORMAT_GROUP)) {
		n += each - 8;
		return n <= left ? n : 0;
	}
	if (left < n)
		return 0;
	nr = pc_load_u64(p);
	if (nr > (left - n) / each)
		return 0;
	return n + nr * each;
}

static void parse_raw(const struct pc_layout *l,
		      const struct perf_event_header *h, struct pc_fields *f)
{
	const char *p = (const char *)h + l->sample.fixed;
	const char *end = (const char *)h + h->size;
	uint64_t nr;
	uint32_t size;
	size_t n;

	if (!(l->sample_type & PERF_SAMPLE_RAW) || p > end)
		return;
	if (l->sample_type & PERF_SAMPLE_READ) {
		n = read_size(l, p, end - p);
		if (!n)
			return;
		p += n;
	}
	if (l->sample_type & PERF_SAMPLE_CALLCHAIN) {
		if (end - p < 8)
			return;
		nr = pc_load_u64(p);
		if (nr > (uint64_t)(end - p - 8) / 8)
			return;
		p += 8 + nr * 8;
	}
	if (end - p < 4)
		return;
	memcpy(&size, p, sizeof(size));
	if (size > (size_t)(end - p - 4))
		return;
	f->raw = p + 4;
	f->raw_size = size;
}

static void parse_task(struct pc_fields *f, const char *p)
{
	memcpy(&f->pid, p, 4);
	memcpy(&f->tid, p + 4, 4);
}

static void parse_sample(const struct pc_layout *l,
			 const struct perf_event_header *h,
			 struct pc_fields *f)
{
	const struct pc_sample_layout *s = &l->sample;
	const char *p = (const char *)h;

	if (h->size < s->fixed)
		return;
	if (s->tid)
		parse_task(f, p + s->tid);
	if (s->cpu)
		memcpy(&f->cpu, p + s->cpu, 4);
	if (s->id)
		f->id = pc_load_u64(p + s->id);
	parse_raw(l, h, f);
}

static void parse_other(const struct pc_layout *l,
			const struct perf_event_header *h,
			struct pc_fields *f)
{
	const struct pc_trailer_layout *t = &l->trailer;
	const char *end = (const char *)h + h->size;
	size_t body = h->size - sizeof(*h);

	if (t->size && body >= t->size) {
		if (t->tid)
			parse_task(f, end - t->tid);
		if (t->cpu)
			memcpy(&f->cpu, end - t->cpu, 4);
		if (t->id)
			f->id = pc_load_u64(end - t->id);
		body -= t->size;
	}
	/* LOST: id, lost. LOST_SAMPLES: lost. */
	if (h->type == PERF_RECORD_LOST && body >= 16)
		f->lost = pc_load_u64((const char *)(h + 1) + 8);
	else if (h->type == PC_RECORD_LOST_SAMPLES && body >= 8)
		f->lost = pc_load_u64(h + 1);
}

void pc_layout_parse(const struct pc_layout *l,
		     const struct perf_event_header *h, struct pc_fields *f)
{
	memset(f, 0, sizeof(*f));
	f->cpu = f->pid = f->tid = -1;
	f->stamp = pc_layout_stamp(l, h);
	if (h->type == PERF_RECORD_SAMPLE)
		parse_sample(l, h, f);
	else
		parse_other(l, h, f);
}
