/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A file that gets its name when it is complete, and replaces nothing. Until
 * then it has no name at all, so that whatever ends the program, SIGKILL and
 * a crash included, leaves nothing behind. Where the file system can't do
 * that it has a temporary name beside its own, which signals that can be
 * caught remove.
 */
#ifndef TOOLS_NEW_FILE_H
#define TOOLS_NEW_FILE_H

#include <sys/types.h>

struct new_file {
	const char *name;
	int fd;			/* -1: none */
};

/* One at a time. 0, or TOOL_FAILED with a message. */
int new_file_open(struct new_file *f, const char *name, mode_t mode);
/* It is complete: give it its name. 0, or TOOL_FAILED with a message. */
int new_file_finish(struct new_file *f);
/* Away with what new_file_finish() did not name; fd -1: nothing. */
void new_file_drop(struct new_file *f);

#endif /* TOOLS_NEW_FILE_H */
