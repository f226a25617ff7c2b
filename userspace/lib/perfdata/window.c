// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* The window of the external sort: see window.h; window_sort.c puts it in order. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "perfdata/window.h"
#include "perfdata/window_sort.h"

#define RECORD_MAX	(UINT16_MAX + sizeof(struct sort_payload))
#define CHUNK		((size_t)256 << 10)
#define BYTES_PER_ENTRY	48	/* a guess: smaller records fill the table */
#define HAS_PAYLOAD	(1u << 31)
#define NO_CHUNK	UINT32_MAX
#define FETCH_AHEAD	16
#define HUGE_PAGE	((size_t)2 << 20)

void window_init(struct window *w, size_t memory)
{
	size_t arena = memory / 3;	/* two arenas, two tables */

	if (arena > UINT32_MAX)
		arena = UINT32_MAX;
	memset(w, 0, sizeof(*w));
	w->max_chunks = arena / CHUNK < 2 ? 2 : arena / CHUNK;
	w->entries_max = arena / BYTES_PER_ENTRY;
	window_clear(w);
}

void window_free(struct window *w)
{
	free(w->arena);
	free(w->spare);
	free(w->chunks);
	free(w->entries);
	free(w->scratch);
	memset(w, 0, sizeof(*w));
}

static void no_chunks(struct window *w)
{
	w->nr_chunks = w->nr_free = 0;
	w->first_free = NO_CHUNK;
	w->tail = w->tail_end = 0;
}

void window_clear(struct window *w)
{
	no_chunks(w);
	w->nr = w->used = w->sorted = 0;
}

/* Bytes in chunks that have no record yet, or none any more. */
static size_t free_bytes(const struct window *w)
{
	return (w->max_chunks - w->nr_chunks + w->nr_free) * CHUNK;
}

bool window_full(const struct window *w)
{
	return w->nr == w->entries_max ||
	       (w->tail_end - w->tail < RECORD_MAX && !free_bytes(w));
}

bool window_nearly_full(const struct window *w)
{
	return w->nr >= w->entries_max - w->entries_max / 16 ||
	       free_bytes(w) + w->tail_end - w->tail <=
	       w->max_chunks * CHUNK / 16 || window_full(w);
}

/* It is read and written all over the place: ask for huge pages. */
static void advise_huge(uint8_t *p, size_t size)
{
	size_t before = -(uintptr_t)p & (HUGE_PAGE - 1);

	if (size >= 2 * HUGE_PAGE)	/* a kernel without: no matter */
		(void)!madvise(p + before, (size - before) & -HUGE_PAGE,
			       MADV_HUGEPAGE);
}

/* Room for 'need' things of a size: doubled, but never above max. */
static int grow(void *pointer, size_t *room, size_t need, size_t max,
		size_t size)
{
	void **p = pointer;
	void *more;
	size_t want = *room ? *room : 4096;

	if (need <= *room)
		return 0;
	while (want < need)
		want *= 2;
	if (want > max)
		want = max;
	more = realloc(*p, want * size);
	if (!more)
		return -ENOMEM;
	advise_huge(more, want * size);
	*p = more;
	*room = want;
	return 0;
}

/* The tail moves to a free chunk; there is one. */
static int begin_chunk(struct window *w)
{
	uint32_t chunk = w->first_free;
	int err;

	if (chunk != NO_CHUNK) {
		w->first_free = w->chunks[chunk].next_free;
		w->nr_free--;
	} else {
		chunk = w->nr_chunks;
		err = grow(&w->chunks, &w->chunk_room, chunk + 1,
			   w->max_chunks, sizeof(*w->chunks));
		if (err)
			return err;
		w->nr_chunks++;
	}
	w->chunks[chunk].live = 0;
	w->tail = chunk * CHUNK;
	w->tail_end = w->tail + CHUNK;
	return 0;
}

/* A place for so many bytes. 0, -ENOMEM. */
static int place(struct window *w, size_t bytes, uint32_t *at)
{
	int err = 0;

	if (w->tail_end - w->tail < bytes)
		err = begin_chunk(w);
	if (!err)
		err = grow(&w->arena, &w->arena_size, w->tail + bytes,
			   w->max_chunks * CHUNK, 1);
	if (err)
		return err;
	*at = w->tail;
	w->chunks[w->tail / CHUNK].live++;
	w->tail += bytes;
	return 0;
}

/* The bytes of a record that began there are not needed any more. */
static void release(struct window *w, uint32_t at)
{
	const uint32_t chunk = at / CHUNK;

	if (--w->chunks[chunk].live)
		return;
	if (w->tail_end == (chunk + 1) * CHUNK) {
		w->tail = chunk * CHUNK;
		return;
	}
	w->chunks[chunk].next_free = w->first_free;
	w->first_free = chunk;
	w->nr_free++;
}

int window_add(struct window *w, const struct sort_record *r)
{
	const bool payload = r->payload.size;
	size_t bytes = r->size + (payload ? sizeof(r->payload) : 0);
	struct window_entry *e;
	uint32_t at;
	int err;

	err = grow(&w->entries, &w->room, w->nr + 1, w->entries_max,
		   sizeof(*e));
	if (!err)
		err = place(w, bytes, &at);
	if (err)
		return err;
	memcpy(w->arena + at, r->data, r->size);
	if (payload)
		memcpy(w->arena + at + r->size, &r->payload,
		       sizeof(r->payload));
	e = &w->entries[w->nr];
	*e = (struct window_entry){
		r->key, at, r->size | (payload ? HAS_PAYLOAD : 0)
	};
	if (w->sorted == w->nr && (!w->nr || e[-1].key <= r->key))
		w->sorted++;
	w->nr++;
	w->used += bytes;
	return 0;
}

static int sort(struct window *w)
{
	if (w->sorted == w->nr)
		return 0;
	if (grow(&w->scratch, &w->scratch_room, w->nr, w->entries_max,
		 sizeof(*w->scratch)))
		return -ENOMEM;
	window_sort(w);
	w->sorted = w->nr;
	return 0;
}

static size_t entry_bytes(const struct window_entry *e)
{
	return (e->size & ~HAS_PAYLOAD) +
	       (e->size & HAS_PAYLOAD ? sizeof(struct sort_payload) : 0);
}

/*
 * Everything to the spare arena, in key order. It fits: it is at most half of
 * what was there, and a chunk is left for the next with three quarters full
 * or more.
 */
static int compact(struct window *w)
{
	const size_t size = w->arena_size;
	uint8_t *from = w->arena;
	struct window_entry *e;
	uint32_t at;
	int err = 0;

	w->arena = w->spare;
	w->arena_size = w->spare_size;
	w->spare = from;
	w->spare_size = size;
	no_chunks(w);
	for (e = w->entries; !err && e < w->entries + w->nr; e++) {
		err = place(w, entry_bytes(e), &at);
		if (!err)
			memcpy(w->arena + at, from + e->at, entry_bytes(e));
		e->at = at;
	}
	return err;
}

/* The first so many have left. */
static int keep_from(struct window *w, size_t first, size_t bytes)
{
	w->nr -= first;
	w->sorted = w->nr;
	w->used -= bytes;
	if (w->nr)	/* entries may be NULL, where there never was one */
		memmove(w->entries, w->entries + first,
			w->nr * sizeof(*w->entries));
	/* Much of what is free may lie between records that stay. */
	if (free_bytes(w) < (w->max_chunks * CHUNK - w->used) / 2)
		return compact(w);
	return 0;
}

int window_least(struct window *w, uint64_t *key)
{
	int err = sort(w);

	*key = w->nr ? w->entries[0].key : UINT64_MAX;
	return err;
}

/* Records leave in another order than they lie in: fetch those of later. */
static void fetch_ahead(const struct window *w, size_t i)
{
	const uint8_t *p;

	if (i + FETCH_AHEAD >= w->nr)
		return;
	p = w->arena + w->entries[i + FETCH_AHEAD].at;
	__builtin_prefetch(p);
	__builtin_prefetch(p + 64);
}

int window_emit(struct window *w, bool all, window_fn fn, void *ctx)
{
	const size_t stop = all ? SIZE_MAX : w->used / 2;
	size_t i, bytes = 0;
	int err = sort(w);

	for (i = 0; !err && i < w->nr && bytes <= stop; i++) {
		const struct window_entry *e = &w->entries[i];
		struct sort_record r = {
			.key = e->key, .data = w->arena + e->at,
			.size = e->size & ~HAS_PAYLOAD,
		};

		fetch_ahead(w, i);
		if (e->size & HAS_PAYLOAD)
			memcpy(&r.payload, w->arena + e->at + r.size,
			       sizeof(r.payload));
		bytes += entry_bytes(e);
		err = fn(&r, ctx);
		release(w, e->at);
	}
	return err ? err : keep_from(w, i, bytes);
}
