/* SPDX-License-Identifier: GPL-2.0 */
/* The work of "perfclock stat", record by record, without a session. */
#ifndef TOOLS_STAT_RUN_H
#define TOOLS_STAT_RUN_H

#include "comms.h"
#include "pairs.h"
#include "read_order.h"
#include "stat_def.h"

struct stat_run {
	const struct stat_def *def;
	struct pairs pairs;
	struct comms *comms;
	struct read_order order;
	struct stat_event *events[3];	/* by live_tracepoint.role */
	uint64_t records;
};

void stat_run_init(struct stat_run *r, const struct stat_def *def,
		   struct comms *comms);
void stat_run_free(struct stat_run *r);
/* The n-th event (0 to 2) of the run; role: STAT_*. TOOL_FAILED: told. */
int stat_run_event(struct stat_run *r, unsigned int n,
		   struct live_tracepoint *tp, int role);
/* A record, in order; ev->user is a struct live_tracepoint or NULL. */
void stat_run_take(struct stat_run *r, const struct perfclock_event *ev);

#endif /* TOOLS_STAT_RUN_H */
