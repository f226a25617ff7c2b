// SPDX-License-Identifier: GPL-2.0
/* A JSON writer: see json.h. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "json.h"

static void put(struct json *j, const char *s, size_t len)
{
	if (j->room - j->used < len) {
		j->room = (j->used + len) * 2 + 256;
		j->buf = tool_realloc(j->buf, j->room, 1);
	}
	memcpy(j->buf + j->used, s, len);
	j->used += len;
}

static void put_char(struct json *j, char c)
{
	put(j, &c, 1);
}

void json_init(struct json *j, bool compact)
{
	memset(j, 0, sizeof(*j));
	j->first = true;
	j->compact = compact;
}

void json_free(struct json *j)
{
	free(j->buf);
	memset(j, 0, sizeof(*j));
}

void json_reset(struct json *j)
{
	j->used = 0;
	j->depth = 0;
	j->first = true;
}

static void new_line(struct json *j)
{
	unsigned int i;

	if (j->compact)
		return;
	put_char(j, '\n');
	for (i = 0; i < j->depth; i++)
		put(j, "  ", 2);
}

/*
 * Length of the UTF-8 character at s (1 to 4), 0 if it is none: overlong
 * forms, surrogates and what lies past U+10FFFF included.
 */
static size_t utf8_length(const unsigned char *s, size_t left)
{
	size_t len, i;

	if (s[0] < 0x80)
		return 1;
	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 0;
	len = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	if (len > left)
		return 0;
	for (i = 1; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return len;
}

static void put_quoted(struct json *j, const char *value, size_t left)
{
	const unsigned char *s = (const unsigned char *)value;
	char escape[8];
	size_t len;

	put_char(j, '"');
	while (left) {
		if (*s == '"' || *s == '\\') {
			put_char(j, '\\');
			put_char(j, *s);
			len = 1;
		} else if (*s < 0x20 || *s == 0x7f) {
			put(j, escape, snprintf(escape, sizeof(escape),
						"\\u%04x", *s));
			len = 1;
		} else {
			len = utf8_length(s, left);
			if (len)
				put(j, (const char *)s, len);
			else
				put(j, "\\ufffd", 6);
			len = len ? len : 1;
		}
		s += len;
		left -= len;
	}
	put_char(j, '"');
}

static void begin_value(struct json *j, const char *key)
{
	if (!j->first)
		put(j, j->compact ? ", " : ",", j->compact ? 2 : 1);
	if (j->depth)
		new_line(j);
	j->first = false;
	if (key) {
		put_quoted(j, key, strlen(key));
		put(j, ": ", 2);
	}
}

static void open_container(struct json *j, const char *key, char bracket)
{
	begin_value(j, key);
	put_char(j, bracket);
	j->depth++;
	j->first = true;
}

static void close_container(struct json *j, char bracket)
{
	j->depth--;
	if (!j->first)
		new_line(j);
	put_char(j, bracket);
	j->first = false;
}

void json_object_begin(struct json *j, const char *key)
{
	open_container(j, key, '{');
}

void json_object_end(struct json *j)
{
	close_container(j, '}');
}

void json_array_begin(struct json *j, const char *key)
{
	open_container(j, key, '[');
}

void json_array_end(struct json *j)
{
	close_container(j, ']');
}

void json_string_n(struct json *j, const char *key, const char *value,
		   size_t len)
{
	begin_value(j, key);
	put_quoted(j, value, len);
}

void json_string(struct json *j, const char *key, const char *value)
{
	if (value)
		json_string_n(j, key, value, strlen(value));
	else
		json_null(j, key);
}

static void put_number(struct json *j, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void put_number(struct json *j, const char *key, const char *fmt, ...)
{
	char text[64];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	begin_value(j, key);
	put(j, text, n);
}

void json_u64(struct json *j, const char *key, uint64_t value)
{
	put_number(j, key, "%llu", (unsigned long long)value);
}

void json_s64(struct json *j, const char *key, int64_t value)
{
	put_number(j, key, "%lld", (long long)value);
}

void json_bool(struct json *j, const char *key, bool value)
{
	put_number(j, key, "%s", value ? "true" : "false");
}

void json_double(struct json *j, const char *key, double value, int digits)
{
	if (!isfinite(value) || fabs(value) > 1e30) {
		json_null(j, key);
		return;
	}
	put_number(j, key, "%.*f", digits, value);
}

void json_null(struct json *j, const char *key)
{
	put_number(j, key, "null");
}

int json_write(struct json *j, const char *path)
{
	bool to_file = path && strcmp(path, "-");
	FILE *f = to_file ? fopen(path, "we") : stdout;
	int err = 0;

	if (!f) {
		err = errno;
		goto out;
	}
	put_char(j, '\n');
	if (fwrite(j->buf, 1, j->used, f) != j->used || fflush(f))
		err = errno ? errno : EIO;
	j->used--;
	if (to_file && fclose(f) && !err)
		err = errno;
out:
	/* tool_close_stdout() tells of a broken stdout. */
	if (err && to_file)
		tool_error("cannot write %s: %s", path, strerror(err));
	return -err;
}
