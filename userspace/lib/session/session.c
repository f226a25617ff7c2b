// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* The life of a session: new, start, poll, stop, finish, free. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "clock/futex.h"
#include "opts.h"
#include "session/internal.h"
#include "session/threads.h"

#define MEMORY_DEFAULT	((size_t)256 << 20)
#define MEMORY_LEAST	((size_t)1 << 20)
/* All rings share the first, but each has no less or more than the others. */
#define RINGS_DEFAULT	((size_t)64 << 20)
#define RING_SMALL	((size_t)4 << 20)
#define RING_BIG	((size_t)16 << 20)
#define INTERVAL_DEFAULT 10000000
#define ADOPTED_WAIT	1000000000
#define HOME_BYTES	4096	/* of a page that a fork wipes */

int pc_session_fail(struct perfclock_session *s, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(s->error, sizeof(s->error), fmt, ap);
	va_end(ap);
	return err;
}

void pc_session_unproven(struct perfclock_session *s, const char *fmt, ...)
{
	va_list ap;

	s->stats.proven = false;
	if (s->stats.unproven_reason[0])
		return;
	va_start(ap, fmt);
	vsnprintf(s->stats.unproven_reason, sizeof(s->stats.unproven_reason),
		  fmt, ap);
	va_end(ap);
}

const char *perfclock_session_error(const struct perfclock_session *s)
{
	return s->error;
}

static int take_cpus(struct perfclock_session *s, unsigned int nr,
		     const int *cpus)
{
	if (!nr)
		return 0;
	if (!cpus)
		return pc_session_fail(s, -EINVAL,
				       "nr_cpus is set but cpus is NULL");
	s->cpus = malloc(nr * sizeof(*cpus));
	if (!s->cpus)
		return pc_session_no_memory(s);
	memcpy(s->cpus, cpus, nr * sizeof(*cpus));
	s->nr_cpus = nr;
	return pc_cpus_check(s);
}

int pc_session_no_memory(struct perfclock_session *s)
{
	return pc_session_fail(s, -ENOMEM, "out of memory");
}

/*
 * Few CPUs make as many events each as many do, and the reader has one of them
 * less often: their rings may be bigger.
 */
static size_t default_ring(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	size_t size = RING_BIG;

	while (size > RING_SMALL && size * cpus > RINGS_DEFAULT)
		size /= 2;
	return size;
}

static int take_sizes(struct perfclock_session *s,
		      const struct perfclock_session_opts *o)
{
	size_t page = sysconf(_SC_PAGESIZE);

	if (o->mmap_pages & (o->mmap_pages - 1))
		return pc_session_fail(s, -EINVAL,
			"mmap pages: %u is not a power of two", o->mmap_pages);
	s->ring_bytes = o->mmap_pages ? o->mmap_pages * page : default_ring();
	s->ring_auto = !o->mmap_pages;
	s->memory_max = o->memory_max ? o->memory_max : MEMORY_DEFAULT;
	if (s->memory_max < MEMORY_LEAST)
		return pc_session_fail(s, -EINVAL,
			"memory bound: %zu bytes, but at least %zu are needed",
			s->memory_max, MEMORY_LEAST);
	s->wakeup_bytes = o->wakeup_bytes;
	return 0;
}

static int open_clock(struct perfclock_session *s,
		      const struct perfclock_session_opts *o,
		      enum perfclock_clockid clock)
{
	struct perfclock_open_opts co = {
		.sz = sizeof(co),
		.clock = clock,
		.source = o->source,
		.provider = o->provider,
		.device = o->device,
		.nr_cpus = s->nr_cpus,
		.cpus = s->cpus,
		.pace_ns = o->pace_ns,
		.error = s->error,
		.error_size = sizeof(s->error),
	};
	int err;

	if (o->flags & PERFCLOCK_SESSION_EXPEDITED)
		co.flags |= PERFCLOCK_OPEN_EXPEDITED;
	err = perfclock_open(&s->clock, &co);
	if (!err)
		s->clockid = clock;
	return err;
}

/* Is the module here, and does it serve the perf clock? */
static bool module_serves_perf(const struct perfclock_session_opts *o)
{
	struct perfclock_open_opts co = {
		.sz = sizeof(co), .clock = PERFCLOCK_PERF,
		.provider = "module", .device = o->device,
	};
	struct perfclock_choice c = { .sz = sizeof(c) };
	unsigned int i;

	for (i = 0; perfclock_probe_provider(i, &co, &c) == 1; i++)
		if (!strcmp(c.name, "module"))
			return c.available;
	return false;
}

static int choose_clock(struct perfclock_session *s,
			const struct perfclock_session_opts *o)
{
	struct perfclock_info info = { .sz = sizeof(info) };
	enum perfclock_clockid clock = o->clock;
	int err;

	if (o->flags & PERFCLOCK_SESSION_CLOCK_AUTO)
		clock = module_serves_perf(o) ? PERFCLOCK_PERF :
						PERFCLOCK_MONOTONIC;
	err = open_clock(s, o, clock);
	if (err)
		return err;
	err = perfclock_get_info(s->clock, &info);
	if (err)
		return pc_session_fail(s, err, "clock: %s", strerror(-err));
	s->stats.proven = s->proven_provider = info.proven;
	s->provider = info.provider;
	s->dear_clock = !strcmp(info.source, "comm-record");
	if (!info.proven)
		pc_session_unproven(s, "provider %s guesses", info.provider);
	return 0;
}

static int make_readers(struct perfclock_session *s, unsigned int nr)
{
	unsigned int i;

	s->nr_readers = nr ? nr : 1;
	s->rings = calloc(PC_MAX_RINGS, sizeof(*s->rings));
	s->readers = calloc(s->nr_readers, sizeof(*s->readers));
	if (!s->rings || !s->readers)
		return pc_session_no_memory(s);
	for (i = 0; i < s->nr_readers; i++)
		if (pc_reader_init(&s->readers[i], s))
			return pc_session_no_memory(s);
	s->want_threads = nr > 0;
	return 0;
}

static int session_init(struct perfclock_session *s,
			const struct perfclock_session_opts *o)
{
	struct perfclock_order_opts oo = { .sz = sizeof(oo), .late = o->late };
	unsigned int i;
	int err;

	if (o->flags & ~(PERFCLOCK_SESSION_EXPEDITED |
			 PERFCLOCK_SESSION_INHERIT |
			 PERFCLOCK_SESSION_CLOCK_AUTO |
			 PERFCLOCK_SESSION_OVERWRITE))
		return pc_session_fail(s, -EINVAL, "unknown session flags");
	if (o->flags & PERFCLOCK_SESSION_OVERWRITE && o->readers)
		return pc_session_fail(s, -EINVAL, "rings that are read on "
				       "demand need no reader threads");
	s->flags = o->flags;
	s->late = o->late;
	s->wait_method = o->wait;
	s->interval_ns = o->interval_ns == UINT64_MAX ? INTERVAL_DEFAULT :
							o->interval_ns;
	err = take_sizes(s, o);
	if (!err)
		err = take_cpus(s, o->nr_cpus, o->cpus);
	if (!err)
		err = pc_target_init(s, o);
	if (!err)
		err = make_readers(s, o->readers);
	if (err)
		return err;
	oo.memory_max = s->memory_max;
	err = perfclock_order_new(&s->order, 0, &oo);
	if (err)
		return pc_session_fail(s, err, "order queue: %s",
				       strerror(-err));
	for (i = 0; i < s->nr_readers; i++)
		s->readers[i].round.order = s->order;
	err = choose_clock(s, o);
	if (err)
		return err;
	return pc_wait_init(s);
}

static void tell_caller(const struct perfclock_session *s,
			const struct perfclock_session_opts *o)
{
	if (o->error && o->error_size)
		snprintf(o->error, o->error_size, "%s", s->error);
}

/*
 * A child that was forked has the session's memory, but neither its rings'
 * (the kernel does not copy those) nor its threads; and what it does to the
 * files it does to the parent's session.
 */
static void note_home(struct perfclock_session *s)
{
	s->here = wiped_on_fork_new(HOME_BYTES);
	if (s->here)
		*s->here = 1;
}

bool pc_session_is_forked(const struct perfclock_session *s)
{
	return s->here && !*s->here;
}

int pc_session_refuse_forked(struct perfclock_session *s)
{
	if (!pc_session_is_forked(s))
		return 0;
	return pc_session_fail(s, -ECHILD, "session: of the process that "
			       "forked this one; here it can only be freed");
}

int perfclock_session_new(struct perfclock_session **sp,
			  const struct perfclock_session_opts *opts)
{
	struct perfclock_session_opts o;
	struct perfclock_session *s;
	int err;

	if (!sp)
		return -EINVAL;
	*sp = NULL;
	err = opts_copy(&o, sizeof(o), opts);
	if (err)
		return err;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	pthread_mutex_init(&s->lock, NULL);
	s->stop_fd = s->epoll_fd = s->mark_fd = -1;
	s->online_fd = s->message_fd = -1;
	s->target.cgroup_fd = s->target.child_fd = -1;
	s->online_path = PC_CPUS_ONLINE;
	note_home(s);
	err = session_init(s, &o);
	if (err) {
		tell_caller(s, &o);
		perfclock_session_free(s);
		return err;
	}
	pc_stats_publish(s);
	*sp = s;
	return 0;
}

void perfclock_session_free(struct perfclock_session *s)
{
	unsigned int i;

	if (!s)
		return;
	pc_threads_fini(s);
	pc_session_close(s);
	pc_hotplug_fini(s);
	pc_wait_fini(s);
	pc_target_fini(s);
	perfclock_close(s->clock);
	perfclock_order_free(s->order);
	for (i = 0; i < s->nr_events; i++) {
		free(s->events[i].name);
		free(s->events[i].filter);
	}
	free(s->events);
	free(s->cpus);
	for (i = 0; s->readers && i < s->nr_readers; i++)
		pc_reader_fini(&s->readers[i]);
	free(s->readers);
	free(s->published_rings);
	pthread_mutex_destroy(&s->lock);
	if (s->here)
		munmap(s->here, HOME_BYTES);
	free(s);
}

struct perfclock *perfclock_session_clock(struct perfclock_session *s)
{
	return s->clock;
}

int perfclock_session_observe(struct perfclock_session *s,
			      const struct perfclock_session_observer *ob)
{
	int err = opts_copy(&s->observer, sizeof(s->observer), ob);

	return err ? pc_session_fail(s, err, "observer: bad opts") : 0;
}

/* Nothing of ours stays open; adopted rings stay. */
static int start_failed(struct perfclock_session *s, int err)
{
	pc_threads_fini(s);
	pc_hotplug_fini(s);
	pc_session_close_ours(s);
	return err;
}

/* The steps that can't be taken twice: what was read or forked is gone. */
static int set_going(struct perfclock_session *s)
{
	int err = s->want_threads ? pc_threads_start(s) : 0;

	if (err)
		pc_session_fail(s, err, "reader threads: %s", strerror(-err));
	else
		err = pc_exec_go(s);
	if (err)
		s->state = PC_SESSION_FINISHED;
	return err;
}

int perfclock_session_start(struct perfclock_session *s)
{
	int err = pc_session_refuse_forked(s);

	if (err)
		return err;
	if (s->state != PC_SESSION_NEW)
		return pc_session_fail(s, -EINVAL, "session: started before");
	if (!s->nr_events)
		return pc_session_fail(s, -EINVAL, "session: no events");
	err = pc_session_open(s);
	if (!err) {
		pc_hotplug_init(s);
		err = set_going(s);
	}
	if (err)
		return start_failed(s, err);
	s->state = PC_SESSION_RUNNING;
	pc_stats_publish(s);
	return 0;
}

long perfclock_session_poll(struct perfclock_session *s, int timeout_ms,
			    perfclock_event_fn fn, void *ctx)
{
	long ret = pc_session_refuse_forked(s);

	if (ret)
		return ret;
	if (s->state != PC_SESSION_RUNNING ||
	    s->flags & PERFCLOCK_SESSION_OVERWRITE)
		return pc_session_fail(s, -EINVAL, "poll: of a running "
				       "session that does not overwrite only");
	/* A round left open goes on at once. */
	if (s->threads || !s->readers[0].round.open) {
		ret = pc_wait(s, timeout_ms);
		if (ret)
			return ret;
	}
	if (atomic_load(&s->stopped))
		return -ESHUTDOWN;
	ret = pc_hotplug_check(s);
	if (ret)
		return ret;
	s->fn = fn;
	s->fn_ctx = ctx;
	ret = pc_round(s);
	pc_stats_publish(s);
	return ret;
}

/*
 * Events of adopted rings are the caller's and may be on: what they have
 * stamped until now is waited for, so that it is all there.
 */
static void wait_for_adopted(struct perfclock_session *s)
{
	unsigned int i;
	uint64_t now;

	for (i = 0; i < s->nr_events && !s->events[i].adopted; i++)
		;
	if (i < s->nr_events && !perfclock_now(s->clock, &now))
		perfclock_watermark_wait(s->clock, now, ADOPTED_WAIT);
}

long perfclock_session_finish(struct perfclock_session *s,
			      perfclock_event_fn fn, void *ctx)
{
	long ret = pc_session_refuse_forked(s);

	if (ret)
		return ret;
	if (s->state == PC_SESSION_NEW)
		return pc_session_fail(s, -EINVAL, "session: not started");
	if (s->state == PC_SESSION_FINISHED)
		return 0;
	pc_session_disable(s);
	wait_for_adopted(s);
	s->state = PC_SESSION_FINISHED;
	s->fn = fn;
	s->fn_ctx = ctx;
	ret = pc_round_last(s);
	pc_stats_publish(s);
	return ret;
}
