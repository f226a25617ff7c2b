/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * A ring's queue, nearly sorted on the way in, sorted on the way out.
 *
 * Records lie in chunks, one behind the other, with a header of 16 bytes. A
 * *run* is a FIFO of such records whose keys never fall: append at one end,
 * take at the other. A ring is its main run, and side runs for what came out
 * of order. A record goes to the first run whose last key is not above its
 * own, or begins a new run behind them (patience sorting). Hence:
 *
 *  - The last keys fall from run to run, so the right run is found by halving.
 *  - Of equal keys, those in an earlier run were pushed before: at the time
 *    the second came, all runs before the first one's had last keys above it,
 *    since last keys only grow. Order by (key, run) is stable.
 *  - A record in a side run has a key below the last key of each run before
 *    it, so it leaves before that last record does: the last run empties
 *    first, the main run never before the side runs.
 *
 * An empty main run keeps its chunk, if that is small: a ring that has a few
 * records a round would else give it back and fetch it again each time.
 *
 * So an inversion costs a side run of one record; a stamp days ahead blocks
 * the main run, and what follows goes on in a side run; a ring in reverse
 * still sorts in n log n. Nothing ever moves once it is written.
 */
#ifndef PERFCLOCK_LIB_ORDER_QUEUE_H
#define PERFCLOCK_LIB_ORDER_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "order/chunk.h"

#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)

/* A record in a chunk. Bytes (or a struct ref), padded to 8, follow it. */
struct item {
	uint64_t key;		/* place in the order; its stamp, mostly */
	uint32_t size;		/* ITEM_* | bytes to the next item | padding */
	uint32_t tag;
};

#define ITEM_PAD	7u		/* bytes of padding in the size */
#define ITEM_SIZE	0x0ffffff8u
#define ITEM_REF	(1u << 28)	/* a struct ref instead of bytes */
#define ITEM_PLACED	(1u << 29)	/* the stamp, u64, goes before them */
#define ITEM_LATE	(1u << 30)
#define ITEM_SPECIAL	(ITEM_REF | ITEM_PLACED | ITEM_LATE)

#define ITEM_LEN_MAX	((size_t)1 << 27)

struct ref {
	const void *data;
	uint64_t len;
};

/*
 * The mark behind the last item of a chunk: greater than any key, and its own
 * successor, so that looking two items ahead needs no test. Full chunks carry
 * it always, the others while they are being merged (queue_mark_end()).
 */
#define KEY_END		UINT64_MAX
/*
 * The least key of an item with a stamp; 0 is that of an item placed before
 * all stamps. Last keys of main runs are never below KEY_MIN.
 */
#define KEY_MIN		1u

struct run {
	char *wr, *wr_end;	/* room for items; a mark fits behind */
	uint64_t last_key;
	char *rd;		/* the head; equals wr: the run is empty */
	size_t kept;		/* of an empty run: the size of its chunk */
	struct chunk *first, *last;	/* if rd is not NULL */
	size_t hint;		/* how much it will hold, by the last time */
};

struct side_runs {
	struct run *runs;
	uint32_t *heap;		/* runs by (head's key, number); 0 is main */
	unsigned int nr, room;
};

struct queue {
	struct run main;
	struct side_runs side;	/* side.nr > 0: heap has side.nr + 1 runs */
};

static inline struct item *item_at(void *p)
{
	return p;
}

static inline size_t item_size(const struct item *it)
{
	return it->size & ITEM_SIZE;
}

static inline struct item *item_next(struct item *it)
{
	return item_at((char *)it + item_size(it));
}

static inline bool queue_empty(const struct queue *q)
{
	return q->main.rd == q->main.wr;
}

/* The item that leaves next; the queue is not empty. */
static inline struct item *queue_head(const struct queue *q)
{
	uint32_t top;

	if (likely(!q->side.nr))
		return item_at(q->main.rd);
	top = q->side.heap[0];
	return item_at(top ? q->side.runs[top - 1].rd : q->main.rd);
}

/* Write the mark behind the main run's items. */
static inline void queue_mark_end(struct queue *q)
{
	struct item *mark = item_at(q->main.wr);

	mark->key = KEY_END;
	mark->size = 0;
}

/*
 * Room for an item of size bytes with this key, in the run where it belongs;
 * the caller writes the item at once. NULL: *err is -ENOBUFS or -ENOMEM, and
 * nothing has changed.
 */
struct item *queue_append(struct queue *q, struct chunk_pool *pool,
			  uint64_t key, size_t size, int *err);
/* Take the head away. Its bytes are gone. */
void queue_pop(struct queue *q, struct chunk_pool *pool);
/* The main run's kept chunk holds something from now on. */
static inline void run_use_kept(struct run *run, struct chunk_pool *pool)
{
	pool->kept -= run->kept;
	run->kept = 0;
}

/* Throw away all. */
void queue_destroy(struct queue *q, struct chunk_pool *pool);

#endif /* PERFCLOCK_LIB_ORDER_QUEUE_H */
