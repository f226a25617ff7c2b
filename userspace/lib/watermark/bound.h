/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * Internal: a time that is not above what the clock of any CPU shows.
 *
 * Both provers start from such a t. Let a record be stamped after the moment
 * at which t held: its stamp must not be below t. Three things could put it
 * there, and each has its answer:
 *
 * 1. CPUs disagree. Where the kernel says that they agree (the clocks of the
 *    timekeeper; a perf clock whose page or module says "stable"), what is
 *    left is below SOURCE_SKEW_NS, which is taken off. Where nobody can tell
 *    (the perf clock of most guests; an unstable TSC, where CPUs differ by up
 *    to about two ticks, and more if one slept) no constant is justified:
 *    every CPU is visited, the clock read on it, and the least is t. The perf
 *    clock of one CPU never steps back, so that t is right for each.
 *
 * 2. The slope of CLOCK_MONOTONIC and CLOCK_BOOTTIME changes when the
 *    timekeeper is steered. An update starts from a moment c and becomes
 *    visible later, in one copy of the timekeeper (clock_gettime()'s) before
 *    the other (perf's, which is NMI-safe). Until then the old slope is in
 *    use past c. So t, or a stamp made after it, may be off what the clock
 *    settles for by (time from c to the read of t) * (change of slope).
 *
 *    That time is kept short. adjtimex() without modes takes the
 *    timekeeper's lock, which an update holds from before c until all copies
 *    show it. Done before the read, it makes c younger than itself; done
 *    after it, no stamp made from then on knows an older slope than t did.
 *    What is left is SLOPE_CHANGE of the time from the first call to the
 *    read, mostly a microsecond.
 *
 *    Where a filter refuses adjtimex(): an update runs with interrupts off,
 *    so one that began before the last round did was waited for by that
 *    round's grace period or visit, and c is younger than that.
 *
 *    CLOCK_MONOTONIC_RAW is not steered: it needs none of this.
 *
 * 3. A CPU comes online between our look and the record. It shows no less
 *    than any CPU showed before, where CPUs agree; t also starts from a read
 *    before the look. Only with an unstable TSC might a CPU that has just
 *    come up lag behind, until its first tick.
 */
#ifndef PERFCLOCK_WATERMARK_BOUND_H
#define PERFCLOCK_WATERMARK_BOUND_H

#include <stdbool.h>

#include "clock/cpus.h"
#include "clock/source.h"
#include "clock/worker.h"

/*
 * From one end of adjtimex()'s range to the other: 10 % either way by tick,
 * and what the kernel may add to catch up (11 % in all), in raw time.
 */
#define SLOPE_CHANGE(ns)	((ns) / 4)
/* Taken as the time of the rounds before the first. */
#define FIRST_ROUND_NS		100000000
/* For a CPU that is neither online nor offline; then -EBUSY, and once more. */
#define VISIT_PATIENCE_NS	10000000000ull

struct bound {
	struct source *src;	/* of this thread */
	struct worker *worker;
	struct cpus cpus;
	bool always_visit;	/* the visit is the proof */
	bool visited;		/* by the last bound_read() */
	uint64_t begin, last_begin;	/* of rounds, CLOCK_MONOTONIC_RAW */
	uint64_t margin;	/* taken off by the last round, ns */
};

/* In the thread that will use it. -errno, explained in o->error. */
int bound_init(struct bound *b, struct source *src, struct worker *worker,
	       bool always_visit, const struct perfclock_open_opts *o);
void bound_free(struct bound *b);

/*
 * Find t; the margin is not yet taken off. -EPERM: a CPU can't be visited;
 * -EBUSY: one stays on its way on or off; -ECANCELED: told to stop; -errno of
 * the source.
 */
int bound_read(struct bound *b, uint64_t *t);

/* After what makes t safe: what is left of it when the margin is off. */
uint64_t bound_finish(const struct bound *b, uint64_t t);

#endif /* PERFCLOCK_WATERMARK_BOUND_H */
