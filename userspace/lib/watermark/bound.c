// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* A time that is not above what the clock of any CPU shows: see bound.h. */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <unistd.h>

#include "clock/fail.h"
#include "clock/futex.h"
#include "watermark/bound.h"

/* Not steered, so it measures what steering does. */
static uint64_t raw_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

int bound_init(struct bound *b, struct source *src, struct worker *worker,
	       bool always_visit, const struct perfclock_open_opts *o)
{
	b->src = src;
	b->worker = worker;
	b->always_visit = always_visit;
	b->begin = raw_ns() - FIRST_ROUND_NS;
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

/* A CPU that takes no tasks may still make records: no t without it. */
static int visit_until_done(struct bound *b, int cpu, uint64_t *t)
{
	const uint64_t end = raw_ns() + VISIT_PATIENCE_NS;
	int err;

	do {
		if (worker_stopped(b->worker))
			return -ECANCELED;
		err = visit(b, cpu, t);
		if (err == -EAGAIN && raw_ns() > end)
			err = -EBUSY;
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

static bool steered(const struct bound *b)
{
	return b->src->clock == PERFCLOCK_MONOTONIC ||
	       b->src->clock == PERFCLOCK_BOOTTIME;
}

/*
 * After it, no update of the timekeeper is under way that was before. By its
 * number: filters that allow this call may refuse the one glibc makes of it.
 */
static bool let_update_end(void)
{
	struct timex nothing;

	memset(&nothing, 0, sizeof(nothing));
	return syscall(SYS_adjtimex, &nothing) >= 0;
}

/* Read t between two of these; *age: of an update that it may come from. */
static int read_steered(struct bound *b, uint64_t *t, uint64_t *age)
{
	uint64_t since = raw_ns();
	bool ended = let_update_end();
	int err = source_read(b->src, t);

	*age = raw_ns();
	if (!ended || !let_update_end())
		since = b->last_begin;
	*age -= since;
	return err;
}

int bound_read(struct bound *b, uint64_t *t)
{
	uint64_t age = 0;
	int err;

	b->last_begin = b->begin;
	b->begin = raw_ns();
	err = steered(b) ? read_steered(b, t, &age) : source_read(b->src, t);
	if (err)
		return err;
	err = b->src->ops->agree(b->src, &b->margin);
	if (err && err != -EXDEV)
		return err;
	b->margin += SLOPE_CHANGE(age);
	b->visited = err || b->always_visit;
	return b->visited ? visit_all(b, t) : 0;
}

uint64_t bound_finish(const struct bound *b, uint64_t t)
{
	return t > b->margin ? t - b->margin : 0;
}
