// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* Source "module": the kernel module reads the clock on the calling CPU. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "clock/device.h"
#include "clock/fail.h"
#include "clock/source.h"

static int module_open(struct source *s, const struct perfclock_open_opts *o)
{
	struct perf_clock_caps caps;
	struct device *d;
	int err;

	d = malloc(sizeof(*d));
	if (!d)
		return clock_fail(o, -ENOMEM, "out of memory");
	err = device_open(d, o);
	if (!err)
		err = device_caps(d, o, &caps);
	if (err) {
		device_close(d);
		free(d);
		return err;
	}
	s->priv = d;
	s->resolution = s->clock == PERFCLOCK_PERF ? caps.resolution : 1;
	return 0;
}

static void module_close(struct source *s)
{
	struct device *d = s->priv;

	device_close(d);
	free(d);
}

/*
 * Asked for the times alone: a source never has the engine run. If watermarks
 * are wanted of the module, that is the provider's doing.
 */
static int module_read(struct source *s, uint64_t *ns)
{
	const struct device *d = s->priv;
	struct perf_clock_snapshot snap;

	memset(&snap, 0, sizeof(snap));
	snap.flags = PERF_CLOCK_SNAPSHOT_NOW;
	if (ioctl(d->fd, PERF_CLOCK_IOC_SNAPSHOT, &snap))
		return -errno;
	*ns = snap.now[s->clock];
	return 0;
}

/* The state may change at any time (the TSC watchdog): ask each time. */
static int module_agree(struct source *s, uint64_t *margin)
{
	const struct device *d = s->priv;
	struct perf_clock_caps caps;

	*margin = SOURCE_SKEW_NS;
	if (s->clock != PERFCLOCK_PERF)
		return 0;
	memset(&caps, 0, sizeof(caps));
	if (ioctl(d->fd, PERF_CLOCK_IOC_CAPS, &caps))
		return -errno;
	return caps.clock_state == PERF_CLOCK_STATE_STABLE ? 0 : -EXDEV;
}

const struct source_ops source_module = {
	.name = "module",
	.clocks = SOURCE_CLOCK(PERFCLOCK_PERF) | SOURCE_POSIX_CLOCKS,
	.open = module_open,
	.close = module_close,
	.read = module_read,
	.agree = module_agree,
};
