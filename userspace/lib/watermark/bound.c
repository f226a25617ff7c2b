// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* A time that is not above what the clock of any CPU shows: see bound.h. */
#include <errno.h>

#include "clock/fail.h"
#include "clock/futex.h"
#include "watermark/bound.h"

int bound_init(struct bound *b, struct source *src, struct worker *worker,
	       bool always_visit, const struct perfclock_open_opts *o)
{
	b->src = src;
	b->worker = worker;
	b->always_visit = always_visit;
	b->begin = mono_ns() - FIRST_ROUND_NS;
	return cpus_init(&b->cpus, o);
}

void bound_free(struct bound *b)
{
	cpus_free(&b->cpus);
}

/* Lower *t to what this CPU shows. */
static int visit(struct bound *b, int cpu, uint64_t *t)
{
	uint64_t ns;
	int err = cpus_enter(&b->cpus, cpu);

	if (err)
		return err;
	err = source_read(b->src, &ns);
	if (err)
		return err;
	/* It went offline meanwhile, or somebody moved us. */
	if (sched_getcpu() != cpu)
		return -EAGAIN;
	if (ns < *t)
		*t = ns;
	return 0;
}

static int visit_until_done(struct bound *b, int cpu, uint64_t *t)
{
	int err;

	do {
		if (worker_stopped(b->worker))
			return -ECANCELED;
		err = visit(b, cpu, t);
	} while (err == -EAGAIN);
	/* Offline: nothing runs there; see 3. in bound.h. */
	return err == -ENXIO ? 0 : err;
}

static int visit_all(struct bound *b, uint64_t *t)
{
	int cpu, err = cpus_look(&b->cpus);

	for (cpu = 0; !err && cpu < b->cpus.max; cpu++)
		if (cpus_wanted_online(&b->cpus, cpu))
			err = visit_until_done(b, cpu, t);
	return err;
}

int bound_read(struct bound *b, uint64_t *t)
{
	int err;

	b->last_begin = b->begin;
	b->begin = mono_ns();
	err = source_read(b->src, t);
	if (err)
		return err;
	err = b->src->ops->agree(b->src, &b->margin);
	if (err && err != -EXDEV)
		return err;
	b->visited = err || b->always_visit;
	return b->visited ? visit_all(b, t) : 0;
}

uint64_t bound_finish(struct bound *b, uint64_t t)
{
	if (b->src->clock == PERFCLOCK_MONOTONIC ||
	    b->src->clock == PERFCLOCK_BOOTTIME)
		b->margin += SLOPE_SLACK_NS + (mono_ns() - b->last_begin) *
			     SLOPE_CHANGE_PPM / 1000000;
	return t > b->margin ? t - b->margin : 0;
}
