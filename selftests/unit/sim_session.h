/* SPDX-License-Identifier: GPL-2.0 */
/* A session on simulated rings, under a simulated clock. */
#ifndef SELFTESTS_SIM_SESSION_H
#define SELFTESTS_SIM_SESSION_H

#include <errno.h>
#include <time.h>

#include "sim_clock.h"
#include "sim_ring.h"
#include "tap.h"

#define MAX_EVENTS	200000
#define SIM_RINGS	300

static struct sim_ring rings[SIM_RINGS];
static struct perfclock_session *s;
static struct perf_event_attr attr;

static struct {
	uint64_t stamp;
	uint32_t type, ring, flags, raw;
	int32_t cpu, pid, tid, index;
	uint64_t lost, id;
} got[MAX_EVENTS];
static int nr_got, stop_after;

static inline int collect(const struct perfclock_event *ev, void *ctx)
{
	int i = nr_got++;

	ASSERT(i < MAX_EVENTS);
	got[i].stamp = ev->stamp;
	got[i].type = ev->type;
	got[i].ring = ev->ring;
	got[i].flags = ev->flags;
	got[i].cpu = ev->cpu;
	got[i].pid = ev->pid;
	got[i].tid = ev->tid;
	got[i].index = ev->index;
	got[i].lost = ev->lost;
	got[i].id = ev->id;
	got[i].raw = ev->raw ? *(const uint32_t *)ev->raw : 0;
	return nr_got == stop_after ? -ECANCELED : 0;
}

static inline void set_up_opts(int n, unsigned int pages,
			struct perfclock_session_opts *o)
{
	int i;

	o->sz = sizeof(*o);
	sim_now = sim_watermark = 0;
	sim_on_watermark = NULL;
	nr_got = stop_after = 0;
	ASSERT_EQ(perfclock_session_new(&s, o), 0);
	attr = sim_attr();
	for (i = 0; i < n; i++) {
		struct perfclock_adopt_opts ao = {
			.sz = sizeof(ao), .fd = -1, .cpu = i, .attr = &attr,
		};

		sim_ring_init(&rings[i], pages);
		ao.base = rings[i].page;
		ao.size = rings[i].bytes;
		ASSERT_EQ(perfclock_session_adopt(s, &ao), i);
	}
	ASSERT_EQ(perfclock_session_start(s), 0);
}

static inline void set_up(int n)
{
	struct perfclock_session_opts o = { 0 };

	set_up_opts(n, 1, &o);
}

static inline void tear_down(int n)
{
	perfclock_session_free(s);
	while (n--)
		sim_ring_free(&rings[n]);
}

static inline struct perfclock_session_stats stats(void)
{
	struct perfclock_session_stats st = { .sz = sizeof(st) };

	EXPECT_EQ(perfclock_session_get_stats(s, &st), 0);
	EXPECT_EQ(st.read, st.delivered + st.held + st.dropped);
	return st;
}

/* Real time, of waits. */
static inline uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static inline long poll_now(void)
{
	return perfclock_session_poll(s, 0, collect, NULL);
}

#endif /* SELFTESTS_SIM_SESSION_H */
