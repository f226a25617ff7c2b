// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * The flight recorder: rings that keep the newest records, read on demand.
 *
 * The rings are paused; but a writer that looked just before may still be at
 * it. It is inside the section that a grace period waits for: when the
 * watermark has passed a time that was read after the pause, all is written.
 */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#include "ring/backward.h"
#include "session/internal.h"

#define WRITERS_LEAVE_NS	2000000000

static int pause_rings(struct perfclock_session *s, unsigned int pause)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < s->nr_rings; i++) {
		struct pc_session_ring *r = s->rings[i];

		if (r && r->fd >= 0 &&
		    ioctl(r->fd, PERF_EVENT_IOC_PAUSE_OUTPUT, pause) && !err)
			err = pc_session_fail(s, -errno,
				"ring of CPU %d: %s: %s", r->cpu,
				pause ? "pause" : "resume", strerror(errno));
	}
	return err;
}

static int wait_for_writers(struct perfclock_session *s)
{
	uint64_t now;
	int err;

	err = perfclock_now(s->clock, &now);
	if (!err)
		perfclock_watermark_observe(s->clock, now);
	if (!err && s->proven_provider)
		err = perfclock_watermark_wait(s->clock, now,
					       WRITERS_LEAVE_NS);
	return err ? pc_session_fail(s, err, "snapshot: waiting for the "
				     "watermark: %s", strerror(-err)) : 0;
}

struct taking {
	struct perfclock_session *s;
	struct pc_session_ring *r;
};

static int take(const struct perf_event_header *h, void *ctx)
{
	struct taking *t = ctx;
	int err = pc_reader_take(&t->s->readers[0], t->r, h);

	if (err == -ENOBUFS)
		pc_session_fail(t->s, err, "snapshot: more than the memory "
				"bound of %zu bytes", t->s->memory_max);
	return err;
}

static int read_rings(struct perfclock_session *s)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < s->nr_rings && !err; i++) {
		struct taking t = { s, s->rings[i] };

		if (t.r)
			err = pc_backward_read(&t.r->ring, &t.r->head, take,
					       &t);
	}
	return err;
}

long pc_snapshot(struct perfclock_session *s)
{
	int err, resumed;

	err = pause_rings(s, 1);
	if (!err)
		err = wait_for_writers(s);
	if (!err)
		err = read_rings(s);
	resumed = pause_rings(s, 0);
	if (err || resumed)
		return err ? err : resumed;
	s->stats.rounds++;
	return pc_flush_all(s);
}

long perfclock_session_snapshot(struct perfclock_session *s,
				perfclock_event_fn fn, void *ctx)
{
	long n = pc_session_refuse_forked(s);

	if (n)
		return n;
	if (s->state != PC_SESSION_RUNNING ||
	    !(s->flags & PERFCLOCK_SESSION_OVERWRITE))
		return pc_session_fail(s, -EINVAL, "snapshot: of a running "
				       "session that overwrites only");
	s->fn = fn;
	s->fn_ctx = ctx;
	n = pc_snapshot(s);
	pc_stats_publish(s);
	return n;
}
