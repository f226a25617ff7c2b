// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* Bytes of a file or a stream: see internal.h. */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "perfdata/internal.h"

int pd_input_init(struct pd_input *in, int fd)
{
	struct stat st;

	memset(in, 0, sizeof(*in));
	in->fd = fd;
	if (fstat(fd, &st))
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	/* A descriptor that somebody has read from already is a stream. */
	if (S_ISREG(st.st_mode) && lseek(fd, 0, SEEK_CUR) == 0) {
		in->seekable = true;
		in->size = st.st_size;
	}
	in->buf = malloc(PD_INPUT_BUFFER);
	return in->buf ? 0 : -ENOMEM;
}

void pd_input_free(struct pd_input *in)
{
	free(in->buf);
	free(in->prefix);
}

/* One read behind what the buffer holds. */
static void fill(struct pd_input *in)
{
	size_t room = PD_INPUT_BUFFER - in->used;
	uint64_t where = in->pos + (in->used - in->at);
	ssize_t n;

	do {
		if (in->seekable)
			n = pread(in->fd, in->buf + in->used, room, where);
		else
			n = read(in->fd, in->buf + in->used, room);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		in->error = -errno;
	else if (!n)
		in->eof = true;
	else
		in->used += n;
}

const uint8_t *pd_input_peek(struct pd_input *in, size_t n)
{
	if (in->used - in->at >= n)
		return in->buf + in->at;
	if (PD_INPUT_BUFFER - in->at < n || in->at == in->used) {
		memmove(in->buf, in->buf + in->at, in->used - in->at);
		in->used -= in->at;
		in->at = 0;
	}
	while (in->used - in->at < n && !in->eof && !in->error)
		fill(in);
	return in->used - in->at >= n ? in->buf + in->at : NULL;
}

void pd_input_take(struct pd_input *in, size_t n)
{
	in->at += n;
	in->pos += n;
}

uint64_t pd_input_skip(struct pd_input *in, uint64_t n)
{
	uint64_t done = 0, step;

	while (done < n) {
		step = pd_input_left(in);
		if (!step && in->seekable && !in->eof) {
			/* No need to read what nobody wants. */
			step = in->pos < in->size ? in->size - in->pos : 0;
			if (step > n - done)
				step = n - done;
			in->pos += step;
			return done + step;
		}
		if (!step) {
			if (!pd_input_peek(in, 1))
				break;
			continue;
		}
		if (step > n - done)
			step = n - done;
		pd_input_take(in, step);
		done += step;
	}
	return done;
}

long pd_input_read(struct pd_input *in, void *buf, size_t n)
{
	size_t step;

	if (!n)
		return 0;
	if (!pd_input_peek(in, 1))
		return in->error;
	step = pd_input_left(in);
	if (step > n)
		step = n;
	memcpy(buf, in->buf + in->at, step);
	pd_input_take(in, step);
	return step;
}

int pd_input_keep(struct pd_input *in, uint64_t end)
{
	size_t room = 0, want;
	uint8_t *more;
	long n;

	if (in->seekable) {
		in->at = in->used = 0;
		in->pos = end;
		return 0;
	}
	if (end > PD_MAX_PREFIX)
		return -EFBIG;
	while (in->prefix_used < end) {
		if (in->prefix_used == room) {
			room = room ? room * 2 : 4096;
			more = realloc(in->prefix, room);
			if (!more)
				return -ENOMEM;
			in->prefix = more;
		}
		want = room - in->prefix_used;
		if (want > end - in->prefix_used)
			want = end - in->prefix_used;
		n = pd_input_read(in, in->prefix + in->prefix_used, want);
		if (n <= 0)
			return n ? n : -ENODATA;
		in->prefix_used += n;
	}
	return 0;
}

int pd_input_at(struct pd_input *in, uint64_t offset, void *buf, size_t n)
{
	uint64_t size = in->seekable ? in->size : in->prefix_used;
	ssize_t got;

	if (offset > size || n > size - offset)
		return -ENODATA;
	if (!in->seekable) {
		memcpy(buf, in->prefix + offset, n);
		return 0;
	}
	while (n) {
		got = pread(in->fd, buf, n, offset);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got ? -errno : -ENODATA;
		buf = (uint8_t *)buf + got;
		offset += got;
		n -= got;
	}
	return 0;
}
