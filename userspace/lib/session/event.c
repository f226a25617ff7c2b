// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* Adding events: what is asked for, made fit for ordering. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "opts.h"
#include "session/internal.h"

#define FREQ_DEFAULT	4000	/* samples a second, for what ticks */

/* What every record must tell: by whom, when, where, of which event. */
#define SAMPLE_NEEDED	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | \
			 PERF_SAMPLE_TIME | PERF_SAMPLE_CPU)

int pc_event_slot(struct perfclock_session *s, const char *name)
{
	struct pc_event *e;

	e = realloc(s->events, (s->nr_events + 1) * sizeof(*e));
	if (!e)
		return pc_session_no_memory(s);
	s->events = e;
	e += s->nr_events;
	memset(e, 0, sizeof(*e));
	e->name = strdup(name);
	if (!e->name)
		return pc_session_no_memory(s);
	return s->nr_events++;
}

void pc_attr_clock(const struct perfclock_session *s,
		   struct perf_event_attr *attr)
{
	static const int32_t clockid[PERFCLOCK_CLOCKS] = {
		[PERFCLOCK_MONOTONIC]		= CLOCK_MONOTONIC,
		[PERFCLOCK_MONOTONIC_RAW]	= CLOCK_MONOTONIC_RAW,
		[PERFCLOCK_BOOTTIME]		= CLOCK_BOOTTIME,
	};

	attr->use_clockid = s->clockid != PERFCLOCK_PERF;
	attr->clockid = clockid[s->clockid];
}

/* Does the attr's maker want another clock than the session has? */
static int check_clock(struct perfclock_session *s, const char *name,
		       const struct perf_event_attr *attr)
{
	struct perf_event_attr ours;

	memset(&ours, 0, sizeof(ours));
	pc_attr_clock(s, &ours);
	if (!attr->use_clockid ||
	    (ours.use_clockid && attr->clockid == ours.clockid))
		return 0;
	if (attr->clockid == CLOCK_REALTIME || attr->clockid == CLOCK_TAI)
		return pc_session_fail(s, -EINVAL,
			"event %s: a clock that can be set (clockid %d) has no "
			"watermark", name, attr->clockid);
	return pc_session_fail(s, -EINVAL,
		"event %s: its clockid is %d, but the session's clock is %s",
		name, attr->clockid, perfclock_clock_name(s->clockid));
}

/*
 * A BPF program that is preempted (fentry, LSM, uprobe on a preemptible
 * kernel) may stamp a record, be put aside, and publish it later, where the
 * helper does not turn preemption off by itself. Kernels from 6.5 on do, the
 * first candidates of 6.5 did not; older ones may, by a fix: who can't tell
 * must not promise.
 */
static bool bpf_output_preemptible(void)
{
	struct utsname u;
	unsigned int major, minor;

	if (uname(&u) || sscanf(u.release, "%u.%u", &major, &minor) != 2)
		return true;
	return major < 6 || (major == 6 && minor < 6);
}

/* Does the provider wait for sections that are preempted, too? */
static bool waits_for_preempted(const struct perfclock_session *s)
{
	if (!strcmp(s->provider, "cpu-visit"))
		return false;
	/* With one CPU the kernel's barrier is none. */
	return strcmp(s->provider, "membarrier") ||
	       sysconf(_SC_NPROCESSORS_ONLN) > 1;
}

static void check_bpf_output(struct perfclock_session *s, const char *name,
			     const struct perf_event_attr *attr)
{
	if (attr->type == PERF_TYPE_SOFTWARE &&
	    attr->config == PERF_COUNT_SW_BPF_OUTPUT &&
	    !waits_for_preempted(s) && bpf_output_preemptible())
		pc_session_unproven(s,
			"%s: BPF output may be preempted on kernels before "
			"6.6, and %s does not wait for it", name, s->provider);
}

int pc_event_conditions(struct perfclock_session *s, const char *name,
			const struct perf_event_attr *attr)
{
	int err = check_clock(s, name, attr);

	if (err)
		return err;
	if (attr->write_backward)
		return pc_session_fail(s, -EINVAL,
			"event %s: write_backward makes a ring that cannot be "
			"read in rounds", name);
	if (attr->inherit_stat)
		return pc_session_fail(s, -EINVAL,
			"event %s: inherit_stat is refused: its "
			"PERF_RECORD_READ is stamped where no grace period "
			"waits for it", name);
	if (attr->precise_ip && s->clockid == PERFCLOCK_PERF) {
		if (s->proven_provider)
			return pc_session_fail(s, -EINVAL,
				"event %s: precise_ip > 0 with the perf clock "
				"has hardware stamps of unbounded delay; use "
				"clock monotonic, or a backoff provider",
				name);
		pc_session_unproven(s, "%s: precise_ip with the perf clock",
				    name);
	}
	check_bpf_output(s, name, attr);
	return 0;
}

/* Period and sample bits by kind, where the caller gave no attr. */
static void defaults(struct perf_event_attr *attr)
{
	/* A tracepoint says where by its name. */
	if (attr->type != PERF_TYPE_TRACEPOINT)
		attr->sample_type |= PERF_SAMPLE_IP;
	if (attr->type == PERF_TYPE_TRACEPOINT) {
		attr->sample_period = 1;
		attr->sample_type |= PERF_SAMPLE_RAW;
	} else if (attr->type == PERF_TYPE_SOFTWARE &&
		   attr->config != PERF_COUNT_SW_CPU_CLOCK &&
		   attr->config != PERF_COUNT_SW_TASK_CLOCK) {
		attr->sample_period = 1;
		if (attr->config == PERF_COUNT_SW_BPF_OUTPUT)
			attr->sample_type |= PERF_SAMPLE_RAW;
	} else {
		/* The kernel lowers its limit when sampling takes too long. */
		long most = pc_read_setting("/proc/sys/kernel/"
					    "perf_event_max_sample_rate");

		attr->freq = 1;
		attr->sample_freq = most > 0 && most < FREQ_DEFAULT ?
				    most : FREQ_DEFAULT;
	}
}

/* What the session decides, whoever made the attr. */
static void fit(const struct perfclock_session *s,
		struct perf_event_attr *attr)
{
	attr->size = sizeof(*attr);
	attr->sample_type |= SAMPLE_NEEDED;
	attr->sample_id_all = 1;
	attr->disabled = 1;
	attr->watermark = 1;
	attr->write_backward = !!(s->flags & PERFCLOCK_SESSION_OVERWRITE);
	pc_attr_clock(s, attr);
}

static int make_attr(struct perfclock_session *s, const char *name,
		     const struct perfclock_event_opts *o,
		     struct perf_event_attr *attr)
{
	int err;

	memset(attr, 0, sizeof(*attr));
	if (o->attr) {
		/* Its size says how much of it the caller's compiler knew. */
		size_t size = o->attr->size ? o->attr->size : sizeof(*attr);

		if (size > sizeof(*attr))
			size = sizeof(*attr);
		memcpy(attr, o->attr, size);
	} else {
		err = pc_event_by_name(s, name, attr);
		if (err)
			return err;
		defaults(attr);
	}
	if (o->flags & ~PERFCLOCK_EVENT_GROUP ||
	    (o->flags & PERFCLOCK_EVENT_GROUP && !s->nr_events))
		return pc_session_fail(s, -EINVAL,
			"event %s: unknown flags, or no event before it to "
			"be grouped with", name);
	if (o->period && o->freq)
		return pc_session_fail(s, -EINVAL,
			"event %s: a period or a frequency, not both", name);
	if (o->period) {
		attr->freq = 0;
		attr->sample_period = o->period;
	} else if (o->freq) {
		attr->freq = 1;
		attr->sample_freq = o->freq;
	}
	if (o->filter && attr->type != PERF_TYPE_TRACEPOINT)
		return pc_session_fail(s, -EINVAL,
			"event %s: filters are for tracepoints", name);
	err = pc_event_conditions(s, name, attr);
	if (!err)
		fit(s, attr);
	return err;
}

int perfclock_session_add(struct perfclock_session *s, const char *name,
			  const struct perfclock_event_opts *opts)
{
	struct perfclock_event_opts o;
	struct perf_event_attr attr;
	int err, i;

	err = opts_copy(&o, sizeof(o), opts);
	if (err)
		return pc_session_fail(s, err, "event: bad opts");
	if (!name)
		return pc_session_fail(s, -EINVAL, "event: no name");
	if (s->state != PC_SESSION_NEW)
		return pc_session_fail(s, -EINVAL,
			"event %s: the session has started", name);
	err = make_attr(s, name, &o, &attr);
	if (err)
		return err;
	i = pc_event_slot(s, name);
	if (i < 0)
		return i;
	s->events[i].attr = attr;
	s->events[i].user = o.user;
	s->events[i].grouped = o.flags & PERFCLOCK_EVENT_GROUP;
	pc_layout_init(&s->events[i].layout, &attr);
	if (o.filter) {
		s->events[i].filter = strdup(o.filter);
		if (!s->events[i].filter) {
			free(s->events[--s->nr_events].name);
			return pc_session_no_memory(s);
		}
	}
	return i;
}

int perfclock_session_track_tasks(struct perfclock_session *s)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_IP,	/* perf script asks for it */
		.comm = 1, .comm_exec = 1, .task = 1,
		.mmap = 1, .mmap2 = 1, .mmap_data = 0,
		.exclude_kernel = 1,
	};
	struct perfclock_event_opts o = { .sz = sizeof(o), .attr = &attr };
	int i = perfclock_session_add(s, "tasks", &o);

	return i < 0 ? i : 0;
}

int perfclock_session_get_attr(const struct perfclock_session *s, int index,
			       struct perf_event_attr *attr, size_t size)
{
	size_t known = sizeof(*attr);

	if (index < 0 || (unsigned int)index >= s->nr_events ||
	    size < PERF_ATTR_SIZE_VER0)
		return -EINVAL;
	memset(attr, 0, size);
	memcpy(attr, &s->events[index].attr, size < known ? size : known);
	return 0;
}
