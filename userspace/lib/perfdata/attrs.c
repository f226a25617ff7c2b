// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* Attributes, ids and streams: which event a record is of, and which ring. */
#include <errno.h>
#include <stdlib.h>
#include <linux/perf_event.h>

#include "perfdata/internal.h"

/* Offsets in struct perf_event_attr, which has only grown since. */
enum {
	ATTR_TYPE		= 0,
	ATTR_CONFIG		= 8,
	ATTR_SAMPLE_TYPE	= 24,
	ATTR_READ_FORMAT	= 32,
	ATTR_FLAGS		= 40,
	ATTR_BRANCH_TYPE	= 72,
	ATTR_REGS_USER		= 80,
	ATTR_CLOCKID		= 92,
	ATTR_REGS_INTR		= 96
};

/* Bits of the flag word, counted from the first that is declared. */
#define FLAG_SAMPLE_ID_ALL	18
#define FLAG_USE_CLOCKID	25

struct attr_bytes {
	const uint8_t *p;
	size_t size;
	bool big;
};

/* Members that an older attribute lacks are zero. */
static uint64_t attr_u64(const struct attr_bytes *a, size_t at)
{
	return at + 8 <= a->size ? get_u64(a->p + at, a->big) : 0;
}

static uint32_t attr_u32(const struct attr_bytes *a, size_t at)
{
	return at + 4 <= a->size ? get_u32(a->p + at, a->big) : 0;
}

/* Bitfields begin at the low bit on little endian, at the high one on big. */
static bool attr_flag(const struct attr_bytes *a, unsigned int bit)
{
	size_t at = ATTR_FLAGS + bit / 8;

	if (at >= a->size)
		return false;
	return a->p[at] >> (a->big ? 7 - bit % 8 : bit % 8) & 1;
}

static uint16_t id_place(const struct sample_layout *l)
{
	return l->format.sample_type & PERF_SAMPLE_IDENTIFIER ?
	       PD_RECORD_HEADER : l->places.sample.id;
}

static uint16_t id_place_back(const struct sample_layout *l)
{
	if (!l->format.sample_id_all)
		return 0;
	return l->format.sample_type & PERF_SAMPLE_IDENTIFIER ?
	       8 : l->places.trailer.id;
}

static bool same_format(const struct sample_format *a,
			const struct sample_format *b)
{
	return a->sample_type == b->sample_type &&
	       a->read_format == b->read_format &&
	       a->sample_id_all == b->sample_id_all &&
	       a->branch_sample_type == b->branch_sample_type &&
	       a->sample_regs_user == b->sample_regs_user &&
	       a->sample_regs_intr == b->sample_regs_intr;
}

/*
 * With layouts that differ the id must be found before the layout is known:
 * it must stand at one place, in samples and in trailers alike.
 */
static void compare_layouts(struct perfclock_perfdata *p)
{
	const struct sample_layout *first = &p->attr[0].layout;
	const struct sample_layout *last = &p->attr[p->nr_attrs - 1].layout;

	if (p->nr_attrs == 1) {
		p->sample_id_place = id_place(first);
		p->trailer_id_place = id_place_back(first);
	} else if (!same_format(&first->format, &last->format)) {
		p->mixed = true;
	}
	if (p->mixed && (!id_place(last) ||
			 id_place(last) != p->sample_id_place ||
			 id_place_back(last) != p->trailer_id_place))
		p->ambiguous = true;
	p->info.identifiable = !p->ambiguous;
}

int pd_attr_add(struct perfclock_perfdata *p, const uint8_t *bytes,
		size_t size)
{
	struct attr_bytes a = { bytes, size, p->info.big_endian };
	struct sample_format format;
	struct pd_attr *attr;

	if (p->nr_attrs == PD_MAX_ATTRS)
		return -E2BIG;
	if (p->nr_attrs == p->attr_room) {
		uint32_t room = p->attr_room ? p->attr_room * 2 : 8;

		attr = realloc(p->attr, room * sizeof(*attr));
		if (!attr)
			return -ENOMEM;
		p->attr = attr;
		p->attr_room = room;
	}
	format = (struct sample_format){
		.sample_type = attr_u64(&a, ATTR_SAMPLE_TYPE),
		.read_format = attr_u64(&a, ATTR_READ_FORMAT),
		.branch_sample_type = attr_u64(&a, ATTR_BRANCH_TYPE),
		.sample_regs_user = attr_u64(&a, ATTR_REGS_USER),
		.sample_regs_intr = attr_u64(&a, ATTR_REGS_INTR),
		.sample_id_all = attr_flag(&a, FLAG_SAMPLE_ID_ALL),
		.big_endian = a.big,
	};
	attr = &p->attr[p->nr_attrs++];
	*attr = (struct pd_attr){
		.type = attr_u32(&a, ATTR_TYPE),
		.config = attr_u64(&a, ATTR_CONFIG),
		.use_clockid = attr_flag(&a, FLAG_USE_CLOCKID),
		.clockid = attr_u32(&a, ATTR_CLOCKID),
	};
	sample_layout_init(&attr->layout, &format);
	p->info.nr_attrs = p->nr_attrs;
	compare_layouts(p);
	return 0;
}

static uint32_t hash(uint64_t key)
{
	return key * 0x9e3779b97f4a7c15ull >> 32;
}

/* The slot of an id, or the empty one where it would be. */
static struct pd_id *id_slot(struct pd_id *ids, uint32_t slots, uint64_t id)
{
	uint32_t i = hash(id) & (slots - 1);

	while (ids[i].id && ids[i].id != id)
		i = (i + 1) & (slots - 1);
	return &ids[i];
}

static int ids_grow(struct perfclock_perfdata *p)
{
	uint32_t slots = p->id_slots ? p->id_slots * 2 : 256, i;
	struct pd_id *ids = calloc(slots, sizeof(*ids));

	if (!ids)
		return -ENOMEM;
	for (i = 0; i < p->id_slots; i++)
		if (p->ids[i].id)
			*id_slot(ids, slots, p->ids[i].id) = p->ids[i];
	free(p->ids);
	p->ids = ids;
	p->id_slots = slots;
	return 0;
}

/* NULL with *err 0: not taken (0, or too many, which is told of once). */
static struct pd_id *id_get(struct perfclock_perfdata *p, uint64_t id,
			    uint64_t offset, int *err)
{
	struct pd_id *slot;

	*err = 0;
	if (!id)
		return NULL;
	/* Lists may overlap: what was looked at counts, not what was new. */
	if (p->ids_seen == PD_MAX_IDS) {
		if (!p->told_ids)
			pd_fault(p, PERFCLOCK_FAULT_DAMAGE, offset, "ids",
				 "more than %u event ids: the rest is ignored",
				 PD_MAX_IDS);
		p->told_ids = true;
		return NULL;
	}
	p->ids_seen++;
	if (p->nr_ids >= p->id_slots / 2) {
		*err = ids_grow(p);
		if (*err)
			return NULL;
	}
	slot = id_slot(p->ids, p->id_slots, id);
	if (!slot->id) {
		*slot = (struct pd_id){ .id = id, .attr = -1, .cpu = -1 };
		p->nr_ids++;
		p->info.nr_ids = p->nr_ids;
	}
	return slot;
}

int pd_id_add(struct perfclock_perfdata *p, uint64_t id, int32_t attr,
	      uint32_t position, uint64_t offset)
{
	struct pd_id *slot;
	int err;

	slot = id_get(p, id, offset, &err);
	if (slot) {
		slot->attr = attr;
		slot->position = position;
	}
	return err;
}

int pd_id_set_cpu(struct perfclock_perfdata *p, uint64_t id, int32_t cpu,
		  uint64_t offset)
{
	struct pd_id *slot;
	int err;

	slot = id_get(p, id, offset, &err);
	if (slot)
		slot->cpu = cpu;
	return err;
}

const struct pd_id *pd_id_find(const struct perfclock_perfdata *p, uint64_t id)
{
	const struct pd_id *slot;

	if (!id || !p->id_slots)
		return NULL;
	slot = id_slot(p->ids, p->id_slots, id);
	return slot->id ? slot : NULL;
}

/* More streams than there can be share the last one. */
uint32_t pd_stream_of(struct perfclock_perfdata *p, uint64_t offset,
		      enum perfclock_stream_kind kind, int64_t key)
{
	const uint32_t mask = 2 * PD_MAX_STREAMS - 1;
	uint32_t i = hash((uint64_t)key * 4 + kind) & mask;
	struct pd_stream *s;

	for (; p->stream_slots[i]; i = (i + 1) & mask) {
		s = &p->streams[p->stream_slots[i] - 1];
		if (s->kind == kind && s->key == key)
			return p->stream_slots[i] - 1;
	}
	if (p->nr_streams == PD_MAX_STREAMS) {
		if (!p->told_streams)
			pd_fault(p, PERFCLOCK_FAULT_DAMAGE, offset, "streams",
				 "more than %u CPUs: the rest is taken for one",
				 PD_MAX_STREAMS);
		p->told_streams = true;
		return PD_MAX_STREAMS - 1;
	}
	p->streams[p->nr_streams] = (struct pd_stream){ kind, key };
	p->stream_slots[i] = ++p->nr_streams;
	p->info.nr_streams = p->nr_streams;
	return p->nr_streams - 1;
}
