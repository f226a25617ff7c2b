// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* The names of the clocks, as options and output spell them. */
#include <errno.h>
#include <string.h>

#include <perfclock/clock.h>

static const char *const clock_names[PERFCLOCK_CLOCKS] = {
	[PERFCLOCK_PERF]		= "perf",
	[PERFCLOCK_MONOTONIC]		= "monotonic",
	[PERFCLOCK_MONOTONIC_RAW]	= "monotonic_raw",
	[PERFCLOCK_BOOTTIME]		= "boottime",
};

const char *perfclock_clock_name(enum perfclock_clockid clock)
{
	if ((unsigned int)clock >= PERFCLOCK_CLOCKS)
		return NULL;
	return clock_names[clock];
}

int perfclock_clock_from_name(const char *name)
{
	int i;

	for (i = 0; name && i < PERFCLOCK_CLOCKS; i++)
		if (!strcmp(name, clock_names[i]))
			return i;
	return -EINVAL;
}
