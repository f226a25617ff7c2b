/* SPDX-License-Identifier: GPL-2.0 */
/* A line on the terminal that tells how a long run is going. */
#ifndef TOOLS_STATUS_H
#define TOOLS_STATUS_H

#include <stdbool.h>
#include <stdint.h>

struct live;

struct status_line {
	bool on, shown;
	uint64_t next, last, last_events;
};

/* wanted: and stderr is a terminal. */
void status_line_init(struct status_line *s, bool wanted);
/* Once a second, from the third on. now: CLOCK_MONOTONIC, ns. */
void status_line_update(struct status_line *s, struct live *l, uint64_t now);
/* Wipe it, before anything else is said. */
void status_line_end(struct status_line *s);

#endif /* TOOLS_STATUS_H */
