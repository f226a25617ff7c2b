// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* The window of the external sort: see window.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "perfdata/window.h"

#define RECORD_MAX	(UINT16_MAX + sizeof(struct sort_payload))
#define BYTES_PER_ENTRY	48	/* a guess: smaller records fill the table */
#define HAS_PAYLOAD	(1u << 31)
#define RADIX_BITS	11
#define MERGE_RUNS	8	/* more are sorted by radix */

void window_init(struct window *w, size_t memory)
{
	size_t arena = memory / 3;	/* two arenas, two tables */

	if (arena > UINT32_MAX)
		arena = UINT32_MAX;
	memset(w, 0, sizeof(*w));
	w->arena_max = arena;
	w->entries_max = arena / BYTES_PER_ENTRY;
}

void window_free(struct window *w)
{
	free(w->arena);
	free(w->spare);
	free(w->entries);
	free(w->scratch);
	memset(w, 0, sizeof(*w));
}

bool window_full(const struct window *w)
{
	return w->nr == w->entries_max || w->arena_max - w->used < RECORD_MAX;
}

bool window_nearly_full(const struct window *w)
{
	return w->nr >= w->entries_max - w->entries_max / 16 ||
	       w->used >= w->arena_max - w->arena_max / 16 ||
	       window_full(w);
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
	*p = more;
	*room = want;
	return 0;
}

int window_add(struct window *w, const struct sort_record *r)
{
	size_t end = w->used + r->size + sizeof(r->payload);
	struct window_entry *e;
	int err;

	err = grow(&w->entries, &w->room, w->nr + 1, w->entries_max,
		   sizeof(*e));
	if (!err)
		err = grow(&w->arena, &w->arena_size, end, w->arena_max, 1);
	if (err)
		return err;
	e = &w->entries[w->nr++];
	*e = (struct window_entry){ r->key, w->used, r->size };
	memcpy(w->arena + w->used, r->data, r->size);
	w->used += r->size;
	if (!r->payload.size)
		return 0;
	e->size |= HAS_PAYLOAD;
	memcpy(w->arena + w->used, &r->payload, sizeof(r->payload));
	w->used += sizeof(r->payload);
	return 0;
}

/* Merge two neighbouring runs of 'from' into 'to'; the first wins ties. */
static void merge(const struct window_entry *from, struct window_entry *to,
		  size_t start, size_t middle, size_t end)
{
	size_t a = start, b = middle, k = start;

	if (from[middle - 1].key <= from[middle].key) {
		memcpy(to + start, from + start, (end - start) * sizeof(*to));
		return;
	}
	while (a < middle && b < end)
		to[k++] = from[a].key <= from[b].key ? from[a++] : from[b++];
	memcpy(to + k, from + a, (middle - a) * sizeof(*to));
	k += middle - a;
	memcpy(to + k, from + b, (end - b) * sizeof(*to));
}

/* The end of the ascending run that begins at start. */
static size_t run_end(const struct window_entry *e, size_t start, size_t nr)
{
	while (++start < nr && e[start - 1].key <= e[start].key)
		;
	return start;
}

static void swap_entries(struct window *w)
{
	struct window_entry *entries = w->entries;
	size_t room = w->room;

	w->entries = w->scratch;
	w->room = w->scratch_room;
	w->scratch = entries;
	w->scratch_room = room;
}

/* One round of natural merge sort: pairs of ascending runs become one. */
static void merge_pairs(struct window *w)
{
	size_t start, middle, end;

	for (start = 0; start < w->nr; start = end) {
		middle = run_end(w->entries, start, w->nr);
		end = middle;
		if (middle < w->nr) {
			end = run_end(w->entries, middle, w->nr);
			merge(w->entries, w->scratch, start, middle, end);
		} else {
			memcpy(w->scratch + start, w->entries + start,
			       (end - start) * sizeof(*w->entries));
		}
	}
	swap_entries(w);
}

/* One pass of radix sort, by RADIX_BITS from 'shift' on of key - least. */
static void radix_pass(struct window *w, uint64_t least, unsigned int shift)
{
	uint32_t at[1u << RADIX_BITS] = { 0 }, sum = 0, count;
	const uint64_t mask = (1u << RADIX_BITS) - 1;
	size_t i;

	for (i = 0; i < w->nr; i++)
		at[(w->entries[i].key - least) >> shift & mask]++;
	for (i = 0; i <= mask; i++) {
		count = at[i];
		if (count == w->nr)
			return;		/* the same digit in all keys */
		at[i] = sum;
		sum += count;
	}
	for (i = 0; i < w->nr; i++) {
		const struct window_entry *e = &w->entries[i];

		w->scratch[at[(e->key - least) >> shift & mask]++] = *e;
	}
	swap_entries(w);
}

static void radix_sort(struct window *w)
{
	uint64_t least = UINT64_MAX, greatest = 0;
	unsigned int shift;
	size_t i;

	for (i = 0; i < w->nr; i++) {
		if (w->entries[i].key < least)
			least = w->entries[i].key;
		if (w->entries[i].key > greatest)
			greatest = w->entries[i].key;
	}
	for (shift = 0; shift < 64 && (greatest - least) >> shift;
	     shift += RADIX_BITS)
		radix_pass(w, least, shift);
}

/* The number of ascending runs, or more than max. */
static size_t count_runs(const struct window *w, size_t max)
{
	size_t start, nr = 0;

	for (start = 0; start < w->nr && nr <= max; nr++)
		start = run_end(w->entries, start, w->nr);
	return nr;
}

/*
 * Stable. A recording is made of ascending stretches (a ring's part of a
 * round): if they are few, pairs of them are merged until one is left; many
 * are cheaper by radix, since the stamps of a window differ in few bits.
 */
static int sort(struct window *w)
{
	size_t runs = count_runs(w, MERGE_RUNS);

	if (runs <= 1)
		return 0;
	if (grow(&w->scratch, &w->scratch_room, w->nr, w->entries_max,
		 sizeof(*w->scratch)))
		return -ENOMEM;
	if (runs > MERGE_RUNS) {
		radix_sort(w);
		return 0;
	}
	for (; runs > 1; runs = (runs + 1) / 2)
		merge_pairs(w);
	return 0;
}

static size_t entry_bytes(const struct window_entry *e)
{
	return (e->size & ~HAS_PAYLOAD) +
	       (e->size & HAS_PAYLOAD ? sizeof(struct sort_payload) : 0);
}

/* Move what stays to the spare arena, in key order. */
static int keep_from(struct window *w, size_t first)
{
	struct window_entry *e;
	size_t i, bytes, at = 0;
	uint8_t *swap;

	if (first == w->nr) {
		w->nr = w->used = 0;
		return 0;
	}
	e = w->entries + first;
	if (grow(&w->spare, &w->spare_size, w->arena_size, w->arena_max, 1))
		return -ENOMEM;
	for (i = 0; i < w->nr - first; i++) {
		bytes = entry_bytes(&e[i]);
		memcpy(w->spare + at, w->arena + e[i].at, bytes);
		w->entries[i] = e[i];
		w->entries[i].at = at;
		at += bytes;
	}
	w->nr -= first;
	w->used = at;
	swap = w->arena;
	w->arena = w->spare;
	w->spare = swap;
	bytes = w->arena_size;
	w->arena_size = w->spare_size;
	w->spare_size = bytes;
	return 0;
}

int window_least(struct window *w, uint64_t *key)
{
	int err = sort(w);

	*key = w->nr ? w->entries[0].key : UINT64_MAX;
	return err;
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

		if (e->size & HAS_PAYLOAD)
			memcpy(&r.payload, w->arena + e->at + r.size,
			       sizeof(r.payload));
		bytes += entry_bytes(e);
		err = fn(&r, ctx);
	}
	return err ? err : keep_from(w, i);
}
