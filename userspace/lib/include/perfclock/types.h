/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/* What all headers of libperfclock share. */
#ifndef PERFCLOCK_TYPES_H
#define PERFCLOCK_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PERFCLOCK_VERSION_MAJOR	0
#define PERFCLOCK_VERSION_MINOR	1
#define PERFCLOCK_VERSION_PATCH	0

#ifdef __cplusplus
#define PERFCLOCK_BEGIN_DECLS	extern "C" {
#define PERFCLOCK_END_DECLS	}
#else
#define PERFCLOCK_BEGIN_DECLS
#define PERFCLOCK_END_DECLS
#endif

/* The clock that stamps records. */
enum perfclock_clockid {
	PERFCLOCK_PERF,			/* perf's default, local_clock() */
	PERFCLOCK_MONOTONIC,		/* use_clockid = CLOCK_MONOTONIC */
	PERFCLOCK_MONOTONIC_RAW,	/* use_clockid = CLOCK_MONOTONIC_RAW */
	PERFCLOCK_BOOTTIME,		/* use_clockid = CLOCK_BOOTTIME */
	PERFCLOCK_CLOCKS		/* how many there are */
};

#endif /* PERFCLOCK_TYPES_H */
