// SPDX-License-Identifier: GPL-2.0
/* Watermarks that a thread of the library proves, without any perf event. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <perfclock.h>

#include "clock/futex.h"
#include "machine.h"
#include "tap.h"

/* Each test is run with either provider that has a thread. */
static const char *provider;

#define EVERY_CPU	(-2)
static int refused_cpu = -1;

/* In libc's place: a CPU, or every one, can be made to be not ours. */
int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
	const int cpu = __atomic_load_n(&refused_cpu, __ATOMIC_RELAXED);

	if (CPU_COUNT_S(size, set) == 1 &&
	    (cpu == EVERY_CPU || (cpu >= 0 && CPU_ISSET_S(cpu, size, set)))) {
		errno = EPERM;
		return -1;
	}
	return syscall(SYS_sched_setaffinity, pid, size, set);
}

static void refuse_cpu(int cpu)
{
	__atomic_store_n(&refused_cpu, cpu, __ATOMIC_RELAXED);
}

static struct perfclock *open_paced(uint64_t pace_ns)
{
	struct perfclock *clk;
	char error[256];
	struct perfclock_open_opts o = {
		.sz = sizeof(o), .clock = PERFCLOCK_MONOTONIC_RAW,
		.source = "clockid", .provider = provider,
		.pace_ns = pace_ns,
		.error = error, .error_size = sizeof(error),
	};
	int err = perfclock_open(&clk, &o);

	if ((err == -ENODEV || err == -EPERM) &&
	    machine_refuses(o.source, provider))
		SKIP("%s", error);
	if (err)
		printf("# %s\n", error);
	ASSERT_EQ(err, 0);
	return clk;
}

static struct perfclock *open_or_skip(void)
{
	return open_paced(0);
}

static void follows_the_clock(void)
{
	struct perfclock *clk = open_or_skip();
	uint64_t now, w, last = 0;
	int i;

	for (i = 0; i < 20; i++) {
		EXPECT_EQ(perfclock_watermark(clk, &w), 0);
		ASSERT_EQ(perfclock_now(clk, &now), 0);
		EXPECT_OP(w, >, 0);
		EXPECT_OP(w, <, now);
		EXPECT_OP(w, >=, last);
		last = w;
		EXPECT_EQ(perfclock_watermark_wait(clk, w, 10000000000), 0);
	}
	perfclock_close(clk);
}

static void waiting_ends_at_the_time_limit(void)
{
	struct perfclock *clk = open_or_skip();
	uint64_t begin = mono_ns();

	EXPECT_EQ(perfclock_watermark_wait(clk, UINT64_MAX, 30000000),
		  -ETIMEDOUT);
	EXPECT_OP(mono_ns() - begin, >=, 30000000);
	EXPECT_OP(mono_ns() - begin, <, 10000000000);
	EXPECT_EQ(perfclock_watermark_wait(clk, UINT64_MAX, 0), -ETIMEDOUT);
	EXPECT_EQ(perfclock_watermark_wait(clk, 0, 0), 0);
	perfclock_close(clk);
}

static pthread_t handler_thread;
static volatile int handled;

static void on_alarm(int sig)
{
	handler_thread = pthread_self();
	handled++;
}

/* The handler runs in the program's thread: the library's blocks signals. */
static void a_signal_interrupts_the_wait_and_not_the_provider(void)
{
	struct perfclock *clk = open_or_skip();
	struct sigaction act = { .sa_handler = on_alarm }, old;
	/* Again and again: one that comes just before the wait is no end. */
	struct itimerval timer = {
		.it_value.tv_usec = 50000, .it_interval.tv_usec = 50000,
	};
	struct itimerval none = { .it_value.tv_usec = 0 };

	handled = 0;
	sigaction(SIGALRM, &act, &old);
	setitimer(ITIMER_REAL, &timer, NULL);
	EXPECT_EQ(perfclock_watermark_wait(clk, UINT64_MAX, -1), -EINTR);
	setitimer(ITIMER_REAL, &none, NULL);
	EXPECT_OP(handled, >=, 1);
	EXPECT(pthread_equal(handler_thread, pthread_self()));
	sigaction(SIGALRM, &old, NULL);
	perfclock_close(clk);
}

/* Once more in an hour: what was moved is acknowledged, and stays so. */
static void fd_is_not_readable_once_acknowledged(void)
{
	struct perfclock *clk = open_paced(3600 * 1000000000ull);
	struct pollfd p = { .fd = perfclock_watermark_fd(clk),
			    .events = POLLIN };

	ASSERT_OP(p.fd, >=, 0);
	EXPECT_EQ(poll(&p, 1, 0), 1);
	EXPECT_EQ(p.revents, POLLIN);
	EXPECT_EQ(perfclock_watermark_ack(clk), 0);
	EXPECT_EQ(poll(&p, 1, 20), 0);
	EXPECT_EQ(perfclock_watermark_ack(clk), 0);
	perfclock_close(clk);
}

static void fd_is_readable_when_it_moved(void)
{
	struct perfclock *clk = open_or_skip();
	int fd = perfclock_watermark_fd(clk), i;
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint64_t before, after;

	ASSERT_OP(fd, >=, 0);
	EXPECT_EQ(perfclock_watermark_fd(clk), fd);
	for (i = 0; i < 5; i++) {
		EXPECT_EQ(poll(&p, 1, 10000), 1);
		EXPECT_EQ(perfclock_watermark(clk, &before), 0);
		EXPECT_EQ(perfclock_watermark_ack(clk), 0);
		EXPECT_EQ(poll(&p, 1, 10000), 1);
		EXPECT_EQ(perfclock_watermark(clk, &after), 0);
		EXPECT_OP(after, >, before);
	}
	perfclock_close(clk);
}

static int fds_before;

static int count_fds(void)
{
	int n = 0, fd;

	for (fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* The thread stays behind: the child is told, and may still close. */
static int in_child(struct perfclock *clk)
{
	uint64_t w;

	alarm(20);
	if (perfclock_watermark(clk, &w) != -ECHILD)
		return 1;
	if (perfclock_watermark_wait(clk, 1, -1) != -ECHILD)
		return 2;
	if (perfclock_watermark_fd(clk) != -ECHILD)
		return 3;
	if (perfclock_watermark_ack(clk) != -ECHILD)
		return 4;
	if (perfclock_now(clk, &w))
		return 5;
	perfclock_close(clk);
	return count_fds() == fds_before ? 0 : 6;
}

/* Emulators of processes take MADV_WIPEONFORK and do nothing about it. */
static bool fork_wipes(void)
{
	volatile char *byte = wiped_on_fork_new(1);
	int status;
	pid_t pid;

	ASSERT(byte);
	*byte = 1;
	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(*byte);
	ASSERT_EQ(waitpid(pid, &status, 0), pid);
	munmap((void *)byte, 1);
	return !status;
}

static void a_fork_leaves_parent_and_child_whole(void)
{
	struct perfclock *clk;
	uint64_t w;
	int status, fd;
	pid_t pid;

	if (!fork_wipes())
		SKIP("MADV_WIPEONFORK does nothing here: an emulator?");
	fds_before = count_fds();
	clk = open_or_skip();
	fd = perfclock_watermark_fd(clk);
	ASSERT_OP(fd, >=, 0);
	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(in_child(clk));
	ASSERT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_EQ(status, 0);
	EXPECT_EQ(perfclock_watermark(clk, &w), 0);
	EXPECT_EQ(perfclock_watermark_wait(clk, w, 10000000000), 0);
	perfclock_close(clk);
	EXPECT_EQ(count_fds(), fds_before);
}

/* The least and the most taken off CLOCK_MONOTONIC in some rounds of 2 ms. */
static void margins(uint64_t *least, uint64_t *most)
{
	struct perfclock_open_opts o = {
		.sz = sizeof(o), .clock = PERFCLOCK_MONOTONIC,
		.source = "clockid", .provider = provider, .pace_ns = 2000000,
	};
	struct perfclock_info info = { .sz = sizeof(info) };
	uint64_t w = 0;
	struct perfclock *clk;
	int i;

	*least = UINT64_MAX;
	*most = 0;
	if (perfclock_open(&clk, &o))
		return;
	for (i = 0; i < 20; i++) {
		perfclock_watermark_wait(clk, w, 10000000000);
		perfclock_watermark(clk, &w);
		perfclock_get_info(clk, &info);
		if (info.margin < *least)
			*least = info.margin;
		if (info.margin > *most)
			*most = info.margin;
	}
	perfclock_close(clk);
}

static int refuse_call(unsigned int nr)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { sizeof(code) / sizeof(code[0]), code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
}

static int refuse_adjtimex(void)
{
	struct timex tx;

	memset(&tx, 0, sizeof(tx));
	return refuse_call(SYS_adjtimex) || syscall(SYS_adjtimex, &tx) >= 0;
}

/*
 * The margin is for updates of the timekeeper: of microseconds where their
 * end can be waited for, else a quarter of a round or more.
 */
static void steering_costs_little_or_a_part_of_a_round(void)
{
	uint64_t least, most;
	int status;
	pid_t pid;

	perfclock_close(open_or_skip());
	margins(&least, &most);
	printf("# margin %llu ns\n", (unsigned long long)least);
	EXPECT_OP(least, >=, 1000);
	EXPECT_OP(least, <, 100000);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		if (refuse_adjtimex())
			_exit(77);
		/* The most: who is late with one round is early for the next. */
		margins(&least, &most);
		_exit(most < 2000000 / 4);
	}
	ASSERT_EQ(waitpid(pid, &status, 0), pid);
	if (WEXITSTATUS(status) == 77)
		SKIP("no seccomp filter can be set here");
	EXPECT_EQ(status, 0);
}

/* Grace periods begin no more often than asked for. */
static void pace_is_kept(void)
{
	struct perfclock_info info = { .sz = sizeof(info) };
	struct perfclock *clk = open_paced(100000000);

	usleep(350000);
	ASSERT_EQ(perfclock_get_info(clk, &info), 0);
	EXPECT_OP(info.moves, >=, 1);
	EXPECT_OP(info.moves, <=, 5);
	EXPECT_OP(info.gp_duration, >, 0);
	perfclock_close(clk);
}

static void closing_does_not_wait_for_the_pace(void)
{
	perfclock_close(open_paced(3600 * 1000000000ull));
}

struct reader {
	struct perfclock *clk;
	volatile int *stop;
	int backwards;
};

static void *read_on(void *arg)
{
	struct reader *r = arg;
	uint64_t last = 0, w, now;

	while (!__atomic_load_n(r->stop, __ATOMIC_RELAXED)) {
		perfclock_watermark(r->clk, &w);
		perfclock_now(r->clk, &now);
		if (w < last || w >= now)
			r->backwards++;
		last = w;
		perfclock_watermark_wait(r->clk, w, 1000000);
	}
	return NULL;
}

static void many_threads_may_use_one_handle(void)
{
	struct perfclock *clk = open_or_skip();
	volatile int stop = 0;
	struct reader r[4];
	pthread_t t[4];
	int i;

	for (i = 0; i < 4; i++) {
		r[i] = (struct reader){ clk, &stop, 0 };
		ASSERT_EQ(pthread_create(&t[i], NULL, read_on, &r[i]), 0);
	}
	usleep(200000);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (i = 0; i < 4; i++) {
		pthread_join(t[i], NULL);
		EXPECT_EQ(r[i].backwards, 0);
	}
	perfclock_close(clk);
}

static int open_on(const int *cpus, unsigned int nr, struct perfclock **clk,
		   char *error, size_t size)
{
	struct perfclock_open_opts o = {
		.sz = sizeof(o), .clock = PERFCLOCK_MONOTONIC_RAW,
		.source = "clockid", .provider = "cpu-visit",
		.cpus = cpus, .nr_cpus = nr, .pace_ns = 2000000,
		.error = error, .error_size = size,
	};

	return perfclock_open(clk, &o);
}

/* A CPU that is not ours matters to those who read its ring. */
static void cpu_visit_visits_whom_it_is_asked_to(void)
{
	static const int no_such = 1 << 20, negative = -1;
	int pair[2] = { 0, 0 };
	struct perfclock *clk;
	char error[256];

	if (machine_cpus(&pair[1]) < 2)
		SKIP("there are no two CPUs of ours");
	refuse_cpu(pair[1]);
	EXPECT_EQ(open_on(pair, 1, &clk, error, sizeof(error)), 0);
	perfclock_close(clk);
	EXPECT_EQ(open_on(pair, 2, &clk, error, sizeof(error)), -EPERM);
	EXPECT(strstr(error, "may not run on every CPU"));
	EXPECT_EQ(open_on(NULL, 0, &clk, error, sizeof(error)), -EPERM);
	refuse_cpu(-1);
	EXPECT_EQ(open_on(pair, 2, &clk, error, sizeof(error)), 0);
	perfclock_close(clk);
	EXPECT_EQ(open_on(&no_such, 1, &clk, error, sizeof(error)), -EINVAL);
	EXPECT(strstr(error, "no CPU 1048576"));
	EXPECT_EQ(open_on(&negative, 1, &clk, error, sizeof(error)), -EINVAL);
	EXPECT(strstr(error, "-1"));
}

/* The watermark stands still, says why, and goes on when that is over. */
static void what_keeps_a_provider_from_it_is_told_while_it_lasts(void)
{
	uint64_t before, after, end;
	struct perfclock *clk;
	char error[256];
	int cpu, err;

	if (!machine_cpus(&cpu))
		SKIP("not all CPUs are ours");
	ASSERT_EQ(open_on(NULL, 0, &clk, error, sizeof(error)), 0);
	refuse_cpu(cpu);
	EXPECT_EQ(perfclock_watermark_wait(clk, UINT64_MAX, 10000000000),
		  -EPERM);
	EXPECT_EQ(perfclock_watermark(clk, &before), -EPERM);
	usleep(30000);
	EXPECT_EQ(perfclock_watermark(clk, &after), -EPERM);
	EXPECT_EQ(before, after);
	refuse_cpu(-1);
	end = mono_ns() + 10000000000;
	while ((err = perfclock_watermark_wait(clk, before, 10000000000)) ==
	       -EPERM && mono_ns() < end)
		usleep(1000);
	EXPECT_EQ(err, 0);
	EXPECT_EQ(perfclock_watermark(clk, &after), 0);
	EXPECT_OP(after, >, before);
	perfclock_close(clk);
}

/* 0: refused, and all that was tried is told; nobody guesses. */
static int open_where_nothing_is_proven(void)
{
	char error[600] = "";
	struct perfclock_open_opts o = {
		.sz = sizeof(o), .clock = PERFCLOCK_MONOTONIC,
		.source = "clockid", .device = "/nonexistent",
		.error = error, .error_size = sizeof(error),
	};
	struct perfclock *clk;
	int err;

	if (refuse_call(SYS_membarrier))
		return 77;
	refuse_cpu(EVERY_CPU);
	err = perfclock_open(&clk, &o);
	if (err != -EPERM || clk)
		return 1;
	return strstr(error, "; module: ") && strstr(error, "; membarrier: ") &&
	       strstr(error, "; cpu-visit: ") && !strstr(error, "backoff") ?
	       0 : 2;
}

static void where_nothing_is_proven_nothing_is_chosen(void)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(open_where_nothing_is_proven());
	ASSERT_EQ(waitpid(pid, &status, 0), pid);
	if (WEXITSTATUS(status) == 77)
		SKIP("no seccomp filter can be set here");
	EXPECT_EQ(status, 0);
}

static int open_backoff(const char *name, struct perfclock **clk)
{
	struct perfclock_open_opts o = {
		.sz = sizeof(o), .clock = PERFCLOCK_MONOTONIC,
		.source = "clockid", .provider = name,
	};

	return perfclock_open(clk, &o);
}

static void backoff_wants_a_time(void)
{
	struct perfclock *clk;

	EXPECT_EQ(open_backoff("backoff", &clk), -EINVAL);
	EXPECT_EQ(open_backoff("backoff=", &clk), -EINVAL);
	EXPECT_EQ(open_backoff("backoff=-1", &clk), -EINVAL);
	EXPECT_EQ(open_backoff("backoff=1s", &clk), -EINVAL);
	EXPECT_EQ(open_backoff("backoff=99999999999999999999", &clk), -EINVAL);
}

static void *observe_later(void *clk)
{
	usleep(50000);
	perfclock_watermark_observe(clk, 5000);
	return NULL;
}

static void backoff_follows_what_is_observed_unproven(void)
{
	struct perfclock_info info = { .sz = sizeof(info) };
	struct perfclock *clk;
	pthread_t t;
	uint64_t w;

	ASSERT_EQ(open_backoff("backoff=100", &clk), 0);
	EXPECT_EQ(perfclock_get_info(clk, &info), 0);
	EXPECT_STREQ(info.provider, "backoff");
	EXPECT(!info.proven);
	EXPECT_EQ(info.backoff, 100);
	EXPECT_EQ(perfclock_watermark(clk, &w), 0);
	EXPECT_EQ(w, 0);
	perfclock_watermark_observe(clk, 99);	/* less than the time itself */
	EXPECT_EQ(perfclock_watermark(clk, &w), 0);
	EXPECT_EQ(w, 0);
	perfclock_watermark_observe(clk, 1000);
	perfclock_watermark_observe(clk, 700);
	EXPECT_EQ(perfclock_watermark(clk, &w), 0);
	EXPECT_EQ(w, 900);
	EXPECT_EQ(perfclock_get_info(clk, &info), 0);
	EXPECT_EQ(info.watermark, 900);
	EXPECT_EQ(info.moves, 1);
	EXPECT_EQ(perfclock_watermark_fd(clk), -EOPNOTSUPP);
	ASSERT_EQ(pthread_create(&t, NULL, observe_later, clk), 0);
	EXPECT_EQ(perfclock_watermark_wait(clk, 4000, 10000000000), 0);
	pthread_join(t, NULL);
	perfclock_close(clk);
}

#define WITH_BOTH(test)							\
	static void membarrier_##test(void)				\
	{								\
		provider = "membarrier";				\
		test();							\
	}								\
	static void cpu_visit_##test(void)				\
	{								\
		provider = "cpu-visit";					\
		test();							\
	}
#define BOTH(test)							\
	{ "membarrier_" #test, membarrier_##test },			\
	{ "cpu_visit_" #test, cpu_visit_##test }

WITH_BOTH(follows_the_clock)
WITH_BOTH(waiting_ends_at_the_time_limit)
WITH_BOTH(a_signal_interrupts_the_wait_and_not_the_provider)
WITH_BOTH(fd_is_not_readable_once_acknowledged)
WITH_BOTH(fd_is_readable_when_it_moved)
WITH_BOTH(a_fork_leaves_parent_and_child_whole)
WITH_BOTH(steering_costs_little_or_a_part_of_a_round)
WITH_BOTH(pace_is_kept)
WITH_BOTH(closing_does_not_wait_for_the_pace)
WITH_BOTH(many_threads_may_use_one_handle)

static const struct tap_test tests[] = {
	BOTH(follows_the_clock),
	BOTH(waiting_ends_at_the_time_limit),
	BOTH(a_signal_interrupts_the_wait_and_not_the_provider),
	BOTH(fd_is_not_readable_once_acknowledged),
	BOTH(fd_is_readable_when_it_moved),
	BOTH(a_fork_leaves_parent_and_child_whole),
	BOTH(steering_costs_little_or_a_part_of_a_round),
	BOTH(pace_is_kept),
	BOTH(closing_does_not_wait_for_the_pace),
	BOTH(many_threads_may_use_one_handle),
	{ "cpu_visit_visits_whom_it_is_asked_to",
	  cpu_visit_visits_whom_it_is_asked_to },
	{ "what_keeps_a_provider_from_it_is_told_while_it_lasts",
	  what_keeps_a_provider_from_it_is_told_while_it_lasts },
	{ "where_nothing_is_proven_nothing_is_chosen",
	  where_nothing_is_proven_nothing_is_chosen },
	{ "backoff_wants_a_time", backoff_wants_a_time },
	{ "backoff_follows_what_is_observed_unproven",
	  backoff_follows_what_is_observed_unproven },
};

TAP_MAIN(tests)
