// SPDX-License-Identifier: GPL-2.0
/*
 * When was a delivered record read: see read_order.h. A queue for each ring; a
 * ring's records leave nearly in the order they came, so the one that is
 * looked for is among the first.
 */
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "read_order.h"

#define LOOK_AHEAD	64	/* an inversion is one or two records long */

struct read_entry {
	uint64_t stamp, number;	/* number 0: has left */
};

struct read_ring {
	struct read_entry *entries;
	size_t head, tail, mask;	/* tail - head entries */
};

void read_order_free(struct read_order *r)
{
	while (r->nr_rings)
		free(r->rings[--r->nr_rings].entries);
	free(r->rings);
	memset(r, 0, sizeof(*r));
}

static struct read_ring *ring_of(struct read_order *r, uint32_t ring)
{
	while (ring >= r->nr_rings) {
		struct read_ring *q;

		r->rings = tool_realloc(r->rings, r->nr_rings + 1,
					sizeof(*r->rings));
		q = &r->rings[r->nr_rings++];
		memset(q, 0, sizeof(*q));
		q->mask = 255;
		q->entries = tool_alloc(q->mask + 1, sizeof(*q->entries));
	}
	return &r->rings[ring];
}

static void grow(struct read_ring *q)
{
	size_t n = q->tail - q->head, i;
	struct read_entry *bigger = tool_alloc((q->mask + 1) * 2,
					       sizeof(*bigger));

	for (i = 0; i < n; i++)
		bigger[i] = q->entries[(q->head + i) & q->mask];
	free(q->entries);
	q->entries = bigger;
	q->mask = q->mask * 2 + 1;
	q->head = 0;
	q->tail = n;
}

void read_order_read(struct read_order *r, uint32_t ring, uint64_t stamp)
{
	struct read_ring *q = ring_of(r, ring);

	if (q->tail - q->head > q->mask)
		grow(q);
	q->entries[q->tail++ & q->mask] =
		(struct read_entry){ stamp, ++r->next };
}

uint64_t read_order_delivered(struct read_order *r, uint32_t ring,
			      uint64_t stamp)
{
	struct read_ring *q = ring_of(r, ring);
	uint64_t number = 0;
	size_t i;

	for (i = q->head; i != q->tail && i - q->head < LOOK_AHEAD; i++) {
		struct read_entry *e = &q->entries[i & q->mask];

		if (e->number && e->stamp == stamp) {
			number = e->number;
			e->number = 0;
			break;
		}
	}
	while (q->head != q->tail && !q->entries[q->head & q->mask].number)
		q->head++;
	/* A record that never left must not block the queue for good. */
	if (!number && q->tail - q->head > LOOK_AHEAD)
		q->head++;
	return number;
}
