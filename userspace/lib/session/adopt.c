// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* Rings that the caller has mapped already, as libbpf and libperf do. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "opts.h"
#include "session/internal.h"

/* The clock that stamps the caller's records must be the session's. */
static int same_clock(struct perfclock_session *s,
		      const struct perf_event_attr *attr)
{
	if (attr->use_clockid || s->clockid == PERFCLOCK_PERF)
		return 0;	/* the rest: pc_event_conditions() */
	return pc_session_fail(s, -EINVAL,
		"adopted ring: its events are stamped by perf's default clock, "
		"but the session's clock is %s",
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
	if (s->flags & PERFCLOCK_SESSION_OVERWRITE)
		return pc_session_fail(s, -EINVAL,
			"adopted ring: not with a session that overwrites");
	err = same_clock(s, o->attr);
	return err ? err : pc_event_conditions(s, "adopted", o->attr);
}

static struct pc_session_ring *find_ring(struct perfclock_session *s,
					 const void *base)
{
	unsigned int i;

	for (i = 0; i < s->nr_rings; i++)
		if (s->rings[i] && s->rings[i]->ring.page == base)
			return s->rings[i];
	return NULL;
}

/* The event's id, which its records bear if several share the ring. */
static int add_id(struct perfclock_session *s, struct pc_session_ring *r,
		  const struct perfclock_adopt_opts *o, int event)
{
	uint64_t id = o->id;

	if (!id && ioctl(o->fd, PERF_EVENT_IOC_ID, &id))
		id = 0;
	if (r->event != event && /* the second one, or a later one */
	    (!id || !r->ids.used ||
	     !(o->attr->sample_type & PERF_SAMPLE_IDENTIFIER) ||
	     !(s->events[r->first_event].attr.sample_type &
	       PERF_SAMPLE_IDENTIFIER)))
		return pc_session_fail(s, -EINVAL, "adopted ring: several "
			"events in it need PERF_SAMPLE_IDENTIFIER, and an id");
	if (id && pc_ids_add(&r->ids, id, event))
		return pc_session_no_memory(s);
	if (r->event != event)
		r->event = -1;
	return 0;
}

static int take_ring(struct perfclock_session *s,
		     const struct perfclock_adopt_opts *o, int event)
{
	struct pc_session_ring *r = find_ring(s, o->base);
	int err;

	if (r)
		return add_id(s, r, o, event);
	err = pc_ring_new(s, &r);
	if (err)
		return err;
	err = pc_ring_init(&r->ring, o->base, o->size);
	if (err) {
		pc_session_fail(s, err, "adopted ring: %zu bytes are no perf "
				"mmap (a page and 2^n pages)", o->size);
		goto fail;
	}
	r->fd = o->fd;
	r->cpu = r->stats.cpu = o->cpu;
	r->event = r->first_event = event;
	err = add_id(s, r, o, event);
	if (!err)
		err = pc_wait_add_ring(s, r);
	if (!err)
		err = pc_ring_assign(s, r);
	if (!err)
		return 0;
fail:
	pc_ring_abandon(s, r);
	return err;
}

static int make_event(struct perfclock_session *s,
		      const struct perfclock_adopt_opts *o)
{
	size_t size = o->attr->size ? o->attr->size : sizeof(*o->attr);
	int event = pc_event_slot(s, "adopted");
	struct pc_event *e;

	if (event < 0)
		return event;
	e = &s->events[event];
	memcpy(&e->attr, o->attr, size < sizeof(e->attr) ? size :
							   sizeof(e->attr));
	e->adopted = true;
	e->user = o->user;
	pc_layout_init(&e->layout, &e->attr);
	return event;
}

int perfclock_session_adopt(struct perfclock_session *s,
			    const struct perfclock_adopt_opts *opts)
{
	struct perfclock_adopt_opts o;
	int err, event;

	err = opts_copy(&o, sizeof(o), opts);
	if (err)
		return pc_session_fail(s, err, "adopted ring: bad opts");
	err = check(s, &o);
	if (err)
		return err;
	event = make_event(s, &o);
	if (event < 0)
		return event;
	err = take_ring(s, &o, event);
	if (err) {
		free(s->events[--s->nr_events].name);
		return err;
	}
	if (!o.attr->sample_id_all)
		pc_session_unproven(s, "adopted ring without sample_id_all: "
				    "side-band records have no stamp");
	return event;
}
