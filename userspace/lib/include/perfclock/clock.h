/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * A clock and its watermark.
 *
 * A handle joins a *source*, which tells the time of one clock as perf stamps
 * it, and a *provider*, which moves the watermark of that clock. The watermark
 * is a value W with this promise: whoever loads W, and after it data_head
 * (acquire) of any perf ring, finds every record stamped strictly below W.
 *
 * All threads may use one handle at once. After a fork the provider's thread
 * is not in the child: there the providers membarrier and cpu-visit, and the
 * sources perf-page and comm-record, answer -ECHILD; closing is fine.
 */
#ifndef PERFCLOCK_CLOCK_H
#define PERFCLOCK_CLOCK_H

#include <perfclock/types.h>

PERFCLOCK_BEGIN_DECLS

struct perfclock;

/* perfclock_open_opts.flags */
#define PERFCLOCK_OPEN_EXPEDITED	(1u << 0) /* expedited grace periods,
						   * which only the provider
						   * "module" has; needs
						   * CAP_PERFMON or
						   * CAP_SYS_ADMIN */
#define PERFCLOCK_OPEN_NO_WATERMARK	(1u << 1) /* only the time is wanted:
						   * no provider is started,
						   * nor the module's engine */

struct perfclock_open_opts {
	size_t sz;		/* sizeof(struct perfclock_open_opts) */
	enum perfclock_clockid clock;
	/*
	 * Source by name: "module", "perf-page", "comm-record", "clockid";
	 * NULL or "auto": the cheapest that reads this clock here.
	 */
	const char *source;
	/*
	 * Provider by name: "module", "membarrier", "cpu-visit",
	 * "backoff=NS"; NULL or "auto": the best that is proven here.
	 * "auto" never falls back to "backoff".
	 */
	const char *provider;
	const char *device;	/* NULL: /dev/perf_clock */
	unsigned int flags;	/* PERFCLOCK_OPEN_* */
	unsigned int nr_cpus;	/* cpu-visit: CPUs whose rings are read; */
	const int *cpus;	/* NULL: all online */
	/*
	 * membarrier, cpu-visit: least time between the starts of two grace
	 * periods, ns; 0: 1 ms, or more where that would take more than an
	 * eighth of a CPU. Less lag for less, less CPU time for more.
	 */
	uint64_t pace_ns;
	/*
	 * The caller's, for one line of explanation on failure ("" on
	 * success); may be NULL.
	 */
	char *error;
	size_t error_size;
};

/*
 * perfclock_open() - open a clock with its watermark
 *
 * Returns 0 and sets *clkp, or sets it to NULL and returns: -EINVAL, -E2BIG
 * (bad opts, unknown name), -ENODEV (the named source or provider is absent
 * here), -EOPNOTSUPP (it cannot serve this clock, or has no expedited grace
 * periods and OPEN_EXPEDITED asks for them), -EACCES/-EPERM (rights), -EPROTO
 * (device of an unknown ABI), -EBUSY (a CPU stays half-way on or off for 10 s),
 * -EAGAIN (no more threads may be started), -ENOMEM, -EMFILE, or another
 * -errno of the system. With "auto" it is the error of the last that was tried.
 * opts->error then says what failed, of each that was tried, and what to do.
 */
int perfclock_open(struct perfclock **clkp,
		   const struct perfclock_open_opts *opts);

/* Stops the provider (joins its thread) and frees the handle. NULL is fine. */
void perfclock_close(struct perfclock *clk);

/*
 * Time of the clock, ns. 0, or -EIO (the source can't tell any longer: its
 * clock became unstable), -ECHILD (after a fork), or another -errno of the
 * source; *ns is then as before.
 */
int perfclock_now(struct perfclock *clk, uint64_t *ns);

/*
 * The newest watermark, ns; 0: none yet. Load-acquire: data_head loads that
 * come after it in program order stay after it. Never blocks;
 * one load with the module, membarrier and cpu-visit providers. Never goes
 * backwards. -ENODATA: the handle has no provider (NO_WATERMARK). -ECHILD:
 * after a fork. Other -errno: what the provider met when it tried last; it
 * tries again, and the watermark stands still until it gets through.
 */
int perfclock_watermark(struct perfclock *clk, uint64_t *ns);

/*
 * Sleep until the watermark is greater than stamp, at most timeout_ns
 * (< 0: no limit; 0: only look). 0, -ETIMEDOUT, -EINTR (a signal came), or as
 * perfclock_watermark(). With backoff somebody else must observe meanwhile.
 */
int perfclock_watermark_wait(struct perfclock *clk, uint64_t stamp,
			     int64_t timeout_ns);

/*
 * A file descriptor that polls readable (POLLIN) when the watermark has moved
 * since the last perfclock_watermark_ack(). It belongs to the handle, which
 * has one: don't close it. -EOPNOTSUPP: the provider has none (backoff);
 * -ENODATA: there is no provider; -ECHILD: after a fork; -EMFILE and the like.
 */
int perfclock_watermark_fd(struct perfclock *clk);
int perfclock_watermark_ack(struct perfclock *clk);

/*
 * For backoff, which knows no clock: the greatest stamp read so far. Other
 * providers ignore it.
 */
void perfclock_watermark_observe(struct perfclock *clk, uint64_t stamp);

struct perfclock_info {
	size_t sz;			/* in: sizeof(struct perfclock_info) */
	enum perfclock_clockid clock;
	const char *source;		/* static string */
	const char *provider;		/* static string; "none": none */
	bool proven;			/* false for backoff and none */
	uint64_t watermark;		/* ns */
	uint64_t moves;			/* times the watermark moved */
	uint64_t gp_duration;		/* ns, newest grace period; 0 unknown */
	uint64_t resolution;		/* ns, of the source */
	uint64_t margin;		/* ns taken off for skew between CPUs */
	uint64_t backoff;		/* ns; backoff only */
};

/* 0, or -EINVAL (info->sz). */
int perfclock_get_info(struct perfclock *clk, struct perfclock_info *info);

/*
 * What there is on this machine, best first. One structure for sources and
 * providers; strings are valid until the next call with the same structure.
 */
struct perfclock_choice {
	size_t sz;			/* in: sizeof */
	const char *name;		/* static string */
	bool proven;			/* providers only */
	bool available;
	char reason[192];		/* why not, or a remark; "" if none */
	uint64_t cost_ns;		/* sources: one read, measured; else 0 */
	uint64_t resolution;		/* sources, ns */
};

/*
 * Probe the i-th provider (source) for opts->clock, by opening it and closing
 * it again. Returns 1 and fills *c, 0 if there is no i-th; -EINVAL, -E2BIG:
 * bad opts or c->sz. That it is not available is no error. opts->provider
 * (opts->source) and opts->error are ignored.
 */
int perfclock_probe_provider(unsigned int i,
			     const struct perfclock_open_opts *opts,
			     struct perfclock_choice *c);
int perfclock_probe_source(unsigned int i,
			   const struct perfclock_open_opts *opts,
			   struct perfclock_choice *c);

/* "perf", "monotonic", "monotonic_raw", "boottime"; NULL if out of range. */
const char *perfclock_clock_name(enum perfclock_clockid clock);
/* The reverse; -EINVAL if there is no such clock. */
int perfclock_clock_from_name(const char *name);

PERFCLOCK_END_DECLS

#endif /* PERFCLOCK_CLOCK_H */
