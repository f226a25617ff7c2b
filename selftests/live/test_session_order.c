// SPDX-License-Identifier: GPL-2.0
/* Sessions on this machine's own events: nothing late, nothing amiss. */
#include "live.h"

static struct live_seen seen;

static void run(const struct perfclock_session_opts *o, double seconds)
{
	int nr = sysconf(_SC_NPROCESSORS_ONLN);
	struct perfclock_session_stats st;
	struct perfclock_session *s;
	struct load load;
	uint64_t end;
	long n;

	seen = (struct live_seen){ 0 };
	live_new(&s, o);
	live_add(s, LOAD_EVENT);
	live_start(s);
	load_start(&load, nr);
	end = live_now() + seconds * 1e9;
	do
		n = perfclock_session_poll(s, 100, live_see, &seen);
	while (n >= 0 && live_now() < end);
	load_stop(&load);
	EXPECT_OP(n, >=, 0);
	EXPECT_OP(perfclock_session_finish(s, live_see, &seen), >=, 0);
	st = live_stats(s);
	printf("# read %llu lost %llu late %llu rounds %llu; lag p50 %llu us "
	       "p99 %llu us max %llu us; wakeups %llu held_max %llu\n",
	       (unsigned long long)st.read, (unsigned long long)st.lost,
	       (unsigned long long)st.late, (unsigned long long)st.rounds,
	       (unsigned long long)st.lag_p50_ns / 1000,
	       (unsigned long long)st.lag_p99_ns / 1000,
	       (unsigned long long)st.lag_max_ns / 1000,
	       (unsigned long long)st.wakeups,
	       (unsigned long long)st.held_max);
	EXPECT_OP(seen.samples, >=, 1000);
	EXPECT_EQ(st.late, 0);
	EXPECT_EQ(seen.disorder, 0);
	EXPECT_EQ(st.held, 0);
	EXPECT_EQ(st.read, st.delivered);
	EXPECT_EQ(st.truncated, 0);
	EXPECT_EQ(st.lost, seen.lost);
	EXPECT_EQ(st.samples, seen.samples);
	EXPECT(st.proven);
	EXPECT_EQ(__builtin_popcount(seen.cpus), nr < 32 ? nr : 32);
	perfclock_session_free(s);
}

static void membarrier_sleeping(void)
{
	struct perfclock_session_opts o = {
		.clock = PERFCLOCK_MONOTONIC, .provider = "membarrier",
		.interval_ns = 10000000,
	};

	run(&o, 2);
}

static void membarrier_busy(void)
{
	struct perfclock_session_opts o = {
		.clock = PERFCLOCK_MONOTONIC, .provider = "membarrier",
	};

	run(&o, 2);
}

static void membarrier_perf_clock_by_io_uring(void)
{
	struct perfclock_session_opts o = {
		.clock = PERFCLOCK_PERF, .provider = "membarrier",
		.interval_ns = 1000000, .wait = PERFCLOCK_WAIT_IO_URING,
	};

	run(&o, 1);
}

static void cpu_visit_by_poll(void)
{
	struct perfclock_session_opts o = {
		.clock = PERFCLOCK_MONOTONIC_RAW, .provider = "cpu-visit",
		.interval_ns = 1000000, .wait = PERFCLOCK_WAIT_POLL,
	};

	run(&o, 1);
}

static void cpu_visit_perf_clock_busy(void)
{
	struct perfclock_session_opts o = {
		.clock = PERFCLOCK_PERF, .provider = "cpu-visit",
	};

	run(&o, 1);
}

/* Skipped, with the library's own reason, where the module isn't loaded. */
static void module_busy(void)
{
	struct perfclock_session_opts o = {
		.clock = PERFCLOCK_PERF, .provider = "module",
	};

	run(&o, 2);
}

static void module_sleeping(void)
{
	struct perfclock_session_opts o = {
		.flags = PERFCLOCK_SESSION_CLOCK_AUTO, .provider = "module",
		.interval_ns = 10000000,
	};

	run(&o, 2);
}

static void module_by_reader_threads(void)
{
	struct perfclock_session_opts o = {
		.clock = PERFCLOCK_PERF, .provider = "module",
		.interval_ns = 1000000, .readers = 2,
	};

	run(&o, 1);
}

static const struct tap_test tests[] = {
	{ "membarrier_sleeping", membarrier_sleeping },
	{ "membarrier_busy", membarrier_busy },
	{ "membarrier_perf_clock_by_io_uring",
	  membarrier_perf_clock_by_io_uring },
	{ "cpu_visit_by_poll", cpu_visit_by_poll },
	{ "module_busy", module_busy },
	{ "module_sleeping", module_sleeping },
	{ "module_by_reader_threads", module_by_reader_threads },
	{ "cpu_visit_perf_clock_busy", cpu_visit_perf_clock_busy },
};

TAP_MAIN(tests)
