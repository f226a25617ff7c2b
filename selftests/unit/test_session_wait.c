// SPDX-License-Identifier: GPL-2.0
/*
 * Waiting, by io_uring and by poll: the same behaviour. A ring's file is an
 * eventfd here, readable when the test says so.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "sim_session.h"

#define MS 1000000ull

/* What the library needs, as of 5.13: <linux/io_uring.h> may not have it. */
#define URING_FEATURES	(1u << 8 | 1u << 10)	/* EXT_ARG, RSRC_TAGS */
#define URING_PARAMS_FEATURES	5		/* the word they are in */

static int ring_fd, hang_fd;

/* Asked of the kernel, not of the library: there is no reason to refuse. */
static bool io_uring_is_here(void)
{
#ifdef HAVE_LIBURING
	uint32_t params[32] = { 0 };
	long fd = syscall(SYS_io_uring_setup, 64, params);

	if (fd < 0)
		return false;
	close(fd);
	return (params[URING_PARAMS_FEATURES] & URING_FEATURES) ==
	       URING_FEATURES;
#else
	return false;
#endif
}

static void adopt_with(int fd, int i)
{
	struct perfclock_adopt_opts ao = {
		.sz = sizeof(ao), .fd = fd, .cpu = i, .attr = &attr,
	};

	sim_ring_init(&rings[i], 1);
	ao.base = rings[i].page;
	ao.size = rings[i].bytes;
	ASSERT_EQ(perfclock_session_adopt(s, &ao), i);
}

/* Ring 0's file is an eventfd; ring 1's a socket whose other end is closed. */
static void set_up_wait(enum perfclock_wait_method method, uint64_t interval)
{
	char error[256];
	struct perfclock_session_opts o = {
		.sz = sizeof(o), .wait = method, .interval_ns = interval,
		.error = error, .error_size = sizeof(error),
	};
	int pair[2];

	sim_now = sim_watermark = 0;
	nr_got = stop_after = 0;
	if (perfclock_session_new(&s, &o)) {
		ASSERT_EQ(method, PERFCLOCK_WAIT_IO_URING);
		ASSERT(!io_uring_is_here());
		SKIP("%s", error);
	}
	attr = sim_attr();
	ring_fd = eventfd(0, EFD_NONBLOCK);
	ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	hang_fd = pair[0];
	close(pair[1]);
	adopt_with(ring_fd, 0);
	adopt_with(hang_fd, 1);
	ASSERT_EQ(perfclock_session_start(s), 0);
	/* The hangup wakes us once, and no more. */
	EXPECT_EQ(perfclock_session_poll(s, 5000, collect, NULL), 0);
	EXPECT_EQ(stats().wait, method);
}

static void tear_down_wait(void)
{
	tear_down(2);
	close(ring_fd);
	close(hang_fd);
}

static void *later(void *arg)
{
	uint64_t one = 1;
	struct timespec ts = { 0, 20 * MS };

	nanosleep(&ts, NULL);
	if (!strcmp(arg, "stop"))
		perfclock_session_stop(s);
	else if (write(ring_fd, &one, sizeof(one)) < 0)
		abort();
	return NULL;
}

static void time_out(enum perfclock_wait_method method)
{
	/* The shorter of the two; ~0 is an interval of 10 ms. */
	static const struct {
		uint64_t interval;
		int timeout_ms, least_ms;
	} ways[] = {
		{ 30 * MS, -1, 30 }, { 30 * MS, 10000, 30 },
		{ 10000 * MS, 2, 2 }, { 10000 * MS, 0, 0 },
		{ UINT64_MAX, -1, 10 }, { UINT64_MAX, 10000, 10 },
	};
	uint64_t begin;
	size_t i;

	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		set_up_wait(method, ways[i].interval);
		begin = now_ns();
		EXPECT_EQ(perfclock_session_poll(s, ways[i].timeout_ms,
						 collect, NULL), 0);
		EXPECT_OP(now_ns() - begin, >=, ways[i].least_ms * MS);
		EXPECT_OP(now_ns() - begin, <, 2000 * MS);
		tear_down_wait();
	}
}

static void ring_wakes(enum perfclock_wait_method method)
{
	pthread_t t;
	uint64_t begin = now_ns(), count;
	int i;

	set_up_wait(method, 10000 * MS);
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(pthread_create(&t, NULL, later, "ring"), 0);
		EXPECT_EQ(perfclock_session_poll(s, -1, collect, NULL), 0);
		pthread_join(t, NULL);
		EXPECT_EQ(read(ring_fd, &count, sizeof(count)), 8);
	}
	EXPECT_OP(now_ns() - begin, <, 5000 * MS);
	EXPECT_OP(stats().wakeups, >=, 3);
	tear_down_wait();
}

static void stop_wakes(enum perfclock_wait_method method)
{
	uint64_t begin = now_ns();
	pthread_t t;

	set_up_wait(method, 10000 * MS);
	ASSERT_EQ(pthread_create(&t, NULL, later, "stop"), 0);
	EXPECT_EQ(perfclock_session_poll(s, -1, collect, NULL), -ESHUTDOWN);
	pthread_join(t, NULL);
	EXPECT_OP(now_ns() - begin, <, 5000 * MS);
	EXPECT_EQ(perfclock_session_poll(s, -1, collect, NULL), -ESHUTDOWN);
	tear_down_wait();
}

static void on_alarm(int sig)
{
	(void)sig;
}

static void signal_interrupts(enum perfclock_wait_method method)
{
	struct sigaction sa = { .sa_handler = on_alarm }, old;

	set_up_wait(method, 10000 * MS);
	sim_sample(&rings[0], 10, 1, 1);
	sim_publish(&rings[0]);
	sim_watermark = 11;
	sigaction(SIGALRM, &sa, &old);
	ualarm(20000, 0);
	EXPECT_EQ(perfclock_session_poll(s, -1, collect, NULL), -EINTR);
	sigaction(SIGALRM, &old, NULL);
	/* Nothing is lost by it. */
	EXPECT_EQ(perfclock_session_poll(s, 0, collect, NULL), 1);
	tear_down_wait();
}

#define BOTH(test)							\
static void poll_##test(void) { test(PERFCLOCK_WAIT_POLL); }		\
static void io_uring_##test(void) { test(PERFCLOCK_WAIT_IO_URING); }

BOTH(time_out)
BOTH(ring_wakes)
BOTH(stop_wakes)
BOTH(signal_interrupts)

static void auto_takes_what_there_is(void)
{
	struct perfclock_session_opts o = { .interval_ns = MS };

	set_up_opts(1, 1, &o);
	EXPECT_EQ(perfclock_session_poll(s, -1, collect, NULL), 0);
	if (io_uring_is_here())
		EXPECT_EQ(stats().wait, PERFCLOCK_WAIT_IO_URING);
	else
		EXPECT(stats().wait == PERFCLOCK_WAIT_POLL ||
		       stats().wait == PERFCLOCK_WAIT_IO_URING);
	tear_down(1);
}

static void own_loop_by_the_session_file(void)
{
	struct epoll_event ev;
	uint64_t one = 1;
	int fd;

	set_up_wait(PERFCLOCK_WAIT_POLL, 10000 * MS);
	fd = perfclock_session_fd(s);
	ASSERT_OP(fd, >=, 0);
	EXPECT_EQ(perfclock_session_fd(s), fd);
	EXPECT_EQ(epoll_wait(fd, &ev, 1, 0), 0);
	EXPECT_EQ(write(ring_fd, &one, sizeof(one)), 8);
	EXPECT_EQ(epoll_wait(fd, &ev, 1, 1000), 1);
	EXPECT_EQ(poll_now(), 0);
	EXPECT_EQ(read(ring_fd, &one, sizeof(one)), 8);
	EXPECT_EQ(epoll_wait(fd, &ev, 1, 0), 0);
	perfclock_session_stop(s);
	EXPECT_EQ(epoll_wait(fd, &ev, 1, 1000), 1);
	tear_down_wait();
}

static const struct tap_test tests[] = {
	{ "poll_time_out", poll_time_out },
	{ "io_uring_time_out", io_uring_time_out },
	{ "poll_ring_wakes", poll_ring_wakes },
	{ "io_uring_ring_wakes", io_uring_ring_wakes },
	{ "poll_stop_wakes", poll_stop_wakes },
	{ "io_uring_stop_wakes", io_uring_stop_wakes },
	{ "poll_signal_interrupts", poll_signal_interrupts },
	{ "io_uring_signal_interrupts", io_uring_signal_interrupts },
	{ "auto_takes_what_there_is", auto_takes_what_there_is },
	{ "own_loop_by_the_session_file", own_loop_by_the_session_file },
};

TAP_MAIN(tests)
