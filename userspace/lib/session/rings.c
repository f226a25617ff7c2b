// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* The table of rings, numbered as the order queue numbers them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "session/internal.h"

void pc_ring_unmap(struct pc_session_ring *r)
{
	if (r->map_size)
		munmap(r->ring.page, r->map_size);
	r->map_size = 0;
	r->ring.page = NULL;
}

void pc_ring_free(struct pc_session_ring *r)
{
	if (!r)
		return;
	pc_ring_unmap(r);
	pc_ring_fini(&r->ring);
	pc_minima_fini(&r->minima);
	free(r->ids.slot);
	free(r);
}

/* Whoever fills it in must pc_ring_assign() it. */
int pc_ring_new(struct perfclock_session *s, struct pc_session_ring **rp)
{
	struct pc_session_ring *r;
	int number;

	number = perfclock_order_ring_add(s->order);
	if (number < 0)
		return pc_session_fail(s, number, "order queue: ring %u: %s",
				       s->nr_rings, strerror(-number));
	r = calloc(1, sizeof(*r));
	if (!r) {
		perfclock_order_ring_end(s->order, number);
		return pc_session_no_memory(s);
	}
	r->number = number;
	r->fd = r->cpu = -1;
	r->event = r->first_event = -1;
	r->stats.sz = sizeof(r->stats);
	r->stats.cpu = r->stats.pid = -1;
	/* A number comes back when all of the ring that had it is delivered. */
	if (s->rings[number])
		s->malformed_gone += atomic_load(&s->rings[number]->malformed);
	pc_ring_free(s->rings[number]);
	s->rings[number] = r;
	if ((unsigned int)number >= s->nr_rings)
		s->nr_rings = number + 1;
	*rp = r;
	return 0;
}

void pc_ring_abandon(struct perfclock_session *s, struct pc_session_ring *r)
{
	pc_wait_remove_ring(s, r);
	pc_close_files(s, r);
	perfclock_order_ring_end(s->order, r->number);
	s->rings[r->number] = NULL;
	pc_ring_free(r);
}

/* To the reader with the fewest. */
int pc_ring_assign(struct perfclock_session *s, struct pc_session_ring *r)
{
	unsigned int i, best = 0;
	int err;

	if (pc_minima_init(&r->minima, &r->ring))
		return pc_session_no_memory(s);
	for (i = 1; i < s->nr_readers; i++)
		if (s->readers[i].nr_slots < s->readers[best].nr_slots)
			best = i;
	err = pc_reader_add(&s->readers[best], r);
	if (err)
		return pc_session_fail(s, err, "ring of CPU %d: no reader can "
				       "take it", r->cpu);
	s->stats.rings++;
	if (s->stats.rings > s->stats.rings_max)
		s->stats.rings_max = s->stats.rings;
	return 0;
}
