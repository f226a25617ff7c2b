// SPDX-License-Identifier: GPL-2.0
/* The work of "perfclock stat": see stat_run.h. */
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "stat_run.h"

void stat_run_init(struct stat_run *r, const struct stat_def *def,
		   struct comms *comms)
{
	memset(r, 0, sizeof(*r));
	r->def = def;
	r->comms = comms;
	pairs_init(&r->pairs);
}

void stat_run_free(struct stat_run *r)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(r->events); i++)
		free(r->events[i]);
	read_order_free(&r->order);
	pairs_free(&r->pairs);
}

int stat_run_event(struct stat_run *r, unsigned int n,
		   struct live_tracepoint *tp, int role)
{
	r->events[n] = tool_alloc(1, sizeof(*r->events[n]));
	tp->role = n;
	return stat_event_init(r->events[n], r->def, tp->name, tp->tep, role);
}

static void take_end(struct stat_run *r, const struct stat_event *e,
		     const struct perfclock_event *ev, uint64_t read)
{
	struct pair_key key;
	uint64_t ns;

	if (!stat_event_key(e, r->def, ev, &key))
		return;
	if (r->def->skip_idle && !key.part[0])
		return;
	pairs_end(&r->pairs, &key, ev->stamp, read, &ns);
}

static void take_begin(struct stat_run *r, const struct stat_event *e,
		       const struct perfclock_event *ev, uint64_t read)
{
	const struct live_tracepoint *tp = ev->user;
	struct group_key group_key;
	struct pair_key key;
	unsigned int group;
	bool is_new;

	if (!stat_event_key(e, r->def, ev, &key) ||
	    !stat_event_group(e, r->def, ev, r->comms, &group_key))
		return;
	group = pairs_group(&r->pairs, &group_key, &is_new);
	if (is_new)
		r->pairs.groups[group].name =
			stat_group_name(e, r->def, ev, r->comms, tp->tep);
	pairs_begin(&r->pairs, &key, ev->stamp, read, group,
		    r->def->keep_first);
}

void stat_run_take(struct stat_run *r, const struct perfclock_event *ev)
{
	const struct live_tracepoint *tp = ev->user;
	const struct stat_event *e;
	uint64_t read;

	read = read_order_delivered(&r->order, ev->ring, ev->stamp);
	if (ev->type != PERF_RECORD_SAMPLE) {
		comms_take_record(r->comms, ev);
		return;
	}
	if (!tp || !ev->raw)
		return;
	r->records++;
	e = r->events[tp->role];
	if (e->role & STAT_END)
		take_end(r, e, ev, read);
	if (e->role & STAT_BEGIN)
		take_begin(r, e, ev, read);
}
