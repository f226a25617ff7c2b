// SPDX-License-Identifier: GPL-2.0
/* The sources of a clock tell the same time, and disturb nobody by it. */
#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>

#include "live.h"
#include "machine.h"

#define SOURCES_MAX	8

static char error[200];

static struct perfclock *open_source(enum perfclock_clockid clock,
				     const char *source)
{
	struct perfclock *clk;
	struct perfclock_open_opts o = {
		.sz = sizeof(o), .clock = clock, .source = source,
		.flags = PERFCLOCK_OPEN_NO_WATERMARK,
		.error = error, .error_size = sizeof(error),
	};

	return perfclock_open(&clk, &o) ? NULL : clk;
}

static int open_all(enum perfclock_clockid clock, struct perfclock **clks)
{
	struct perfclock_open_opts o = { .sz = sizeof(o), .clock = clock };
	struct perfclock_choice c = { .sz = sizeof(c) };
	unsigned int i;
	int n = 0;

	for (i = 0; perfclock_probe_source(i, &o, &c) == 1; i++) {
		/* perf-page is there or not, as the kernel likes. */
		if (!c.available) {
			EXPECT(!strcmp(c.name, "perf-page") ||
			       machine_refuses(c.name, NULL));
			continue;
		}
		clks[n] = open_source(clock, c.name);
		ASSERT(clks[n]);
		n++;
	}
	return n;
}

static uint64_t now(struct perfclock *clk)
{
	uint64_t ns = 0;

	EXPECT_EQ(perfclock_now(clk, &ns), 0);
	return ns;
}

static const char *name_of(struct perfclock *clk)
{
	struct perfclock_info info = { .sz = sizeof(info) };

	perfclock_get_info(clk, &info);
	return info.source;
}

/*
 * b between two reads of a, and a between two of b. Two CPUs may be involved:
 * their perf clocks may differ by two ticks where nobody says they agree.
 */
static void compare(struct perfclock *a, struct perfclock *b, int64_t slack)
{
	int64_t worst = 0, a1, b1, a2;
	int i;

	for (i = 0; i < 2000; i++) {
		a1 = now(a);
		b1 = now(b);
		a2 = now(a);
		if (a1 - b1 > worst)
			worst = a1 - b1;
		if (b1 - a2 > worst)
			worst = b1 - a2;
	}
	printf("# %s and %s: apart by %lld ns at most\n", name_of(a),
	       name_of(b), (long long)worst);
	EXPECT_OP(worst, <=, slack);
}

static void compare_all(enum perfclock_clockid clock, int64_t slack)
{
	struct perfclock *clks[SOURCES_MAX];
	int n = open_all(clock, clks), i, k;

	for (i = 0; i < n; i++)
		for (k = 0; k < n; k++)
			if (k != i)
				compare(clks[i], clks[k], slack);
	for (i = 0; i < n; i++)
		perfclock_close(clks[i]);
	if (n < 2)
		SKIP("only %d source of the %s clock here", n,
		     perfclock_clock_name(clock));
}

static void monotonic_sources_agree(void)
{
	compare_all(PERFCLOCK_MONOTONIC, 2000);
}

static void monotonic_raw_sources_agree(void)
{
	compare_all(PERFCLOCK_MONOTONIC_RAW, 2000);
}

static void boottime_sources_agree(void)
{
	compare_all(PERFCLOCK_BOOTTIME, 2000);
}

static void perf_sources_agree(void)
{
	compare_all(PERFCLOCK_PERF, 20000000);
}

static struct perfclock *open_comm(enum perfclock_clockid clock)
{
	struct perfclock *clk = open_source(clock, "comm-record");

	if (!clk && machine_refuses("comm-record", NULL))
		SKIP("%.200s", error);
	if (!clk)
		printf("# %s\n", error);
	ASSERT(clk);
	return clk;
}

/* 20000 reads pass over the end of a ring of one page many times. */
static void a_comm_record_is_read_again_and_again(void)
{
	struct perfclock *clk = open_comm(PERFCLOCK_MONOTONIC_RAW);
	uint64_t last = 0, ns;
	int i, back = 0;

	for (i = 0; i < 20000; i++) {
		ASSERT_EQ(perfclock_now(clk, &ns), 0);
		back += ns <= last;
		last = ns;
	}
	EXPECT_EQ(back, 0);
	perfclock_close(clk);
}

static void the_callers_name_stays(void)
{
	struct perfclock *clk;
	char before[16], after[16];

	prctl(PR_SET_NAME, "my-own-name");
	prctl(PR_GET_NAME, before);
	clk = open_comm(PERFCLOCK_PERF);
	now(clk);
	prctl(PR_GET_NAME, after);
	EXPECT_STREQ(after, before);
	perfclock_close(clk);
}

static void *read_some(void *arg)
{
	struct perfclock *clk = arg;
	uint64_t last = 0, ns;
	long bad = 0;
	int i;

	for (i = 0; i < 500; i++) {
		bad += perfclock_now(clk, &ns) != 0 || ns <= last;
		last = ns;
	}
	return (void *)bad;
}

static void many_threads_read_one_comm_source(void)
{
	struct perfclock *clk = open_comm(PERFCLOCK_MONOTONIC);
	pthread_t t[4];
	void *bad;
	int i;

	for (i = 0; i < 4; i++)
		ASSERT_EQ(pthread_create(&t[i], NULL, read_some, clk), 0);
	for (i = 0; i < 4; i++) {
		pthread_join(t[i], &bad);
		EXPECT(!bad);
	}
	perfclock_close(clk);
}

/* Run fn in a child; its exit status. */
static int in_child(int (*fn)(void *arg), void *arg)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		alarm(20);
		_exit(fn(arg));
	}
	ASSERT_EQ(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int use_inherited(void *arg)
{
	uint64_t ns;

	if (perfclock_now(arg, &ns) != -ECHILD)
		return 1;
	perfclock_close(arg);
	return 0;
}

static void a_forks_child_is_told(void)
{
	struct perfclock *clk = open_comm(PERFCLOCK_PERF);

	EXPECT_EQ(in_child(use_inherited, clk), 0);
	now(clk);
	perfclock_close(clk);
}

/* As CLONE_NEWTIME asks for: the offsets hold for the next child. */
static int in_time_namespace(void)
{
	struct perfclock *id, *rec;
	uint64_t a, b, c;
	int clock;

	for (clock = PERFCLOCK_MONOTONIC; clock < PERFCLOCK_CLOCKS; clock++) {
		id = open_source(clock, "clockid");
		if (!id)
			return 1;
		rec = open_source(clock, "comm-record");
		if (!rec)
			return machine_has_perf_events() ? 6 : 4;
		a = now(rec);
		b = now(id);
		c = now(rec);
		if (a >= b + 2000 || b >= c + 2000)
			return 10 + clock;
		perfclock_close(id);
		perfclock_close(rec);
	}
	return 0;
}

static int unshare_time(void *arg)
{
	static const char offsets[] = "monotonic 5000 1\nboottime 9000 7\n";
	const ssize_t len = sizeof(offsets) - 1;
	int fd, status;
	pid_t pid;

	if (unshare(0x80 /* CLONE_NEWTIME */))
		return 4;
	fd = open("/proc/self/timens_offsets", O_WRONLY);
	if (fd < 0 || write(fd, offsets, len) != len)
		return 4;
	/* Unshared, not entered: nobody could tell what offset is ours. */
	if (open_source(PERFCLOCK_MONOTONIC_RAW, "clockid"))
		return 5;
	pid = fork();
	if (!pid)
		_exit(in_time_namespace());
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return 3;
	return WEXITSTATUS(status);
}

static void a_time_namespace_does_not_shift_the_clock(void)
{
	int got = in_child(unshare_time, NULL);

	if (got == 4)
		SKIP("no rights to a time namespace, or no perf events");
	EXPECT_EQ(got, 0);
}

/* Everything dropped: what a plain user gets. */
static int as_nobody(void *arg)
{
	struct perfclock_open_opts o = {
		.sz = sizeof(o), .error = error, .error_size = sizeof(error),
	};
	struct perfclock *clk;

	if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
		return 4;
	o.clock = PERFCLOCK_MONOTONIC;
	/* The first one, if nobody has asked this kernel for any before. */
	if (perfclock_open(&clk, &o) ||
	    perfclock_watermark_wait(clk, 0, 10000000000))
		return 1;
	perfclock_close(clk);
	o.clock = PERFCLOCK_PERF;
	/* Allowed, or refused with a line that names the setting. */
	if (!perfclock_open(&clk, &o))
		perfclock_close(clk);
	else if (!strstr(error, "perf_event_paranoid"))
		return 2;
	return 0;
}

static void a_user_without_rights_has_a_watermark(void)
{
	int got;

	if (geteuid())
		SKIP("needs root to drop rights");
	got = in_child(as_nobody, NULL);
	if (got == 4)
		SKIP("can't become another user here");
	EXPECT_EQ(got, 0);
}

/* Files that have the kernel's engine run; -1: no module. */
static int engine_users(void)
{
	FILE *f = fopen("/sys/class/misc/perf_clock/users", "re");
	int n = -1;

	if (f) {
		if (fscanf(f, "%d", &n) != 1)
			n = -1;
		fclose(f);
	}
	return n;
}

static void the_time_from_the_module_does_not_start_its_engine(void)
{
	struct perfclock *clk;
	int clock, users = engine_users();

	if (users < 0)
		SKIP("the module perf_clock is not loaded");
	for (clock = 0; clock < PERFCLOCK_CLOCKS; clock++) {
		clk = open_source(clock, "module");
		ASSERT(clk);
		EXPECT(now(clk) > 0);
		EXPECT_EQ(engine_users(), users);
		perfclock_close(clk);
	}
}

static void another_provider_on_that_source_does_not_either(void)
{
	struct perfclock_open_opts o = {
		.sz = sizeof(o), .clock = PERFCLOCK_PERF, .source = "module",
		.provider = "cpu-visit",
		.error = error, .error_size = sizeof(error),
	};
	struct perfclock *clk;
	int users = engine_users();

	if (users < 0)
		SKIP("the module perf_clock is not loaded");
	ASSERT_EQ(perfclock_open(&clk, &o), 0);
	EXPECT_EQ(perfclock_watermark_wait(clk, now(clk), 5000000000), 0);
	EXPECT_EQ(engine_users(), users);
	perfclock_close(clk);
}

static const struct tap_test tests[] = {
	{ "monotonic_sources_agree", monotonic_sources_agree },
	{ "monotonic_raw_sources_agree", monotonic_raw_sources_agree },
	{ "boottime_sources_agree", boottime_sources_agree },
	{ "perf_sources_agree", perf_sources_agree },
	{ "a_comm_record_is_read_again_and_again",
	  a_comm_record_is_read_again_and_again },
	{ "the_callers_name_stays", the_callers_name_stays },
	{ "many_threads_read_one_comm_source",
	  many_threads_read_one_comm_source },
	{ "a_forks_child_is_told", a_forks_child_is_told },
	{ "a_time_namespace_does_not_shift_the_clock",
	  a_time_namespace_does_not_shift_the_clock },
	{ "a_user_without_rights_has_a_watermark",
	  a_user_without_rights_has_a_watermark },
	{ "the_time_from_the_module_does_not_start_its_engine",
	  the_time_from_the_module_does_not_start_its_engine },
	{ "another_provider_on_that_source_does_not_either",
	  another_provider_on_that_source_does_not_either },
};

TAP_MAIN(tests)
