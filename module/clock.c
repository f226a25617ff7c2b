// SPDX-License-Identifier: GPL-2.0
/*
 * The clocks that perf can stamp records with.
 *
 * The engine needs of each clock a *floor*: a value t such that
 *
 *	(F)  every clock read on any CPU, by a read-side section that does
 *	     not end before a grace period begun after pc_clock_floor()
 *	     returned, gives t or more.
 *
 * Readers of that kind are what the grace period does not wait for; all the
 * others it does. So once it has ended, whoever stamps below t is done.
 * How each clock gives (F):
 *
 * PERF, kernel takes the clock for unstable (x86 only).
 *	sched_clock_cpu(c) is a variable: the last value given out for CPU c,
 *	which each read moves up, by a full-barrier cmpxchg, and never down.
 *	Read for another CPU, it first raises that CPU's variable to the
 *	caller's. So when sched_clock_cpu(c) has returned v, c's variable is
 *	v or more. RCU orders that store before any section that the grace
 *	period does not wait for, and its read starts from the variable: it
 *	gives v or more. No bound on how far the clocks are apart is used.
 *	CPUs that are offline or idle have such a variable too, hence
 *	for_each_possible_cpu() and no lock against hotplug: a CPU that comes
 *	online later starts from a raised variable.
 *
 * PERF, stable: one hardware counter, or counters that the kernel found in
 *	step (a CPU that saw another's read in memory never read less: that
 *	is the kernel's own warp test). A section that the grace period does
 *	not wait for began after it had seen, through memory, that the grace
 *	period had begun, and that was after our read. What is left is that
 *	a plain rdtsc is not ordered with the instructions around it and may
 *	be executed early, by what an out-of-order core holds in flight: less
 *	than a microsecond. PC_MARGIN_COUNTER is 20 times that.
 *
 * MONOTONIC_RAW: a counter as well, with a slope that never changes.
 *
 * MONOTONIC, BOOTTIME: the slope changes at an update of the timekeeper. The
 *	new slope starts from a moment c and is seen some time later; until
 *	then readers are on the old one, past c. So a read at a moment m may
 *	be ahead of later ones on the new slope: by (m - c) times the change
 *	of slope, if the update that is under way at m began before m.
 *
 *	An update reads c and is seen with the timekeeper's lock held. Having
 *	held that lock after a moment b and before m, we know that c is later
 *	than b: updates from before b can be seen. So m - c < m - b, which is
 *	measured. No two slopes are more than PC_SLOPE_CHANGE apart; that part
 *	of m - b, mostly less than a microsecond, is what must be taken off.
 */
#include <linux/cpumask.h>
#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/notifier.h>
#include <linux/pvclock_gtod.h>
#include <linux/sched/clock.h>
#include <linux/smp.h>
#include <linux/trace_clock.h>

#include "perf_clock.h"

#define PC_MARGIN_COUNTER	20000ULL	/* 20 us */
/*
 * Taken off MONOTONIC and BOOTTIME in addition, at least: enough for 40 us
 * between b and m.
 */
#define PC_MARGIN_SLOPE		10000ULL	/* 10 us */
/*
 * adjtimex() steers by up to 10 % either way, and the kernel by some more to
 * catch up (11 % in all), in raw time.
 */
#define PC_SLOPE_CHANGE(ns)	((ns) / 4)

static const u64 pc_margin[PERF_CLOCK_NR] = {
	[PERF_CLOCK_PERF]		= PC_MARGIN_COUNTER,
	[PERF_CLOCK_MONOTONIC]		= PC_MARGIN_COUNTER + PC_MARGIN_SLOPE,
	[PERF_CLOCK_MONOTONIC_RAW]	= PC_MARGIN_COUNTER,
	[PERF_CLOCK_BOOTTIME]		= PC_MARGIN_COUNTER + PC_MARGIN_SLOPE,
};

u64 pc_clock_margin(unsigned int clock)
{
	return pc_margin[clock];
}

#ifdef CONFIG_HAVE_UNSTABLE_SCHED_CLOCK
/*
 * Interrupts off, as sched_clock_cpu() demands: a tick in the middle of it
 * would combine old and new values, and push the clock ahead by up to a tick.
 */
static u64 pc_sched_clock(int cpu)
{
	unsigned long flags;
	u64 ns;

	local_irq_save(flags);
	ns = sched_clock_cpu(cpu < 0 ? smp_processor_id() : cpu);
	local_irq_restore(flags);
	return ns;
}

/* The perf clock of this CPU: what local_clock() gives, by exported names. */
u64 pc_clock_now(void)
{
	return pc_sched_clock(-1);
}

/*
 * Reading PERF for each possible CPU is what raises the clocks of CPUs that
 * lag, see above. It must not be left out even where the least value is known.
 */
static u64 pc_clock_perf_floor(void)
{
	u64 least = U64_MAX;
	int cpu;

	for_each_possible_cpu(cpu)
		least = min(least, pc_sched_clock(cpu));
	return least;
}
#else
u64 pc_clock_now(void)
{
	return trace_clock();
}

static u64 pc_clock_perf_floor(void)
{
	return trace_clock();
}
#endif

/* perf reads the same functions: see perf_event_set_clock(). */
static void pc_clock_read_timekeeper(struct pc_times *now)
{
	now->ns[PERF_CLOCK_MONOTONIC] = ktime_get_mono_fast_ns();
	now->ns[PERF_CLOCK_MONOTONIC_RAW] = ktime_get_raw_fast_ns();
	now->ns[PERF_CLOCK_BOOTTIME] = ktime_get_boottime_ns();
}

void pc_clock_now_all(struct pc_times *now)
{
	unsigned long flags;

	local_irq_save(flags);
	now->ns[PERF_CLOCK_PERF] = pc_clock_now();
	pc_clock_read_timekeeper(now);
	local_irq_restore(flags);
}

/*
 * Hold the timekeeper's lock for a moment. No function that modules may call
 * does just that; taking a notifier off its list, though it is not on it,
 * does it and nothing else.
 */
static void pc_clock_settle(void)
{
	static struct notifier_block nobody;

	pvclock_gtod_unregister_notifier(&nobody);
}

/*
 * Read the timekeeper's clocks; returns by how much the steered ones may be
 * ahead of a slope that is on its way. Interrupts off, so that it is little.
 */
static u64 pc_clock_floor_timekeeper(struct pc_times *floor)
{
	unsigned long flags;
	u64 begin, took;

	local_irq_save(flags);
	begin = ktime_get_raw_fast_ns();
	pc_clock_settle();
	pc_clock_read_timekeeper(floor);
	took = ktime_get_raw_fast_ns() - begin;
	local_irq_restore(flags);
	return PC_SLOPE_CHANGE(took);
}

/* A floor is 0 rather than below: no clock shows less. */
static void pc_lower(u64 *floor, u64 ns)
{
	*floor -= min(*floor, ns);
}

void pc_clock_floor(struct pc_times *floor)
{
	unsigned int i;
	u64 ahead;

	floor->ns[PERF_CLOCK_PERF] = pc_clock_perf_floor();
	ahead = pc_clock_floor_timekeeper(floor);
	for (i = 0; i < PERF_CLOCK_NR; i++)
		pc_lower(&floor->ns[i], pc_margin[i]);
	/* Where the hypervisor took this CPU away in the middle of it. */
	if (ahead > PC_MARGIN_SLOPE) {
		ahead -= PC_MARGIN_SLOPE;
		pc_lower(&floor->ns[PERF_CLOCK_MONOTONIC], ahead);
		pc_lower(&floor->ns[PERF_CLOCK_BOOTTIME], ahead);
	}
}

#ifdef CONFIG_HAVE_UNSTABLE_SCHED_CLOCK
/*
 * Does the kernel take the perf clock for stable? It does not tell modules,
 * but it shows: a stable clock is sched_clock() plus a constant; an unstable
 * one follows the timekeeper, and the difference wanders. Each look narrows
 * the range in which the constant can lie. An empty range: there is none. A
 * range that lasted PC_LOOKS looks, some ticks apart: there is one.
 *
 * For information only: (F) holds either way.
 */
#define PC_LOOKS	64

static s64 pc_offset_low = S64_MIN, pc_offset_high = S64_MAX;
static unsigned int pc_looks;
static u32 pc_state = PERF_CLOCK_STATE_UNKNOWN;

/* The engine calls this, nobody else: no lock. */
void pc_clock_observe(void)
{
	unsigned long flags;
	u64 before, clock, after;

	if (READ_ONCE(pc_state) == PERF_CLOCK_STATE_UNSTABLE)
		return;

	local_irq_save(flags);
	before = sched_clock();
	barrier();
	clock = sched_clock_cpu(smp_processor_id());
	barrier();
	after = sched_clock();
	local_irq_restore(flags);

	pc_offset_low = max_t(s64, pc_offset_low, clock - after);
	pc_offset_high = min_t(s64, pc_offset_high, clock - before);
	/* rdtsc is not ordered: leave it some room. */
	if (pc_offset_low > pc_offset_high + 1000)
		WRITE_ONCE(pc_state, PERF_CLOCK_STATE_UNSTABLE);
	else if (pc_looks < PC_LOOKS && ++pc_looks == PC_LOOKS)
		WRITE_ONCE(pc_state, PERF_CLOCK_STATE_STABLE);
}

u32 pc_clock_state(void)
{
	return READ_ONCE(pc_state);
}
#else
/* This kernel has no notion of an unstable perf clock. */
void pc_clock_observe(void)
{
}

u32 pc_clock_state(void)
{
	return PERF_CLOCK_STATE_STABLE;
}
#endif
