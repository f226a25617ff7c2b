/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/* Internal: one line of explanation beside an error number. */
#ifndef PERFCLOCK_CLOCK_FAIL_H
#define PERFCLOCK_CLOCK_FAIL_H

#include <perfclock/clock.h>

/* Put the line into o->error, if the caller wants one; returns err. */
int clock_fail(const struct perfclock_open_opts *o, int err,
	       const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif /* PERFCLOCK_CLOCK_FAIL_H */
