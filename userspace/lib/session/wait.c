// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* Waiting between rounds: for a filled ring, a new watermark, or stop. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "session/internal.h"

int pc_wait_init(struct perfclock_session *s)
{
	s->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->stop_fd < 0)
		return pc_session_fail(s, -errno, "eventfd: %s",
				       strerror(errno));
	s->mark_fd = perfclock_watermark_fd(s->clock);
	return 0;
}

void pc_wait_fini(struct perfclock_session *s)
{
	if (s->stop_fd >= 0)
		close(s->stop_fd);
	if (s->epoll_fd >= 0)
		close(s->epoll_fd);
	free(s->polls);
}

void perfclock_session_stop(struct perfclock_session *s)
{
	uint64_t one = 1;
	int saved = errno;

	atomic_store(&s->stopped, true);
	if (write(s->stop_fd, &one, sizeof(one)) < 0) {
		/* Only a full counter fails, which wakes as well. */
	}
	errno = saved;
}

/* How long to sleep, ns; -1: no limit. */
static int64_t sleep_ns(const struct perfclock_session *s, int timeout_ms)
{
	int64_t ns = s->interval_ns < INT64_MAX ? (int64_t)s->interval_ns :
						  INT64_MAX;

	if (timeout_ms >= 0 && timeout_ms * 1000000ll < ns)
		ns = timeout_ms * 1000000ll;
	return ns;
}

static int add_poll(struct perfclock_session *s, unsigned int *n, int fd)
{
	if (*n == s->max_polls) {
		unsigned int max = s->max_polls ? s->max_polls * 2 : 16;
		struct pollfd *p = realloc(s->polls, max * sizeof(*p));

		if (!p)
			return -ENOMEM;
		s->polls = p;
		s->max_polls = max;
	}
	s->polls[*n].fd = fd;
	s->polls[*n].events = POLLIN;
	s->polls[*n].revents = 0;
	++*n;
	return 0;
}

static int wait_poll(struct perfclock_session *s, int64_t ns)
{
	struct timespec ts = { ns / 1000000000, ns % 1000000000 };
	unsigned int i, n = 0;
	int ready;

	/* The watermark matters only to what is held. */
	if (add_poll(s, &n, s->stop_fd) ||
	    add_poll(s, &n, s->stats.held ? s->mark_fd : -1))
		return -ENOMEM;
	for (i = 0; i < s->nr_rings; i++)
		if (s->rings[i].fd >= 0 && add_poll(s, &n, s->rings[i].fd))
			return -ENOMEM;
	ready = ppoll(s->polls, n, &ts, NULL);
	if (ready < 0)
		return -errno;
	if (!ready)
		return 0;
	s->stats.wakeups++;
	if (s->polls[1].revents & POLLIN)
		perfclock_watermark_ack(s->clock);
	/* A ring whose tasks have all gone would wake us for ever. */
	for (i = 2; i < n; i++)
		if (s->polls[i].revents & (POLLHUP | POLLERR | POLLNVAL))
			pc_wait_forget(s, s->polls[i].fd);
	return 0;
}

void pc_wait_forget(struct perfclock_session *s, int fd)
{
	unsigned int i;

	for (i = 0; i < s->nr_rings; i++)
		if (s->rings[i].fd == fd)
			s->rings[i].fd = -1;
}

int pc_wait(struct perfclock_session *s, int timeout_ms)
{
	int64_t ns = sleep_ns(s, timeout_ms);

	if (!ns || atomic_load(&s->stopped))
		return 0;
	return wait_poll(s, ns);
}

int perfclock_session_fd(struct perfclock_session *s)
{
	struct epoll_event ev = { .events = EPOLLIN };
	unsigned int i;

	if (s->epoll_fd >= 0)
		return s->epoll_fd;
	if (s->state != PC_SESSION_RUNNING)
		return -EINVAL;
	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll_fd < 0)
		return -errno;
	if (epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, s->stop_fd, &ev))
		goto fail;
	if (s->mark_fd >= 0 &&
	    epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, s->mark_fd, &ev))
		goto fail;
	for (i = 0; i < s->nr_rings; i++)
		if (s->rings[i].fd >= 0 &&
		    epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, s->rings[i].fd, &ev))
			goto fail;
	return s->epoll_fd;
fail:
	i = errno;
	close(s->epoll_fd);
	s->epoll_fd = -1;
	return -(int)i;
}
