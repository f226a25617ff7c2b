// SPDX-License-Identifier: GPL-2.0
/*
 * What <perfclock/session.h> says beside the order: what names become, what is
 * refused and when, every member of an event and of the counters, observers.
 */
#include <sys/wait.h>

#include "sim_session.h"

static void new_session(const struct perfclock_session_opts *like)
{
	struct perfclock_session_opts o = { 0 };

	if (like)
		o = *like;
	o.sz = sizeof(o);
	ASSERT_EQ(perfclock_session_new(&s, &o), 0);
}

static struct perf_event_attr attr_of(int index)
{
	struct perf_event_attr a;

	memset(&a, 0xff, sizeof(a));
	ASSERT_EQ(perfclock_session_get_attr(s, index, &a, sizeof(a)), 0);
	return a;
}

static void names_become_attributes(void)
{
	static const struct {
		const char *name;
		uint32_t type;
		uint64_t config;
		bool no_user, no_kernel;
	} names[] = {
		{ "cpu-clock", PERF_TYPE_SOFTWARE, 0, false, false },
		{ "task-clock:u", PERF_TYPE_SOFTWARE, 1, false, true },
		{ "page-faults:k", PERF_TYPE_SOFTWARE, 2, true, false },
		{ "faults", PERF_TYPE_SOFTWARE, 2, false, false },
		{ "cs", PERF_TYPE_SOFTWARE, 3, false, false },
		{ "migrations", PERF_TYPE_SOFTWARE, 4, false, false },
		{ "minor-faults", PERF_TYPE_SOFTWARE, 5, false, false },
		{ "major-faults", PERF_TYPE_SOFTWARE, 6, false, false },
		{ "r1a8", PERF_TYPE_RAW, 0x1a8, false, false },
		{ "r1a8:u", PERF_TYPE_RAW, 0x1a8, false, true },
		{ "4:0x20", 4, 0x20, false, false },
		{ "0x1:3:k", 1, 3, true, false },
	};
	const uint64_t needed = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID |
				PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
	struct perf_event_attr a;
	size_t i;

	new_session(NULL);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		ASSERT_EQ(perfclock_session_add(s, names[i].name, NULL), i);
		a = attr_of(i);
		if (a.type != names[i].type || a.config != names[i].config ||
		    a.exclude_user != names[i].no_user ||
		    a.exclude_kernel != names[i].no_kernel)
			tap_fail(__FILE__, __LINE__, "%s: %u:0x%llx user %d "
				 "kernel %d", names[i].name, a.type,
				 (unsigned long long)a.config, !a.exclude_user,
				 !a.exclude_kernel);
		EXPECT_EQ(a.sample_type & needed, needed);
		EXPECT(a.sample_id_all && a.disabled && a.watermark);
		EXPECT(!a.use_clockid && !a.write_backward);
	}
	perfclock_session_free(s);
}

static void clock_and_overwriting_are_the_sessions(void)
{
	struct perfclock_session_opts o = {
		.clock = PERFCLOCK_BOOTTIME,
		.flags = PERFCLOCK_SESSION_OVERWRITE,
	};
	struct perf_event_attr a;

	new_session(&o);
	ASSERT_EQ(perfclock_session_add(s, "cs", NULL), 0);
	a = attr_of(0);
	EXPECT(a.use_clockid && a.write_backward);
	EXPECT_EQ(a.clockid, CLOCK_BOOTTIME);
	EXPECT(perfclock_session_clock(s) != NULL);
	perfclock_session_free(s);
}

static void periods_and_frequencies(void)
{
	struct perfclock_event_opts period = {
		.sz = sizeof(period), .period = 77,
	}, freq = {
		.sz = sizeof(freq), .freq = 99,
	};
	struct perf_event_attr a;

	new_session(NULL);
	ASSERT_EQ(perfclock_session_add(s, "cs", NULL), 0);
	a = attr_of(0);
	EXPECT(!a.freq && a.sample_period == 1);
	ASSERT_EQ(perfclock_session_add(s, "cpu-clock", NULL), 1);
	a = attr_of(1);
	EXPECT(a.freq && a.sample_freq > 0);
	ASSERT_EQ(perfclock_session_add(s, "cpu-clock", &period), 2);
	a = attr_of(2);
	EXPECT(!a.freq && a.sample_period == 77);
	ASSERT_EQ(perfclock_session_add(s, "cs", &freq), 3);
	a = attr_of(3);
	EXPECT(a.freq && a.sample_freq == 99);
	perfclock_session_free(s);
}

static void side_band_is_an_event_more(void)
{
	struct perf_event_attr a;

	new_session(NULL);
	ASSERT_EQ(perfclock_session_add(s, "cs", NULL), 0);
	ASSERT_EQ(perfclock_session_track_tasks(s), 0);
	a = attr_of(1);
	EXPECT_EQ(a.config, PERF_COUNT_SW_DUMMY);
	EXPECT(a.comm && a.task && a.mmap2);
	perfclock_session_free(s);
}

/* Refused, each, with a line that has the word. */
#define EXPECT_REFUSED(call, err, word) do {				\
	EXPECT_EQ(call, err);						\
	if (!strstr(perfclock_session_error(s), word))			\
		tap_fail(__FILE__, __LINE__, "%s: %s", #call,		\
			 perfclock_session_error(s));			\
} while (0)

static void events_that_are_refused(void)
{
	struct {
		struct perfclock_event_opts o;
		uint64_t unknown;
	} newer = { { .sz = sizeof(newer) }, 1 };
	struct perfclock_event_opts both = {
		.sz = sizeof(both), .period = 1, .freq = 1,
	}, filter = {
		.sz = sizeof(filter), .filter = "x == 1",
	}, alone = {
		.sz = sizeof(alone), .flags = PERFCLOCK_EVENT_GROUP,
	}, flags = {
		.sz = sizeof(flags), .flags = ~PERFCLOCK_EVENT_GROUP,
	}, no_size = { 0 };
	struct perf_event_attr a;

	new_session(NULL);
	EXPECT_REFUSED(perfclock_session_add(s, "cs", &newer.o), -E2BIG,
		       "opts");
	EXPECT_REFUSED(perfclock_session_add(s, "cs", &no_size), -EINVAL,
		       "opts");
	EXPECT_REFUSED(perfclock_session_add(s, "cs", &both), -EINVAL,
		       "not both");
	EXPECT_REFUSED(perfclock_session_add(s, "cs", &filter), -EINVAL,
		       "tracepoints");
	EXPECT_REFUSED(perfclock_session_add(s, "cs", &alone), -EINVAL,
		       "grouped");
	EXPECT_REFUSED(perfclock_session_add(s, "cs", &flags), -EINVAL,
		       "flags");
	EXPECT_REFUSED(perfclock_session_add(s, "rxyz", NULL), -ENOENT,
		       "rxyz");
	/* Nothing of all that has been added. */
	EXPECT_EQ(perfclock_session_get_attr(s, 0, &a, sizeof(a)), -EINVAL);
	EXPECT_EQ(perfclock_session_add(s, "cs", NULL), 0);
	EXPECT_EQ(perfclock_session_get_attr(s, -1, &a, sizeof(a)), -EINVAL);
	EXPECT_EQ(perfclock_session_get_attr(s, 0, &a,
					     PERF_ATTR_SIZE_VER0 - 1),
		  -EINVAL);
	EXPECT_EQ(perfclock_session_get_attr(s, 0, &a, PERF_ATTR_SIZE_VER0),
		  0);
	EXPECT_EQ(perfclock_session_event_fd(s, 0, 0), -ENOENT);
	perfclock_session_free(s);
}

static void sessions_that_are_refused(void)
{
	static const pid_t self[] = { 1 };
	static const int cpu[] = { 0 };
	static const struct {
		struct perfclock_session_opts o;
		const char *word;
	} bad[] = {
		{ { .flags = 1u << 4 }, "flags" },
		{ { .flags = PERFCLOCK_SESSION_OVERWRITE, .readers = 1 },
		  "reader threads" },
		{ { .wait = PERFCLOCK_WAIT_IO_URING + 1 }, "" },
		{ { .nr_cpus = 1 }, "cpus is NULL" },
		{ { .nr_pids = 1 }, "pids is NULL" },
		{ { .nr_pids = 1, .pids = self, .cgroup = "/" }, "not both" },
		{ { .nr_cpus = 1, .cpus = cpu, .memory_max = 1 }, "memory" },
	};
	struct {
		struct perfclock_session_opts o;
		uint64_t unknown;
	} newer = { { .sz = sizeof(newer) }, 1 };
	struct perfclock_session_opts o;
	char error[256];
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		o = bad[i].o;
		o.sz = sizeof(o);
		o.error = error;
		o.error_size = sizeof(error);
		error[0] = 0;
		s = (void *)&o;
		EXPECT_EQ(perfclock_session_new(&s, &o), -EINVAL);
		EXPECT(!s);
		EXPECT(error[0] && strstr(error, bad[i].word));
	}
	EXPECT_EQ(perfclock_session_new(&s, &newer.o), -E2BIG);
}

static void adopted_rings_that_are_refused(void)
{
	struct perfclock_session_opts overwrite = {
		.flags = PERFCLOCK_SESSION_OVERWRITE,
	}, monotonic = { .clock = PERFCLOCK_MONOTONIC };
	struct perfclock_adopt_opts ao = {
		.sz = sizeof(ao), .fd = -1, .attr = &attr,
	};

	attr = sim_attr();
	sim_ring_init(&rings[0], 1);
	ao.base = rings[0].page;
	ao.size = rings[0].bytes;
	new_session(&overwrite);
	EXPECT_REFUSED(perfclock_session_adopt(s, &ao), -EINVAL, "overwrites");
	perfclock_session_free(s);
	new_session(&monotonic);
	EXPECT_REFUSED(perfclock_session_adopt(s, &ao), -EINVAL, "monotonic");
	perfclock_session_free(s);
	new_session(NULL);
	ao.size = rings[0].bytes - 1;
	EXPECT_REFUSED(perfclock_session_adopt(s, &ao), -EINVAL, "perf mmap");
	ao.size = rings[0].bytes;
	ao.base = NULL;
	EXPECT_REFUSED(perfclock_session_adopt(s, &ao), -EINVAL, "base");
	EXPECT_REFUSED(perfclock_session_start(s), -EINVAL, "no events");
	ao.base = rings[0].page;
	EXPECT_EQ(perfclock_session_adopt(s, &ao), 0);
	tear_down(1);
}

static void after_the_start_it_is_too_late(void)
{
	char *const command[] = { "true", NULL };
	struct perfclock_adopt_opts ao = {
		.sz = sizeof(ao), .fd = -1, .attr = &attr,
	};
	pid_t pid;

	new_session(NULL);
	EXPECT_REFUSED(perfclock_session_fd(s), -EINVAL, "not started");
	perfclock_session_free(s);
	set_up(1);
	ao.base = rings[0].page;
	ao.size = rings[0].bytes;
	EXPECT_REFUSED(perfclock_session_start(s), -EINVAL, "started before");
	EXPECT_REFUSED(perfclock_session_add(s, "cs", NULL), -EINVAL,
		       "has started");
	EXPECT_REFUSED(perfclock_session_track_tasks(s), -EINVAL,
		       "has started");
	EXPECT_REFUSED(perfclock_session_adopt(s, &ao), -EINVAL,
		       "has started");
	EXPECT_REFUSED(perfclock_session_exec(s, command, &pid), -EINVAL,
		       "before the start");
	EXPECT_REFUSED(perfclock_session_snapshot(s, collect, NULL), -EINVAL,
		       "overwrites only");
	sim_sample(&rings[0], 10, 1, 1);
	sim_publish(&rings[0]);
	EXPECT_EQ(perfclock_session_finish(s, collect, NULL), 1);
	sim_sample(&rings[0], 20, 1, 1);
	sim_publish(&rings[0]);
	EXPECT_EQ(perfclock_session_finish(s, collect, NULL), 0);
	EXPECT_REFUSED(poll_now(), -EINVAL, "running");
	EXPECT_REFUSED(perfclock_session_start(s), -EINVAL, "started before");
	EXPECT_EQ(nr_got, 1);
	tear_down(1);
}

static void one_command_and_nothing_beside_it(void)
{
	char *const command[] = { "true", NULL }, *const nothing[] = { NULL };
	pid_t self = getpid(), pid;
	struct perfclock_session_opts o = { .nr_pids = 1, .pids = &self };

	new_session(&o);
	EXPECT_EQ(perfclock_session_exec(s, command, &pid), -EINVAL);
	perfclock_session_free(s);
	new_session(NULL);
	EXPECT_EQ(perfclock_session_exec(s, nothing, &pid), -EINVAL);
	EXPECT_EQ(perfclock_session_exec(s, command, &pid), 0);
	EXPECT_EQ(perfclock_session_exec(s, command, &self), -EINVAL);
	perfclock_session_free(s);
	EXPECT_EQ(waitpid(pid, NULL, 0), pid);
}

static int user;

static int look(const struct perfclock_event *ev, void *ctx)
{
	const struct sim_sample *rec = (const void *)ev->header;

	++*(int *)ctx;
	EXPECT_EQ(ev->header->type, ev->type);
	EXPECT(ev->user == &user);
	EXPECT_EQ(ev->index, 0);
	EXPECT_EQ(ev->ring, 0);
	if (ev->type != PERF_RECORD_SAMPLE) {
		EXPECT(!ev->raw && !ev->raw_size);
		return 0;
	}
	EXPECT_EQ(ev->header->size, offsetof(struct sim_sample, raw) + 12);
	EXPECT(ev->raw == rec->raw);
	EXPECT_EQ(ev->raw_size, 12);
	EXPECT_EQ(ev->stamp, 10);
	return 0;
}

static void an_event_has_all_its_members(void)
{
	struct perfclock_adopt_opts ao = {
		.sz = sizeof(ao), .fd = -1, .attr = &attr, .user = &user,
	};
	int seen = 0;

	attr = sim_attr();
	sim_ring_init(&rings[0], 1);
	ao.base = rings[0].page;
	ao.size = rings[0].bytes;
	new_session(NULL);
	ASSERT_EQ(perfclock_session_adopt(s, &ao), 0);
	ASSERT_EQ(perfclock_session_start(s), 0);
	sim_sample(&rings[0], 10, 4711, 3);
	sim_task(&rings[0], PERF_RECORD_FORK, 20, 20);
	sim_publish(&rings[0]);
	sim_watermark = 30;
	EXPECT_EQ(perfclock_session_poll(s, 0, look, &seen), 2);
	EXPECT_EQ(seen, 2);
	tear_down(1);
}

static void without_a_callback_it_is_counted(void)
{
	set_up(1);
	sim_sample(&rings[0], 10, 1, 1);
	sim_publish(&rings[0]);
	sim_watermark = 11;
	EXPECT_EQ(perfclock_session_poll(s, 0, NULL, NULL), 1);
	EXPECT_EQ(stats().delivered, 1);
	tear_down(1);
}

static struct perfclock_ring_stats ring_stats(unsigned int ring)
{
	struct perfclock_ring_stats rs = { .sz = sizeof(rs) };

	EXPECT_EQ(perfclock_session_get_ring_stats(s, ring, &rs), 0);
	return rs;
}

static void all_counters_count(void)
{
	struct perfclock_session_stats st;
	struct perfclock_ring_stats rs = { .sz = sizeof(rs) };
	const uint64_t sample = offsetof(struct sim_sample, raw) + 4;

	set_up(2);
	sim_sample(&rings[1], 30, 1, 1);
	sim_sample(&rings[1], 20, 1, 1);
	sim_sample(&rings[1], 50, 1, 1);
	sim_publish(&rings[1]);
	sim_watermark = 40;
	EXPECT_EQ(poll_now(), 2);
	rs = ring_stats(1);
	EXPECT_EQ(rs.cpu, 1);
	EXPECT_EQ(rs.read, 3);
	EXPECT_EQ(rs.bytes, 3 * sample);
	EXPECT_EQ(rs.held, 1);
	EXPECT_EQ(rs.inversions, 1);
	EXPECT_EQ(rs.late, 0);
	EXPECT_EQ(ring_stats(0).read, 0);
	sim_sample(&rings[1], 25, 1, 1);
	sim_task(&rings[1], PERF_RECORD_THROTTLE, 0, 60);
	sim_lost_samples(&rings[1], 70, 9);
	sim_lost(&rings[1], 80, 5);
	sim_publish(&rings[1]);
	EXPECT_EQ(poll_now(), 1);
	st = stats();
	EXPECT_EQ(st.late, 1);
	EXPECT_EQ(st.max_late_ns, 5);
	EXPECT_EQ(st.throttled, 1);
	EXPECT_EQ(st.lost, 14);
	EXPECT_EQ(st.held, 4);
	EXPECT_EQ(st.held_max, 5);
	EXPECT_EQ(st.rounds, 2);
	EXPECT_EQ(st.rings, 2);
	EXPECT_EQ(st.samples, 3);
	EXPECT_OP(st.memory, >, 0);
	rs = ring_stats(1);
	EXPECT_EQ(rs.late, 1);
	EXPECT_EQ(rs.lost, 14);
	EXPECT_EQ(perfclock_session_get_ring_stats(s, 2, &rs), -EINVAL);
	rs.sz = 0;
	EXPECT_EQ(perfclock_session_get_ring_stats(s, 0, &rs), -EINVAL);
	st.sz = 0;
	EXPECT_EQ(perfclock_session_get_stats(s, &st), -EINVAL);
	tear_down(2);
}

static void lags_are_told_by_quantiles(void)
{
	struct perfclock_session_stats st;
	int i;

	set_up(1);
	/* Before the first watermark there is no lag. */
	sim_now = 500000;
	EXPECT_EQ(poll_now(), 0);
	sim_watermark = 1000000;
	for (i = 0; i < 1000; i++) {
		sim_now = 1000000 + (i < 100 ? 100 : i < 985 ? 1000 : 100000);
		EXPECT_EQ(poll_now(), 0);
	}
	EXPECT_EQ(perfclock_session_finish(s, collect, NULL), 0);
	st = stats();
	EXPECT_OP(st.lag_p50_ns, >=, 1000);
	EXPECT_OP(st.lag_p50_ns, <=, 1000 + 1000 / 16);
	EXPECT_EQ(st.lag_p99_ns, 100000);
	EXPECT_EQ(st.lag_max_ns, 100000);
	tear_down(1);
}

/* What an observer heard: "B40" a round, "r0:30" a record of ring 0, "E". */
static char heard[256];

static void hear_begin(uint64_t now, uint64_t watermark, void *ctx)
{
	EXPECT(ctx == heard);
	EXPECT_EQ(now, 1000);
	sprintf(heard + strlen(heard), "B%d ", (int)watermark);
}

static void hear_read(uint32_t ring, uint64_t stamp, uint32_t type, void *ctx)
{
	EXPECT_EQ(type, stamp ? PERF_RECORD_SAMPLE : PERF_RECORD_LOST);
	sprintf(heard + strlen(heard), "r%d:%d ", (int)ring, (int)stamp);
}

static void hear_end(void *ctx)
{
	strcat(heard, "E ");
}

static void hear(void)
{
	struct perfclock_session_observer ob = {
		.sz = sizeof(ob), .round_begin = hear_begin, .read = hear_read,
		.round_end = hear_end, .ctx = heard,
	};

	heard[0] = 0;
	sim_now = 1000;
	ASSERT_EQ(perfclock_session_observe(s, &ob), 0);
	/* The structure was copied. */
	memset(&ob, 0xff, sizeof(ob));
}

static void observers_hear_of_all_that_is_read(void)
{
	set_up(2);
	hear();
	sim_sample(&rings[0], 30, 1, 1);
	sim_sample(&rings[0], 20, 1, 1);
	sim_sample(&rings[1], 10, 1, 1);
	sim_lost(&rings[1], 99, 1);
	sim_publish(&rings[0]);
	sim_publish(&rings[1]);
	sim_watermark = 15;
	EXPECT_EQ(poll_now(), 2);
	EXPECT_STREQ(heard, "B15 r0:30 r0:20 r1:10 r1:0 E ");
	heard[0] = 0;
	sim_watermark = 40;
	EXPECT_EQ(poll_now(), 2);
	EXPECT_STREQ(heard, "B40 E ");
	ASSERT_EQ(perfclock_session_observe(s, NULL), 0);
	EXPECT_EQ(poll_now(), 0);
	EXPECT_STREQ(heard, "B40 E ");
	tear_down(2);
}

/* In the thread that polls, whose watermark is what its readers completed. */
static void observers_hear_of_what_threads_read(void)
{
	struct perfclock_session_opts o = {
		.readers = 1, .interval_ns = 1000000,
	};

	set_up_opts(1, 1, &o);
	sim_sample(&rings[0], 30, 1, 1);
	sim_publish(&rings[0]);
	while (!stats().held) {
		hear();
		ASSERT_EQ(perfclock_session_poll(s, 1, collect, NULL), 0);
	}
	EXPECT(!strncmp(heard, "B0 r0:30 ", 9));
	EXPECT(strstr(heard, "E "));
	EXPECT_EQ(perfclock_session_finish(s, collect, NULL), 1);
	tear_down(1);
}

static const struct tap_test tests[] = {
#define T(x) { #x, x }
	T(names_become_attributes),
	T(clock_and_overwriting_are_the_sessions),
	T(periods_and_frequencies),
	T(side_band_is_an_event_more),
	T(events_that_are_refused),
	T(sessions_that_are_refused),
	T(adopted_rings_that_are_refused),
	T(after_the_start_it_is_too_late),
	T(one_command_and_nothing_beside_it),
	T(an_event_has_all_its_members),
	T(without_a_callback_it_is_counted),
	T(all_counters_count),
	T(lags_are_told_by_quantiles),
	T(observers_hear_of_all_that_is_read),
	T(observers_hear_of_what_threads_read),
};

TAP_MAIN(tests)
