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
 *    timekeeper is steered. perf stamps by the NMI-safe copy of the
 *    timekeeper, clock_gettime() reads another copy, and the kernel updates
 *    one after the other, so for that moment t may come from a steeper slope
 *    than the stamps. They differ by (time since the update began) * (change
 *    of slope). An update runs with interrupts off: one that began before the
 *    last round but one was waited for by a grace period or a visit since. So
 *    its age is at most what the last two rounds took, and SLOPE_CHANGE of
 *    that is taken off (NTP steers by 500 ppm at most, either way; while an
 *    adjtimex() by ticks is under way it may be more, and then the update
 *    would have to be stalled in the middle as well), SLOPE_SLACK_NS in any
 *    case. CLOCK_MONOTONIC_RAW is not steered: it needs none of this.
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

#define SLOPE_CHANGE_PPM	1000
#define SLOPE_SLACK_NS		2000
/* Taken as the time of the rounds before the first. */
#define FIRST_ROUND_NS		100000000

struct bound {
	struct source *src;	/* of this thread */
	struct worker *worker;
	struct cpus cpus;
	bool always_visit;	/* the visit is the proof */
	bool visited;		/* by the last bound_read() */
	uint64_t begin, last_begin;	/* CLOCK_MONOTONIC, rounds */
	uint64_t margin;	/* taken off by the last round, ns */
};

/* In the thread that will use it. -errno, explained in o->error. */
int bound_init(struct bound *b, struct source *src, struct worker *worker,
	       bool always_visit, const struct perfclock_open_opts *o);
void bound_free(struct bound *b);

/*
 * Find t; the margin is not yet taken off. -EPERM: a CPU can't be visited;
 * -ECANCELED: told to stop; -errno of the source.
 */
int bound_read(struct bound *b, uint64_t *t);

/* After what makes t safe: what is left of it when the margin is off. */
uint64_t bound_finish(struct bound *b, uint64_t t);

#endif /* PERFCLOCK_WATERMARK_BOUND_H */
