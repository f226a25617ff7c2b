/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/* Internal: /dev/perf_clock, with its ABI checked. */
#ifndef PERFCLOCK_CLOCK_DEVICE_H
#define PERFCLOCK_CLOCK_DEVICE_H

#include <linux/perf_clock.h>

#include <perfclock/clock.h>

#define DEVICE_DEFAULT		"/dev/perf_clock"

struct device {
	int fd;
	const struct perf_clock_page *page;	/* NULL: not mapped */
	size_t map_size;
};

/*
 * Open o->device. -ENODEV (absent), -EACCES, -EMFILE, ... explained in
 * o->error. Nothing is asked of the device yet.
 */
int device_open(struct device *d, const struct perfclock_open_opts *o);
void device_close(struct device *d);

/*
 * Ask what the device is: -EPROTO if it is no perf_clock device or its ABI is
 * not ours, -EOPNOTSUPP if it does not know o->clock.
 */
int device_caps(struct device *d, const struct perfclock_open_opts *o,
		struct perf_clock_caps *caps);

/* Map the page, with the same checks. */
int device_map(struct device *d, const struct perfclock_open_opts *o);

#endif /* PERFCLOCK_CLOCK_DEVICE_H */
