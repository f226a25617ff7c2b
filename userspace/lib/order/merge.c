// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* The loser tree: see merge.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "order/internal.h"

#define BURST	2	/* wins in a row that make a burst */

int merge_make_room(struct merge *m, unsigned int rings)
{
	unsigned int room = m->room ? m->room : 8;
	struct merge_leaf *leaves;
	int64_t *tree;

	while (room < rings)
		room *= 2;
	if (room == m->room)
		return 0;
	leaves = aligned_alloc(64, room * sizeof(*leaves));
	tree = aligned_alloc(64, 4 * room * sizeof(*tree));
	if (!leaves || !tree) {
		free(leaves);
		free(tree);
		return -ENOMEM;
	}
	merge_destroy(m);
	m->leaves = leaves;
	m->tree = tree;
	m->next = tree + room;
	m->build = tree + 2 * room;
	m->room = room;
	return 0;
}

void merge_destroy(struct merge *m)
{
	free(m->leaves);
	free(m->tree);
	m->leaves = NULL;
	m->tree = NULL;
}

/* bits is m->bits, for callers who know it while compiling. */
static inline int64_t pack(const struct merge *m, uint64_t key,
			    unsigned int leaf, unsigned int bits)
{
	return key < m->below ? (int64_t)((key - m->base) << bits | leaf) :
				MERGE_NONE;
}

/* Find the rings that have something below limit, and the least key. */
static void collect(struct perfclock_order *o, uint64_t limit)
{
	struct merge *m = &o->merge;
	struct merge_leaf *leaf = m->leaves;
	uint64_t bits;
	unsigned int word, ring;

	m->base = UINT64_MAX;
	for (word = 0; word * 64 < o->nr_rings; word++) {
		for (bits = o->filled[word]; bits; bits &= bits - 1) {
			ring = word * 64 + __builtin_ctzll(bits);
			leaf->head = queue_head(&o->rings[ring].q);
			if (leaf->head->key >= limit)
				continue;
			if (leaf->head->key < m->base)
				m->base = leaf->head->key;
			leaf->ring = ring;
			leaf->taken = 0;
			leaf++;
		}
	}
	m->nr = leaf - m->leaves;
}

/* The window of keys that can be packed: from base, below limit. */
static void set_window(struct merge *m, uint64_t limit)
{
	uint64_t span;

	m->bits = m->nr > 1 ? 32 - __builtin_clz(m->nr - 1) : 0;
	span = (uint64_t)INT64_MAX >> m->bits;
	m->more = limit - m->base > span;
	m->below = m->more ? m->base + span : limit;
}

#define CACHE_LINE	64

/*
 * For a leaf without side runs: see what lies behind its head, and have the
 * rest of it fetched: it is delivered after many others.
 */
static inline void look_behind(struct merge *m, unsigned int nr,
			       unsigned int bits)
{
	struct merge_leaf *leaf = &m->leaves[nr];

	leaf->behind = item_next(leaf->head);
	__builtin_prefetch((const char *)leaf->behind + CACHE_LINE);
	m->next[nr] = pack(m, leaf->behind->key, nr, bits);
}

static void plant(struct perfclock_order *o)
{
	struct merge *m = &o->merge;
	const unsigned int size = 1u << m->bits;
	int64_t *win = m->build, a, b;
	unsigned int i;

	for (i = 0; i < m->nr; i++) {
		struct queue *q = &o->rings[m->leaves[i].ring].q;

		win[size + i] = pack(m, m->leaves[i].head->key, i, m->bits);
		m->next[i] = MERGE_NONE;
		if (likely(!q->side.nr)) {
			queue_mark_end(q);
			look_behind(m, i, m->bits);
		}
	}
	for (; i < size; i++)
		win[size + i] = MERGE_NONE;
	for (i = size - 1; i; i--) {
		a = win[2 * i];
		b = win[2 * i + 1];
		m->tree[i] = a < b ? b : a;
		win[i] = a < b ? a : b;
	}
	m->winner = win[1];
}

bool merge_open(struct perfclock_order *o, uint64_t limit)
{
	struct merge *m = &o->merge;

	collect(o, limit);
	if (!m->nr)
		return false;
	set_window(m, limit);
	plant(o);
	m->open = true;
	return true;
}

void merge_close(struct perfclock_order *o)
{
	struct merge *m = &o->merge;
	struct merge_leaf *leaf;
	struct ring *r;

	for (leaf = m->leaves; leaf < m->leaves + m->nr; leaf++) {
		r = &o->rings[leaf->ring];
		r->delivered += leaf->taken;
		o->delivered += leaf->taken;
		if (!leaf->head) {
			if (r->state == RING_ENDED)
				free_ring(o, r);
		} else if (!r->q.side.nr) {
			r->q.main.rd = (char *)leaf->head;
		}
	}
	m->open = false;
}

/*
 * Go on behind the head of a leaf for which nothing is known to follow: the
 * chunk ends there, or the queue, or the window, or there are side runs.
 * Returns the packed key of the new head.
 */
static __attribute__((noinline)) int64_t
advance_slowly(struct perfclock_order *o, unsigned int nr)
{
	struct merge *m = &o->merge;
	struct merge_leaf *leaf = &m->leaves[nr];
	struct queue *q = &o->rings[leaf->ring].q;

	if (!q->side.nr)
		q->main.rd = (char *)leaf->head;
	queue_pop(q, &o->pool);
	m->next[nr] = MERGE_NONE;
	if (queue_empty(q)) {
		leaf->head = NULL;
		clear_filled(o, leaf->ring);
		return MERGE_NONE;
	}
	leaf->head = queue_head(q);
	if (!q->side.nr) {
		queue_mark_end(q);
		look_behind(m, nr, m->bits);
	}
	return pack(m, leaf->head->key, nr, m->bits);
}

/* Take the head of a leaf away; returns the packed key of the new head. */
static inline int64_t advance(struct perfclock_order *o, unsigned int nr,
			       unsigned int bits)
{
	struct merge *m = &o->merge;
	struct merge_leaf *leaf = &m->leaves[nr];
	const int64_t packed = m->next[nr];

	leaf->taken++;
	if (unlikely(packed == MERGE_NONE))
		return advance_slowly(o, nr);
	leaf->head = leaf->behind;
	look_behind(m, nr, bits);
	return packed;
}

/*
 * The leaf's new key goes up its path; at each node the lesser goes on and the
 * greater stays. Returns who arrives.
 */
static inline int64_t replay(int64_t *tree, unsigned int bits,
			     unsigned int leaf, int64_t packed)
{
	unsigned int node = (leaf + (1u << bits)) >> 1, i;
	int64_t there, less;

#pragma GCC unroll 12
	for (i = 0; i < bits; i++, node >>= 1) {
		there = tree[node];
		less = there < packed ? there : packed;
		tree[node] = there < packed ? packed : there;
		packed = less;
	}
	return packed;
}

/* The second best of all while the leaf is the winner. */
static inline int64_t least_loser(const int64_t *tree, unsigned int bits,
				  unsigned int leaf)
{
	unsigned int node = (leaf + (1u << bits)) >> 1, i;
	int64_t least = MERGE_NONE;

#pragma GCC unroll 12
	for (i = 0; i < bits; i++, node >>= 1)
		least = tree[node] < least ? tree[node] : least;
	return least;
}

/* The parts of a record that few have. */
static __attribute__((noinline)) void
describe_special(const struct item *it, struct perfclock_record *rec)
{
	const char *data = (const char *)(it + 1);

	if (it->size & ITEM_PLACED) {
		memcpy(&rec->stamp, data, sizeof(rec->stamp));
		data += sizeof(rec->stamp);
		rec->len -= sizeof(rec->stamp);
		rec->flags |= PERFCLOCK_RECORD_PLACED;
	}
	rec->data = data;
	if (it->size & ITEM_REF) {
		struct ref ref;

		memcpy(&ref, data, sizeof(ref));
		rec->data = ref.data;
		rec->len = ref.len;
	}
	if (it->size & ITEM_LATE)
		rec->flags |= PERFCLOCK_RECORD_LATE;
}

static inline void describe(const struct item *it, uint32_t ring,
			    struct perfclock_record *rec)
{
	rec->stamp = it->key;
	rec->data = it + 1;
	rec->len = (it->size & ITEM_SIZE) - sizeof(*it) - (it->size & ITEM_PAD);
	rec->ring = ring;
	rec->flags = 0;
	rec->tag = it->tag;
	if (unlikely(it->size & ITEM_SPECIAL))
		describe_special(it, rec);
}

/* What is delivered in order need not be compared: the last is the greatest. */
static inline void note_delivered(struct perfclock_order *o, uint64_t key)
{
	if (key > o->greatest)
		o->greatest = key;
}

/*
 * The loop itself, compiled once for each height of the tree, so that the
 * replay is a straight line.
 */
static inline __attribute__((always_inline)) int
deliver(struct perfclock_order *o, perfclock_order_fn fn, void *ctx,
	const unsigned int bits)
{
	struct merge *m = &o->merge;
	int64_t *const tree = m->tree;
	int64_t winner = m->winner, packed, second;
	uint64_t key = 0;
	unsigned int nr, last = ~0u, streak = 0;
	struct perfclock_record rec;
	struct merge_leaf *leaf;
	int ret = 0;

	while (winner != MERGE_NONE && !ret) {
		nr = winner & ((1u << bits) - 1);
		leaf = &m->leaves[nr];
		streak = nr == last ? streak + 1 : 0;
		last = nr;
		key = leaf->head->key;
		describe(leaf->head, leaf->ring, &rec);
		ret = fn(&rec, ctx);
		packed = advance(o, nr, bits);
		if (unlikely(streak >= BURST)) {
			second = least_loser(tree, bits, nr);
			while (packed < second && !ret) {
				key = leaf->head->key;
				describe(leaf->head, leaf->ring, &rec);
				ret = fn(&rec, ctx);
				packed = advance(o, nr, bits);
			}
			streak = 0;
		}
		winner = replay(tree, bits, nr, packed);
	}
	m->winner = winner;
	note_delivered(o, key);
	return ret;
}

#define DELIVER_CASE(n)	case n: return deliver(o, fn, ctx, n)

int merge_deliver(struct perfclock_order *o, perfclock_order_fn fn, void *ctx)
{
	switch (o->merge.bits) {
	DELIVER_CASE(0);
	DELIVER_CASE(1);
	DELIVER_CASE(2);
	DELIVER_CASE(3);
	DELIVER_CASE(4);
	DELIVER_CASE(5);
	DELIVER_CASE(6);
	DELIVER_CASE(7);
	DELIVER_CASE(8);
	DELIVER_CASE(9);
	DELIVER_CASE(10);
	DELIVER_CASE(11);
	default:
		return deliver(o, fn, ctx, 12);
	}
}

_Static_assert(PERFCLOCK_ORDER_MAX_RINGS == 1 << 12, "a case for each height");

void merge_peek(struct perfclock_order *o, struct perfclock_record *rec)
{
	const struct merge_leaf *leaf = merge_leaf(&o->merge, o->merge.winner);

	describe(leaf->head, leaf->ring, rec);
	note_delivered(o, leaf->head->key);
}

void merge_step(struct perfclock_order *o)
{
	struct merge *m = &o->merge;
	struct merge_leaf *leaf = merge_leaf(m, m->winner);
	const unsigned int nr = leaf - m->leaves;

	m->winner = replay(m->tree, m->bits, nr, advance(o, nr, m->bits));
}
