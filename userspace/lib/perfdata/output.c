// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* A buffered writer, and files without a name: see output.h. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perfdata/output.h"

#ifndef OUTPUT_BUFFER
#define OUTPUT_BUFFER	(256u << 10)	/* each of the two */
#endif

struct pd_writer {
	pthread_t thread;
	bool started;
	int fd;
	uint8_t *buffers;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* Under the lock. */
	const uint8_t *bytes;	/* NULL: none to write */
	size_t n;
	int error;
	bool end;
};

/* 0, -errno */
static int write_all(int fd, const uint8_t *p, size_t n)
{
	ssize_t done;

	while (n) {
		done = write(fd, p, n);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		p += done;
		n -= done;
	}
	return 0;
}

int pd_output_init(struct pd_output *o, int fd)
{
	struct pd_writer *w = calloc(1, sizeof(*w));

	memset(o, 0, sizeof(*o));
	o->fd = fd;
	o->writer = w;
	if (!w)
		return -ENOMEM;
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->changed, NULL);
	w->fd = fd;
	w->buffers = malloc(2 * OUTPUT_BUFFER);
	o->buf = w->buffers;
	if (o->buf)
		return 0;
	pd_output_free(o);
	return -ENOMEM;
}

static void *write_buffers(void *arg)
{
	struct pd_writer *w = arg;
	int err;

	pthread_mutex_lock(&w->lock);
	for (;;) {
		while (!w->bytes && !w->end)
			pthread_cond_wait(&w->changed, &w->lock);
		if (!w->bytes)
			break;
		err = w->error;
		pthread_mutex_unlock(&w->lock);
		if (!err)
			err = write_all(w->fd, w->bytes, w->n);
		pthread_mutex_lock(&w->lock);
		w->error = err;
		w->bytes = NULL;
		pthread_cond_signal(&w->changed);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

/* Signals are for the caller's threads. false: there is no thread. */
static bool start(struct pd_writer *w)
{
	sigset_t all, was;

	if (w->started)
		return true;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &was);
	w->started = !pthread_create(&w->thread, NULL, write_buffers, w);
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	return w->started;
}

/* What the thread was given is written, or has failed. */
static void wait_idle(struct pd_output *o)
{
	struct pd_writer *w = o->writer;

	if (!w->started)
		return;
	pthread_mutex_lock(&w->lock);
	while (w->bytes)
		pthread_cond_wait(&w->changed, &w->lock);
	if (w->error)
		o->error = w->error;
	pthread_mutex_unlock(&w->lock);
}

static void write_here(struct pd_output *o, const uint8_t *bytes, size_t n)
{
	wait_idle(o);
	if (!o->error)
		o->error = write_all(o->fd, bytes, n);
}

/* The full buffer to the thread; the other one is free by then. */
static void hand_over(struct pd_output *o)
{
	struct pd_writer *w = o->writer;

	if (!start(w)) {
		write_here(o, o->buf, o->used);
		o->used = 0;
		return;
	}
	wait_idle(o);
	pthread_mutex_lock(&w->lock);
	w->bytes = o->buf;
	w->n = o->used;
	pthread_cond_signal(&w->changed);
	pthread_mutex_unlock(&w->lock);
	o->buf = w->buffers + (o->buf == w->buffers ? OUTPUT_BUFFER : 0);
	o->used = 0;
}

int pd_output_flush(struct pd_output *o)
{
	write_here(o, o->buf, o->used);
	o->used = 0;
	return o->error;
}

void pd_output_bytes(struct pd_output *o, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;
	size_t step;

	o->pos += n;
	for (; n; p += step, n -= step) {
		if (o->used == OUTPUT_BUFFER)
			hand_over(o);
		step = OUTPUT_BUFFER - o->used;
		if (step > n)
			step = n;
		memcpy(o->buf + o->used, p, step);
		o->used += step;
	}
}

void pd_output_free(struct pd_output *o)
{
	struct pd_writer *w = o->writer;

	if (!w)
		return;
	if (w->started) {
		pthread_mutex_lock(&w->lock);
		w->end = true;
		pthread_cond_signal(&w->changed);
		pthread_mutex_unlock(&w->lock);
		pthread_join(w->thread, NULL);
	}
	pthread_cond_destroy(&w->changed);
	pthread_mutex_destroy(&w->lock);
	free(w->buffers);
	free(w);
	o->writer = NULL;
	o->buf = NULL;
}

int pd_pread_all(int fd, void *buf, size_t n, uint64_t at)
{
	ssize_t got;

	while (n) {
		got = pread(fd, buf, n, at);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got ? -errno : -EIO;
		buf = (uint8_t *)buf + got;
		n -= got;
		at += got;
	}
	return 0;
}

int pd_pwrite_all(int fd, const void *buf, size_t n, uint64_t at)
{
	ssize_t done;

	while (n) {
		done = pwrite(fd, buf, n, at);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		buf = (const uint8_t *)buf + done;
		n -= done;
		at += done;
	}
	return 0;
}

int pd_temporary_file(const char *dir)
{
	char *name;
	int fd;

	fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	if (errno != EOPNOTSUPP && errno != EISDIR)
		return -errno;
	/* A file system without O_TMPFILE: unlinked at once. */
	if (asprintf(&name, "%s/perfclock.XXXXXX", dir) < 0)
		return -ENOMEM;
	fd = mkostemp(name, O_CLOEXEC);
	if (fd < 0)
		fd = -errno;
	else
		unlink(name);
	free(name);
	return fd;
}
