// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * The least stamp of what a ring still holds, for a stall, without a look at
 * all of it each time: what stands between tail and head does not change, so
 * the least stamp of the records that begin in a block of the ring is kept
 * once it is known. A record is looked at once after it has come, and again
 * while the tail is in its block.
 *
 * Blocks go round. What a ring holds lies in one block more than fit into it,
 * if it does not begin with one; so there is room for twice as many.
 */
#include <errno.h>
#include <stdlib.h>

#include "session/internal.h"

#define MIN_BLOCK	4096
#define BLOCKS		256	/* of a ring that is large enough */

int pc_minima_init(struct pc_minima *m, const struct pc_ring *ring)
{
	m->block = ring->size / BLOCKS;
	if (m->block < MIN_BLOCK)
		m->block = MIN_BLOCK;
	m->nr = ring->size > m->block ? 2 * (ring->size / m->block) : 2;
	m->known = ring->tail;
	m->least = calloc(m->nr, sizeof(*m->least));
	return m->least ? 0 : -ENOMEM;
}

void pc_minima_fini(struct pc_minima *m)
{
	free(m->least);
	m->least = NULL;
}

static unsigned int block_of(const struct pc_minima *m, uint64_t position)
{
	return position / m->block & (m->nr - 1);
}

/* The blocks up to the position's are in use; no record began in new ones. */
static void advance(struct pc_minima *m, uint64_t position)
{
	while (m->last != block_of(m, position)) {
		m->last = (m->last + 1) & (m->nr - 1);
		m->least[m->last] = UINT64_MAX;
	}
}

/* The stamp of the next record, which is consumed; false: there is none. */
static bool next_stamp(struct perfclock_session *s, struct pc_session_ring *r,
		       uint64_t *stamp, int *err)
{
	const struct perf_event_header *h = pc_ring_peek(&r->ring, r->head, err);
	int event;

	if (!h)
		return false;
	event = pc_event_of(r, h);
	*stamp = pc_layout_stamp(pc_layout_of(s, r, event), h);
	if (pc_record_placed(h->type, *stamp))
		*stamp = UINT64_MAX;
	pc_ring_consume(&r->ring, h);
	return true;
}

/* Enter the records between what was known and the head. */
static int extend(struct perfclock_session *s, struct pc_session_ring *r)
{
	struct pc_minima *m = &r->minima;
	uint64_t stamp;
	int err = 0;

	r->ring.tail = m->known;
	while (next_stamp(s, r, &stamp, &err)) {
		advance(m, m->known);
		if (stamp < m->least[m->last])
			m->least[m->last] = stamp;
		m->known = r->ring.tail;
	}
	/* What is malformed takes the rest. */
	m->known = r->ring.tail;
	return err;
}

uint64_t pc_least_of_ring(struct perfclock_session *s,
			  struct pc_session_ring *r)
{
	struct pc_minima *m = &r->minima;
	uint64_t tail = r->ring.tail, malformed = r->ring.malformed;
	unsigned int first = block_of(m, tail), i;
	uint64_t least = UINT64_MAX, stamp;
	int err;

	if (tail == r->head)
		return UINT64_MAX;
	/* The drain has overtaken the looks, or jumped over something. */
	if (m->known == tail || m->known - tail > r->head - tail) {
		m->known = tail;
		m->last = first;
		m->least[first] = UINT64_MAX;
	}
	err = extend(s, r);
	if (!err) {
		advance(m, m->known - 1);
		/* Of the block that the tail is in, what is left... */
		r->ring.tail = tail;
		while (block_of(m, r->ring.tail) == first &&
		       next_stamp(s, r, &stamp, &err))
			if (stamp < least)
				least = stamp;
		/* ...and all of the others. */
		for (i = first; i != m->last;) {
			i = (i + 1) & (m->nr - 1);
			if (m->least[i] < least)
				least = m->least[i];
		}
	}
	/* Only looked at: the drain will count what is malformed. */
	r->ring.tail = tail;
	r->ring.malformed = malformed;
	return err ? 0 : least;
}
