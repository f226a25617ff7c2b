/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * Internal: a perf event that a thread opens on itself, counts nothing with,
 * and needs no rights for: its page tells how the perf clock runs, and its
 * ring gets a stamped record whenever the thread sets its own name.
 */
#ifndef PERFCLOCK_CLOCK_SELF_EVENT_H
#define PERFCLOCK_CLOCK_SELF_EVENT_H

#include <stdatomic.h>
#include <stdbool.h>

#include <perfclock/clock.h>

struct perf_event_mmap_page;

struct self_event {
	int fd;
	struct perf_event_mmap_page *page;
	size_t map_size;
	/* 0 in a fork's child, which does not inherit the mapping. */
	_Atomic uint32_t *here;
};

/*
 * On the calling thread, stamped by o->clock. -EACCES, -EPERM, -ENODEV,
 * -EMFILE, ... explained in o->error.
 */
int self_event_open(struct self_event *e, const struct perfclock_open_opts *o);
void self_event_close(struct self_event *e);

/* Set the thread's name to what it is, and read the stamp of the record. */
int self_event_stamp(struct self_event *e, const char *name, uint64_t *ns);

static inline bool self_event_here(const struct self_event *e)
{
	return atomic_load_explicit(e->here, memory_order_relaxed);
}

/* Make the kernel write the page anew, then: is the perf clock stable? */
bool self_event_stable(const struct self_event *e);

#endif /* PERFCLOCK_CLOCK_SELF_EVENT_H */
