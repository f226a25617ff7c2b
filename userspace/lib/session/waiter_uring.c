// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Waiting by io_uring. Ring files and the stop file are armed once, by a
 * multishot poll; the watermark's, which moves all the time, by a poll for
 * one time, when something waits for it. What has to be armed anew goes out
 * with the enter that waits.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#include "session/waiter.h"

#ifdef HAVE_LIBURING
#include <liburing.h>

#define QUEUE_ENTRIES	64
#define NOT_A_FILE	UINT64_MAX	/* user_data of what needs no answer */

int pc_uring_open(struct pc_waiter *w)
{
	struct io_uring_params p = { .flags = IORING_SETUP_CLAMP };
	int err;

	w->uring = malloc(sizeof(*w->uring));
	if (!w->uring)
		return -ENOMEM;
#ifdef IORING_SETUP_COOP_TASKRUN
	/* We enter the kernel for answers anyway: don't interrupt us. */
	p.flags |= IORING_SETUP_COOP_TASKRUN;
#endif
	err = io_uring_queue_init_params(QUEUE_ENTRIES, w->uring, &p);
	if (err == -EINVAL) {
		p = (struct io_uring_params) { .flags = IORING_SETUP_CLAMP };
		err = io_uring_queue_init_params(QUEUE_ENTRIES, w->uring, &p);
	}
	/* Without EXT_ARG (5.11) a time-out would cost a second enter. */
	if (!err && !(p.features & IORING_FEAT_EXT_ARG)) {
		io_uring_queue_exit(w->uring);
		err = -EOPNOTSUPP;
	}
	if (err) {
		free(w->uring);
		w->uring = NULL;
	}
	return err;
}

void pc_uring_close(struct pc_waiter *w)
{
	unsigned int i;

	if (!w->uring)
		return;
	io_uring_queue_exit(w->uring);
	free(w->uring);
	w->uring = NULL;
	for (i = 0; i < w->nr_files; i++)
		w->files[i].armed = false;
}

/* A place in the queue, which is handed over when it is full. */
static struct io_uring_sqe *get_sqe(struct pc_waiter *w)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(w->uring);

	if (!sqe && io_uring_submit(w->uring) >= 0)
		sqe = io_uring_get_sqe(w->uring);
	return sqe;
}

void pc_uring_remove(struct pc_waiter *w, unsigned int i)
{
	struct io_uring_sqe *sqe = get_sqe(w);

	w->files[i].armed = false;
	if (!sqe)
		return;
	io_uring_prep_poll_remove(sqe, i);
	io_uring_sqe_set_data64(sqe, NOT_A_FILE);
	/* At once: the poll holds the file, and with it the event. */
	io_uring_submit(w->uring);
}

static int arm(struct pc_waiter *w, bool want_mark)
{
	unsigned int i;

	for (i = 0; i < w->nr_files; i++) {
		struct pc_wait_file *f = &w->files[i];
		struct io_uring_sqe *sqe;

		if (f->fd < 0 || f->armed ||
		    (f->kind == PC_WAKE_MARK && !want_mark))
			continue;
		sqe = get_sqe(w);
		if (!sqe)
			return -EBUSY;
		if (f->kind == PC_WAKE_MARK)
			io_uring_prep_poll_add(sqe, f->fd, POLLIN);
		else
			io_uring_prep_poll_multishot(sqe, f->fd, POLLIN);
		io_uring_sqe_set_data64(sqe, i);
		f->armed = true;
	}
	return 0;
}

/* One answer; returns PC_WAKE_* or -errno. */
static int answer(struct pc_waiter *w, const struct io_uring_cqe *cqe)
{
	uint64_t i = cqe->user_data;
	struct pc_wait_file *f;

	if (i >= w->nr_files)
		return 0;
	f = &w->files[i];
	if (!(cqe->flags & IORING_CQE_F_MORE))
		f->armed = false;
	if (f->fd < 0 || cqe->res == -ECANCELED)
		return 0;
	/* EINVAL: no multishot poll before 5.13. */
	if (cqe->res < 0)
		return cqe->res;
	if (cqe->res & (POLLHUP | POLLERR | POLLNVAL))
		pc_waiter_hangup(w, i);
	return f->kind;
}

int pc_uring_wait(struct pc_waiter *w, int64_t ns, bool want_mark)
{
	struct __kernel_timespec ts = {
		.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000,
	};
	struct io_uring_cqe *cqe;
	unsigned int head, seen = 0;
	int err, got, woke = 0;

	err = arm(w, want_mark);
	if (err)
		return err;
	err = io_uring_submit_and_wait_timeout(w->uring, &cqe, 1,
					       ns < 0 ? NULL : &ts, NULL);
	if (err == -EINTR)
		return err;
	if (err < 0 && err != -ETIME)
		return err;
	err = 0;
	io_uring_for_each_cqe(w->uring, head, cqe) {
		seen++;
		got = answer(w, cqe);
		if (got < 0)
			err = got;
		else
			woke |= got;
	}
	io_uring_cq_advance(w->uring, seen);
	return err ? err : woke;
}
#else
int pc_uring_open(struct pc_waiter *w)
{
	(void)w;
	return -EOPNOTSUPP;
}

void pc_uring_close(struct pc_waiter *w)
{
	(void)w;
}

void pc_uring_remove(struct pc_waiter *w, unsigned int i)
{
	(void)w;
	(void)i;
}

int pc_uring_wait(struct pc_waiter *w, int64_t ns, bool want_mark)
{
	(void)w;
	(void)ns;
	(void)want_mark;
	return -EOPNOTSUPP;
}
#endif
