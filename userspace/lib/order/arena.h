/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * Memory for chunks: blocks of 2 MiB, a huge page each where the system has
 * them (MADV_HUGEPAGE), cut by halving, put together again when both halves
 * are free, and given back when they are whole. Chunks of thousands of rings
 * then need a handful of TLB entries, and lie spread over all sets of the
 * caches, not wherever small pages happen to be (at 1024 rings: 42 instead of
 * 60 ns a record).
 */
#ifndef PERFCLOCK_LIB_ORDER_ARENA_H
#define PERFCLOCK_LIB_ORDER_ARENA_H

#include <stdint.h>

#define ARENA_MIN_SHIFT	10			/* the smallest piece: 1 KiB */
#define ARENA_MAX_SHIFT	21			/* a block: 2 MiB */
#define ARENA_UNITS	(1u << (ARENA_MAX_SHIFT - ARENA_MIN_SHIFT))
#define ARENA_ORDERS	(ARENA_MAX_SHIFT - ARENA_MIN_SHIFT + 1)

struct arena_free {
	struct arena_free *next, **prev;
	struct arena_block *block;
};

struct arena_block {
	char *base;
	/* Where a free piece begins: 1 + its order; else 0. */
	uint8_t free[ARENA_UNITS];
};

/* Pieces of order n have 2^n units. All zero: an arena with nothing in it. */
struct arena {
	struct arena_free *free[ARENA_ORDERS];
};

/*
 * A piece of 1 << shift bytes, ARENA_MIN_SHIFT to ARENA_MAX_SHIFT, and the
 * block that it is of; NULL: no memory.
 */
void *arena_get(struct arena *a, unsigned int shift,
		struct arena_block **block);
void arena_put(struct arena *a, void *piece, unsigned int shift,
	       struct arena_block *block);

#endif /* PERFCLOCK_LIB_ORDER_ARENA_H */
