// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * The steps of a round on perf rings; the round itself is order/round.c. Why
 * it can be trusted: Documentation/watermark.rst.
 *
 * A ring is drained in slices, the rings taking turns; data_tail is stored
 * once a slice. A run copies a bounded amount and then leaves the round open.
 *
 * At the memory bound the rings are left undrained; the kernel fills them,
 * and then counts what it loses. What a ring still holds is looked at in
 * place, and no more than the least stamp found there may be delivered. If
 * all that is held is younger than that, the oldest record sits in a ring: it
 * is let in past the soft bound. The least stamp left then grows, what is
 * below it leaves, and that makes room: a full queue cannot stay stuck.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "session/internal.h"
#include "session/threads.h"

#define SLICE_BYTES	((uint64_t)64 << 10)	/* a ring's turn */
#define RUN_BYTES	((uint64_t)8 << 20)	/* a run's work */
#define BROKEN_NS	2000000000ull		/* a provider is given time */

/* The event that a record is of; -1: unknown. */
int pc_event_of(const struct pc_session_ring *r,
		const struct perf_event_header *h)
{
	if (r->event >= 0)
		return r->event;
	return pc_ids_find(&r->ids, pc_record_identifier(h));
}

/* A record of an unknown id is read as the ring's first event writes. */
const struct pc_layout *pc_layout_of(const struct perfclock_session *s,
				     const struct pc_session_ring *r,
				     int event)
{
	return &s->events[event >= 0 ? event : r->first_event].layout;
}

int pc_reader_take(struct pc_reader *rd, struct pc_session_ring *r,
		   const struct perf_event_header *h)
{
	struct perfclock_session *s = rd->s;
	int event = pc_event_of(r, h);
	const struct pc_layout *layout = pc_layout_of(s, r, event);
	uint64_t stamp = pc_layout_stamp(layout, h);
	bool placed = event < 0 || pc_record_placed(h->type, stamp);
	int err;

	if (rd->thread)
		return pc_thread_put(rd->thread, r, h, stamp, event, placed);
	err = perfclock_order_push(s->order, r->number, placed ? 0 : stamp, h,
				   h->size, event,
				   placed ? PERFCLOCK_RECORD_PLACED : 0);
	if (err == -EILSEQ)
		rd->refused = true;
	else if (err)
		return err;
	pc_count_record(s, r, layout, h, placed ? 0 : stamp);
	return 0;
}

/* Up to bytes of a ring. 0, -ENOBUFS, -ENOMEM. */
static int drain_slice(struct pc_reader *rd, struct pc_session_ring *r,
		       uint64_t bytes)
{
	uint64_t begin = r->ring.tail, malformed = r->ring.malformed;
	const struct perf_event_header *h;
	int err = 0;

	while (r->ring.tail - begin < bytes) {
		h = pc_ring_peek(&r->ring, r->head, &err);
		if (!h)
			break;
		err = pc_reader_take(rd, r, h);
		if (err)
			break;
		pc_ring_consume(&r->ring, h);
	}
	if (r->ring.tail != begin)
		pc_ring_release(&r->ring);
	if (r->ring.malformed != malformed)
		atomic_fetch_add(&r->malformed,
				 r->ring.malformed - malformed);
	rd->call_bytes += r->ring.tail - begin;
	return err;
}

/* Bytes that may be held, and are; of this reader. */
static size_t memory_used(const struct pc_reader *rd, size_t *max)
{
	struct perfclock_order_stats os = { .sz = sizeof(os) };

	if (rd->thread)
		return pc_thread_used(rd->thread, max);
	*max = rd->s->memory_max;
	return perfclock_order_get_stats(rd->s->order, &os) ? 0 :
							      os.memory_queued;
}

/*
 * A provider that cannot go on may be able to again (cpu-visit, when a CPU has
 * gone): its watermark stands still, which is safe, and rings are drained all
 * the same. Only if that lasts is it an error.
 */
static int provider_broke(struct pc_reader *rd, int err)
{
	struct timespec ts;
	uint64_t now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	now = ts.tv_sec * 1000000000ull + ts.tv_nsec;
	if (!rd->broken_since)
		rd->broken_since = now;
	return now - rd->broken_since < BROKEN_NS ? 0 : err;
}

static int step_watermark(void *ctx, uint64_t *w)
{
	struct pc_reader *rd = ctx;
	struct perfclock_session *s = rd->s;
	uint64_t now = 0;
	int err;

	if (rd->last) {
		*w = UINT64_MAX;
		return 0;
	}
	*w = 0;
	err = perfclock_watermark(s->clock, w);
	if (err)
		err = provider_broke(rd, err);
	else
		rd->broken_since = 0;
	if (err)
		return err;
	if (s->observer.round_begin && !rd->thread) {
		perfclock_now(s->clock, &now);
		s->observer.round_begin(now, *w, s->observer.ctx);
	}
	return 0;
}

static int step_load_head(void *ctx, unsigned int i)
{
	struct pc_reader *rd = ctx;
	struct pc_session_ring *r = atomic_load(&rd->slot[i]);
	uint64_t malformed;

	/* Drained for good means just that, whatever comes. */
	if (r && atomic_load(&r->drained))
		r = NULL;
	rd->reading[i] = r;
	if (!r)
		return 0;
	malformed = r->ring.malformed;
	r->last_round = atomic_load(&r->ending);
	r->head = pc_ring_head(&r->ring);
	if (r->ring.malformed != malformed) {
		/* A head that is not believed is reached by jumping there. */
		atomic_fetch_add(&r->malformed, 1);
		pc_ring_release(&r->ring);
	}
	return 0;
}

static int step_drain(void *ctx, unsigned int i)
{
	struct pc_reader *rd = ctx;
	struct pc_session_ring *r = rd->reading[i];
	size_t used, max;
	int err;

	if (!r || r->ring.tail == r->head)
		return 0;
	if (rd->call_bytes >= RUN_BYTES)
		return ROUND_CUT;
	used = memory_used(rd, &max);
	/* The last quarter is for getting out of a stall. */
	if (used >= max - max / 4)
		return -ENOBUFS;
	err = drain_slice(rd, r, SLICE_BYTES);
	if (err)
		return err;
	return r->ring.tail == r->head ? 0 : ROUND_TURN;
}

/* The ring that holds the least stamp left; NULL: all are drained. */
static struct pc_session_ring *oldest_ring(struct pc_reader *rd)
{
	struct pc_session_ring *oldest = NULL;
	unsigned int i;

	for (i = 0; i < rd->round.nr_rings; i++) {
		struct pc_session_ring *r = rd->reading[i];

		if (r && r->ring.tail != r->head &&
		    (!oldest || r->least < oldest->least))
			oldest = r;
	}
	return oldest;
}

/*
 * Past the soft bound: first as much as the reserve takes, the oldest ring
 * first, then single records, until the least stamp left has grown.
 */
static int relieve(struct pc_reader *rd, uint64_t w, uint64_t before)
{
	struct pc_session_ring *r;
	size_t used, max;
	int err = 0;

	while (!err && (r = oldest_ring(rd)) && r->least < w) {
		used = memory_used(rd, &max);
		if (used < max - max / 8)
			err = drain_slice(rd, r, SLICE_BYTES / 4);
		else if (r->least == before)
			err = drain_slice(rd, r, 1);
		else
			break;
		r->least = pc_least_of_ring(rd->s, r);
	}
	return err;
}

static int step_stalled(void *ctx, uint64_t w, uint64_t *least)
{
	struct pc_reader *rd = ctx;
	struct pc_session_ring *r;
	uint64_t before;
	unsigned int i;
	int err;

	if (!rd->thread)
		rd->s->stats.stalls++;
	for (i = 0; i < rd->round.nr_rings; i++)
		if (rd->reading[i])
			rd->reading[i]->least =
				pc_least_of_ring(rd->s, rd->reading[i]);
	r = oldest_ring(rd);
	before = r ? r->least : UINT64_MAX;
	if (rd->thread)
		pc_thread_stalled(rd->thread);
	err = relieve(rd, w, before);
	if (rd->thread)
		pc_thread_let_in(rd->thread);
	r = oldest_ring(rd);
	*least = r ? r->least : UINT64_MAX;
	/*
	 * Full of one stamp that is in the rings, too: what is held of it may
	 * go, and those that follow are not late, only not in ring order.
	 */
	if (err == -ENOBUFS && *least == before && before < UINT64_MAX)
		++*least;
	return err == -ENOBUFS ? 0 : err;
}

static const struct round_ops round_ops = {
	.watermark = step_watermark,
	.load_head = step_load_head,
	.drain = step_drain,
	.stalled = step_stalled,
};

int pc_reader_init(struct pc_reader *rd, struct perfclock_session *s)
{
	memset(rd, 0, sizeof(*rd));
	rd->s = s;
	round_init(&rd->round, &round_ops, rd, s->order);
	rd->slot = calloc(PC_MAX_RINGS, sizeof(*rd->slot));
	rd->reading = calloc(PC_MAX_RINGS, sizeof(*rd->reading));
	return rd->slot && rd->reading ? 0 : -ENOMEM;
}

void pc_reader_fini(struct pc_reader *rd)
{
	free(rd->slot);
	free(rd->reading);
}

int pc_reader_add(struct pc_reader *rd, struct pc_session_ring *r)
{
	unsigned int i, n = atomic_load(&rd->nr_slots);

	for (i = 0; i < n && atomic_load(&rd->slot[i]); i++)
		;
	if (i == PC_MAX_RINGS)
		return -ENOSPC;
	atomic_store(&rd->slot[i], r);
	if (i == n)
		atomic_store(&rd->nr_slots, n + 1);
	return 0;
}

/* Of a ring that is drained, so that its reader is done with it. */
void pc_reader_forget(struct perfclock_session *s, struct pc_session_ring *r)
{
	unsigned int i, k;

	for (k = 0; k < s->nr_readers; k++) {
		struct pc_reader *rd = &s->readers[k];

		for (i = 0; i < atomic_load(&rd->nr_slots); i++)
			if (atomic_load(&rd->slot[i]) == r)
				atomic_store(&rd->slot[i], NULL);
	}
}

void pc_reader_completed(struct pc_reader *rd)
{
	unsigned int i;

	for (i = 0; i < rd->round.nr_rings; i++) {
		struct pc_session_ring *r = rd->reading[i];

		/* Its head was loaded after it had ended: that was all. */
		if (r && r->last_round)
			atomic_store(&r->drained, true);
	}
}
