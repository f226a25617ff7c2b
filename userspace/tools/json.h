/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A JSON writer. Values go into a buffer, which reaches its file in one piece
 * at the end: a reader never sees half an object. Inside an object every value
 * has a key, inside an array it is NULL.
 */
#ifndef TOOLS_JSON_H
#define TOOLS_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json {
	char *buf;
	size_t used, room;
	unsigned int depth;
	bool first;		/* nothing in the innermost container yet */
	bool compact;		/* all on one line */
};

void json_init(struct json *j, bool compact);
void json_free(struct json *j);
/* Forget what was written, keep the memory. */
void json_reset(struct json *j);

void json_object_begin(struct json *j, const char *key);
void json_object_end(struct json *j);
void json_array_begin(struct json *j, const char *key);
void json_array_end(struct json *j);
/* Bytes that are not UTF-8 become U+FFFD. NULL gives null. */
void json_string(struct json *j, const char *key, const char *value);
void json_string_n(struct json *j, const char *key, const char *value,
		   size_t len);
void json_u64(struct json *j, const char *key, uint64_t value);
void json_s64(struct json *j, const char *key, int64_t value);
void json_bool(struct json *j, const char *key, bool value);
/* NaN and infinities, which JSON lacks, give null. */
void json_double(struct json *j, const char *key, double value, int digits);
void json_null(struct json *j, const char *key);

/*
 * Write it, with a newline, to a file, or to stdout if path is NULL or "-".
 * Says what failed; 0 or -errno.
 */
int json_write(struct json *j, const char *path);

#endif /* TOOLS_JSON_H */
