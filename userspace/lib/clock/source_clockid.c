// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Source "clockid": clock_gettime() of the clock that the events were opened
 * with (attr.use_clockid). Inside a time namespace clock_gettime() shows an
 * offset that perf's stamps do not have: it is taken off again.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "clock/fail.h"
#include "clock/futex.h"
#include "clock/source.h"

struct clockid_source {
	clockid_t id;
	int64_t offset;		/* of our time namespace, ns */
};

int source_clockid(enum perfclock_clockid clock)
{
	switch (clock) {
	case PERFCLOCK_MONOTONIC:
		return CLOCK_MONOTONIC;
	case PERFCLOCK_MONOTONIC_RAW:
		return CLOCK_MONOTONIC_RAW;
	case PERFCLOCK_BOOTTIME:
		return CLOCK_BOOTTIME;
	default:
		return -1;
	}
}

/*
 * The offsets file tells of the namespace that children will get; it is ours
 * unless we have unshared and not forked since.
 */
static bool offsets_are_ours(void)
{
	struct stat own, children;

	return !stat("/proc/self/ns/time", &own) &&
	       !stat("/proc/self/ns/time_for_children", &children) &&
	       own.st_dev == children.st_dev && own.st_ino == children.st_ino;
}

/* Kernels without time namespaces have no such file: no offset. */
static int namespace_offset(struct clockid_source *cs,
			    const struct perfclock_open_opts *o)
{
	const char *want = cs->id == CLOCK_BOOTTIME ? "boottime" : "monotonic";
	FILE *f = fopen("/proc/self/timens_offsets", "re");
	long long sec, nsec;
	char name[32];

	cs->offset = 0;
	if (!f)
		return 0;
	while (fscanf(f, "%31s %lld %lld", name, &sec, &nsec) == 3)
		if (!strcmp(name, want))
			cs->offset = sec * NSEC_PER_SEC + nsec;
	fclose(f);
	if (offsets_are_ours())
		return 0;
	return clock_fail(o, -EOPNOTSUPP,
			  "this process has unshared its time namespace and not entered it: its clock offset can't be told: fork first");
}

static int clockid_open(struct source *s, const struct perfclock_open_opts *o)
{
	struct clockid_source *cs;
	struct timespec res;
	int err;

	cs = malloc(sizeof(*cs));
	if (!cs)
		return clock_fail(o, -ENOMEM, "out of memory");
	cs->id = source_clockid(s->clock);
	err = namespace_offset(cs, o);
	if (!err && clock_getres(cs->id, &res))
		err = clock_fail(o, -errno, "clock_getres of %s: %s",
				 perfclock_clock_name(s->clock),
				 strerror(errno));
	if (err) {
		free(cs);
		return err;
	}
	s->resolution = res.tv_sec * NSEC_PER_SEC + res.tv_nsec;
	s->priv = cs;
	return 0;
}

static void clockid_close(struct source *s)
{
	free(s->priv);
}

static int clockid_read(struct source *s, uint64_t *ns)
{
	const struct clockid_source *cs = s->priv;
	struct timespec ts;

	if (clock_gettime(cs->id, &ts))
		return -errno;
	*ns = ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec - cs->offset;
	return 0;
}

/* The timekeeper's clocks are of the whole machine. */
static int clockid_agree(struct source *s, uint64_t *margin)
{
	*margin = SOURCE_SKEW_NS;
	return 0;
}

const struct source_ops source_clockid_ops = {
	.name = "clockid",
	.clocks = SOURCE_POSIX_CLOCKS,
	.open = clockid_open,
	.close = clockid_close,
	.read = clockid_read,
	.agree = clockid_agree,
};
