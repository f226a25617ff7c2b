// SPDX-License-Identifier: GPL-2.0
/* Where lines go: see output.h. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "common.h"
#include "output.h"

void output_init(struct output *o, int fd)
{
	memset(o, 0, sizeof(*o));
	o->fd = fd;
	o->terminal = isatty(fd);
}

void output_free(struct output *o)
{
	text_free(&o->text);
}

int output_flush(struct output *o)
{
	size_t done = 0;
	ssize_t n;

	while (done < o->text.used && !o->error) {
		n = write(o->fd, o->text.buf + done, o->text.used - done);
		if (n >= 0) {
			done += n;
		} else if (errno == EAGAIN) {
			struct pollfd p = { .fd = o->fd, .events = POLLOUT };

			poll(&p, 1, -1);
		} else if (errno != EINTR) {
			o->error = errno;
		}
	}
	o->text.used = 0;
	return -o->error;
}

bool output_reader_gone(const struct output *o)
{
	struct pollfd p = { .fd = o->fd };

	return poll(&p, 1, 0) > 0 && p.revents & POLLERR;
}

void output_tell_error(const struct output *o)
{
	if (o->error == EPIPE)
		tool_error("the reader of the output has gone: stopped");
	else if (o->error)
		tool_error("cannot write the output: %s", strerror(o->error));
}
