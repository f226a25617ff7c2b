/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * Internal: a watermark that this process moves itself. Any number of
 * publishers and readers, none of which ever blocks another.
 */
#ifndef PERFCLOCK_WATERMARK_MARK_H
#define PERFCLOCK_WATERMARK_MARK_H

#include <stdatomic.h>
#include <stdint.h>

#include "clock/futex.h"

/* In memory that a fork's child finds zeroed: there, alive is 0. */
struct mark {
	_Atomic uint64_t watermark;
	_Atomic int status;		/* -errno: the provider broke */
	_Atomic uint32_t alive;
	_Atomic uint32_t seq;		/* futex: moved, or status changed */
	_Atomic uint32_t waiters;
	_Atomic int eventfd;		/* -1: nobody asked for one */
	_Atomic uint64_t moves;
	_Atomic uint64_t gp_duration;
	_Atomic uint64_t margin;
};

struct mark *mark_new(void);
void mark_free(struct mark *m);

/*
 * All records stamped below ns are visible. Release: pairs with mark_load().
 * Lower than the last: ignored.
 */
void mark_publish(struct mark *m, uint64_t ns);
/* The provider cannot go on (or, with 0, can again). */
void mark_fail(struct mark *m, int err);

int mark_wait(struct mark *m, uint64_t stamp, int64_t timeout_ns);
int mark_fd(struct mark *m);
int mark_ack(struct mark *m);

/* -ECHILD in a fork's child: the thread that moved it stayed behind. */
static inline int mark_load(struct mark *m, uint64_t *ns)
{
	/*
	 * Acquire: no load of a ring's data_head that follows may be done
	 * before this one. Pairs with the release in mark_publish().
	 */
	*ns = atomic_load_explicit(&m->watermark, memory_order_acquire);
	if (!*ns && !atomic_load_explicit(&m->alive, memory_order_relaxed))
		return -ECHILD;
	return atomic_load_explicit(&m->status, memory_order_relaxed);
}

#endif /* PERFCLOCK_WATERMARK_MARK_H */
