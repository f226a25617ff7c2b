/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/* Internal: which CPUs to visit, and which of them are online now. */
#ifndef PERFCLOCK_CLOCK_CPUS_H
#define PERFCLOCK_CLOCK_CPUS_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

#include <perfclock/clock.h>

struct cpus {
	int fd;			/* of the kernel's list of online CPUs */
	int max;		/* CPUs 0..max-1 may exist */
	size_t size;		/* bytes of a cpu_set_t for max */
	cpu_set_t *wanted;
	cpu_set_t *online;
	cpu_set_t *one;		/* for sched_setaffinity() */
};

/*
 * The CPUs of o->cpus; if there are none, all that exist: a CPU that comes
 * online later is then visited too. Explained in o->error.
 */
int cpus_init(struct cpus *c, const struct perfclock_open_opts *o);
void cpus_free(struct cpus *c);

/* Look again at which CPUs are online. */
int cpus_look(struct cpus *c);

static inline bool cpus_wanted_online(const struct cpus *c, int cpu)
{
	return CPU_ISSET_S(cpu, c->size, c->wanted) &&
	       CPU_ISSET_S(cpu, c->size, c->online);
}

/* No machine has CPUs past it. */
#define CPUS_MAX	65536

/*
 * A range of the list "0-3,8", and on to the next. 1; 0: no more; -EINVAL: no
 * such list; -ERANGE: a CPU that is max or more, or a range the wrong way.
 */
int cpus_next_range(const char **text, int max, int *first, int *last);
/* All of them into a set of max CPUs. 0, -EINVAL, -ERANGE. */
int cpus_parse(const char *text, int max, cpu_set_t *set, size_t size);

/*
 * Move the calling thread, one of the library's own, to a CPU. 0: it runs
 * there; -EAGAIN: not yet, try again (the CPU is on its way on or off, which
 * takes as long as it takes); -ENXIO: it is offline; -EPERM: this process may
 * not run there.
 */
int cpus_enter(struct cpus *c, int cpu);

#endif /* PERFCLOCK_CLOCK_CPUS_H */
