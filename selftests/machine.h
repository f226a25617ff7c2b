/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What this machine refuses, asked without the library: that the library
 * refuses what the machine allows is a fault, and no reason to skip.
 */
#ifndef SELFTESTS_MACHINE_H
#define SELFTESTS_MACHINE_H

#include <linux/membarrier.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline bool __attribute__((unused)) machine_has_module(void)
{
	return !access("/dev/perf_clock", R_OK);
}

static inline bool __attribute__((unused)) machine_has_membarrier(void)
{
	int got = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);

	return got > 0 && got & MEMBARRIER_CMD_GLOBAL &&
	       !syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
}

static inline bool __attribute__((unused)) machine_gives_cpu(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	return !sched_setaffinity(0, sizeof(one), &one);
}

/* How many CPUs are online; 0: we may not run on each. *last: one of them. */
static inline int __attribute__((unused)) machine_cpus(int *last)
{
	FILE *f = fopen("/sys/devices/system/cpu/online", "re");
	cpu_set_t old;
	int from, n = 0;

	if (!f)
		return 0;
	sched_getaffinity(0, sizeof(old), &old);
	while (n >= 0 && fscanf(f, "%d", &from) == 1) {
		if (fscanf(f, "-%d", last) != 1)
			*last = from;
		for (; n >= 0 && from <= *last; from++)
			n = machine_gives_cpu(from) ? n + 1 : -1;
		if (fgetc(f) != ',')
			break;
	}
	fclose(f);
	sched_setaffinity(0, sizeof(old), &old);
	return n > 0 ? n : 0;
}

/* Events of one's own, of user space: what the source comm-record needs. */
static inline bool __attribute__((unused)) machine_has_perf_events(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY, .exclude_kernel = 1,
		.exclude_hv = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1,
			 PERF_FLAG_FD_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* May we look at what a CPU does? */
static inline bool __attribute__((unused)) machine_may_look(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr),
		.config = PERF_COUNT_SW_CONTEXT_SWITCHES,
	};
	int fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0);

	if (fd >= 0)
		close(fd);
	return fd >= 0 && !geteuid();
}

/* Is "SYSTEM:NAME" a tracepoint of this kernel, and may we know? */
static inline bool __attribute__((unused))
machine_has_tracepoint(const char *event)
{
	static const char *const dirs[] = {
		"/sys/kernel/tracing/events",
		"/sys/kernel/debug/tracing/events",
	};
	const char *colon = strchr(event, ':');
	char path[256];
	size_t i;

	for (i = 0; colon && i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		snprintf(path, sizeof(path), "%s/%.*s/%s/id", dirs[i],
			 (int)(colon - event), event, colon + 1);
		if (!access(path, R_OK))
			return true;
	}
	return false;
}

/* May this source and this provider (NULL: any) be refused here? */
static inline bool __attribute__((unused))
machine_refuses(const char *source, const char *provider)
{
	const bool comm = source && !strcmp(source, "comm-record");
	int last;

	if (comm && !machine_has_perf_events())
		return true;
	if (source && !strcmp(source, "module") && !machine_has_module())
		return true;
	if (!provider)
		return false;
	/* Where nobody says that CPUs agree each is visited. */
	if ((comm || !strcmp(provider, "cpu-visit")) && !machine_cpus(&last))
		return true;
	if (!strcmp(provider, "membarrier"))
		return !machine_has_membarrier();
	return !strcmp(provider, "module") && !machine_has_module();
}

#endif /* SELFTESTS_MACHINE_H */
