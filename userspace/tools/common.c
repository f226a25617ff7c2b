// SPDX-License-Identifier: GPL-2.0
/* What all subcommands share: see common.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common.h"

static const char *command_name;

void tool_set_name(const char *command)
{
	command_name = command;
}

const char *tool_name(void)
{
	return command_name ? command_name : "";
}

/* One write, so that lines of several programs don't mix. */
static void message(const char *tail, const char *fmt, va_list ap)
{
	char line[1024];
	int n, m;

	n = snprintf(line, sizeof(line), "perfclock%s%s: ",
		     command_name ? " " : "", tool_name());
	m = vsnprintf(line + n, sizeof(line) - n - 1, fmt, ap);
	if (m < 0)
		return;
	n += m;
	if (n > (int)sizeof(line) - 2)
		n = sizeof(line) - 2;
	m = snprintf(line + n, sizeof(line) - n - 1, "%s", tail);
	n += m;
	if (n > (int)sizeof(line) - 2)
		n = sizeof(line) - 2;
	line[n++] = '\n';
	fflush(stdout);
	if (write(STDERR_FILENO, line, n) < 0)
		return;		/* nobody left to tell */
}

void tool_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	message("", fmt, ap);
	va_end(ap);
}

void tool_note(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	message("", fmt, ap);
	va_end(ap);
}

int tool_usage(const char *fmt, ...)
{
	char hint[64];
	va_list ap;

	snprintf(hint, sizeof(hint), " (see 'perfclock%s%s --help')",
		 command_name ? " " : "", tool_name());
	va_start(ap, fmt);
	message(hint, fmt, ap);
	va_end(ap);
	return TOOL_USAGE;
}

int tool_close_stdout(int status)
{
	int bad = fflush(stdout) || ferror(stdout);
	int err = errno;

	if (!bad)
		return status;
	if (err == EPIPE)
		tool_error("the reader of the output has gone");
	else
		tool_error("cannot write the output: %s", strerror(err));
	return TOOL_FAILED;
}

static void out_of_memory(void)
{
	tool_error("out of memory");
	_exit(TOOL_FAILED);
}

void *tool_alloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	if (!p)
		out_of_memory();
	return p;
}

void *tool_realloc(void *p, size_t n, size_t size)
{
	p = reallocarray(p, n ? n : 1, size);
	if (!p)
		out_of_memory();
	return p;
}

char *tool_strdup(const char *s)
{
	char *p = strdup(s);

	if (!p)
		out_of_memory();
	return p;
}

char *tool_printf(const char *fmt, ...)
{
	va_list ap;
	char *p;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&p, fmt, ap);
	va_end(ap);
	if (n < 0)
		out_of_memory();
	return p;
}

bool parse_u64(const char *s, uint64_t *value)
{
	unsigned long long v;
	char *end;

	if (*s < '0' || *s > '9')	/* strtoull takes blanks and signs */
		return false;
	errno = 0;
	v = strtoull(s, &end, 0);
	if (errno || *end)
		return false;
	*value = v;
	return true;
}

bool parse_scaled(const char *s, uint64_t unit, uint64_t *value)
{
	uint64_t v = 0, place = unit;
	bool digits = false;

	for (; *s >= '0' && *s <= '9'; s++) {
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*s - '0'), &v))
			return false;
		digits = true;
	}
	if (__builtin_mul_overflow(v, unit, &v))
		return false;
	/* By hand, as strtod() asks the locale for the decimal point. */
	if (*s == '.') {
		for (s++; *s >= '0' && *s <= '9'; s++) {
			place /= 10;
			v += place * (*s - '0');
			digits = true;
		}
	}
	if (!digits || *s)
		return false;
	*value = v;
	return true;
}

static int by_value(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* One number; s moves past it. */
static bool list_number(const char **s, int *value)
{
	char *end;
	long v;

	if (**s < '0' || **s > '9')
		return false;
	errno = 0;
	v = strtol(*s, &end, 10);
	if (errno || v > 1 << 30)
		return false;
	*s = end;
	*value = v;
	return true;
}

int *parse_int_list(const char *s, unsigned int *nr)
{
	unsigned int n = 0, i, kept = 0;
	int *list = NULL, first, last;

	do {
		if (n && *s++ != ',')
			goto bad;
		if (!list_number(&s, &first))
			goto bad;
		last = first;
		if (*s == '-' && (s++, !list_number(&s, &last)))
			goto bad;
		if (last < first || last - first > 1 << 16)
			goto bad;
		list = tool_realloc(list, n + last - first + 1, sizeof(*list));
		while (first <= last)
			list[n++] = first++;
	} while (*s);
	qsort(list, n, sizeof(*list), by_value);
	for (i = 0; i < n; i++)
		if (!kept || list[i] != list[kept - 1])
			list[kept++] = list[i];
	*nr = kept;
	return list;
bad:
	free(list);
	return NULL;
}

char *read_whole_file(const char *path, size_t *size)
{
	size_t used = 0, room = 4096;
	char *buf;
	ssize_t n;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	buf = tool_alloc(1, room);
	for (;;) {
		n = read(fd, buf + used, room - used - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		used += n;
		if (room - used < 1024) {
			room *= 2;
			buf = tool_realloc(buf, room, 1);
		}
	}
	close(fd);
	if (n < 0) {
		free(buf);
		return NULL;
	}
	buf[used] = '\0';
	if (size)
		*size = used;
	return buf;
}

int tool_policy_failed(const char *name, int err)
{
	if (err == -EINVAL)
		return tool_usage("no policy '%s'; there are none, pass-max, "
				  "min-max, first-min, backoff=NS, round-start, "
				  "watermark", name);
	tool_error("%s: %s", name, strerror(-err));
	return TOOL_FAILED;
}
