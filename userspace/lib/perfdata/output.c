// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* A buffered writer, and files without a name: see output.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perfdata/output.h"

#ifndef OUTPUT_BUFFER
#define OUTPUT_BUFFER	(1u << 20)
#endif

int pd_output_init(struct pd_output *o, int fd)
{
	memset(o, 0, sizeof(*o));
	o->fd = fd;
	o->buf = malloc(OUTPUT_BUFFER);
	return o->buf ? 0 : -ENOMEM;
}

void pd_output_free(struct pd_output *o)
{
	free(o->buf);
	o->buf = NULL;
}

static void write_all(struct pd_output *o, const uint8_t *p, size_t n)
{
	ssize_t done;

	while (n && !o->error) {
		done = write(o->fd, p, n);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0) {
			o->error = -errno;
			return;
		}
		p += done;
		n -= done;
	}
}

int pd_output_flush(struct pd_output *o)
{
	write_all(o, o->buf, o->used);
	o->used = 0;
	return o->error;
}

void pd_output_bytes(struct pd_output *o, const void *bytes, size_t n)
{
	o->pos += n;
	if (n > OUTPUT_BUFFER - o->used)
		pd_output_flush(o);
	if (n >= OUTPUT_BUFFER) {
		write_all(o, bytes, n);
		return;
	}
	memcpy(o->buf + o->used, bytes, n);
	o->used += n;
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
