/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * Chunks: the memory in which records wait, and the pool that hands them out,
 * reuses them hot, keeps within a bound and gives back what isn't needed.
 */
#ifndef PERFCLOCK_LIB_ORDER_CHUNK_H
#define PERFCLOCK_LIB_ORDER_CHUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "order/arena.h"

#define CHUNK_MIN_SHIFT	8			/* 256 bytes */
#define CHUNK_MAX_SHIFT	16			/* 64 KiB */
#define CHUNK_MIN	((size_t)1 << CHUNK_MIN_SHIFT)
#define CHUNK_MAX	((size_t)1 << CHUNK_MAX_SHIFT)
#define CHUNK_CLASSES	(CHUNK_MAX_SHIFT - CHUNK_MIN_SHIFT + 1)

struct chunk {
	struct chunk *next;
	size_t size;			/* with this header */
	char *end;			/* of what is in it, once it is full */
	struct arena_block *block;	/* NULL: malloc()'s */
	char data[];
};

struct chunk_pool {
	size_t bound;
	size_t in_use, cached;		/* bytes; their sum keeps to the bound */
	size_t most;			/* greatest sum so far */
	size_t kept;			/* of in_use: chunks of empty runs */
	/* What was in use at most, in this stretch of flushes and the last. */
	size_t peak, last_peak;
	unsigned int flushes;
	struct chunk *free[CHUNK_CLASSES];
	struct arena arena;
};

void chunk_pool_init(struct chunk_pool *p, size_t bound);
void chunk_pool_destroy(struct chunk_pool *p);

/*
 * A chunk of at least need bytes, of want bytes if the bound allows it. Sizes
 * up to CHUNK_MAX are powers of two, others exact. NULL: *err is -ENOBUFS
 * (bound) or -ENOMEM.
 */
struct chunk *chunk_get(struct chunk_pool *p, size_t need, size_t want,
			int *err);
void chunk_put(struct chunk_pool *p, struct chunk *c);

/* Count memory that is no chunk. 0 or -ENOBUFS. */
int chunk_pool_charge(struct chunk_pool *p, size_t size);
void chunk_pool_uncharge(struct chunk_pool *p, size_t size);

/*
 * A flush is over: give back what two stretches of flushes did not need. True:
 * a stretch is over.
 */
bool chunk_pool_breathe(struct chunk_pool *p);
/* Give back all that is cached above keep bytes. */
void chunk_pool_trim(struct chunk_pool *p, size_t keep);

#endif /* PERFCLOCK_LIB_ORDER_CHUNK_H */
