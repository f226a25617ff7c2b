// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* Rings that the caller has mapped already, as libbpf and libperf do. */
#include <errno.h>
#include <string.h>

#include "opts.h"
#include "session/internal.h"

/* The clock that stamps the caller's records must be the session's. */
static int same_clock(struct perfclock_session *s,
		      const struct perf_event_attr *attr)
{
	struct perf_event_attr ours;

	memset(&ours, 0, sizeof(ours));
	pc_attr_clock(s, &ours);
	if (attr->use_clockid == ours.use_clockid &&
	    (!attr->use_clockid || attr->clockid == ours.clockid))
		return 0;
	return pc_session_fail(s, -EINVAL,
		"adopted ring: its events are stamped by another clock (%s %d)"
		" than the session's, %s",
		attr->use_clockid ? "clockid" : "perf's default,",
		attr->use_clockid ? attr->clockid : 0,
		perfclock_clock_name(s->clockid));
}

static int check(struct perfclock_session *s,
		 const struct perfclock_adopt_opts *o)
{
	int err;

	if (s->state != PC_SESSION_NEW)
		return pc_session_fail(s, -EINVAL,
			"adopted ring: the session has started");
	if (!o->base || !o->attr)
		return pc_session_fail(s, -EINVAL,
			"adopted ring: base and attr are needed");
	if (!(o->attr->sample_type & PERF_SAMPLE_TIME))
		return pc_session_fail(s, -EINVAL,
			"adopted ring: without PERF_SAMPLE_TIME there is no "
			"stamp to order by");
	if (o->attr->write_backward)
		return pc_session_fail(s, -EINVAL,
			"adopted ring: it is written backward");
	err = same_clock(s, o->attr);
	return err ? err : pc_event_conditions(s, "adopted", o->attr);
}

int perfclock_session_adopt(struct perfclock_session *s,
			    const struct perfclock_adopt_opts *opts)
{
	struct perfclock_adopt_opts o;
	struct pc_session_ring *r;
	struct pc_event *e;
	int err, event, ring;

	err = opts_copy(&o, sizeof(o), opts);
	if (err)
		return pc_session_fail(s, err, "adopted ring: bad opts");
	err = check(s, &o);
	if (err)
		return err;
	event = pc_event_slot(s, "adopted");
	if (event < 0)
		return event;
	e = &s->events[event];
	memcpy(&e->attr, o.attr, sizeof(e->attr));
	e->adopted = true;
	e->user = o.user;
	pc_layout_init(&e->layout, &e->attr);
	ring = pc_ring_slot(s);
	if (ring < 0)
		return ring;
	r = &s->rings[ring];
	err = pc_ring_init(&r->ring, o.base, o.size);
	if (err)
		return pc_session_fail(s, err, "adopted ring: %zu bytes are "
			"no perf mmap (a page and 2^n pages)", o.size);
	r->fd = o.fd;
	r->cpu = r->stats.cpu = o.cpu;
	r->event = r->first_event = event;
	r->dead = false;
	if (!e->attr.sample_id_all)
		pc_session_unproven(s, "adopted ring without sample_id_all: "
				    "side-band records have no stamp");
	return event;
}
