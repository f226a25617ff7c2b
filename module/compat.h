/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Differences between kernels, and nothing else. HAVE_* come from features.h,
 * which the build writes after trying to compile each of probes/: what counts
 * is what a kernel has, not which version it says it is.
 */
#ifndef PERF_CLOCK_COMPAT_H
#define PERF_CLOCK_COMPAT_H

#include <linux/mm.h>
#include <linux/rcupdate.h>

#include "features.h"

/* vm_flags became constant when their changes got a lock of their own. */
#ifndef HAVE_VM_FLAGS_MOD
static inline void vm_flags_mod(struct vm_area_struct *vma,
				unsigned long set, unsigned long clear)
{
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
}
#endif

/* struct class::devnode got a const argument. */
#ifdef HAVE_CLASS_DEVNODE_CONST
#define pc_devnode_const	const
#else
#define pc_devnode_const
#endif

/*
 * One grace period in flight. pc_gp_begin() promises that a full grace period
 * begins after it was called, pc_gp_ended() that it has ended, with the memory
 * ordering of synchronize_rcu().
 *
 * Where grace periods can be polled, a cookie stands for one, and beginnings
 * that the same grace period serves share a cookie. Elsewhere a callback says
 * that it ended; it must not be delayed for the sake of idle CPUs.
 */
#ifdef PERF_CLOCK_TEST_NO_GP
/* For tests: no grace period is waited for. They must notice. */
struct pc_gp {
	char nothing;
};

static inline void pc_gp_begin(struct pc_gp *gp)
{
}

static inline bool pc_gp_ended(const struct pc_gp *gp)
{
	return true;
}

static inline bool pc_gp_same(const struct pc_gp *a, const struct pc_gp *b)
{
	return false;
}

static inline unsigned long pc_gp_cookie(const struct pc_gp *gp)
{
	return 0;
}

#define synchronize_rcu_expedited()	do { } while (0)
#elif defined(HAVE_RCU_POLL)
struct pc_gp {
	unsigned long cookie;
};

static inline void pc_gp_begin(struct pc_gp *gp)
{
	gp->cookie = start_poll_synchronize_rcu();
}

static inline bool pc_gp_ended(const struct pc_gp *gp)
{
	return poll_state_synchronize_rcu(gp->cookie);
}

static inline bool pc_gp_same(const struct pc_gp *a, const struct pc_gp *b)
{
	return a->cookie == b->cookie;
}

static inline unsigned long pc_gp_cookie(const struct pc_gp *gp)
{
	return gp->cookie;
}
#else
struct pc_gp {
	struct rcu_head head;
	bool ended;
};

#ifdef HAVE_CALL_RCU_HURRY
#define pc_call_rcu		call_rcu_hurry
#else
#define pc_call_rcu		call_rcu
#endif

static inline void pc_gp_callback(struct rcu_head *head)
{
	struct pc_gp *gp = container_of(head, struct pc_gp, head);

	/* Pairs with the acquire in pc_gp_ended(). */
	smp_store_release(&gp->ended, true);
}

static inline void pc_gp_begin(struct pc_gp *gp)
{
	gp->ended = false;
	pc_call_rcu(&gp->head, pc_gp_callback);
}

static inline bool pc_gp_ended(const struct pc_gp *gp)
{
	/* Pairs with the release in pc_gp_callback(). */
	return smp_load_acquire(&gp->ended);
}

static inline bool pc_gp_same(const struct pc_gp *a, const struct pc_gp *b)
{
	return false;
}

static inline unsigned long pc_gp_cookie(const struct pc_gp *gp)
{
	return 0;
}
#endif

#endif /* PERF_CLOCK_COMPAT_H */
