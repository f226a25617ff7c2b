// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* The next record: found, checked, and what it says of time and place. */
#include <errno.h>
#include <linux/perf_event.h>

#include "perfdata/internal.h"

#define FATAL	PERFCLOCK_FAULT_FATAL
#define DAMAGE	PERFCLOCK_FAULT_DAMAGE
#define NOTE	PERFCLOCK_FAULT_NOTE

typedef unsigned long long ull;

/* The input ends inside a record, at its header or later. */
static int cut(struct perfclock_perfdata *p, size_t have, uint32_t need)
{
	if (p->in.error)
		return p->in.error;
	if (p->in.eof && !p->in.seekable)
		p->data_cut = true;
	pd_fault(p, FATAL, p->in.pos, "truncated", "truncated record at the "
		 "end of the %s: %zu of %u bytes", p->info.pipe ? "stream" :
		 "file", have, need);
	return 0;
}

/* 1, 0 at the end, -errno */
static int outer_next(struct perfclock_perfdata *p, struct pd_raw *r)
{
	const uint64_t pos = p->in.pos;
	const uint64_t left = p->data_end > pos ? p->data_end - pos : 0;
	const bool big = p->info.big_endian;
	const uint8_t *at;

	if (!left)
		return 0;
	at = pd_input_peek(&p->in, PD_RECORD_HEADER);
	if (!at && !pd_input_left(&p->in) && !p->in.error) {
		/* Pipe mode ends so; file mode has said how much there is. */
		if (!p->info.pipe)
			pd_fault(p, FATAL, pos, "data", "data section "
				 "truncated: %llu bytes are missing",
				 (ull)left);
		p->data_cut = true;
		return 0;
	}
	if (!at || left < PD_RECORD_HEADER)
		return cut(p, at ? left : pd_input_left(&p->in),
			   PD_RECORD_HEADER);
	*r = (struct pd_raw){
		.data = at, .size = get_u16(at + 6, big),
		.type = get_u32(at, big), .offset = pos,
	};
	if (r->size < PD_RECORD_HEADER) {
		pd_fault(p, FATAL, pos, "size", "record size %u, less than "
			 "its header", r->size);
		return 0;
	}
	if (r->size > left && !p->data_cut) {
		pd_fault(p, FATAL, pos, "size", "record of %u bytes overruns "
			 "the data section, which has %llu left", r->size,
			 (ull)left);
		return 0;
	}
	if (r->size > left)
		return cut(p, left, r->size);
	r->data = pd_input_peek(&p->in, r->size);
	if (!r->data)
		return cut(p, pd_input_left(&p->in), r->size);
	pd_input_take(&p->in, r->size);
	return 1;
}

/* How many bytes follow a record outside of its size. */
static uint64_t payload_of(struct perfclock_perfdata *p,
			   const struct pd_raw *r)
{
	const bool big = p->info.big_endian;
	uint64_t left = p->data_end - p->in.pos, size = 0;

	if (r->type == PERFCLOCK_PERFDATA_TRACING_DATA && r->size >= 12)
		size = ((uint64_t)get_u32(r->data + 8, big) + 7) & ~7ull;
	else if (r->type == PERFCLOCK_PERFDATA_AUXTRACE && r->size >= 16)
		size = get_u64(r->data + 8, big);
	if (r->inner && size) {
		pd_fault(p, DAMAGE, r->offset, "payload",
			 "%s inside a COMPRESSED record: its data is nowhere",
			 perfclock_perfdata_record_name(r->type));
		return 0;
	}
	/* A size that the file can't hold is found out at its end. */
	if (p->data_end == UINT64_MAX && size > INT64_MAX)
		size = INT64_MAX;
	return p->info.pipe || size <= left ? size : left + 1;
}

/* Read or skip a part of the payload. buf NULL: skip. */
static long payload_take(struct perfclock_perfdata *p, void *buf, uint64_t n)
{
	const uint64_t left = p->data_end > p->in.pos ?
			      p->data_end - p->in.pos : 0;
	long got;

	if (n > p->payload_left)
		n = p->payload_left;
	if (!n)
		return 0;
	if (n > left)
		n = left;
	if (!n)
		got = 0;
	else if (buf)
		got = pd_input_read(&p->in, buf, n);
	else
		got = pd_input_skip(&p->in, n);
	if (got > 0)
		p->payload_left -= got;
	if (got < 0 || p->in.error)
		return p->in.error;
	if (!got) {
		pd_fault(p, FATAL, p->in.pos, "payload",
			 "auxiliary data (AUXTRACE or TRACING_DATA) truncated "
			 "at the end of the %s",
			 p->info.pipe ? "stream" : "data section");
		p->payload_left = 0;
	}
	return got;
}

long perfclock_perfdata_read_payload(struct perfclock_perfdata *p, void *buf,
				     size_t len)
{
	return payload_take(p, buf, len);
}

/* 1, 0 at the end, -errno: a record that is not COMPRESSED. */
static int raw_next(struct perfclock_perfdata *p, struct pd_raw *r)
{
	long n;
	int got;

	while (!p->failed) {
		if (p->inner.active) {
			got = pd_inner_next(p, r);
			if (got)
				return got;
			continue;
		}
		while (p->payload_left && !p->failed) {
			n = payload_take(p, NULL, p->payload_left);
			if (n < 0)
				return n;
		}
		if (p->failed)
			break;
		got = outer_next(p, r);
		if (got <= 0)
			return got;
		if (r->type != PERFCLOCK_PERFDATA_COMPRESSED &&
		    r->type != PERFCLOCK_PERFDATA_COMPRESSED2)
			return 1;
		if (!pd_check_user_record(p, r))
			continue;
		got = pd_inner_begin(p, r);
		if (got)
			return got;
	}
	return 0;
}

/* Which event is it of? NULL: not to be told, which was told of. */
static const struct pd_attr *find_attr(struct perfclock_perfdata *p,
				       const struct pd_raw *r)
{
	const bool sample = r->type == PERF_RECORD_SAMPLE;
	const struct pd_id *known;
	uint32_t at;
	uint64_t id;

	if (!p->nr_attrs) {
		if (!p->told_no_attr)
			pd_fault(p, DAMAGE, r->offset, "attr",
				 "a kernel record before any attribute: stamps "
				 "can't be read");
		p->told_no_attr = true;
		return NULL;
	}
	if (!p->mixed)
		return &p->attr[0];
	if (p->ambiguous)
		return NULL;
	at = sample ? p->sample_id_place : p->trailer_id_place;
	if (!at && !sample)
		return &p->attr[0];	/* no trailers at all */
	if (r->size < (sample ? at + 8 : PD_RECORD_HEADER + at))
		return &p->attr[0];	/* too short for any: told there */
	id = get_u64(r->data + (sample ? at : r->size - at),
		     p->info.big_endian);
	known = pd_id_find(p, id);
	if (known && known->attr >= 0)
		return &p->attr[known->attr];
	if (!id && !sample)
		return &p->attr[0];	/* made by perf, before it began */
	pd_fault(p, DAMAGE, r->offset, "id",
		 "unknown event id %llu: its layout can't be told", (ull)id);
	return NULL;
}

static bool check_sample(struct perfclock_perfdata *p,
			 const struct sample_layout *l, const struct pd_raw *r)
{
	const char *what;

	if (!sample_walk(l, r->data, r->size, &what, NULL, NULL))
		return true;
	pd_fault(p, DAMAGE, r->offset, "sample", "sample of %u bytes: %s "
		 "longer than the record", r->size, what);
	return false;
}

static bool get_fields(struct perfclock_perfdata *p,
		       const struct sample_layout *l, const struct pd_raw *r,
		       struct sample_fields *f)
{
	const char *name = perfclock_perfdata_record_name(r->type);
	uint32_t least = sample_record_min(r->type);

	if (!sample_get_fields(l, r->data, r->size, f))
		return true;
	if (r->type == PERF_RECORD_SAMPLE)
		pd_fault(p, DAMAGE, r->offset, "short", "sample of %u bytes: "
			 "too short for its sample_type 0x%llx", r->size,
			 (ull)l->format.sample_type);
	else
		pd_fault(p, DAMAGE, r->offset, "short", "%s record of %u "
			 "bytes: too short for its %s", name ? name : "?",
			 r->size, r->size < least ? "type" : "sample_id");
	return false;
}

static uint32_t find_stream(struct perfclock_perfdata *p,
			    const struct sample_fields *f,
			    const struct pd_id *id, uint64_t offset)
{
	if ((f->have & PERF_SAMPLE_CPU) && f->cpu >= 0)
		return pd_stream_of(p, offset, PERFCLOCK_STREAM_CPU, f->cpu);
	if (f->have & PERF_SAMPLE_CPU)
		return pd_stream_of(p, offset, PERFCLOCK_STREAM_NO_CPU, 0);
	if (id && id->cpu >= 0)
		return pd_stream_of(p, offset, PERFCLOCK_STREAM_CPU, id->cpu);
	if (id && id->attr >= 0 && p->attr[id->attr].nr_ids > 1)
		return pd_stream_of(p, offset, PERFCLOCK_STREAM_POSITION,
				    id->position);
	return pd_stream_of(p, offset, PERFCLOCK_STREAM_ONE, 0);
}

static void kernel_record(struct perfclock_perfdata *p,
			  const struct pd_raw *r,
			  struct perfclock_perfdata_record *rec)
{
	const struct pd_attr *a;
	const struct pd_id *id;
	struct sample_fields f;

	if (!perfclock_perfdata_record_name(r->type)) {
		rec->flags |= PERFCLOCK_PERFDATA_UNKNOWN;
		return;
	}
	a = find_attr(p, r);
	if (!a || !get_fields(p, &a->layout, r, &f)) {
		rec->flags |= PERFCLOCK_PERFDATA_DAMAGED;
		return;
	}
	if (r->type == PERF_RECORD_SAMPLE && !check_sample(p, &a->layout, r))
		rec->flags |= PERFCLOCK_PERFDATA_DAMAGED;
	id = pd_id_find(p, f.id);
	rec->attr = id ? id->attr : !f.id ? -1 : (int32_t)(a - p->attr);
	rec->id = f.id;
	rec->cpu = f.cpu >= 0 ? f.cpu : id ? id->cpu : -1;
	rec->pid = f.pid;
	rec->tid = f.tid;
	rec->stream = find_stream(p, &f, id, r->offset);
	/* 0 and ~0 are what perf writes where it has no time. */
	if (f.stamp && f.stamp != UINT64_MAX) {
		rec->stamp = f.stamp;
		rec->flags |= PERFCLOCK_PERFDATA_STAMPED;
	}
}

static int header_attr(struct perfclock_perfdata *p, const struct pd_raw *r)
{
	const uint8_t *bytes = r->data + PD_RECORD_HEADER;
	uint32_t size = get_u32(bytes + 4, p->info.big_endian), i, nr;
	const bool was_ambiguous = p->ambiguous;
	int err;

	if (!size)
		size = PD_ATTR_SIZE_0;
	err = pd_attr_add(p, bytes, size);
	if (err == -E2BIG) {
		pd_fault(p, DAMAGE, r->offset, "attr", "more than %u "
			 "attributes: this one is ignored", PD_MAX_ATTRS);
		return 0;
	}
	nr = (r->size - PD_RECORD_HEADER - size) / 8;
	if (!err)
		p->attr[p->nr_attrs - 1].nr_ids = nr;
	for (i = 0; !err && i < nr; i++)
		err = pd_id_add(p, get_u64(bytes + size + i * 8,
					   p->info.big_endian),
				p->nr_attrs - 1, i, r->offset);
	if (p->ambiguous && !was_ambiguous)
		pd_fault(p, DAMAGE, r->offset, "ambiguous",
			 "ambiguous: sample types differ and the id is not at "
			 "one position; stamps can't be read");
	return err;
}

static int id_index(struct perfclock_perfdata *p, const struct pd_raw *r)
{
	const bool big = p->info.big_endian;
	uint64_t nr = get_u64(r->data + 8, big), i;
	const uint8_t *entry = r->data + 16;
	int err = 0;

	/* id, index, cpu, tid: 8 bytes each */
	for (i = 0; !err && i < nr; i++, entry += 32)
		err = pd_id_set_cpu(p, get_u64(entry, big),
				    (int32_t)get_u64(entry + 16, big),
				    r->offset);
	return err;
}

static bool header_feature(struct perfclock_perfdata *p,
			   const struct pd_raw *r)
{
	uint64_t feature = get_u64(r->data + 8, p->info.big_endian);
	uint32_t size = r->size - 16;

	/* Empty, and of a number that we don't know: newer perf's end mark. */
	if (feature >= PD_FEATURES || !size)
		return true;
	/* File mode has its bitmap, by which the table of features is read. */
	if (p->info.pipe)
		p->info.features[feature / 64] |= 1ull << feature % 64;
	return pd_feature_check(p, feature, r->data + 16, size, size,
				r->offset);
}

static int user_record(struct perfclock_perfdata *p, const struct pd_raw *r,
		       struct perfclock_perfdata_record *rec)
{
	bool good = pd_check_user_record(p, r);
	int err = 0;

	if (!perfclock_perfdata_record_name(r->type))
		rec->flags |= PERFCLOCK_PERFDATA_UNKNOWN;
	rec->payload = payload_of(p, r);
	p->payload_left = rec->payload;
	if (good && r->type == PERFCLOCK_PERFDATA_HEADER_ATTR)
		err = header_attr(p, r);
	else if (good && r->type == PERFCLOCK_PERFDATA_ID_INDEX)
		err = id_index(p, r);
	else if (good && r->type == PERFCLOCK_PERFDATA_HEADER_FEATURE)
		good = header_feature(p, r);
	else if (r->inner && (r->type == PERFCLOCK_PERFDATA_COMPRESSED ||
			      r->type == PERFCLOCK_PERFDATA_COMPRESSED2)) {
		pd_fault(p, DAMAGE, r->offset, "zstd",
			 "a COMPRESSED record inside a COMPRESSED record");
		good = false;
	}
	if (!good)
		rec->flags |= PERFCLOCK_PERFDATA_DAMAGED;
	return err;
}

/* What is left in the buffer when the last COMPRESSED record has been read. */
static void end_of_inner(struct perfclock_perfdata *p)
{
	size_t left = p->inner.used - p->inner.at;

	if (left && !p->failed)
		pd_fault(p, DAMAGE, p->inner.offset, "truncated",
			 "truncated record at the end of the compressed data: "
			 "%zu bytes", left);
	p->inner.used = p->inner.at = 0;
}

int perfclock_perfdata_next(struct perfclock_perfdata *p,
			    struct perfclock_perfdata_record *rec)
{
	struct pd_raw r;
	int err;

	if (p->ended)
		return 0;
	p->begun = true;
	err = raw_next(p, &r);
	if (err <= 0) {
		p->ended = true;
		if (!err)
			end_of_inner(p);
		return err;
	}
	*rec = (struct perfclock_perfdata_record){
		.offset = r.offset, .data = r.data, .size = r.size,
		.type = r.type, .stream = UINT32_MAX, .cpu = -1, .pid = -1,
		.tid = -1, .attr = -1,
		.flags = r.inner ? PERFCLOCK_PERFDATA_INNER : 0,
	};
	if (r.type < PERFCLOCK_PERFDATA_HEADER_ATTR)
		kernel_record(p, &r, rec);
	else
		err = user_record(p, &r, rec);
	if (err < 0) {
		p->ended = true;
		return err;
	}
	if (!(rec->flags & PERFCLOCK_PERFDATA_DAMAGED))
		p->info.records++;
	return 1;
}
