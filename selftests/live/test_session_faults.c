// SPDX-License-Identifier: GPL-2.0
/*
 * Sessions in a process that gets no luck: no descriptor left at any moment,
 * signals without end, a fork in the middle.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/time.h>

#include "live.h"

static const struct perfclock_session_opts providers[] = {
	{ .provider = "membarrier" }, { .provider = "cpu-visit" },
};

#define FOR_EACH_PROVIDER(i) \
	for (i = 0; i < sizeof(providers) / sizeof(providers[0]); i++)

static struct live_seen seen;
static char error[512];

/* A session on all CPUs that has events to read. 0, or what went wrong. */
static int open_session(struct perfclock_session **s,
			const struct perfclock_session_opts *way)
{
	struct perfclock_session_opts o = *way;
	int err;

	o.sz = sizeof(o);
	o.clock = PERFCLOCK_MONOTONIC;
	o.interval_ns = 1000000;
	o.error = error;
	o.error_size = sizeof(error);
	err = perfclock_session_new(s, &o);
	if (err)
		return err;
	err = perfclock_session_add(*s, LOAD_EVENT, NULL);
	if (err >= 0)
		err = perfclock_session_start(*s);
	if (err < 0) {
		snprintf(error, sizeof(error), "%s",
			 perfclock_session_error(*s));
		perfclock_session_free(*s);
	}
	return err < 0 ? err : 0;
}

static void need_session(struct perfclock_session **s,
			 const struct perfclock_session_opts *way)
{
	struct perfclock_session_opts o = *way;

	o.clock = PERFCLOCK_MONOTONIC;
	o.interval_ns = 1000000;
	live_new(s, &o);
	live_add(*s, LOAD_EVENT);
	live_start(*s);
	memset(&seen, 0, sizeof(seen));
}

/* Poll for so long; nothing but success, or a signal, is expected. */
static void poll_for(struct perfclock_session *s, uint64_t ms)
{
	const uint64_t end = live_now() + ms * 1000000;
	long n;

	while (live_now() < end) {
		n = perfclock_session_poll(s, 10, live_see, &seen);
		if (n < 0)
			ASSERT_EQ(n, -EINTR);
	}
}

static void finish(struct perfclock_session *s)
{
	struct perfclock_session_stats st;
	long n;

	do {
		n = perfclock_session_finish(s, live_see, &seen);
	} while (n == -EINTR);
	ASSERT_OP(n, >=, 0);
	st = live_stats(s);
	EXPECT_EQ(st.late, 0);
	EXPECT_EQ(seen.disorder, 0);
	EXPECT_EQ(st.read, st.delivered + st.dropped);
	EXPECT_EQ(st.held, 0);
	EXPECT_EQ(st.samples, seen.samples);
	EXPECT_EQ(st.lost, seen.lost);
	perfclock_session_free(s);
}

/*
 * Ever one descriptor more, until it works: each time -EMFILE, said in words,
 * and every descriptor is given back.
 */
static void sweep(const struct perfclock_session_opts *way)
{
	struct perfclock_session *s;
	struct rlimit old, few;
	int err, before = live_files(), refusals = 0, first;

	getrlimit(RLIMIT_NOFILE, &old);
	few = old;
	first = open("/dev/null", O_RDONLY | O_CLOEXEC);
	close(first);
	do {
		few.rlim_cur = first + refusals;
		setrlimit(RLIMIT_NOFILE, &few);
		error[0] = 0;
		err = open_session(&s, way);
		setrlimit(RLIMIT_NOFILE, &old);
		if (err) {
			EXPECT_EQ(err, -EMFILE);
			EXPECT(strstr(error, "open files"));
			EXPECT_EQ(live_files(), before);
			refusals++;
		}
	} while (err && refusals < 100 && !tap_failed);
	if (tap_failed)
		printf("# with %d more: %d, %s\n", refusals, err, error);
	ASSERT_EQ(err, 0);
	EXPECT_OP(refusals, >, 2);
	memset(&seen, 0, sizeof(seen));
	poll_for(s, 20);
	finish(s);
	EXPECT_EQ(live_files(), before);
}

static void each_number_of_descriptors_is_survived(void)
{
	struct perfclock_session *s;
	size_t i;

	need_session(&s, &providers[0]);	/* or skip */
	perfclock_session_free(s);
	FOR_EACH_PROVIDER(i)
		sweep(&providers[i]);
}

static volatile sig_atomic_t signals;

static void on_signal(int sig)
{
	signals++;
}

static void a_storm_of_signals_breaks_nothing(void)
{
	struct itimerval storm = { .it_value.tv_usec = 100,
				   .it_interval.tv_usec = 100 }, calm = { 0 };
	struct sigaction sa = { .sa_handler = on_signal };
	struct perfclock_session *s;
	struct load load;
	size_t i;

	sigaction(SIGALRM, &sa, NULL);
	FOR_EACH_PROVIDER(i) {
		signals = 0;
		need_session(&s, &providers[i]);
		load_start(&load, 2);
		setitimer(ITIMER_REAL, &storm, NULL);
		poll_for(s, 500);
		finish(s);
		setitimer(ITIMER_REAL, &calm, NULL);
		load_stop(&load);
		EXPECT_OP(signals, >, 100);
		EXPECT_OP(seen.samples, >, 100);
	}
}

/* In a child: nothing but to free it is allowed, and that works. 0: so. */
static int use_forked(struct perfclock_session *s)
{
	int wrong = perfclock_session_poll(s, 10, live_see, &seen) != -ECHILD;

	wrong |= !strstr(perfclock_session_error(s), "forked");
	wrong |= perfclock_session_finish(s, live_see, &seen) != -ECHILD;
	wrong |= perfclock_session_snapshot(s, live_see, &seen) != -ECHILD;
	wrong |= perfclock_session_start(s) != -ECHILD;
	perfclock_session_free(s);
	return wrong;
}

/* Children try to use it, or free it, or just end; the parent goes on. */
static void fork_often(struct perfclock_session *s)
{
	int i, status;
	pid_t pid;

	for (i = 0; i < 6; i++) {
		poll_for(s, 20);
		fflush(stdout);
		pid = fork();
		ASSERT_OP(pid, >=, 0);
		if (!pid) {
			alarm(20);
			_exit(i % 2 ? use_forked(s) : 0);
		}
		poll_for(s, 20);
		ASSERT_EQ(waitpid(pid, &status, 0), pid);
		EXPECT_EQ(status, 0);
	}
}

static void a_fork_in_the_middle_breaks_nothing(void)
{
	static const struct perfclock_session_opts ways[] = {
		{ .wait = PERFCLOCK_WAIT_POLL },
		{ .wait = PERFCLOCK_WAIT_AUTO },
		{ .wait = PERFCLOCK_WAIT_AUTO, .readers = 2 },
		{ .provider = "cpu-visit" },
		{ .provider = "backoff=1000000000" },
	};
	struct perfclock_session *s;
	struct load load;
	uint64_t before;
	size_t i;

	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		need_session(&s, &ways[i]);
		load_start(&load, 2);
		fork_often(s);
		before = live_stats(s).read;
		poll_for(s, 50);
		EXPECT_OP(live_stats(s).read, >, before);
		load_stop(&load);
		finish(s);
	}
}

static const struct tap_test tests[] = {
	{ "each_number_of_descriptors_is_survived",
	  each_number_of_descriptors_is_survived },
	{ "a_storm_of_signals_breaks_nothing",
	  a_storm_of_signals_breaks_nothing },
	{ "a_fork_in_the_middle_breaks_nothing",
	  a_fork_in_the_middle_breaks_nothing },
};

TAP_MAIN(tests)
