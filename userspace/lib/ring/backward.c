// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* A perf ring that the kernel writes backward. */
#include <errno.h>
#include <stdlib.h>

#include "ring/backward.h"

struct places {
	uint64_t *at;
	size_t nr, room;
};

static int note_place(struct places *p, uint64_t at)
{
	if (p->nr == p->room) {
		size_t room = p->room ? p->room * 2 : 1024;
		uint64_t *bigger = realloc(p->at, room * sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		p->at = bigger;
		p->room = room;
	}
	p->at[p->nr++] = at;
	return 0;
}

/* Where the records begin, newest first. */
static int find_places(struct pc_ring *r, uint64_t head, uint64_t end,
		       struct places *p)
{
	const struct perf_event_header *h;
	uint64_t malformed = r->malformed;
	int err;

	r->tail = head;
	while ((h = pc_ring_peek(r, end, &err))) {
		err = note_place(p, r->tail);
		if (err)
			return err;
		pc_ring_consume(r, h);
	}
	/* One that doesn't fit is not malformed but half overwritten. */
	r->malformed = malformed;
	return err;
}

int pc_backward_read(struct pc_ring *r, uint64_t *prev,
		     int (*take)(const struct perf_event_header *h, void *ctx),
		     void *ctx)
{
	/* Acquire: what lies from it on is whole. */
	uint64_t head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t fresh = *prev - head;
	uint64_t end = head + (fresh < r->size ? fresh : r->size);
	const struct perf_event_header *h;
	struct places p = { NULL, 0, 0 };
	int err;

	err = find_places(r, head, end, &p);
	while (!err && p.nr) {
		r->tail = p.at[--p.nr];
		h = pc_ring_peek(r, end, &err);
		if (h)
			err = take(h, ctx);
	}
	free(p.at);
	if (!err)
		*prev = head;
	return err;
}
