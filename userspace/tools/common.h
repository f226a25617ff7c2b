/* SPDX-License-Identifier: GPL-2.0 */
/* What all subcommands share: exit statuses, messages, numbers in options. */
#ifndef TOOLS_COMMON_H
#define TOOLS_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Exit statuses; scripts rely on them. */
enum tool_exit {
	TOOL_DONE	= 0,
	TOOL_FAILED	= 1,
	TOOL_USAGE	= 2,
	/*
	 * Done as far as possible: the input was damaged or truncated; with
	 * --strict also: something was late or lost.
	 */
	TOOL_PARTIAL	= 3
};

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define NSEC_PER_SEC	1000000000ULL

/* Name of the running subcommand, which begins every message. */
void tool_set_name(const char *command);
const char *tool_name(void);

/* One line on stderr: "perfclock COMMAND: ...". */
void tool_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void tool_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* As tool_error(), with a hint at --help; returns TOOL_USAGE. */
int tool_usage(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Why there is no policy of that name; returns the exit status. */
int tool_policy_failed(const char *name, int err);

/*
 * Flush stdout. Returns status, or TOOL_FAILED, with a message, if what was
 * printed did not arrive. To be called once, at the end.
 */
int tool_close_stdout(int status);

/* Allocation that ends the program when memory is out. */
void *tool_alloc(size_t n, size_t size);	/* zeroed */
void *tool_realloc(void *p, size_t n, size_t size);
char *tool_strdup(const char *s);
char *tool_printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Whole strings only; false: not such a number, or out of range. */
bool parse_u64(const char *s, uint64_t *value);
/* A decimal number >= 0, times unit: "1.5" and 10^9 give 1500000000. */
bool parse_scaled(const char *s, uint64_t unit, uint64_t *value);
/* "0-3,5": sorted, without doubles; the caller frees. NULL: bad list. */
int *parse_int_list(const char *s, unsigned int *nr);

/* Read a small file whole, NUL-terminated; the caller frees. NULL: errno. */
char *read_whole_file(const char *path, size_t *size);

#endif /* TOOLS_COMMON_H */
