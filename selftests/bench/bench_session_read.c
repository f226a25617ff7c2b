// SPDX-License-Identifier: GPL-2.0
/*
 * The two sides of selftests/bench/bench_session:
 *
 *	bench_session_read load CPU CALLS PER_SECOND
 *		CALLS system calls on that CPU, at that pace
 *	bench_session_read read [--wait W] [--interval US] [--clock C]
 *			[--provider P] [--readers N] [--memory BYTES]
 *		a session on raw_syscalls:sys_enter, all CPUs, until its stdin
 *		ends; then one JSON object
 */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <perfclock.h>

static uint64_t now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static int load(int cpu, uint64_t calls, uint64_t per_second)
{
	uint64_t next = now_ns(CLOCK_MONOTONIC), i, now;
	struct utsname u;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set)) {
		perror("bench_session_read: affinity");
		return 1;
	}
	for (i = 0; i < calls; i++) {
		uname(&u);
		if (i % 64 || !per_second)
			continue;
		/*
		 * A burst of 64, then wait; no catching up. The clock is read
		 * without a system call.
		 */
		next += 64 * 1000000000ull / per_second;
		do
			now = now_ns(CLOCK_MONOTONIC);
		while (now < next);
		next = now - next < 1000000 ? next : now;
	}
	return 0;
}

static uint64_t seen, bytes;

static int count(const struct perfclock_event *ev, void *ctx)
{
	(void)ctx;
	seen++;
	bytes += ev->raw_size;
	return 0;
}

static void report(struct perfclock_session *s, uint64_t begin)
{
	struct perfclock_session_stats st = { .sz = sizeof(st) };
	struct perfclock_info info = { .sz = sizeof(info) };

	perfclock_session_get_stats(s, &st);
	perfclock_get_info(perfclock_session_clock(s), &info);
	printf("{\"read\": %llu, \"lost\": %llu, \"late\": %llu, "
	       "\"rounds\": %llu, \"wakeups\": %llu, \"lag_p50_ns\": %llu, "
	       "\"lag_p99_ns\": %llu, \"held_max\": %llu, \"wait\": \"%s\", "
	       "\"provider\": \"%s\", \"proven\": %s, \"cpu_ns\": %llu, "
	       "\"duration_ns\": %llu}\n",
	       (unsigned long long)st.read, (unsigned long long)st.lost,
	       (unsigned long long)st.late, (unsigned long long)st.rounds,
	       (unsigned long long)st.wakeups,
	       (unsigned long long)st.lag_p50_ns,
	       (unsigned long long)st.lag_p99_ns,
	       (unsigned long long)st.held_max,
	       st.wait == PERFCLOCK_WAIT_IO_URING ? "io_uring" : "poll",
	       info.provider, st.proven ? "true" : "false",
	       (unsigned long long)now_ns(CLOCK_PROCESS_CPUTIME_ID),
	       (unsigned long long)(now_ns(CLOCK_MONOTONIC) - begin));
}

static int fail(const char *what, const char *why)
{
	fprintf(stderr, "bench_session_read: %s: %s\n", what, why);
	return 1;
}

static int parse(int argc, char **argv, struct perfclock_session_opts *o)
{
	int i;

	for (i = 0; i + 1 < argc; i += 2) {
		const char *v = argv[i + 1];

		if (!strcmp(argv[i], "--wait"))
			o->wait = !strcmp(v, "poll") ? PERFCLOCK_WAIT_POLL :
						       PERFCLOCK_WAIT_IO_URING;
		else if (!strcmp(argv[i], "--interval"))
			o->interval_ns = strtoull(v, NULL, 0) * 1000;
		else if (!strcmp(argv[i], "--clock"))
			o->clock = perfclock_clock_from_name(v);
		else if (!strcmp(argv[i], "--provider"))
			o->provider = v;
		else if (!strcmp(argv[i], "--readers"))
			o->readers = strtoul(v, NULL, 0);
		else if (!strcmp(argv[i], "--memory"))
			o->memory_max = strtoull(v, NULL, 0);
		else
			return fail(argv[i], "unknown option");
	}
	return 0;
}

static int read_until_stdin_ends(int argc, char **argv)
{
	char error[512] = "";
	struct perfclock_session_opts o = {
		.sz = sizeof(o), .clock = PERFCLOCK_MONOTONIC_RAW,
		.interval_ns = 10000000,
		.error = error, .error_size = sizeof(error),
	};
	struct pollfd in = { .fd = 0, .events = POLLIN };
	struct perfclock_session *s;
	uint64_t begin;
	long n = 0;

	if (parse(argc, argv, &o))
		return 2;
	if (perfclock_session_new(&s, &o))
		return fail("session", error);
	if (perfclock_session_add(s, "raw_syscalls:sys_enter", NULL) < 0 ||
	    perfclock_session_start(s))
		return fail("session", perfclock_session_error(s));
	begin = now_ns(CLOCK_MONOTONIC);
	puts("ready");
	fflush(stdout);
	while (n >= 0) {
		static unsigned int k;

		/* Busy rounds need not look for the end each time. */
		if ((o.interval_ns || ++k % 1024 == 0) &&
		    poll(&in, 1, 0) > 0)
			break;
		n = perfclock_session_poll(s, 100, count, NULL);
	}
	if (n < 0 || perfclock_session_finish(s, count, NULL) < 0)
		return fail("session", perfclock_session_error(s));
	report(s, begin);
	perfclock_session_free(s);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "load"))
		return load(atoi(argv[2]), strtoull(argv[3], NULL, 0),
			    strtoull(argv[4], NULL, 0));
	if (argc >= 2 && !strcmp(argv[1], "read"))
		return read_until_stdin_ends(argc - 2, argv + 2);
	return fail("usage", "load CPU CALLS PER_SECOND | read [options]");
}
