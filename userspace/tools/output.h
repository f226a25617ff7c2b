/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where lines go: gathered in memory, written in large pieces, and only whole
 * lines, so that a reader never sees half of one.
 */
#ifndef TOOLS_OUTPUT_H
#define TOOLS_OUTPUT_H

#include <stdbool.h>

#include "text.h"

struct output {
	struct text text;
	int fd;
	bool terminal;
	int error;		/* errno of the first failed write; 0 */
};

void output_init(struct output *o, int fd);
void output_free(struct output *o);

/* To be called when a line is complete. -errno once writing has failed. */
int output_flush(struct output *o);
static inline int output_line_done(struct output *o)
{
	if (__builtin_expect(o->text.used < (256 << 10), 1))
		return -o->error;
	return output_flush(o);
}

/* The reader of a pipe or socket is gone. */
bool output_reader_gone(const struct output *o);
/* One message about o->error. */
void output_tell_error(const struct output *o);

#endif /* TOOLS_OUTPUT_H */
