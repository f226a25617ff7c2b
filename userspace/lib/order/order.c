// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * The order core: handles, rings, statistics, pushing and delivery. Queues are
 * in queue.c, the merge in merge.c, memory in chunk.c.
 *
 * How wild stamps are met:
 *  - 0 and ~0 say nothing: such a record is placed (PERFCLOCK_RECORD_PLACED).
 *  - Days ahead: the record waits until the limit passes it, or for the end.
 *    It blocks nobody: what follows in its ring overtakes it.
 *  - Days behind: the record is late, leaves next, and moves nothing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "opts.h"
#include "order/internal.h"

#define MEMORY_MAX_DEFAULT	((size_t)256 << 20)

/* With the header and at most 7 bytes of padding a record needs this more. */
#define ITEM_ROOM		(sizeof(struct item) + ITEM_PAD)

static bool says_nothing(uint64_t stamp)
{
	return stamp + 1 <= 1;
}

static void update_usable(struct perfclock_order *o)
{
	o->nr_usable = o->ended || o->busy || o->merge.open ? 0 : o->nr_rings;
}

static void ring_init(struct ring *r)
{
	memset(r, 0, sizeof(*r));
	r->q.main.last_key = KEY_MIN;
	r->state = RING_LIVE;
}

/* Room for nr rings in all that is sized by rings. */
static int make_ring_room(struct perfclock_order *o, unsigned int nr)
{
	unsigned int room = o->rings_room ? o->rings_room : 8;
	struct ring *rings;
	int err;

	err = merge_make_room(&o->merge, nr);
	if (err || nr <= o->rings_room)
		return err;
	while (room < nr)
		room *= 2;
	rings = aligned_alloc(64, (room * sizeof(*rings) + 63) / 64 * 64);
	if (!rings)
		return -ENOMEM;
	if (o->rings)
		memcpy(rings, o->rings, o->nr_rings * sizeof(*rings));
	free(o->rings);
	o->rings = rings;
	o->rings_room = room;
	return 0;
}

int perfclock_order_new(struct perfclock_order **op, unsigned int nr_rings,
			const struct perfclock_order_opts *user_opts)
{
	struct perfclock_order_opts opts;
	struct perfclock_order *o;
	int err;

	*op = NULL;
	err = opts_copy(&opts, sizeof(opts), user_opts);
	if (err)
		return err;
	if (nr_rings > PERFCLOCK_ORDER_MAX_RINGS || opts.flags ||
	    (unsigned int)opts.late > PERFCLOCK_LATE_FAIL)
		return -EINVAL;
	o = calloc(1, sizeof(*o));
	if (!o)
		return -ENOMEM;
	err = make_ring_room(o, nr_rings);
	if (err) {
		perfclock_order_free(o);
		return err;
	}
	chunk_pool_init(&o->pool, opts.memory_max ? opts.memory_max :
						    MEMORY_MAX_DEFAULT);
	o->late_choice = opts.late;
	for (; o->nr_rings < nr_rings; o->nr_rings++)
		ring_init(&o->rings[o->nr_rings]);
	update_usable(o);
	*op = o;
	return 0;
}

void perfclock_order_free(struct perfclock_order *o)
{
	unsigned int i;

	if (!o)
		return;
	if (o->merge.open)
		merge_close(o);
	for (i = 0; i < o->nr_rings; i++)
		queue_destroy(&o->rings[i].q, &o->pool);
	chunk_pool_destroy(&o->pool);
	merge_destroy(&o->merge);
	free(o->rings);
	free(o);
}

/* What _next() gave out is taken back, and the queues are as they look. */
static void stop_pulling(struct perfclock_order *o)
{
	if (o->loan)
		merge_step(o);
	o->loan = false;
	if (o->merge.open)
		merge_close(o);
	update_usable(o);
}

/*
 * Copying. Records are short, a multiple of 8 bytes as a rule, and their
 * length is hard to predict: a few moves of fixed size, the last of them
 * overlapping, beat a call.
 */
static inline void copy_bytes(char *to, const char *from, size_t len)
{
	const char *last;

	if (unlikely(len < 32 || len > 512)) {
		if (len)
			memcpy(to, from, len);
		return;
	}
	last = from + len - 32;
	memcpy(to + len - 32, last, 32);
	for (; from < last; from += 32, to += 32)
		memcpy(to, from, 32);
}

/*
 * Empty rings give up the chunks that they keep; those that nobody has pushed
 * to for a stretch of flushes, or all.
 */
static void reclaim(struct perfclock_order *o, bool all)
{
	struct ring *r;

	if (!o->pool.kept)
		return;
	for (r = o->rings; r < o->rings + o->nr_rings; r++) {
		if (queue_empty(&r->q) && (all || r->seen == r->pushed))
			queue_destroy(&r->q, &o->pool);
		r->seen = r->pushed;
	}
}

struct push {
	unsigned int ring;
	uint64_t stamp;
	const void *data;
	size_t len;
	uint32_t tag;
	unsigned int flags;
	bool ref;
};

/* Its key: the stamp, or that of the record before it in the ring. */
static uint64_t key_of(const struct ring *r, const struct push *p)
{
	if (!(p->flags & PERFCLOCK_RECORD_PLACED))
		return p->stamp;
	return r->slow_at == r->pushed ? r->slow_key : r->q.main.last_key;
}

static void write_item(struct item *it, const struct push *p, bool late)
{
	const size_t ext = p->flags & PERFCLOCK_RECORD_PLACED ? 8 : 0;
	char *data = (char *)(it + 1);

	it->tag = p->tag;
	if (late)
		it->size |= ITEM_LATE;
	if (ext) {
		it->size |= ITEM_PLACED;
		memcpy(data, &p->stamp, ext);
		data += ext;
	}
	if (p->ref) {
		struct ref ref = { p->data, p->len };

		it->size |= ITEM_REF;
		memcpy(data, &ref, sizeof(ref));
	} else {
		it->size |= -p->len & ITEM_PAD;
		copy_bytes(data, p->data, p->len);
	}
}

static void count_late(struct perfclock_order *o, struct ring *r,
		       uint64_t late_ns)
{
	r->late++;
	o->late++;
	if (late_ns > r->max_late_ns)
		r->max_late_ns = late_ns;
	if (late_ns > o->max_late_ns)
		o->max_late_ns = late_ns;
}

/* The greatest stamp pushed to a ring. KEY_MIN may stand for none. */
static uint64_t newest_of(const struct ring *r)
{
	const uint64_t key = r->q.main.last_key;

	return key > r->newest && key != KEY_MIN ? key : r->newest;
}

static int push_check(const struct perfclock_order *o, const struct push *p)
{
	if (o->ended)
		return -EPIPE;
	if (o->busy)
		return -EBUSY;
	if (p->ring >= o->nr_rings || o->rings[p->ring].state != RING_LIVE ||
	    p->flags & ~PERFCLOCK_RECORD_PLACED || p->len >= ITEM_LEN_MAX)
		return -EINVAL;
	return 0;
}

/* The long way: what does not simply go behind the last of its ring. */
static __attribute__((noinline)) int push_any(struct perfclock_order *o,
					      struct push p)
{
	struct ring *r;
	struct item *it;
	uint64_t key, newest, late_ns = 0;
	size_t size;
	int err;

	err = push_check(o, &p);
	if (err)
		return err;
	stop_pulling(o);
	r = &o->rings[p.ring];
	if (says_nothing(p.stamp))
		p.flags |= PERFCLOCK_RECORD_PLACED;
	if (!(p.flags & PERFCLOCK_RECORD_PLACED) && p.stamp < o->greatest)
		late_ns = o->greatest - p.stamp;
	if (late_ns && o->late_choice != PERFCLOCK_LATE_DELIVER) {
		count_late(o, r, late_ns);
		o->discarded++;
		return o->late_choice == PERFCLOCK_LATE_FAIL ? -EILSEQ : 0;
	}
	key = key_of(r, &p);
	newest = newest_of(r);
	size = sizeof(*it) + (p.flags & PERFCLOCK_RECORD_PLACED ? 8 : 0) +
	       (p.ref ? sizeof(struct ref) : (p.len + 7) & ~(size_t)7);
	it = queue_append(&r->q, &o->pool, key, size, &err);
	if (!it && err == -ENOBUFS && o->pool.kept) {
		reclaim(o, true);
		it = queue_append(&r->q, &o->pool, key, size, &err);
	}
	if (!it)
		return err;
	write_item(it, &p, late_ns);
	set_filled(o, p.ring);
	r->pushed++;
	o->pushed++;
	r->newest = newest;
	r->slow_key = key;
	r->slow_at = r->pushed;
	if (p.flags & PERFCLOCK_RECORD_PLACED) {
		o->placed++;
	} else if (p.stamp < newest) {
		r->inversions++;
		o->inversions++;
	} else {
		r->newest = p.stamp;
	}
	if (late_ns)
		count_late(o, r, late_ns);
	return 0;
}

static __attribute__((noinline)) int
push_copy(struct perfclock_order *o, unsigned int ring, uint64_t stamp,
	  const void *data, size_t len, uint32_t tag, unsigned int flags)
{
	const struct push p = { ring, stamp, data, len, tag, flags, false };

	return push_any(o, p);
}

static __attribute__((noinline)) int
push_borrowed(struct perfclock_order *o, unsigned int ring, uint64_t stamp,
	      const void *data, size_t len, uint32_t tag, unsigned int flags)
{
	const struct push p = { ring, stamp, data, len, tag, flags, true };

	return push_any(o, p);
}

/*
 * An item with room for len bytes for a record that simply goes behind the
 * last of its ring; NULL: it takes the long way.
 */
static inline struct item *append_next(struct perfclock_order *o,
				       unsigned int ring, uint64_t stamp,
				       size_t len, uint32_t tag)
{
	struct ring *r;
	struct run *run;
	struct item *it;
	size_t room, size;

	if (unlikely(ring >= o->nr_usable))
		return NULL;
	r = &o->rings[ring];
	run = &r->q.main;
	room = run->wr_end - run->wr;
	/*
	 * In one compare: last_key <= stamp < ~0. A stamp of 0 is below any
	 * last key; a ring that takes no more, or owns no chunk, has no room.
	 */
	if (unlikely(stamp - run->last_key >= ~run->last_key ||
		     stamp < o->greatest ||
		     len > room || room - len < ITEM_ROOM))
		return NULL;
	if (unlikely(run->kept)) {
		run_use_kept(run, &o->pool);
		set_filled(o, ring);
		/* Rings are read one after the other, as a rule. */
		__builtin_prefetch(r + 1, 1);
	}
	it = item_at(run->wr);
	size = sizeof(*it) + ((len + 7) & ~(size_t)7);
	run->wr += size;
	run->last_key = stamp;
	r->pushed++;
	o->pushed++;
	it->key = stamp;
	it->size = size | (-len & ITEM_PAD);
	it->tag = tag;
	return it;
}

int perfclock_order_push(struct perfclock_order *o, unsigned int ring,
			 uint64_t stamp, const void *data, size_t len,
			 uint32_t tag, unsigned int flags)
{
	struct item *it;

	if (unlikely(flags))
		return push_copy(o, ring, stamp, data, len, tag, flags);
	it = append_next(o, ring, stamp, len, tag);
	if (unlikely(!it))
		return push_copy(o, ring, stamp, data, len, tag, flags);
	copy_bytes((char *)(it + 1), data, len);
	return 0;
}

int perfclock_order_push_ref(struct perfclock_order *o, unsigned int ring,
			     uint64_t stamp, const void *data, size_t len,
			     uint32_t tag, unsigned int flags)
{
	const struct ref ref = { data, len };
	struct item *it;

	if (unlikely(flags || len >= ITEM_LEN_MAX))
		return push_borrowed(o, ring, stamp, data, len, tag, flags);
	it = append_next(o, ring, stamp, sizeof(ref), tag);
	if (unlikely(!it))
		return push_borrowed(o, ring, stamp, data, len, tag, flags);
	it->size |= ITEM_REF;
	memcpy(it + 1, &ref, sizeof(ref));
	return 0;
}

static void raise_limit(struct perfclock_order *o, uint64_t limit)
{
	if (limit < o->limit)
		o->bad_limits++;
	else
		o->limit = limit;
}

/* What an open merge has taken, from one ring or from all (NO_RING). */
#define NO_RING		(~0u)
static uint64_t taken(const struct perfclock_order *o, unsigned int ring)
{
	const struct merge *m = &o->merge;
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; m->open && i < m->nr; i++)
		if (ring == NO_RING || m->leaves[i].ring == ring)
			sum += m->leaves[i].taken;
	if (o->loan && (ring == NO_RING || ring == merge_ring(m)))
		sum++;
	return sum;
}

static uint64_t held(const struct perfclock_order *o)
{
	return o->pushed - o->delivered;
}

/* What is held only grows between deliveries: look when one begins. */
static void note_held(struct perfclock_order *o)
{
	if (held(o) > o->held_max)
		o->held_max = held(o);
}

/* A flush is over. */
static void breathe(struct perfclock_order *o)
{
	if (chunk_pool_breathe(&o->pool))
		reclaim(o, false);
}

long perfclock_order_flush(struct perfclock_order *o, uint64_t limit,
			   perfclock_order_fn fn, void *ctx)
{
	uint64_t before;
	int ret = 0;

	if (o->busy)
		return -EBUSY;
	stop_pulling(o);
	raise_limit(o, limit);
	note_held(o);
	before = o->delivered;
	o->busy = true;
	update_usable(o);
	while (!ret && merge_open(o, o->limit)) {
		ret = merge_deliver(o, fn, ctx);
		merge_close(o);
		if (!o->merge.more)
			break;
	}
	o->busy = false;
	update_usable(o);
	breathe(o);
	return ret ? ret : (long)(o->delivered - before);
}

int perfclock_order_next(struct perfclock_order *o, uint64_t limit,
			 struct perfclock_record *rec)
{
	struct merge *m = &o->merge;

	if (o->busy)
		return -EBUSY;
	if (o->loan)
		merge_step(o);
	o->loan = false;
	if (limit != o->limit) {
		stop_pulling(o);
		raise_limit(o, limit);
	}
	if (!m->open || (m->winner == MERGE_NONE && m->more)) {
		stop_pulling(o);
		note_held(o);
		if (!merge_open(o, o->limit)) {
			breathe(o);
			return 0;
		}
		update_usable(o);
	}
	if (m->winner == MERGE_NONE)
		return 0;
	merge_peek(o, rec);
	o->loan = true;
	return 1;
}

/* Nothing is queued, nothing will come: all memory goes. */
static void give_back(struct perfclock_order *o)
{
	unsigned int i;

	for (i = 0; i < o->nr_rings; i++)
		queue_destroy(&o->rings[i].q, &o->pool);
	chunk_pool_trim(&o->pool, 0);
}

long perfclock_order_end(struct perfclock_order *o, perfclock_order_fn fn,
			 void *ctx)
{
	long ret;

	if (o->busy)
		return -EBUSY;
	o->ended = true;
	ret = perfclock_order_flush(o, UINT64_MAX, fn, ctx);
	if (!held(o))
		give_back(o);
	return ret;
}

int perfclock_order_ring_add(struct perfclock_order *o)
{
	unsigned int i;
	int err;

	if (o->ended)
		return -EPIPE;
	if (o->busy)
		return -EBUSY;
	stop_pulling(o);
	for (i = 0; i < o->nr_rings && o->rings[i].state != RING_FREE; i++)
		;
	if (i == PERFCLOCK_ORDER_MAX_RINGS)
		return -ENOSPC;
	if (i == o->nr_rings) {
		err = make_ring_room(o, i + 1);
		if (err)
			return err;
		o->nr_rings++;
	} else {
		queue_destroy(&o->rings[i].q, &o->pool);
	}
	ring_init(&o->rings[i]);
	update_usable(o);
	return i;
}

int perfclock_order_ring_end(struct perfclock_order *o, unsigned int ring)
{
	struct ring *r;

	if (o->busy)
		return -EBUSY;
	if (ring >= o->nr_rings || o->rings[ring].state != RING_LIVE)
		return -EINVAL;
	stop_pulling(o);
	r = &o->rings[ring];
	if (queue_empty(&r->q)) {
		free_ring(o, r);
		return 0;
	}
	r->state = RING_ENDED;
	r->q.main.wr_end = r->q.main.wr;	/* pushes take the long way */
	return 0;
}

int perfclock_order_get_stats(const struct perfclock_order *o,
			      struct perfclock_order_stats *st)
{
	const uint64_t delivered = o->delivered + taken(o, NO_RING);
	struct perfclock_order_stats now = {
		.sz = sizeof(now),
		.pushed = o->pushed,
		.delivered = delivered,
		.held = o->pushed - delivered,
		.held_max = held(o) > o->held_max ? held(o) : o->held_max,
		.late = o->late,
		.max_late_ns = o->max_late_ns,
		.discarded = o->discarded,
		.inversions = o->inversions,
		.placed = o->placed,
		.bad_limits = o->bad_limits,
		.greatest_delivered = o->greatest,
		.memory = o->pool.in_use + o->pool.cached,
		.memory_max_seen = o->pool.most,
		.memory_queued = o->pool.in_use - o->pool.kept,
	};

	return opts_return(st, &now, sizeof(now));
}

int perfclock_order_get_ring_stats(const struct perfclock_order *o,
				   unsigned int ring,
				   struct perfclock_order_ring_stats *st)
{
	struct perfclock_order_ring_stats now = { .sz = sizeof(now) };
	const struct ring *r;

	if (ring >= o->nr_rings || o->rings[ring].state == RING_FREE)
		return -EINVAL;
	r = &o->rings[ring];
	now.pushed = r->pushed;
	now.held = r->pushed - r->delivered - taken(o, ring);
	now.late = r->late;
	now.max_late_ns = r->max_late_ns;
	now.inversions = r->inversions;
	now.newest = newest_of(r);
	return opts_return(st, &now, sizeof(now));
}
