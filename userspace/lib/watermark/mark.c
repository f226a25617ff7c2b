// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* A watermark that this process moves itself. */
#include <sys/eventfd.h>

#include "watermark/mark.h"

struct mark *mark_new(void)
{
	struct mark *m = wiped_on_fork_new(sizeof(*m));

	if (!m)
		return NULL;
	atomic_store(&m->eventfd, -1);
	atomic_store(&m->alive, 1);
	return m;
}

void mark_free(struct mark *m)
{
	int fd;

	if (!m)
		return;
	fd = atomic_load(&m->eventfd);
	if (atomic_load(&m->alive) && fd >= 0)
		close(fd);
	munmap(m, sizeof(*m));
}

/*
 * Sequentially consistent against mark_wait(): either the waiter sees the new
 * seq, or we see that it waits.
 */
static void mark_wake(struct mark *m)
{
	atomic_fetch_add(&m->seq, 1);
	if (atomic_load(&m->waiters))
		futex_wake_all(&m->seq);
}

static void mark_signal(struct mark *m)
{
	int fd = atomic_load_explicit(&m->eventfd, memory_order_acquire);

	mark_wake(m);
	if (fd >= 0)
		eventfd_write(fd, 1);
}

void mark_publish(struct mark *m, uint64_t ns)
{
	uint64_t last = atomic_load_explicit(&m->watermark,
					     memory_order_relaxed);

	do {
		if (ns <= last)
			return;
	} while (!atomic_compare_exchange_weak_explicit(&m->watermark, &last,
			ns, memory_order_release, memory_order_relaxed));
	atomic_fetch_add_explicit(&m->moves, 1, memory_order_relaxed);
	mark_signal(m);
}

void mark_fail(struct mark *m, int err)
{
	if (atomic_exchange(&m->status, err) != err)
		mark_signal(m);
}

/* 1: it is there; 0: not yet; -errno. */
static int mark_passed(struct mark *m, uint64_t stamp)
{
	uint64_t ns;
	int err = mark_load(m, &ns);

	if (ns > stamp)
		return 1;
	return err;
}

static int mark_wait_counted(struct mark *m, uint64_t stamp,
			     int64_t timeout_ns)
{
	uint64_t begin = mono_ns(), passed = 0;
	uint32_t seq;
	int got;

	for (;;) {
		seq = atomic_load(&m->seq);
		got = mark_passed(m, stamp);
		if (got)
			return got < 0 ? got : 0;
		if (timeout_ns >= 0) {
			passed = mono_ns() - begin;
			if (passed >= (uint64_t)timeout_ns)
				return -ETIMEDOUT;
		}
		if (futex_wait(&m->seq, seq, timeout_ns < 0 ? INT64_MAX :
			       timeout_ns - (int64_t)passed) == -EINTR)
			return -EINTR;
	}
}

int mark_wait(struct mark *m, uint64_t stamp, int64_t timeout_ns)
{
	int err;

	atomic_fetch_add(&m->waiters, 1);
	err = mark_wait_counted(m, stamp, timeout_ns);
	atomic_fetch_sub(&m->waiters, 1);
	return err;
}

int mark_fd(struct mark *m)
{
	int fd, none = -1;

	if (!atomic_load(&m->alive))
		return -ECHILD;
	fd = atomic_load(&m->eventfd);
	if (fd >= 0)
		return fd;
	/* Readable from the start if the watermark has moved already. */
	fd = eventfd(atomic_load(&m->moves) ? 1 : 0,
		     EFD_CLOEXEC | EFD_NONBLOCK);
	if (fd < 0)
		return -errno;
	if (atomic_compare_exchange_strong(&m->eventfd, &none, fd))
		return fd;
	close(fd);
	return none;
}

int mark_ack(struct mark *m)
{
	eventfd_t n;
	int fd;

	if (!atomic_load(&m->alive))
		return -ECHILD;
	fd = atomic_load(&m->eventfd);
	if (fd >= 0 && eventfd_read(fd, &n) && errno != EAGAIN)
		return -errno;
	return 0;
}
