// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* What a session waits for between rounds, and how it is stopped. */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "session/internal.h"
#include "session/threads.h"

/* Another file of a ring whose file hung up: its tasks are gone, others may
 * live. */
static int other_file(struct perfclock_session *s,
		      const struct pc_session_ring *r)
{
	bool past = false;
	unsigned int i;

	for (i = 0; i < s->nr_files; i++) {
		if (past && s->files[i].ring == r)
			return s->files[i].fd;
		past |= s->files[i].fd == r->fd;
	}
	return -1;
}

static void ring_hung_up(void *ctx, int fd)
{
	struct perfclock_session *s = ctx;
	unsigned int i;

	for (i = 0; i < s->nr_rings; i++) {
		struct pc_session_ring *r = s->rings[i];

		if (!r || r->fd != fd)
			continue;
		r->fd = other_file(s, r);
		pc_wait_add_ring(s, r);
	}
}

int pc_wait_init(struct perfclock_session *s)
{
	int err;

	s->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->stop_fd < 0)
		return pc_session_fail(s, -errno, "eventfd: %s",
				       strerror(errno));
	s->mark_fd = perfclock_watermark_fd(s->clock);
	err = pc_waiter_init(&s->waiter, s->wait_method);
	if (err)
		return pc_session_fail(s, err, "io_uring: %s; wait method "
			"poll needs none of it (kernel.io_uring_disabled, "
			"or built without liburing)", strerror(-err));
	s->waiter.on_hangup = ring_hung_up;
	s->waiter.ctx = s;
	err = pc_waiter_add(&s->waiter, s->stop_fd, PC_WAKE_STOP);
	if (!err)
		err = pc_waiter_add(&s->waiter, s->mark_fd, PC_WAKE_MARK);
	return err ? pc_session_no_memory(s) : 0;
}

void pc_wait_fini(struct perfclock_session *s)
{
	pc_waiter_fini(&s->waiter);
	if (s->stop_fd >= 0)
		close(s->stop_fd);
	if (s->epoll_fd >= 0)
		close(s->epoll_fd);
}

/* With reader threads it is they who watch their rings. */
int pc_wait_add_ring(struct perfclock_session *s, struct pc_session_ring *r)
{
	struct epoll_event ev = { .events = EPOLLIN };

	if (s->want_threads || r->fd < 0)
		return 0;
	if (pc_waiter_add(&s->waiter, r->fd, PC_WAKE_RING))
		return pc_session_no_memory(s);
	r->watched = true;
	if (s->epoll_fd >= 0 &&
	    epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, r->fd, &ev))
		return pc_session_fail(s, -errno, "epoll: %s",
				       strerror(errno));
	return 0;
}

void pc_wait_remove_ring(struct perfclock_session *s,
			 struct pc_session_ring *r)
{
	if (s->want_threads || !r->watched || r->fd < 0)
		return;
	pc_waiter_remove(&s->waiter, r->fd);
	if (s->epoll_fd >= 0)
		epoll_ctl(s->epoll_fd, EPOLL_CTL_DEL, r->fd, NULL);
	r->watched = false;
}

void perfclock_session_stop(struct perfclock_session *s)
{
	uint64_t one = 1;
	int saved = errno;

	atomic_store(&s->stopped, true);
	if (write(s->stop_fd, &one, sizeof(one)) < 0) {
		/* Full: it is readable, which is all that is wanted. */
	}
	errno = saved;
}

/* How long to sleep, ns. */
static int64_t sleep_ns(const struct perfclock_session *s, int timeout_ms)
{
	int64_t ns = s->interval_ns < INT64_MAX ? (int64_t)s->interval_ns :
						  INT64_MAX;

	if (timeout_ms >= 0 && timeout_ms * 1000000ll < ns)
		ns = timeout_ms * 1000000ll;
	return ns;
}

int pc_wait(struct perfclock_session *s, int timeout_ms)
{
	int64_t ns = sleep_ns(s, timeout_ms);
	int woke;

	if (!ns || atomic_load(&s->stopped)) {
		/* Whoever waits by himself, on the epoll file, wants it low. */
		if (s->epoll_fd >= 0 && s->mark_fd >= 0)
			perfclock_watermark_ack(s->clock);
		return 0;
	}
	/* The watermark matters only to what is held. */
	woke = pc_waiter_wait(&s->waiter, ns, s->stats.held && !s->threads);
	if (woke < 0)
		return woke;
	if (woke)
		s->stats.wakeups++;
	if (woke & PC_WAKE_MARK)
		perfclock_watermark_ack(s->clock);
	return 0;
}

static int fill_epoll(struct perfclock_session *s)
{
	struct epoll_event ev = { .events = EPOLLIN };
	unsigned int i;

	for (i = 0; i < s->waiter.nr_files; i++) {
		int fd = s->waiter.files[i].fd;

		if (fd >= 0 && epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fd, &ev))
			return -errno;
	}
	return 0;
}

int perfclock_session_fd(struct perfclock_session *s)
{
	int err;

	if (s->epoll_fd >= 0)
		return s->epoll_fd;
	if (s->state != PC_SESSION_RUNNING)
		return pc_session_fail(s, -EINVAL,
				       "session: not started, nothing to wait for");
	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll_fd < 0)
		return pc_session_fail(s, -errno, "epoll: %s",
				       strerror(errno));
	err = fill_epoll(s);
	if (err) {
		close(s->epoll_fd);
		s->epoll_fd = -1;
		return pc_session_fail(s, err, "epoll: %s", strerror(-err));
	}
	return s->epoll_fd;
}
