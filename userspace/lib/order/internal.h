/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/* What the parts of the order core share: the handle and the ring. */
#ifndef PERFCLOCK_LIB_ORDER_INTERNAL_H
#define PERFCLOCK_LIB_ORDER_INTERNAL_H

#include <perfclock/order.h>

#include "order/chunk.h"
#include "order/merge.h"
#include "order/queue.h"

enum ring_state {
	RING_FREE,		/* the number may be handed out */
	RING_LIVE,
	RING_ENDED		/* takes no more; something is still queued */
};

struct ring {
	/* What every push touches comes first: one cache line. */
	uint64_t pushed;
	struct queue q;
	uint64_t delivered;
	uint64_t seen;		/* what pushed was, a stretch of flushes ago */
	/* The record pushed last has this key, ... */
	uint64_t slow_key;
	uint64_t slow_at;	/* ... if this is still what pushed says */
	uint64_t newest;	/* greatest stamp, where the queue forgot it */
	uint64_t late;
	uint64_t max_late_ns;
	uint64_t inversions;
	enum ring_state state;
} __attribute__((aligned(64)));

struct perfclock_order {
	/* What every push touches. */
	struct ring *rings;
	unsigned int nr_usable;	/* nr_rings; 0: pushes take the long way */
	unsigned int nr_rings;
	uint64_t greatest;	/* stamp delivered */
	uint64_t pushed;

	bool ended;
	bool busy;		/* inside a flush */
	bool loan;		/* _next() gave out the merge's winner */
	enum perfclock_late late_choice;
	uint64_t limit;		/* the greatest so far */
	unsigned int rings_room;
	struct chunk_pool pool;
	struct merge merge;
	uint64_t delivered, held_max, late, max_late_ns, discarded;
	uint64_t inversions, placed, bad_limits;
	/* Rings with something queued. */
	uint64_t filled[PERFCLOCK_ORDER_MAX_RINGS / 64];
};

/* An ended ring with nothing left: its number may be handed out. */
static inline void free_ring(struct perfclock_order *o, struct ring *r)
{
	queue_destroy(&r->q, &o->pool);
	r->state = RING_FREE;
}

static inline void set_filled(struct perfclock_order *o, unsigned int ring)
{
	o->filled[ring / 64] |= 1ull << (ring % 64);
}

static inline void clear_filled(struct perfclock_order *o, unsigned int ring)
{
	o->filled[ring / 64] &= ~(1ull << (ring % 64));
}

#endif /* PERFCLOCK_LIB_ORDER_INTERNAL_H */
