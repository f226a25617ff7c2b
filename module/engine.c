// SPDX-License-Identifier: GPL-2.0
/*
 * The engine: floors of the clocks in, watermarks out.
 *
 *	(W)  A floor is published as watermark only after a full grace period
 *	     that began after the floor was taken has ended.
 *
 * With (F) of clock.c this is the whole proof: a record stamped below the
 * floor was stamped in a read-side section that the grace period waited for,
 * and such a section publishes its records before it ends.
 *
 * Grace periods overlap. RCU runs one after another, each D long. Were the
 * next floor taken only when the one before is published, it would wait for
 * the rest of a grace period that somebody else began, and then for its own.
 * So a floor is taken at every step (each pc_interval_us) and attached to the
 * grace period that will serve it; the newest floor before a grace period
 * begins is what its end publishes. The lag is then D when W moves and 2 D
 * right before it moves again: 1.5 D in the mean, plus about a step.
 *
 * An expedited grace period is over sooner than a step, so there is no need
 * to overlap: floor, synchronize_rcu_expedited(), publish, and a pause, since
 * each of them interrupts all busy CPUs.
 *
 * All of it happens in one thread. It sleeps for good while no file asks.
 */
#include <linux/capability.h>
#include <linux/err.h>
#include <linux/freezer.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/minmax.h>
#include <linux/ktime.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/sched.h>

#include "compat.h"
#include "perf_clock.h"
#include "trace.h"

#define PC_EXPEDITED_US	500

/* A floor on its way to become a watermark. */
struct pc_flight {
	struct pc_gp gp;
	struct pc_times floor;
	u64 start;		/* CLOCK_MONOTONIC when the floor was taken */
	bool pending;
	bool stale;		/* the engine has stopped since: forget it */
};

/*
 * Where grace periods are polled, two are in use: one for the grace period
 * that runs and one for that after it. Where each floor has a callback, one
 * for each step that the longest ordinary grace period lasts.
 */
#define PC_FLIGHTS	32

unsigned int pc_interval_us = USEC_PER_SEC / HZ;
module_param_named(interval_us, pc_interval_us, uint, 0444);
MODULE_PARM_DESC(interval_us,
		 "default of the attribute: us between two floors (a tick)");

unsigned int pc_expedited_interval_us = PC_EXPEDITED_US;
module_param_named(expedited_interval_us, pc_expedited_interval_us, uint, 0444);
MODULE_PARM_DESC(expedited_interval_us,
		 "default of the attribute: least us from one expedited grace period to the next (500)");

static DEFINE_MUTEX(pc_ask_lock);	/* the two counts, and pc_ask of all */
static unsigned int pc_users;
static unsigned int pc_expediters;

static DECLARE_WAIT_QUEUE_HEAD(pc_wanted);	/* the thread sleeps here */
static DECLARE_WAIT_QUEUE_HEAD(pc_moved);	/* files: a watermark moved */
static struct task_struct *pc_thread;

static struct pc_flight pc_flights[PC_FLIGHTS];
static struct pc_flight *pc_newest;	/* the newest pending one, or NULL */
static u64 pc_normal_ns;		/* the last flight's duration */

wait_queue_head_t *pc_engine_moved(void)
{
	return &pc_moved;
}

unsigned int pc_engine_users(void)
{
	return READ_ONCE(pc_users);
}

static void pc_publish(const struct pc_times *floor, u64 start, bool expedited)
{
	struct pc_gp_report gp = {
		.watermark = *floor,
		.start = start,
		.duration = ktime_get_mono_fast_ns() - start,
	};

	if (!pc_page_publish(&gp))
		return;
	trace_perf_clock_gp_end(gp.watermark.ns[PERF_CLOCK_PERF], gp.duration,
				expedited);
	wake_up_interruptible_poll(&pc_moved, EPOLLIN | EPOLLRDNORM);
}

/* Of the flights whose grace period has ended, publish the newest floor. */
static void pc_land(void)
{
	struct pc_flight *best = NULL;
	unsigned int i;

	for (i = 0; i < PC_FLIGHTS; i++) {
		struct pc_flight *f = &pc_flights[i];

		if (!f->pending || !pc_gp_ended(&f->gp))
			continue;
		f->pending = false;
		if (f == pc_newest)
			pc_newest = NULL;
		if (f->stale)
			continue;
		if (!best || f->start > best->start)
			best = f;
	}
	if (!best)
		return;
	pc_normal_ns = ktime_get_mono_fast_ns() - best->start;
	pc_publish(&best->floor, best->start, false);
}

/* Take a floor, then have a grace period begin: in this order, see (W). */
static void pc_take_off(void)
{
	struct pc_flight *f = NULL;
	unsigned int i;

	for (i = 0; i < PC_FLIGHTS && !f; i++)
		if (!pc_flights[i].pending)
			f = &pc_flights[i];
	if (!f)
		return; /* every slot waits for its callback: next step */

	f->start = ktime_get_mono_fast_ns();
	pc_clock_floor(&f->floor);
	pc_gp_begin(&f->gp);

	/* The same grace period serves both: keep the newer floor of them. */
	if (pc_newest && pc_gp_same(&pc_newest->gp, &f->gp)) {
		pc_newest->floor = f->floor;
		pc_newest->start = f->start;
		return;
	}
	trace_perf_clock_gp_start(f->floor.ns[PERF_CLOCK_PERF],
				  pc_gp_cookie(&f->gp), false);
	f->pending = true;
	f->stale = false;
	pc_newest = f;
}

/*
 * The engine starts again. What was in flight when it stopped would be right,
 * but its time in flight says nothing about grace periods.
 */
static void pc_forget(void)
{
	unsigned int i;

	for (i = 0; i < PC_FLIGHTS; i++)
		pc_flights[i].stale = true;
	pc_newest = NULL;
}

/* Sleeps until the time comes, or until woken. */
static void pc_pause_until(ktime_t until)
{
	set_current_state(TASK_INTERRUPTIBLE);
	if (kthread_should_stop() || !READ_ONCE(pc_users))
		__set_current_state(TASK_RUNNING);
	else
		schedule_hrtimeout_range(&until, 20 * NSEC_PER_USEC,
					 HRTIMER_MODE_ABS);
}

/*
 * rcu_normal turns expedited grace periods into normal ones (the default of
 * PREEMPT_RT kernels), and does not show itself to modules but by the time
 * they take. If PC_SLOW_ONES in a row took about as long as a normal one does,
 * overlapping is the better way. After PC_SLOW_STEPS steps one is tried
 * again; one slow one is then enough.
 */
#define PC_SLOW_NS	(5 * (u64)NSEC_PER_MSEC)
#define PC_SLOW_ONES	3
#define PC_SLOW_STEPS	250

static unsigned int pc_slow;	/* slow ones in a row */
static unsigned int pc_overlap;	/* steps still to go without expediting */

static void pc_judge(u64 took)
{
	if (took < max(PC_SLOW_NS, pc_normal_ns / 2)) {
		pc_slow = 0;
	} else if (++pc_slow >= PC_SLOW_ONES) {
		pc_slow = PC_SLOW_ONES - 1;
		pc_overlap = PC_SLOW_STEPS;
	}
}

static void pc_expedite(void)
{
	struct pc_times floor;
	u64 start = ktime_get_mono_fast_ns();

	pc_clock_floor(&floor);
	trace_perf_clock_gp_start(floor.ns[PERF_CLOCK_PERF], 0, true);
	synchronize_rcu_expedited();
	pc_publish(&floor, start, true);

	pc_judge(ktime_get_mono_fast_ns() - start);
}

/*
 * The rate limit holds between expedited grace periods, not between steps: a
 * step may come early, when a file is opened or closed.
 */
static void pc_step_expedited(void)
{
	static ktime_t last;
	ktime_t now = ktime_get();
	ktime_t due = ktime_add_us(last, READ_ONCE(pc_expedited_interval_us));

	if (ktime_before(now, due)) {
		pc_pause_until(due);
		return;
	}
	last = now;
	pc_expedite();
}

static void pc_step(void)
{
	ktime_t now = ktime_get();

	pc_clock_observe();
	pc_land();
	if (READ_ONCE(pc_expediters) && !pc_overlap) {
		pc_step_expedited();
		return;
	}
	if (pc_overlap)
		pc_overlap--;
	pc_take_off();
	pc_pause_until(ktime_add_us(now, READ_ONCE(pc_interval_us)));
}

static int pc_engine(void *unused)
{
	set_freezable();
	while (!kthread_should_stop()) {
		wait_event_freezable(pc_wanted,
				     READ_ONCE(pc_users) ||
				     kthread_should_stop());
		pc_forget();
		while (READ_ONCE(pc_users) && !kthread_should_stop()) {
			pc_step();
			try_to_freeze();
		}
	}
	return 0;
}

/* The counts have changed: tell readers of the page, and the thread. */
static void pc_asked(void)
{
	lockdep_assert_held(&pc_ask_lock);
	pc_page_set_engine(pc_users, pc_expediters ? PERF_CLOCK_MODE_EXPEDITED :
						     PERF_CLOCK_MODE_NORMAL);
	wake_up(&pc_wanted);
	wake_up_process(pc_thread);	/* out of pc_pause() */
}

static void pc_start_locked(struct pc_ask *ask)
{
	if (ask->running)
		return;
	WRITE_ONCE(ask->running, true);
	WRITE_ONCE(pc_users, pc_users + 1);
	if (pc_users == 1)
		pc_asked();
}

/* Once 'running' is set it stays until the file is closed. */
void pc_engine_start(struct pc_ask *ask)
{
	if (READ_ONCE(ask->running))
		return;
	mutex_lock(&pc_ask_lock);
	pc_start_locked(ask);
	mutex_unlock(&pc_ask_lock);
}

/* The same for who must not wait; false: try again. */
bool pc_engine_try_start(struct pc_ask *ask)
{
	if (READ_ONCE(ask->running))
		return true;
	if (!mutex_trylock(&pc_ask_lock))
		return false;
	pc_start_locked(ask);
	mutex_unlock(&pc_ask_lock);
	return true;
}

void pc_engine_set_mode(struct pc_ask *ask, u32 mode)
{
	bool expedited = mode == PERF_CLOCK_MODE_EXPEDITED;

	mutex_lock(&pc_ask_lock);
	pc_start_locked(ask);
	if (ask->expedited != expedited) {
		ask->expedited = expedited;
		WRITE_ONCE(pc_expediters,
			   pc_expediters + (expedited ? 1 : -1));
		pc_asked();
	}
	mutex_unlock(&pc_ask_lock);
}

void pc_engine_drop(struct pc_ask *ask)
{
	if (!ask->running)
		return;

	mutex_lock(&pc_ask_lock);
	WRITE_ONCE(pc_users, pc_users - 1);
	if (ask->expedited)
		WRITE_ONCE(pc_expediters, pc_expediters - 1);
	if (!pc_users || ask->expedited)
		pc_asked();
	mutex_unlock(&pc_ask_lock);
}

static unsigned int pc_checked(unsigned int us, unsigned int otherwise)
{
	return us < PC_INTERVAL_US_MIN || us > PC_INTERVAL_US_MAX ? otherwise :
								    us;
}

int pc_engine_init(void)
{
	pc_interval_us = pc_checked(pc_interval_us, USEC_PER_SEC / HZ);
	pc_expedited_interval_us = pc_checked(pc_expedited_interval_us,
					      PC_EXPEDITED_US);

	pc_thread = kthread_run(pc_engine, NULL, pc_name);
	return PTR_ERR_OR_ZERO(pc_thread);
}

void pc_engine_exit(void)
{
	kthread_stop(pc_thread);
	/* Callbacks still to come run code of this module. */
	rcu_barrier();
}
