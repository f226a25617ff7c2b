/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The text of a tracepoint record's fields, as libtraceevent prints it. Most
 * events' print formats are compiled, which costs a small part of the time;
 * what can't be compiled is handed to libtraceevent record by record.
 */
#ifndef TOOLS_FORMAT_H
#define TOOLS_FORMAT_H

#include <stdbool.h>

#include <event-parse.h>

#include "text.h"

struct event_format;

struct event_format *event_format_new(struct tep_event *event);
void event_format_free(struct event_format *f);
/* false: libtraceevent prints this event. */
bool event_format_compiled(const struct event_format *f);

/*
 * data: the raw bytes of a sample, common fields included. Of a record that is
 * too short for its fields nothing is read, which the text says.
 */
void event_format_print(struct event_format *f, struct text *t,
			const void *data, unsigned int size);
/* Always by libtraceevent: the reference. */
void event_format_print_reference(struct event_format *f, struct text *t,
				  const void *data, unsigned int size);

#endif /* TOOLS_FORMAT_H */
