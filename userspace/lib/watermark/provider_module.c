// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Provider "module": the kernel keeps t and its grace period and shows the
 * watermark in a page. A look is one load; nothing runs in this process.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "clock/device.h"
#include "clock/fail.h"
#include "clock/futex.h"
#include "watermark/provider.h"

static int set_mode(struct device *d, const struct perfclock_open_opts *o)
{
	struct perf_clock_mode mode;

	if (!(o->flags & PERFCLOCK_OPEN_EXPEDITED))
		return 0;
	memset(&mode, 0, sizeof(mode));
	mode.mode = PERF_CLOCK_MODE_EXPEDITED;
	if (!ioctl(d->fd, PERF_CLOCK_IOC_SET_MODE, &mode))
		return 0;
	if (errno == EPERM || errno == EACCES)
		return clock_fail(o, -EPERM,
				  "expedited grace periods need CAP_PERFMON or CAP_SYS_ADMIN");
	return clock_fail(o, -errno, "expedited grace periods: %s",
			  strerror(errno));
}

static int open_device(struct device *d, const struct perfclock_open_opts *o)
{
	int err = device_open(d, o);

	if (!err)
		err = device_map(d, o);
	if (!err)
		err = set_mode(d, o);
	if (err)
		device_close(d);
	return err;
}

static int module_open(struct provider *p, const struct perfclock_open_opts *o,
		       const char *arg)
{
	struct device *d = malloc(sizeof(*d));
	int err;

	if (!d)
		return clock_fail(o, -ENOMEM, "out of memory");
	err = open_device(d, o);
	if (err) {
		free(d);
		return err;
	}
	p->priv = d;
	return 0;
}

static void module_close(struct provider *p)
{
	device_close(p->priv);
	free(p->priv);
}

static int module_watermark(struct provider *p, uint64_t *ns)
{
	const struct device *d = p->priv;

	/*
	 * Acquire: no load of a ring's data_head that follows may be done
	 * before this one. The kernel stores it with release after the grace
	 * period.
	 */
	*ns = __atomic_load_n(&d->page->mark[p->clock].watermark,
			      __ATOMIC_ACQUIRE);
	return 0;
}

static int module_wait(struct provider *p, uint64_t stamp, int64_t timeout_ns)
{
	const struct device *d = p->priv;
	struct perf_clock_wait wait;
	uint64_t ns;

	module_watermark(p, &ns);
	if (ns > stamp)
		return 0;
	memset(&wait, 0, sizeof(wait));
	wait.clock = p->clock;
	wait.stamp = stamp;
	/* Only with a limit does a signal always end it. */
	wait.timeout = timeout_ns < 0 ? TIMEOUT_MAX_NS : timeout_ns;
	if (!ioctl(d->fd, PERF_CLOCK_IOC_WAIT, &wait))
		return 0;
	return -errno;
}

static int module_fd(struct provider *p)
{
	const struct device *d = p->priv;

	return d->fd;
}

/* poll() compares with what this file last saw; reading is seeing. */
static int module_ack(struct provider *p)
{
	const struct device *d = p->priv;
	struct perf_clock_read rd;

	if (read(d->fd, &rd, sizeof(rd)) < 0)
		return -errno;
	return 0;
}

/* Two fields as one. 0: none, or the kernel keeps changing them. */
static uint64_t page_gp_duration(const struct perf_clock_page *page)
{
	uint64_t flags, duration;
	uint32_t seq;
	int tries;

	for (tries = 0; tries < 1000; tries++) {
		seq = __atomic_load_n(&page->seq_count, __ATOMIC_ACQUIRE);
		flags = __atomic_load_n(&page->flags, __ATOMIC_ACQUIRE);
		duration = __atomic_load_n(&page->gp_duration,
					   __ATOMIC_ACQUIRE);
		if (!(seq & 1) && seq == __atomic_load_n(&page->seq_count,
							 __ATOMIC_RELAXED))
			return flags & PERF_CLOCK_PAGE_GP_VALID ? duration : 0;
	}
	return 0;
}

static void module_info(struct provider *p, struct perfclock_info *info)
{
	const struct device *d = p->priv;

	info->moves = d->page->gp_completed;
	info->gp_duration = page_gp_duration(d->page);
	info->margin = d->page->mark[p->clock].margin;
}

const struct provider_ops provider_module = {
	.name = "module",
	.proven = true,
	.expedites = true,
	.open = module_open,
	.close = module_close,
	.watermark = module_watermark,
	.wait = module_wait,
	.fd = module_fd,
	.ack = module_ack,
	.info = module_info,
};
