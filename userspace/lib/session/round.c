// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * The round, and why it can be trusted (Documentation/watermark.rst):
 *
 *   1. W is loaded (acquire) before any ring is touched.
 *   2. Each ring's data_head is loaded (acquire), after W, once a round. What
 *      lies below it is copied to the order queue in slices, the rings taking
 *      turns; data_tail is stored once a slice.
 *   3. When every ring has reached its loaded head, all that is stamped
 *      below W is in the queue: it is delivered, in order.
 *
 * A call copies a bounded amount. If that ends it, the round stays open: the
 * next call goes on with the same W and the same heads. W does not move for
 * delivery until all of them are reached.
 *
 * At the memory bound rings are left undrained; the kernel fills them, and
 * then counts what it loses. What a ring still holds is looked at in place,
 * and no more than the least stamp found there is delivered: order holds,
 * and what is delivered makes room again.
 */
#include <errno.h>
#include <string.h>

#include "session/internal.h"

#define SLICE_BYTES	((uint64_t)64 << 10)	/* a ring's turn */
#define CALL_BYTES	((uint64_t)8 << 20)	/* a call's work */

/* The event that a record is of; -1: unknown. */
static int event_of(const struct perfclock_session *s,
		    const struct pc_session_ring *r,
		    const struct perf_event_header *h)
{
	if (r->event >= 0)
		return r->event;
	return pc_ids_find(&s->ids, pc_record_identifier(h));
}

/* A record of an unknown id is read as the ring's first event writes. */
static const struct pc_layout *layout_of(const struct perfclock_session *s,
					 const struct pc_session_ring *r,
					 int event)
{
	return &s->events[event >= 0 ? event : r->first_event].layout;
}

static void count_record(struct perfclock_session *s,
			 struct pc_session_ring *r,
			 const struct pc_layout *layout,
			 const struct perf_event_header *h)
{
	struct pc_fields f;

	if (h->type == PERF_RECORD_LOST || h->type == PC_RECORD_LOST_SAMPLES) {
		pc_layout_parse(layout, h, &f);
		s->stats.lost += f.lost;
		r->stats.lost += f.lost;
	} else if (h->type == PERF_RECORD_THROTTLE) {
		s->stats.throttled++;
	}
}

/*
 * Hand one record to the order queue. 0; -ENOBUFS: no room, the record stays
 * in its ring; -EILSEQ: late and refused, as asked for.
 */
static int take_record(struct perfclock_session *s, unsigned int ring,
		       const struct perf_event_header *h)
{
	struct pc_session_ring *r = &s->rings[ring];
	int event = event_of(s, r, h);
	const struct pc_layout *layout = layout_of(s, r, event);
	uint64_t stamp = pc_layout_stamp(layout, h);
	bool placed = event < 0 || pc_record_placed(h->type, stamp);
	int err;

	err = perfclock_order_push(s->order, ring, placed ? 0 : stamp, h,
				   h->size, event,
				   placed ? PERFCLOCK_RECORD_PLACED : 0);
	if (err && err != -EILSEQ)
		return err;
	s->stats.read++;
	r->stats.read++;
	r->stats.bytes += h->size;
	if (h->type != PERF_RECORD_SAMPLE)
		count_record(s, r, layout, h);
	if (!placed && stamp > s->greatest_read)
		s->greatest_read = stamp;
	if (s->observer.read)
		s->observer.read(ring, stamp, h->type, s->observer.ctx);
	return err;
}

/* One turn of one ring: up to bytes of it. 0, -ENOBUFS, -ENOMEM, -EILSEQ. */
static int drain_slice(struct perfclock_session *s, unsigned int ring,
		       uint64_t bytes)
{
	struct pc_session_ring *r = &s->rings[ring];
	uint64_t begin = r->ring.tail;
	const struct perf_event_header *h;
	int err = 0, bad = 0;

	while (r->ring.tail - begin < bytes) {
		h = pc_ring_peek(&r->ring, r->head, &err);
		if (!h)
			break;
		err = take_record(s, ring, h);
		if (err == -EILSEQ)
			bad = err;
		else if (err)
			break;
		pc_ring_consume(&r->ring, h);
	}
	if (r->ring.tail != begin)
		pc_ring_release(&r->ring);
	if (r->ring.tail == r->head)
		r->open = false;
	s->call_bytes += r->ring.tail - begin;
	return err && err != -EILSEQ ? err : bad;
}

/* The least stamp that a ring still holds below its loaded head. */
static uint64_t least_undrained(struct perfclock_session *s,
				struct pc_session_ring *r)
{
	const struct perf_event_header *h;
	uint64_t tail = r->ring.tail, malformed = r->ring.malformed;
	uint64_t least = UINT64_MAX, stamp;
	int err;

	while ((h = pc_ring_peek(&r->ring, r->head, &err))) {
		stamp = pc_layout_stamp(layout_of(s, r, event_of(s, r, h)), h);
		if (!pc_record_placed(h->type, stamp) && stamp < least)
			least = stamp;
		pc_ring_consume(&r->ring, h);
	}
	/* Only looked at: the drain will count what is malformed. */
	r->ring.tail = tail;
	r->ring.malformed = malformed;
	return err ? 0 : least;
}

/* Over all rings; *ring: which holds it. */
static uint64_t least_left(struct perfclock_session *s, int *ring)
{
	uint64_t least = UINT64_MAX, stamp;
	unsigned int i;

	*ring = -1;
	for (i = 0; i < s->nr_rings; i++) {
		if (s->rings[i].dead || !s->rings[i].open)
			continue;
		stamp = least_undrained(s, &s->rings[i]);
		if (stamp < least) {
			least = stamp;
			*ring = i;
		}
	}
	return least;
}

static bool memory_left(struct perfclock_session *s)
{
	struct perfclock_order_stats os = { .sz = sizeof(os) };

	return !perfclock_order_get_stats(s->order, &os) &&
	       os.memory < s->memory_soft;
}

/*
 * Turns until all rings have reached their heads (0), the call's work is done
 * (-EAGAIN), or memory is (-ENOBUFS); -EILSEQ, -ENOMEM.
 */
static int drain(struct perfclock_session *s)
{
	unsigned int left, i, ring;
	int err, bad = 0;

	do {
		left = 0;
		for (i = 0; i < s->nr_rings; i++) {
			ring = (s->next_ring + i) % s->nr_rings;
			if (!s->rings[ring].open)
				continue;
			if (s->call_bytes >= CALL_BYTES) {
				s->next_ring = ring;
				return -EAGAIN;
			}
			if (!memory_left(s)) {
				s->next_ring = ring;
				return -ENOBUFS;
			}
			err = drain_slice(s, ring, SLICE_BYTES);
			if (err == -EILSEQ)
				bad = err;
			else if (err)
				return err;
			left += s->rings[ring].open;
		}
	} while (left);
	s->next_ring = s->nr_rings ? (s->next_ring + 1) % s->nr_rings : 0;
	return bad;
}

/* Steps 1 and the loads of step 2. */
static int open_round(struct perfclock_session *s)
{
	uint64_t mark = 0, now = 0;
	unsigned int i;
	int err;

	err = perfclock_watermark(s->clock, &mark);
	if (err && err != -ENODATA)
		return pc_session_fail(s, err, "watermark: %s",
				       strerror(-err));
	if (s->observer.round_begin) {
		perfclock_now(s->clock, &now);
		s->observer.round_begin(now, mark, s->observer.ctx);
	}
	s->round_mark = mark;
	for (i = 0; i < s->nr_rings; i++) {
		struct pc_session_ring *r = &s->rings[i];

		if (r->dead)
			continue;
		r->head = pc_ring_head(&r->ring);
		r->open = r->ring.tail != r->head;
		/* A skipped head is consumed, too. */
		if (!r->open)
			pc_ring_release(&r->ring);
	}
	s->round_open = true;
	return 0;
}

static int deliver(const struct perfclock_record *rec, void *ctx)
{
	struct perfclock_session *s = ctx;
	int event = (int32_t)rec->tag;
	const struct pc_session_ring *r = &s->rings[rec->ring];
	const struct perf_event_header *h = rec->data;
	struct perfclock_event ev;
	struct pc_fields f;

	s->stats.samples += h->type == PERF_RECORD_SAMPLE;
	if (!s->fn)
		return 0;
	pc_layout_parse(layout_of(s, r, event), h, &f);
	ev = (struct perfclock_event) {
		.stamp = f.stamp, .header = h,
		.raw = f.raw, .raw_size = f.raw_size,
		.type = h->type, .flags = rec->flags,
		.cpu = f.cpu >= 0 ? f.cpu : r->cpu,
		.pid = f.pid, .tid = f.tid,
		.ring = rec->ring, .index = event,
		.id = f.id, .lost = f.lost,
		.user = event >= 0 ? s->events[event].user : NULL,
	};
	return s->fn(&ev, s->fn_ctx);
}

/* What was safe once stays safe: the limit never goes back. */
static long flush(struct perfclock_session *s, uint64_t limit)
{
	if (limit > s->limit)
		s->limit = limit;
	return perfclock_order_flush(s->order, s->limit, deliver, s);
}

static void count_lag(struct perfclock_session *s)
{
	uint64_t now;

	if (!s->round_mark || perfclock_now(s->clock, &now))
		return;
	pc_stats_lag(s, now > s->round_mark ? now - s->round_mark : 0);
}

static void end_round(struct perfclock_session *s)
{
	s->round_open = false;
	s->stats.rounds++;
	if (s->observer.round_end)
		s->observer.round_end(s->observer.ctx);
}

/*
 * At the memory bound: deliver what is below W and below all that is still
 * in a ring. If that is nothing, the oldest is in a ring: a slice of it is
 * taken into the reserve (memory_max - memory_soft) until it isn't.
 */
static long relieve(struct perfclock_session *s)
{
	uint64_t least, limit;
	long n;
	int ring;

	s->stats.stalls++;
	for (;;) {
		least = least_left(s, &ring);
		limit = least < s->round_mark ? least : s->round_mark;
		n = flush(s, limit);
		if (n || least >= s->round_mark)
			return n;
		if (ring < 0 || drain_slice(s, ring, SLICE_BYTES / 4))
			return 0;
	}
}

long pc_round(struct perfclock_session *s)
{
	long n;
	int err;

	s->call_bytes = 0;
	if (!s->round_open) {
		err = open_round(s);
		if (err)
			return err;
	}
	err = drain(s);
	perfclock_watermark_observe(s->clock, s->greatest_read);
	if (err == -EAGAIN)
		return 0;
	if (err == -ENOBUFS) {
		n = relieve(s);
		/* New heads and a new W are needed to get on. */
		end_round(s);
		return n;
	}
	if (err && err != -EILSEQ)
		return pc_session_fail(s, err, "reading rings: %s",
				       strerror(-err));
	end_round(s);
	count_lag(s);
	n = flush(s, s->round_mark);
	return n >= 0 && err ? err : n;
}

/* Events are off: what is in the rings now is all there will be. */
long pc_round_last(struct perfclock_session *s)
{
	long n, total = 0;
	int err;

	err = open_round(s);
	if (err)
		return err;
	s->round_mark = UINT64_MAX;
	do {
		s->call_bytes = 0;
		err = drain(s);
		if (err == -ENOBUFS) {
			n = relieve(s);
			if (n < 0)
				return n;
			total += n;
		} else if (err && err != -EAGAIN && err != -EILSEQ) {
			return pc_session_fail(s, err, "reading rings: %s",
					       strerror(-err));
		}
	} while (err == -EAGAIN || err == -ENOBUFS);
	end_round(s);
	n = perfclock_order_end(s->order, deliver, s);
	return n < 0 ? n : total + n;
}
