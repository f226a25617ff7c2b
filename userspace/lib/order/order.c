// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * The order core, first form: a sorted array of records for each ring and a
 * scan over the heads. Correct, and slow with many rings.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <perfclock/order.h>

#include "opts.h"

#define MEMORY_MAX_DEFAULT	((size_t)256 << 20)
#define LEN_MAX			((size_t)1 << 27)
#define NO_RING			(~0u)

/* A stamp of 0 or ~0 says nothing. */
static bool says_nothing(uint64_t stamp)
{
	return stamp + 1 <= 1;
}

struct item {
	uint64_t key;		/* place in the order; stamp unless placed */
	struct perfclock_record rec;
	void *copy;
};

struct ring {
	struct item *items;
	size_t head, nr, room;
	uint64_t last_key;	/* of the record pushed last */
	bool live;		/* takes pushes */
	bool used;		/* exists: live or not yet drained */
	struct perfclock_order_ring_stats st;
};

struct perfclock_order {
	struct ring *rings;
	unsigned int nr_rings;
	enum perfclock_late late;
	size_t memory, memory_max;
	uint64_t limit;		/* the greatest limit so far */
	bool ended, busy;
	void *loan;		/* copy that _next() gave out */
	struct perfclock_order_stats st;
};

static void ring_reset(struct perfclock_order *o, struct ring *r)
{
	o->memory -= r->room * sizeof(*r->items);
	free(r->items);
	memset(r, 0, sizeof(*r));
}

static void item_free(struct perfclock_order *o, struct item *it)
{
	if (it->copy)
		o->memory -= it->rec.len;
	free(it->copy);
}

int perfclock_order_new(struct perfclock_order **op, unsigned int nr_rings,
			const struct perfclock_order_opts *user_opts)
{
	struct perfclock_order_opts opts;
	struct perfclock_order *o;
	unsigned int i;
	int err;

	err = opts_copy(&opts, sizeof(opts), user_opts);
	if (err)
		return err;
	if (nr_rings > PERFCLOCK_ORDER_MAX_RINGS || opts.flags ||
	    (unsigned int)opts.late > PERFCLOCK_LATE_FAIL)
		return -EINVAL;
	o = calloc(1, sizeof(*o));
	if (!o)
		return -ENOMEM;
	o->rings = calloc(PERFCLOCK_ORDER_MAX_RINGS, sizeof(*o->rings));
	if (!o->rings) {
		free(o);
		return -ENOMEM;
	}
	o->late = opts.late;
	o->memory_max = opts.memory_max ? opts.memory_max : MEMORY_MAX_DEFAULT;
	o->nr_rings = nr_rings;
	for (i = 0; i < nr_rings; i++)
		o->rings[i].live = o->rings[i].used = true;
	*op = o;
	return 0;
}

void perfclock_order_free(struct perfclock_order *o)
{
	struct ring *r;

	if (!o)
		return;
	for (r = o->rings; r < o->rings + o->nr_rings; r++) {
		for (; r->head < r->nr; r->head++)
			item_free(o, &r->items[r->head]);
		free(r->items);
	}
	free(o->loan);
	free(o->rings);
	free(o);
}

static int ring_room(struct perfclock_order *o, struct ring *r)
{
	struct item *items;
	size_t room;

	if (r->nr < r->room)
		return 0;
	if (r->head && r->head >= r->nr / 2) {
		memmove(r->items, r->items + r->head,
			(r->nr - r->head) * sizeof(*r->items));
		r->nr -= r->head;
		r->head = 0;
		return 0;
	}
	room = r->room ? r->room * 2 : 4;
	if (o->memory + (room - r->room) * sizeof(*items) > o->memory_max)
		return -ENOBUFS;
	items = realloc(r->items, room * sizeof(*items));
	if (!items)
		return -ENOMEM;
	o->memory += (room - r->room) * sizeof(*items);
	r->items = items;
	r->room = room;
	return 0;
}

static int push(struct perfclock_order *o, unsigned int ring, uint64_t stamp,
		const void *data, size_t len, uint32_t tag, unsigned int flags,
		bool copy)
{
	struct item it = { .rec = { stamp, data, len, ring, flags, tag } };
	struct ring *r;
	bool late;
	size_t i;
	int err;

	if (o->ended)
		return -EPIPE;
	if (ring >= o->nr_rings || !o->rings[ring].live || len >= LEN_MAX ||
	    flags & ~PERFCLOCK_RECORD_PLACED || o->busy)
		return o->busy ? -EBUSY : -EINVAL;
	r = &o->rings[ring];
	if (says_nothing(stamp))
		it.rec.flags |= PERFCLOCK_RECORD_PLACED;
	late = !(it.rec.flags & PERFCLOCK_RECORD_PLACED) &&
	       stamp < o->st.greatest_delivered;
	if (late && o->late != PERFCLOCK_LATE_DELIVER)
		goto count_late;
	err = ring_room(o, r);
	if (err)
		return err;
	if (copy) {
		if (o->memory + len > o->memory_max)
			return -ENOBUFS;
		it.copy = malloc(len ? len : 1);
		if (!it.copy)
			return -ENOMEM;
		if (len)
			memcpy(it.copy, data, len);
		it.rec.data = it.copy;
		o->memory += len;
	}
	if (it.rec.flags & PERFCLOCK_RECORD_PLACED) {
		it.key = r->last_key;
		o->st.placed++;
	} else {
		it.key = stamp;
		if (stamp < r->st.newest) {
			r->st.inversions++;
			o->st.inversions++;
		} else {
			r->st.newest = stamp;
		}
	}
	r->last_key = it.key;
	for (i = r->nr; i > r->head && r->items[i - 1].key > it.key; i--)
		;
	memmove(&r->items[i + 1], &r->items[i],
		(r->nr - i) * sizeof(*r->items));
	r->nr++;
	r->st.pushed++;
	o->st.pushed++;
	if (late)
		it.rec.flags |= PERFCLOCK_RECORD_LATE;
	r->items[i] = it;
	o->st.held++;
	if (o->st.held > o->st.held_max)
		o->st.held_max = o->st.held;
	if (o->memory > o->st.memory_max_seen)
		o->st.memory_max_seen = o->memory;
	if (!late)
		return 0;
count_late:
	r->st.late++;
	o->st.late++;
	if (o->st.greatest_delivered - stamp > r->st.max_late_ns)
		r->st.max_late_ns = o->st.greatest_delivered - stamp;
	if (r->st.max_late_ns > o->st.max_late_ns)
		o->st.max_late_ns = r->st.max_late_ns;
	if (o->late == PERFCLOCK_LATE_DELIVER)
		return 0;
	o->st.discarded++;
	return o->late == PERFCLOCK_LATE_FAIL ? -EILSEQ : 0;
}

int perfclock_order_push(struct perfclock_order *o, unsigned int ring,
			 uint64_t stamp, const void *data, size_t len,
			 uint32_t tag, unsigned int flags)
{
	return push(o, ring, stamp, data, len, tag, flags, true);
}

int perfclock_order_push_ref(struct perfclock_order *o, unsigned int ring,
			     uint64_t stamp, const void *data, size_t len,
			     uint32_t tag, unsigned int flags)
{
	return push(o, ring, stamp, data, len, tag, flags, false);
}

/* The ring whose head leaves next, or NO_RING. */
static unsigned int first_ring(struct perfclock_order *o)
{
	unsigned int i, best = NO_RING;
	uint64_t best_key = o->limit;

	for (i = 0; i < o->nr_rings; i++) {
		struct ring *r = &o->rings[i];

		if (r->head < r->nr && r->items[r->head].key < best_key) {
			best = i;
			best_key = r->items[r->head].key;
		}
	}
	return best;
}

/* Take out the next record; false: none below the limit. */
static bool take(struct perfclock_order *o, struct item *it)
{
	unsigned int i = first_ring(o);
	struct ring *r;

	if (i == NO_RING)
		return false;
	r = &o->rings[i];
	*it = r->items[r->head++];
	if (it->key > o->st.greatest_delivered)
		o->st.greatest_delivered = it->key;
	o->st.held--;
	o->st.delivered++;
	if (r->head == r->nr) {
		r->head = r->nr = 0;
		if (!r->live)
			ring_reset(o, r);
	}
	return true;
}

static void raise_limit(struct perfclock_order *o, uint64_t limit)
{
	if (limit < o->limit)
		o->st.bad_limits++;
	else
		o->limit = limit;
	free(o->loan);
	o->loan = NULL;
}

long perfclock_order_flush(struct perfclock_order *o, uint64_t limit,
			   perfclock_order_fn fn, void *ctx)
{
	struct item it;
	long n = 0;
	int ret = 0;

	if (o->busy)
		return -EBUSY;
	raise_limit(o, limit);
	o->busy = true;
	while (!ret && take(o, &it)) {
		n++;
		ret = fn(&it.rec, ctx);
		item_free(o, &it);
	}
	o->busy = false;
	return ret ? ret : n;
}

int perfclock_order_next(struct perfclock_order *o, uint64_t limit,
			 struct perfclock_record *rec)
{
	struct item it;

	if (o->busy)
		return -EBUSY;
	raise_limit(o, limit);
	if (!take(o, &it))
		return 0;
	*rec = it.rec;
	o->loan = it.copy;
	if (it.copy)
		o->memory -= it.rec.len;
	return 1;
}

long perfclock_order_end(struct perfclock_order *o, perfclock_order_fn fn,
			 void *ctx)
{
	if (o->busy)
		return -EBUSY;
	o->ended = true;
	return perfclock_order_flush(o, UINT64_MAX, fn, ctx);
}

int perfclock_order_ring_add(struct perfclock_order *o)
{
	unsigned int i;

	if (o->ended)
		return -EPIPE;
	if (o->busy)
		return -EBUSY;
	for (i = 0; i < o->nr_rings && o->rings[i].used; i++)
		;
	if (i == PERFCLOCK_ORDER_MAX_RINGS)
		return -ENOSPC;
	if (i == o->nr_rings)
		o->nr_rings++;
	o->rings[i].live = o->rings[i].used = true;
	return i;
}

int perfclock_order_ring_end(struct perfclock_order *o, unsigned int ring)
{
	struct ring *r;

	if (o->busy)
		return -EBUSY;
	if (ring >= o->nr_rings || !o->rings[ring].live)
		return -EINVAL;
	r = &o->rings[ring];
	r->live = false;
	if (r->head == r->nr)
		ring_reset(o, r);
	return 0;
}

int perfclock_order_get_stats(const struct perfclock_order *o,
			      struct perfclock_order_stats *st)
{
	struct perfclock_order_stats now = o->st;

	now.memory = o->memory;
	return opts_return(st, &now, sizeof(now));
}

int perfclock_order_get_ring_stats(const struct perfclock_order *o,
				   unsigned int ring,
				   struct perfclock_order_ring_stats *st)
{
	struct perfclock_order_ring_stats now;

	if (ring >= o->nr_rings || !o->rings[ring].used)
		return -EINVAL;
	now = o->rings[ring].st;
	now.held = o->rings[ring].nr - o->rings[ring].head;
	return opts_return(st, &now, sizeof(now));
}
