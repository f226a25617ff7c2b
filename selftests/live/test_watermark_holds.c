// SPDX-License-Identifier: GPL-2.0
/*
 * The promise, on this machine's own rings: a round that begins with W loaded
 * never finds, nor does any later one, a record stamped below W.
 *
 * The same rounds are held against two rules that prove nothing: W is the
 * clock read at the round's start, W is the greatest stamp read so far. One of
 * them has to fail: else the load was too light for the test to mean anything.
 */
#include <fcntl.h>

#include "live.h"
#include "machine.h"

/* One rule: what it promised, and how often that was broken. */
struct rule {
	uint64_t next;		/* by the round under way */
	uint64_t promised;	/* by rounds that have read all they saw */
	uint64_t broken, worst;
};

struct check {
	struct rule proven, start, seen;
	uint64_t read;
};

static void rule_promise(struct rule *r)
{
	if (r->next > r->promised)
		r->promised = r->next;
}

static void rule_read(struct rule *r, uint64_t stamp)
{
	if (stamp >= r->promised)
		return;
	r->broken++;
	if (r->promised - stamp > r->worst)
		r->worst = r->promised - stamp;
}

static void round_begin(uint64_t now, uint64_t watermark, void *ctx)
{
	struct check *c = ctx;

	c->proven.next = watermark;
	c->start.next = now;
}

static void on_read(uint32_t ring, uint64_t stamp, uint32_t type, void *ctx)
{
	struct check *c = ctx;

	if (type != 9)		/* PERF_RECORD_SAMPLE */
		return;
	c->read++;
	rule_read(&c->proven, stamp);
	rule_read(&c->start, stamp);
	rule_read(&c->seen, stamp);
	if (stamp > c->seen.next)
		c->seen.next = stamp;
}

/* The rings are drained to where they stood when W had been loaded. */
static void round_end(void *ctx)
{
	struct check *c = ctx;

	rule_promise(&c->proven);
	rule_promise(&c->start);
	rule_promise(&c->seen);
}

static int deliver(const struct perfclock_event *ev, void *ctx)
{
	return 0;
}

static void report(const struct check *c, const char *provider,
		   const struct perfclock_session_stats *st)
{
	printf("# %s: %llu read, %llu lost; broken: watermark %llu, start %llu (by up to %llu ns), seen %llu (%llu ns); lag p50 %llu us, max %llu us\n",
	       provider, (unsigned long long)c->read,
	       (unsigned long long)st->lost,
	       (unsigned long long)c->proven.broken,
	       (unsigned long long)c->start.broken,
	       (unsigned long long)c->start.worst,
	       (unsigned long long)c->seen.broken,
	       (unsigned long long)c->seen.worst,
	       (unsigned long long)st->lag_p50_ns / 1000,
	       (unsigned long long)st->lag_max_ns / 1000);
}

static struct perfclock_session *
open_session(enum perfclock_clockid clock, const char *source,
	     const char *provider)
{
	struct perfclock_session *s;
	char error[200] = "";
	struct perfclock_session_opts o = {
		.sz = sizeof(o), .clock = clock, .source = source,
		.provider = provider, .interval_ns = 0,
		.mmap_pages = 8,	/* short rounds */
		.error = error, .error_size = sizeof(error),
	};

	if (perfclock_session_new(&s, &o)) {
		if (machine_refuses(source, provider))
			SKIP("%.200s", error);
		printf("# %s\n", error);
		ASSERT(!"a session can be had");
	}
	live_add(s, LOAD_EVENT);
	return s;
}

/* Busy rounds under load: what a guess fails on within a second or two. */
static void run(enum perfclock_clockid clock, const char *source,
		const char *provider)
{
	struct perfclock_session *s = open_session(clock, source, provider);
	struct check c = { 0 };
	struct perfclock_session_observer ob = {
		.sz = sizeof(ob), .round_begin = round_begin,
		.read = on_read, .round_end = round_end, .ctx = &c,
	};
	struct perfclock_session_stats st;
	struct load load;
	uint64_t end;
	long n;

	ASSERT_EQ(perfclock_session_observe(s, &ob), 0);
	live_start(s);
	load_start(&load, sysconf(_SC_NPROCESSORS_ONLN));
	end = live_now() + 6000000000ull;
	do
		n = perfclock_session_poll(s, 0, deliver, NULL);
	while (n >= 0 && live_now() < end &&
	       !(c.read > 600000 && c.start.broken + c.seen.broken > 10));
	load_stop(&load);
	EXPECT_OP(n, >=, 0);
	EXPECT_OP(perfclock_session_finish(s, deliver, NULL), >=, 0);
	st = live_stats(s);
	report(&c, provider, &st);
	perfclock_session_free(s);
	EXPECT_OP(c.read, >, 10000);
	EXPECT_EQ(c.proven.broken, 0);
	EXPECT_EQ(st.late, 0);
	if (!c.start.broken && !c.seen.broken)
		SKIP("no rule broke within 6 s: it shows nothing");
}

static void membarrier_monotonic_raw(void)
{
	run(PERFCLOCK_MONOTONIC_RAW, "clockid", "membarrier");
}

static void membarrier_monotonic(void)
{
	run(PERFCLOCK_MONOTONIC, "clockid", "membarrier");
}

static void membarrier_perf_by_comm_record(void)
{
	run(PERFCLOCK_PERF, "comm-record", "membarrier");
}

static void cpu_visit_monotonic_raw(void)
{
	run(PERFCLOCK_MONOTONIC_RAW, "clockid", "cpu-visit");
}

static void cpu_visit_monotonic(void)
{
	run(PERFCLOCK_MONOTONIC, "clockid", "cpu-visit");
}

static void cpu_visit_perf_by_comm_record(void)
{
	run(PERFCLOCK_PERF, "comm-record", "cpu-visit");
}

static void module_perf(void)
{
	run(PERFCLOCK_PERF, NULL, "module");
}

static const struct tap_test tests[] = {
	{ "membarrier_monotonic_raw", membarrier_monotonic_raw },
	{ "membarrier_monotonic", membarrier_monotonic },
	{ "membarrier_perf_by_comm_record", membarrier_perf_by_comm_record },
	{ "cpu_visit_monotonic_raw", cpu_visit_monotonic_raw },
	{ "cpu_visit_monotonic", cpu_visit_monotonic },
	{ "cpu_visit_perf_by_comm_record", cpu_visit_perf_by_comm_record },
	{ "module_perf", module_perf },
};

TAP_MAIN(tests)
