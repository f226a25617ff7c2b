// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* A ring's queue: see queue.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "order/queue.h"

#define MAIN_CHUNK	((size_t)1024)	/* least size of the main run's */
#define SIDE_CHUNK	CHUNK_MIN	/* of side runs', often one record */
#define SIDE_ROOM	8		/* side runs there is always room for */
#define KEEP_MAX	((size_t)4096)	/* a chunk that an empty run keeps */

static void mark_end(char *at)
{
	struct item *mark = item_at(at);

	mark->key = KEY_END;
	mark->size = 0;
}

/*
 * How great the next chunk should be: for an empty run, what it held before it
 * emptied, so that a ring with little in it lies on few pages, and one with
 * much does not begin small each time. Else double while more than half of one
 * is held, else what is held, so that a ring which holds little owns little.
 */
static size_t next_size(const struct run *run, size_t least)
{
	size_t held;

	if (run->rd == run->wr)
		return run->hint > least ? run->hint : least;
	held = run->wr - run->rd;
	if (run->first != run->last || held > run->last->size / 2)
		return run->last->size < CHUNK_MAX ? 2 * run->last->size :
						     CHUNK_MAX;
	return held > least ? held : least;
}

/* An empty run shall own nothing. */
static void run_drop_kept(struct run *run, struct chunk_pool *pool)
{
	if (!run->kept)
		return;
	run_use_kept(run, pool);
	chunk_put(pool, run->first);
	run->rd = run->wr = run->wr_end = NULL;
}

/* Room in the run for size bytes and a mark. */
static int run_make_room(struct run *run, struct chunk_pool *pool, size_t size,
			 size_t least)
{
	struct chunk *c;
	int err;

	if (size <= (size_t)(run->wr_end - run->wr))
		return 0;
	c = chunk_get(pool, sizeof(*c) + size + sizeof(struct item),
		      next_size(run, least), &err);
	if (!c)
		return err;
	c->next = NULL;
	if (run->rd != run->wr) {
		mark_end(run->wr);
		run->last->end = run->wr;
		run->last->next = c;
	} else {
		run_drop_kept(run, pool);
		run->first = c;
		run->rd = c->data;
	}
	run->last = c;
	run->wr = c->data;
	run->wr_end = (char *)c + c->size - sizeof(struct item);
	return 0;
}

static struct item *run_append(struct run *run, struct chunk_pool *pool,
			       uint64_t key, size_t size)
{
	struct item *it = item_at(run->wr);

	run_use_kept(run, pool);
	it->key = key;
	it->size = size;
	run->last_key = key < KEY_MIN ? KEY_MIN : key;
	run->wr += size;
	return it;
}

/* The run is empty: it keeps its last chunk, unless that is large. */
static void run_emptied(struct run *run, struct chunk_pool *pool, size_t keep)
{
	struct chunk *c = run->last;
	size_t used = run->wr - (char *)c;

	used += used / 4;
	run->hint = used > run->hint / 2 ? used : run->hint / 2;
	if (c->size <= keep) {
		run->rd = run->wr = c->data;
		run->kept = c->size;
		pool->kept += c->size;
	} else {
		run->rd = run->wr = run->wr_end = NULL;
		chunk_put(pool, c);
	}
}

/* False: the run is now empty. Chunks up to keep bytes stay with it then. */
static bool run_pop(struct run *run, struct chunk_pool *pool, size_t keep)
{
	struct chunk *c = run->first;
	char *next = (char *)item_next(item_at(run->rd));

	if (c == run->last) {
		if (next == run->wr) {
			run_emptied(run, pool, keep);
			return false;
		}
		run->rd = next;
		return true;
	}
	if (next != c->end) {
		run->rd = next;
		return true;
	}
	run->hint = run->last->size;
	run->first = c->next;
	run->rd = run->first->data;
	chunk_put(pool, c);
	return true;
}

static void run_destroy(struct run *run, struct chunk_pool *pool)
{
	struct chunk *c = run->rd ? run->first : NULL, *next;

	run_use_kept(run, pool);
	for (; c; c = next) {
		next = c->next;
		chunk_put(pool, c);
	}
	run->rd = run->wr = run->wr_end = NULL;
}

/* The heap of a queue with side runs: who has the least head. */

static struct run *run_of(struct queue *q, uint32_t nr)
{
	return nr ? &q->side.runs[nr - 1] : &q->main;
}

static bool before(struct queue *q, uint32_t a, uint32_t b)
{
	const uint64_t ka = item_at(run_of(q, a)->rd)->key;
	const uint64_t kb = item_at(run_of(q, b)->rd)->key;

	return ka != kb ? ka < kb : a < b;
}

static void sift_down(struct queue *q)
{
	uint32_t *heap = q->side.heap, moving = heap[0];
	unsigned int n = q->side.nr + 1, i = 0, child;

	while ((child = 2 * i + 1) < n) {
		if (child + 1 < n && before(q, heap[child + 1], heap[child]))
			child++;
		if (!before(q, heap[child], moving))
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = moving;
}

static void sift_up(struct queue *q, unsigned int i)
{
	uint32_t *heap = q->side.heap, moving = heap[i];

	while (i && before(q, moving, heap[(i - 1) / 2])) {
		heap[i] = heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	heap[i] = moving;
}

static size_t side_bytes(size_t room)
{
	return room * (sizeof(struct run) + sizeof(uint32_t)) +
	       sizeof(uint32_t);
}

static void side_free(struct queue *q, struct chunk_pool *pool)
{
	if (q->side.room)
		chunk_pool_uncharge(pool, side_bytes(q->side.room));
	free(q->side.runs);
	free(q->side.heap);
	memset(&q->side, 0, sizeof(q->side));
}

/* Room for one more side run. */
static int side_make_room(struct queue *q, struct chunk_pool *pool)
{
	const unsigned int old = q->side.room;
	const unsigned int room = old ? 2 * old : SIDE_ROOM;
	struct run *runs;
	uint32_t *heap;
	size_t more;
	int err;

	if (q->side.nr < old)
		return 0;
	more = side_bytes(room) - (old ? side_bytes(old) : 0);
	err = chunk_pool_charge(pool, more);
	if (err)
		return err;
	runs = realloc(q->side.runs, room * sizeof(*runs));
	if (runs)
		q->side.runs = runs;
	heap = realloc(q->side.heap, (room + 1) * sizeof(*heap));
	if (heap)
		q->side.heap = heap;
	if (!runs || !heap) {
		/* What has grown is used later; it is counted then. */
		chunk_pool_uncharge(pool, more);
		return -ENOMEM;
	}
	q->side.room = room;
	return 0;
}

/* The first side run whose last key is not above key; side.nr if none. */
static unsigned int side_find(const struct queue *q, uint64_t key)
{
	unsigned int low = 0, high = q->side.nr, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (q->side.runs[mid].last_key <= key)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

static struct item *side_append(struct queue *q, struct chunk_pool *pool,
				uint64_t key, size_t size, int *err)
{
	const unsigned int i = side_find(q, key);
	struct run *run;
	struct item *it;

	if (i == q->side.nr) {
		*err = side_make_room(q, pool);
		if (*err)
			return NULL;
		memset(&q->side.runs[i], 0, sizeof(*run));
	}
	run = &q->side.runs[i];
	*err = run_make_room(run, pool, size, SIDE_CHUNK);
	if (*err)
		return NULL;
	it = run_append(run, pool, key, size);
	if (i == q->side.nr) {
		if (!i)
			q->side.heap[0] = 0;
		q->side.nr++;
		q->side.heap[i + 1] = i + 1;
		sift_up(q, i + 1);
	}
	return it;
}

struct item *queue_append(struct queue *q, struct chunk_pool *pool,
			  uint64_t key, size_t size, int *err)
{
	/*
	 * Key 0 follows nothing but key 0, though last_key says KEY_MIN: were
	 * it put into a side run, the main run would be empty before that one.
	 */
	if (key < q->main.last_key && key && !queue_empty(q))
		return side_append(q, pool, key, size, err);
	*err = run_make_room(&q->main, pool, size, MAIN_CHUNK);
	return *err ? NULL : run_append(&q->main, pool, key, size);
}

void queue_pop(struct queue *q, struct chunk_pool *pool)
{
	uint32_t top;

	if (likely(!q->side.nr)) {
		run_pop(&q->main, pool, KEEP_MAX);
		return;
	}
	top = q->side.heap[0];
	if (!run_pop(run_of(q, top), pool, 0)) {
		/* It is the last of the side runs: see queue.h. */
		q->side.heap[0] = q->side.heap[q->side.nr--];
		if (!q->side.nr && q->side.room > SIDE_ROOM) {
			side_free(q, pool);
			return;
		}
	}
	if (q->side.nr)
		sift_down(q);
}

void queue_destroy(struct queue *q, struct chunk_pool *pool)
{
	unsigned int i;

	run_destroy(&q->main, pool);
	for (i = 0; i < q->side.nr; i++)
		run_destroy(&q->side.runs[i], pool);
	side_free(q, pool);
}
