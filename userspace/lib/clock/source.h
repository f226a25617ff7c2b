/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * Internal: sources. A source tells the time of one clock as perf stamps it.
 *
 *	source		perf	monotonic, raw, boottime	needs
 *	module		yes	yes				the module
 *	perf-page	yes	-				a stable, native sched_clock
 *	comm-record	yes	yes				perf events on oneself
 *	clockid		-	yes				nothing
 *
 * A read gives the clock of the CPU that the reading code ran on, at some
 * moment between call and return.
 */
#ifndef PERFCLOCK_CLOCK_SOURCE_H
#define PERFCLOCK_CLOCK_SOURCE_H

#include <perfclock/clock.h>

struct source;

struct source_ops {
	const char *name;
	unsigned int clocks;		/* bit n: serves clock n */
	/*
	 * Open s->priv for s->clock. Sets s->resolution. -errno, explained
	 * in o->error: -ENODEV, -EOPNOTSUPP, -EACCES, -EPERM, -EPROTO, ...
	 */
	int (*open)(struct source *s, const struct perfclock_open_opts *o);
	void (*close)(struct source *s);
	int (*read)(struct source *s, uint64_t *ns);
	/*
	 * Do all CPUs agree about this clock now? Then 0, and in *margin by
	 * how much a read may be ahead of what any CPU shows at that moment.
	 * -EXDEV: nobody can tell; only what is read on a CPU holds there.
	 */
	int (*agree)(struct source *s, uint64_t *margin);
};

#define SOURCE_CLOCK(c)		(1u << (c))
#define SOURCE_POSIX_CLOCKS	(SOURCE_CLOCK(PERFCLOCK_MONOTONIC) | \
				 SOURCE_CLOCK(PERFCLOCK_MONOTONIC_RAW) | \
				 SOURCE_CLOCK(PERFCLOCK_BOOTTIME))

/*
 * How far two CPUs whose clocks agree may differ, ns. The kernel calls clocks
 * stable only if its own test saw no step back between CPUs; what is left is
 * that the kernel's plain rdtsc may be executed ahead of what precedes it, by
 * no more than an out-of-order window (some hundred instructions, a cache
 * miss or two).
 */
#define SOURCE_SKEW_NS		1000

struct source {
	const struct source_ops *ops;
	enum perfclock_clockid clock;
	uint64_t resolution;		/* ns */
	/*
	 * Set before open by a thread of the library's own that will be the
	 * only one to read: what belongs to a thread needs no other then.
	 */
	bool own_thread;
	void *priv;
};

/* Cheapest first. NULL past the end. */
const struct source_ops *source_ops_at(unsigned int i,
				       enum perfclock_clockid clock);
const struct source_ops *source_ops_by_name(const char *name);

/* Open one by its ops, or by o->source: named, or the cheapest that opens. */
int source_open_ops(struct source *s, const struct source_ops *ops,
		    const struct perfclock_open_opts *o);
int source_open(struct source *s, const struct perfclock_open_opts *o);
void source_close(struct source *s);

/* What one read takes, ns: the least of several. */
uint64_t source_cost(struct source *s);

static inline int source_read(struct source *s, uint64_t *ns)
{
	return s->ops->read(s, ns);
}

/* clockid_t of a POSIX clock; -1 for the perf clock. */
int source_clockid(enum perfclock_clockid clock);

extern const struct source_ops source_clockid_ops;
extern const struct source_ops source_comm_record;
extern const struct source_ops source_module;
extern const struct source_ops source_perf_page;

#endif /* PERFCLOCK_CLOCK_SOURCE_H */
