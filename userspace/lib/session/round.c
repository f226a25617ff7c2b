// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* Rounds of a session: read, by its reader or readers, and deliver. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "session/internal.h"
#include "session/threads.h"

void pc_count_record(struct perfclock_session *s, struct pc_session_ring *r,
		     const struct pc_layout *layout,
		     const struct perf_event_header *h, uint64_t stamp)
{
	struct pc_fields f;

	s->stats.read++;
	r->stats.read++;
	r->stats.bytes += h->size;
	if (stamp > s->greatest_read)
		s->greatest_read = stamp;
	if (s->observer.read)
		s->observer.read(r->number, stamp, h->type, s->observer.ctx);
	if (h->type == PERF_RECORD_SAMPLE)
		return;
	if (h->type == PERF_RECORD_LOST || h->type == PC_RECORD_LOST_SAMPLES) {
		pc_layout_parse(layout, h, &f);
		s->stats.lost += f.lost;
		r->stats.lost += f.lost;
	} else if (h->type == PERF_RECORD_THROTTLE) {
		s->stats.throttled++;
	}
}

static int deliver(const struct perfclock_record *rec, void *ctx)
{
	struct perfclock_session *s = ctx;
	int event = (int32_t)rec->tag, ret = 0;
	const struct pc_session_ring *r = s->rings[rec->ring];
	const struct perf_event_header *h = rec->data;
	struct perfclock_event ev;
	struct pc_fields f;

	s->stats.samples += h->type == PERF_RECORD_SAMPLE;
	if (s->fn) {
		pc_layout_parse(pc_layout_of(s, r, event), h, &f);
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
		ret = s->fn(&ev, s->fn_ctx);
	}
	if (s->threads)
		pc_threads_release(h);
	return ret;
}

/* A dear clock is read once a tick: busy rounds would cost more than events. */
static bool lag_is_due(struct perfclock_session *s)
{
	struct timespec now;

	if (!s->dear_clock)
		return true;
	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	if (!memcmp(&now, &s->lag_seen, sizeof(now)))
		return false;
	s->lag_seen = now;
	return true;
}

static void count_lag(struct perfclock_session *s, uint64_t limit)
{
	uint64_t now;

	if (!limit || limit == UINT64_MAX || !lag_is_due(s) ||
	    perfclock_now(s->clock, &now))
		return;
	s->lags[s->nr_lags++] = now > limit ? now - limit : 0;
	if (s->nr_lags == PC_MAX_LAGS)
		pc_stats_publish(s);
}

static void end_round(struct perfclock_session *s)
{
	s->stats.rounds++;
	if (s->observer.round_end)
		s->observer.round_end(s->observer.ctx);
}

/* The polling thread reads all rings itself. */
static long round_alone(struct perfclock_session *s)
{
	struct pc_reader *rd = &s->readers[0];
	long n;
	int ret;

	rd->call_bytes = 0;
	rd->refused = false;
	ret = round_read(&rd->round, rd->nr_slots);
	perfclock_watermark_observe(s->clock, s->greatest_read);
	if (ret < 0 && ret != -ENOBUFS)
		return pc_session_fail(s, ret, "%s: %s", rd->broken_since ?
				       "the watermark's provider broke" :
				       "reading rings", strerror(-ret));
	if (ret != ROUND_CUT) {
		end_round(s);
		count_lag(s, rd->round.proven);
	}
	if (!ret) {
		pc_reader_completed(rd);
		rd->finished = rd->last && rd->round.loaded == UINT64_MAX;
	}
	n = perfclock_order_flush(s->order, rd->round.proven, deliver, s);
	return n >= 0 && rd->refused ? -EILSEQ : n;
}

static void observe_begin(struct perfclock_session *s, uint64_t limit)
{
	uint64_t now = 0;

	if (!s->observer.round_begin)
		return;
	perfclock_now(s->clock, &now);
	s->observer.round_begin(now, limit, s->observer.ctx);
}

/* Reader threads have read: queue that, deliver what all have completed. */
static long round_threaded(struct perfclock_session *s)
{
	uint64_t limit;
	bool done;
	long n;
	int err;

	observe_begin(s, s->limit);
	err = pc_threads_take(s, &limit, &done);
	perfclock_watermark_observe(s->clock, s->greatest_read);
	if (err && err != -EILSEQ)
		return pc_session_fail(s, err, "reader threads: %s",
				       strerror(-err));
	s->limit = limit;
	end_round(s);
	count_lag(s, limit);
	n = perfclock_order_flush(s->order, limit, deliver, s);
	return n >= 0 && err ? err : n;
}

long pc_flush_all(struct perfclock_session *s)
{
	return perfclock_order_flush(s->order, UINT64_MAX, deliver, s);
}

long pc_round(struct perfclock_session *s)
{
	return s->threads ? round_threaded(s) : round_alone(s);
}

static long last_alone(struct perfclock_session *s)
{
	struct pc_reader *rd = &s->readers[0];
	long n, total = 0;

	/* A round left open has its own W and heads: it is ended first. */
	rd->last = true;
	do {
		n = round_alone(s);
		if (n < 0 && n != -EILSEQ)
			return n;
		total += n > 0 ? n : 0;
	} while (!rd->finished);
	return total;
}

static long last_threaded(struct perfclock_session *s)
{
	uint64_t limit;
	long n, total = 0;
	bool done;
	int err;

	pc_threads_last(s);
	/*
	 * Take before each wait: what woke a wait that nobody acted on (that
	 * of a poll that was stopped) will not wake another.
	 */
	for (;;) {
		err = pc_threads_take(s, &limit, &done);
		if (err && err != -EILSEQ)
			return err;
		n = perfclock_order_flush(s->order, limit, deliver, s);
		if (n < 0)
			return n;
		total += n;
		if (done)
			return total;
		err = pc_threads_wait(s, -1);
		if (err < 0 && err != -EINTR)
			return err;
	}
}

/* Events are off: what is in the rings now is all there will be. */
long pc_round_last(struct perfclock_session *s)
{
	long total, n;

	if (s->flags & PERFCLOCK_SESSION_OVERWRITE)
		return pc_snapshot(s);
	total = s->threads ? last_threaded(s) : last_alone(s);
	if (total < 0)
		return total;
	n = perfclock_order_end(s->order, deliver, s);
	return n < 0 ? n : total + n;
}
