// SPDX-License-Identifier: GPL-2.0
/*
 * A program that owns its event loop (here one of io_uring) and calls the
 * library when the session's descriptor is readable.
 *
 *	uring_loop [SECONDS]
 *
 * Counts context switches in order, reports every half second, and ends after
 * the time given, or when standard input closes.
 */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <liburing.h>
#include <perfclock.h>

enum { RINGS = 1, TICK, INPUT };

struct counts {
	uint64_t records, late, last;
};

static int count(const struct perfclock_event *ev, void *ctx)
{
	struct counts *c = ctx;

	c->records++;
	if (ev->flags & PERFCLOCK_RECORD_LATE)
		c->late++;
	c->last = ev->stamp;
	return 0;
}

static void arm_poll(struct io_uring *u, int fd, uint64_t what)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(u);

	io_uring_prep_poll_add(sqe, fd, POLLIN);
	io_uring_sqe_set_data64(sqe, what);
}

static void arm_tick(struct io_uring *u)
{
	static struct __kernel_timespec half = { .tv_nsec = 500000000 };
	struct io_uring_sqe *sqe = io_uring_get_sqe(u);

	io_uring_prep_timeout(sqe, &half, 0, 0);
	io_uring_sqe_set_data64(sqe, TICK);
}

static long loop(struct io_uring *u, struct perfclock_session *s,
		 struct counts *c, int ticks)
{
	int fd = perfclock_session_fd(s);
	struct io_uring_cqe *cqe;
	uint64_t what;
	long n = 0;
	int res;

	if (fd < 0)
		return fd;
	arm_poll(u, fd, RINGS);
	arm_poll(u, STDIN_FILENO, INPUT);
	arm_tick(u);
	while (ticks > 0 && n >= 0) {
		n = io_uring_submit_and_wait(u, 1);
		if (n < 0 || io_uring_peek_cqe(u, &cqe))
			continue;
		what = io_uring_cqe_get_data64(cqe);
		res = cqe->res;
		io_uring_cqe_seen(u, cqe);
		if (what == RINGS) {
			n = perfclock_session_poll(s, 0, count, c);
			arm_poll(u, fd, RINGS);
		} else if (what == TICK) {
			ticks--;
			printf("%" PRIu64 " records, %" PRIu64 " late\n",
			       c->records, c->late);
			/* What waits below the wakeup mark comes out too. */
			n = perfclock_session_poll(s, 0, count, c);
			arm_tick(u);
		} else if (res < 0 || (res & (POLLHUP | POLLERR))) {
			break;
		}
	}
	return n;
}

int main(int argc, char **argv)
{
	int ticks = 2 * (argc > 1 ? atoi(argv[1]) : 3);
	char why[256] = "";
	struct perfclock_session_opts opts = {
		.sz = sizeof(opts), .flags = PERFCLOCK_SESSION_CLOCK_AUTO,
		.error = why, .error_size = sizeof(why),
	};
	struct perfclock_session *s;
	struct counts c = { 0 };
	struct io_uring u;
	long n;

	n = io_uring_queue_init(8, &u, 0);
	if (n) {
		fprintf(stderr, "io_uring: %s\n", strerror((int)-n));
		return 1;
	}
	if (perfclock_session_new(&s, &opts)) {
		fprintf(stderr, "%s\n", why);
		return 1;
	}
	n = perfclock_session_add(s, "sched:sched_switch", NULL);
	if (n >= 0)
		n = perfclock_session_start(s);
	if (n >= 0)
		n = loop(&u, s, &c, ticks);
	if (n < 0)
		fprintf(stderr, "%s\n", perfclock_session_error(s));
	else
		perfclock_session_finish(s, count, &c);
	printf("%" PRIu64 " records, %" PRIu64 " late in all\n", c.records,
	       c.late);
	perfclock_session_free(s);
	io_uring_queue_exit(&u);
	return n < 0 || c.late;
}
