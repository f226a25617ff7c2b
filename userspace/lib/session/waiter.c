// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* Waiting, by poll(2); and the choice between that and io_uring. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "session/waiter.h"

int pc_waiter_init(struct pc_waiter *w, enum perfclock_wait_method method)
{
	int err;

	memset(w, 0, sizeof(*w));
	if ((unsigned int)method > PERFCLOCK_WAIT_IO_URING)
		return -EINVAL;
	w->may_fall_back = method == PERFCLOCK_WAIT_AUTO;
	w->method = PERFCLOCK_WAIT_POLL;
	if (method == PERFCLOCK_WAIT_POLL)
		return 0;
	err = pc_uring_open(w);
	if (!err)
		w->method = PERFCLOCK_WAIT_IO_URING;
	return w->may_fall_back ? 0 : err;
}

void pc_waiter_fini(struct pc_waiter *w)
{
	pc_uring_close(w);
	free(w->files);
	free(w->polls);
	w->files = NULL;
	w->polls = NULL;
}

int pc_waiter_add(struct pc_waiter *w, int fd, unsigned int kind)
{
	struct pc_wait_file *f;

	if (fd < 0)
		return 0;
	if (w->nr_files == w->max_files) {
		unsigned int max = w->max_files ? w->max_files * 2 : 16;
		struct pollfd *p = realloc(w->polls, max * sizeof(*p));

		if (!p)
			return -ENOMEM;
		w->polls = p;
		f = realloc(w->files, max * sizeof(*f));
		if (!f)
			return -ENOMEM;
		w->files = f;
		w->max_files = max;
	}
	/* A place is never used twice: its number is known to the kernel. */
	w->files[w->nr_files++] = (struct pc_wait_file) {
		.fd = fd, .kind = kind,
	};
	return 0;
}

void pc_waiter_remove(struct pc_waiter *w, int fd)
{
	unsigned int i;

	for (i = 0; i < w->nr_files; i++) {
		if (w->files[i].fd != fd)
			continue;
		if (w->files[i].armed)
			pc_uring_remove(w, i);
		w->files[i].fd = -1;
	}
}

void pc_waiter_hangup(struct pc_waiter *w, unsigned int i)
{
	int fd = w->files[i].fd;

	pc_waiter_remove(w, fd);
	if (w->on_hangup)
		w->on_hangup(w->ctx, fd);
}

static int poll_wait(struct pc_waiter *w, int64_t ns, bool want_mark)
{
	struct timespec ts = { ns / 1000000000, ns % 1000000000 };
	unsigned int i, n = w->nr_files;
	int ready, woke = 0;

	for (i = 0; i < n; i++) {
		const struct pc_wait_file *f = &w->files[i];
		bool skip = f->kind == PC_WAKE_MARK && !want_mark;

		w->polls[i].fd = skip ? -1 : f->fd;
		w->polls[i].events = POLLIN;
		w->polls[i].revents = 0;
	}
	ready = ppoll(w->polls, n, ns < 0 ? NULL : &ts, NULL);
	if (ready < 0)
		return -errno;
	for (i = 0; ready && i < n; i++) {
		short got = w->polls[i].revents;

		if (!got)
			continue;
		woke |= w->files[i].kind;
		if (got & (POLLHUP | POLLERR | POLLNVAL))
			pc_waiter_hangup(w, i);
	}
	return woke;
}

int pc_waiter_wait(struct pc_waiter *w, int64_t ns, bool want_mark)
{
	int ret;

	if (w->method == PERFCLOCK_WAIT_IO_URING) {
		ret = pc_uring_wait(w, ns, want_mark);
		if (ret >= 0 || ret == -EINTR || !w->may_fall_back)
			return ret;
		/* Not on this kernel after all. */
		pc_uring_close(w);
		w->method = PERFCLOCK_WAIT_POLL;
	}
	return poll_wait(w, ns, want_mark);
}
