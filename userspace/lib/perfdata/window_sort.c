// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Putting the entries of a window in order: see window_sort.h.
 *
 * A recording is made of ascending stretches (a ring's part of a round): if
 * they are few, pairs of them are merged until one is left; many are cheaper
 * by radix, since the stamps of a window differ in few bits. Only what has
 * come since the last time is sorted so, and merged with the rest.
 */
#include <string.h>

#include "perfdata/window_sort.h"

#define RADIX_BITS	11
#define MERGE_RUNS	8	/* more are sorted by radix */

/* What is being sorted, and as much room; they change places. */
struct part {
	struct window_entry *e, *room;
	size_t nr;
};

static void swap_rooms(struct part *p)
{
	struct window_entry *e = p->e;

	p->e = p->room;
	p->room = e;
}

/*
 * Two ascending sequences become one; the first wins ties. b may lie where
 * the end of 'to' is: what is written has been read.
 */
static void merge(const struct window_entry *a, size_t nr_a,
		  const struct window_entry *b, size_t nr_b,
		  struct window_entry *to)
{
	const struct window_entry *end_a = a + nr_a, *end_b = b + nr_b;

	while (a < end_a && b < end_b)
		*to++ = a->key <= b->key ? *a++ : *b++;
	memcpy(to, a, (end_a - a) * sizeof(*to));
	to += end_a - a;
	memmove(to, b, (end_b - b) * sizeof(*to));
}

/* The end of the ascending run that begins at start. */
static size_t run_end(const struct part *p, size_t start)
{
	while (++start < p->nr && p->e[start - 1].key <= p->e[start].key)
		;
	return start;
}

/* The number of ascending runs, or more than max. */
static size_t count_runs(const struct part *p, size_t max)
{
	size_t start, nr = 0;

	for (start = 0; start < p->nr && nr <= max; nr++)
		start = run_end(p, start);
	return nr;
}

/* One round of natural merge sort: pairs of ascending runs become one. */
static void merge_pairs(struct part *p)
{
	size_t start, middle, end;

	for (start = 0; start < p->nr; start = end) {
		middle = end = run_end(p, start);
		if (middle < p->nr)
			end = run_end(p, middle);
		merge(p->e + start, middle - start, p->e + middle,
		      end - middle, p->room + start);
	}
	swap_rooms(p);
}

/* One pass of radix sort, by RADIX_BITS from 'shift' on of key - least. */
static void radix_pass(struct part *p, uint64_t least, unsigned int shift)
{
	uint32_t at[1u << RADIX_BITS] = { 0 }, sum = 0, count;
	const uint64_t mask = (1u << RADIX_BITS) - 1;
	size_t i;

	for (i = 0; i < p->nr; i++)
		at[(p->e[i].key - least) >> shift & mask]++;
	for (i = 0; i <= mask; i++) {
		count = at[i];
		if (count == p->nr)
			return;		/* the same digit in all keys */
		at[i] = sum;
		sum += count;
	}
	for (i = 0; i < p->nr; i++) {
		const struct window_entry *e = &p->e[i];

		p->room[at[(e->key - least) >> shift & mask]++] = *e;
	}
	swap_rooms(p);
}

static void radix_sort(struct part *p)
{
	uint64_t least = UINT64_MAX, greatest = 0;
	unsigned int shift;
	size_t i;

	for (i = 0; i < p->nr; i++) {
		if (p->e[i].key < least)
			least = p->e[i].key;
		if (p->e[i].key > greatest)
			greatest = p->e[i].key;
	}
	for (shift = 0; shift < 64 && (greatest - least) >> shift;
	     shift += RADIX_BITS)
		radix_pass(p, least, shift);
}

/* The number of those in order that are not above the key. */
static size_t count_below(const struct window *w, uint64_t key)
{
	size_t low = 0, high = w->sorted, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (w->entries[middle].key <= key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The old ones, and those just sorted, wherever these are now. */
static void merge_with_old(struct window *w, const struct part *new)
{
	struct window_entry *entries = w->entries;
	size_t room = w->room, first = count_below(w, new->e[0].key);

	if (first == w->sorted) {
		if (new->e != entries + first)
			memcpy(entries + first, new->e,
			       new->nr * sizeof(*entries));
		return;
	}
	memcpy(w->scratch, entries, first * sizeof(*entries));
	merge(entries + first, w->sorted - first, new->e, new->nr,
	      w->scratch + first);
	w->entries = w->scratch;
	w->room = w->scratch_room;
	w->scratch = entries;
	w->scratch_room = room;
}

void window_sort(struct window *w)
{
	struct part new = {
		.e = w->entries + w->sorted, .room = w->scratch + w->sorted,
		.nr = w->nr - w->sorted,
	};
	size_t runs = count_runs(&new, MERGE_RUNS);

	if (runs > MERGE_RUNS)
		radix_sort(&new);
	else
		for (; runs > 1; runs = (runs + 1) / 2)
			merge_pairs(&new);
	merge_with_old(w, &new);
}
