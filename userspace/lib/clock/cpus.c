// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* Which CPUs to visit, and which of them are online now. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "clock/cpus.h"
#include "clock/fail.h"

#define CPU_DIR		"/sys/devices/system/cpu/"
#define LIST_MAX	16384	/* bytes of a list of CPUs */

int cpus_next_range(const char **text, int max, int *first, int *last)
{
	const char *p = *text;
	long from, to;
	char *end;

	if (!*p || *p == '\n')
		return 0;
	from = to = strtol(p, &end, 10);
	if (end == p)
		return -EINVAL;
	if (*end == '-') {
		p = end + 1;
		to = strtol(p, &end, 10);
		if (end == p)
			return -EINVAL;
	}
	if (from < 0 || to < from || to >= max)
		return -ERANGE;
	if (*end && *end != ',' && *end != '\n')
		return -EINVAL;
	*first = from;
	*last = to;
	*text = *end == ',' ? end + 1 : end;
	return 1;
}

int cpus_parse(const char *text, int max, cpu_set_t *set, size_t size)
{
	int got, first, last;

	CPU_ZERO_S(size, set);
	while ((got = cpus_next_range(&text, max, &first, &last)) > 0)
		for (; first <= last; first++)
			CPU_SET_S(first, size, set);
	return got;
}

/* One of the kernel's lists of CPUs, from an open file. */
static int read_list(int fd, int max, cpu_set_t *set, size_t size)
{
	char text[LIST_MAX];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	if (n < 0)
		return -errno;
	text[n] = '\0';
	return cpus_parse(text, max, set, size);
}

int cpus_look(struct cpus *c)
{
	return read_list(c->fd, c->max, c->online, c->size);
}

static int read_possible(cpu_set_t *set, size_t size)
{
	int fd = open(CPU_DIR "possible", O_RDONLY | O_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	err = read_list(fd, CPUS_MAX, set, size);
	close(fd);
	return err;
}

static int alloc_sets(struct cpus *c, int max)
{
	c->max = max;
	c->size = CPU_ALLOC_SIZE(max);
	c->wanted = calloc(1, c->size);
	c->online = calloc(1, c->size);
	c->one = calloc(1, c->size);
	return c->wanted && c->online && c->one ? 0 : -ENOMEM;
}

/* Sets no larger than the CPUs that can exist. */
static int size_sets(struct cpus *c)
{
	size_t size = CPU_ALLOC_SIZE(CPUS_MAX);
	cpu_set_t *possible = calloc(1, size);
	int err, max;

	if (!possible)
		return -ENOMEM;
	err = read_possible(possible, size);
	for (max = CPUS_MAX; max > 0; max--)
		if (CPU_ISSET_S(max - 1, size, possible))
			break;
	if (!err)
		err = alloc_sets(c, max);
	if (!err)
		memcpy(c->wanted, possible, c->size);
	free(possible);
	return err;
}

static int want(struct cpus *c, const struct perfclock_open_opts *o)
{
	unsigned int i;

	if (!o->nr_cpus)
		return 0;
	CPU_ZERO_S(c->size, c->wanted);
	for (i = 0; i < o->nr_cpus; i++) {
		if (o->cpus[i] >= c->max)
			return clock_fail(o, -EINVAL, "there is no CPU %d",
					  o->cpus[i]);
		CPU_SET_S(o->cpus[i], c->size, c->wanted);
	}
	return 0;
}

/* What is missing is ours, not the machine's. */
static bool scarce(int err)
{
	return err == -ENOMEM || err == -EMFILE || err == -ENFILE;
}

int cpus_init(struct cpus *c, const struct perfclock_open_opts *o)
{
	int err;

	memset(c, 0, sizeof(*c));
	c->fd = open(CPU_DIR "online", O_RDONLY | O_CLOEXEC);
	err = c->fd < 0 ? -errno : size_sets(c);
	if (!err)
		err = cpus_look(c);
	if (err)
		err = clock_fail(o, scarce(err) ? err : -ENODEV,
				 "can't tell which CPUs there are (" CPU_DIR "online): %s",
				 strerror(-err));
	else
		err = want(c, o);
	if (err)
		cpus_free(c);
	return err;
}

void cpus_free(struct cpus *c)
{
	if (c->fd >= 0)
		close(c->fd);
	free(c->wanted);
	free(c->online);
	free(c->one);
	memset(c, 0, sizeof(*c));
	c->fd = -1;
}

/* The step of its way up or down at which a CPU is; -1: nobody tells. */
static long hotplug_state(int cpu)
{
	char path[80], text[24];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), CPU_DIR "cpu%d/hotplug/state", cpu);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return -1;
	text[n] = '\0';
	return strtol(text, NULL, 10);
}

/*
 * On its way on or off a CPU counts as online for a while and takes no tasks:
 * it is at another step than this one, which has all behind it.
 */
static bool on_its_way(int cpu)
{
	return hotplug_state(cpu) != hotplug_state(sched_getcpu());
}

int cpus_enter(struct cpus *c, int cpu)
{
	struct timespec ms = { 0, 1000000 };
	int tries;

	CPU_ZERO_S(c->size, c->one);
	CPU_SET_S(cpu, c->size, c->one);
	for (tries = 0; tries < 20; tries++) {
		if (!sched_setaffinity(0, c->size, c->one))
			return sched_getcpu() == cpu ? 0 : -EAGAIN;
		if (errno != EINVAL)
			return -errno;
		if (cpus_look(c))
			return -ENODEV;
		if (!CPU_ISSET_S(cpu, c->size, c->online))
			return -ENXIO;
		if (on_its_way(cpu)) {
			nanosleep(&ms, NULL);
			return -EAGAIN;
		}
		/* It may have arrived just now: not refused until it stays so. */
		nanosleep(&ms, NULL);
	}
	return -EPERM;
}
