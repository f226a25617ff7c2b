/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * The merge of the heads of all rings: a loser tree over packed keys.
 *
 * A leaf is a ring that has something to deliver. The leaf's key and number
 * are packed into one 64-bit value, (key - base) << bits | leaf: one compare
 * orders by key, then by ring, and a replay is a chain of minimum and maximum
 * without a branch. What does not fit above the bits, or may not be delivered
 * yet, is MERGE_NONE. So one merge covers a *window* of keys, [base, below);
 * when it is exhausted and the limit lies beyond, the next window is opened.
 *
 * A leaf knows the packed key of the item after its head, so that the replay
 * need not wait for memory: by the time a ring wins again, the item behind was
 * loaded long ago. When a ring wins several times in a row it is taken to be
 * in a burst: its items leave, without a replay, as long as they are below the
 * least loser on its path, which is the second best of all.
 */
#ifndef PERFCLOCK_LIB_ORDER_MERGE_H
#define PERFCLOCK_LIB_ORDER_MERGE_H

#include <perfclock/order.h>

#include "order/queue.h"

/*
 * Packed keys have no top bit, so that they may be compared as signed: their
 * minimum is one instruction less than that of unsigned ones (x86: CMOVBE).
 */
#define MERGE_NONE	INT64_MAX

struct merge_leaf {
	struct item *head;	/* NULL: the ring is empty */
	struct item *behind;	/* it; where next[] says that there is one */
	uint32_t ring;
	uint32_t taken;		/* items taken in this merge */
};

struct merge {
	bool open;
	bool more;		/* the limit lies beyond this window */
	unsigned int bits;	/* of a leaf's number; levels of the tree */
	unsigned int nr;	/* leaves in use */
	uint64_t base, below;	/* the window of keys */
	int64_t winner;		/* packed; MERGE_NONE: the window is done */
	struct merge_leaf *leaves;
	/*
	 * For each leaf the packed key of the item behind its head, or
	 * MERGE_NONE: look closer. Apart from the leaves, since the next
	 * winner waits for nothing but this.
	 */
	int64_t *next;
	int64_t *tree;		/* [1..2^bits): losers */
	int64_t *build;	/* [0..2*2^bits) */
	unsigned int room;	/* leaves that fit; a power of two */
};

struct perfclock_order;

static inline struct merge_leaf *merge_leaf(const struct merge *m,
					    int64_t packed)
{
	return &m->leaves[packed & ((1u << m->bits) - 1)];
}

/* The ring of the winner. */
static inline uint32_t merge_ring(const struct merge *m)
{
	return merge_leaf(m, m->winner)->ring;
}

/* Room for that many rings. 0 or -ENOMEM. */
int merge_make_room(struct merge *m, unsigned int rings);
void merge_destroy(struct merge *m);

/*
 * Begin a window with the least head; false: nothing lies below limit. While
 * a merge is open the queues may only be touched through it.
 */
bool merge_open(struct perfclock_order *o, uint64_t limit);
/* Write the positions back to the queues. */
void merge_close(struct perfclock_order *o);
/*
 * Deliver all of the window. Returns 0, or the callback's value after the
 * item for which it was returned.
 */
int merge_deliver(struct perfclock_order *o, perfclock_order_fn fn, void *ctx);
/* The winner, as a record; it stays until merge_step(). */
void merge_peek(struct perfclock_order *o, struct perfclock_record *rec);
/* Go on behind the winner. */
void merge_step(struct perfclock_order *o);

#endif /* PERFCLOCK_LIB_ORDER_MERGE_H */
