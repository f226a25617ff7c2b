/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A record as a line, as perf script shows it:
 *
 *            uname   4711 [001] 12345.678901234: raw_syscalls:sys_enter: NR 63 ...
 *
 * or as a JSON object on a line.
 */
#ifndef TOOLS_LINE_H
#define TOOLS_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include <perfclock/session.h>

#include "comms.h"
#include "json.h"
#include "text.h"

enum line_time {
	LINE_TIME_ABSOLUTE,	/* of the clock */
	LINE_TIME_RELATIVE,	/* since the first record */
	LINE_TIME_DELTA,	/* since the record before */
	LINE_TIME_ISO		/* wall clock */
};

enum line_column {
	COLUMN_COMM, COLUMN_PID, COLUMN_TID, COLUMN_CPU, COLUMN_TIME,
	COLUMN_EVENT, COLUMN_TRACE,
	COLUMN_FIELD		/* one field of the event, by name */
};

struct line_spec {
	enum line_column column;
	char *field;
};

struct line_printer {
	struct comms *comms;
	enum line_time time;
	bool color;
	bool json;
	struct line_spec *columns;
	unsigned int nr_columns;
	/* Wall clock minus the session's clock, ns. */
	int64_t wall_offset;

	uint64_t first, last;	/* stamps */
	uint64_t second;	/* whose text is second_text; ~0: none */
	char second_text[40];
	unsigned int second_len;
	struct json object;
};

void line_init(struct line_printer *p, struct comms *comms);
void line_free(struct line_printer *p);
/* "comm,tid,time,..." -- returns 0, or TOOL_USAGE with a message. */
int line_set_columns(struct line_printer *p, const char *list);
/* Wall clock times need both clocks, read at one moment. */
void line_set_wall(struct line_printer *p, struct perfclock *clock);

/* ev->user is a struct live_tracepoint. */
void line_print(struct line_printer *p, struct text *t,
		const struct perfclock_event *ev);
/* A LOST record: a comment among the lines, an object among objects. */
void line_print_lost(struct line_printer *p, struct text *t,
		     const struct perfclock_event *ev);

#endif /* TOOLS_LINE_H */
