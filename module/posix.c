// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/perf_clock_posix: the perf clock as a dynamic POSIX clock, for
 * clock_gettime(FD_TO_CLOCKID(fd)). Dynamic POSIX clocks have file operations
 * of their own, without mmap, hence a node beside /dev/perf_clock. It gives
 * the clock and no watermark; it never starts the engine.
 *
 * Without clock_settime and clock_adjtime the kernel refuses both.
 */
#include <linux/device.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/posix-clock.h>
#include <linux/slab.h>
#include <linux/time64.h>

#include "compat.h"
#include "perf_clock.h"

struct pc_posix {
	struct posix_clock clock;
	struct device dev;
};

static dev_t pc_posix_devt;
static struct pc_posix *pc_posix;

static int pc_posix_gettime(struct posix_clock *clock, struct timespec64 *ts)
{
	*ts = ns_to_timespec64(pc_clock_now());
	return 0;
}

static int pc_posix_getres(struct posix_clock *clock, struct timespec64 *ts)
{
	*ts = ns_to_timespec64(1);
	return 0;
}

static const struct posix_clock_operations pc_posix_ops = {
	.owner		= THIS_MODULE,
	.clock_gettime	= pc_posix_gettime,
	.clock_getres	= pc_posix_getres,
};

static char *pc_posix_devnode(pc_devnode_const struct device *dev,
			      umode_t *mode)
{
	if (mode)
		*mode = 0444;
	return NULL;
}

static struct class pc_posix_class = {
	.name		= pc_name,
	.devnode	= pc_posix_devnode,
};

static void pc_posix_release(struct device *dev)
{
	kfree(container_of(dev, struct pc_posix, dev));
}

static int pc_posix_add(void)
{
	struct device *dev;
	int err;

	pc_posix = kzalloc(sizeof(*pc_posix), GFP_KERNEL);
	if (!pc_posix)
		return -ENOMEM;

	/* From here on the device owns the memory. */
	dev = &pc_posix->dev;
	device_initialize(dev);
	dev->devt = pc_posix_devt;
	dev->class = &pc_posix_class;
	dev->release = pc_posix_release;
	err = dev_set_name(dev, pc_name "_posix");
	if (err)
		goto put;
	pc_posix->clock.ops = pc_posix_ops;
	err = posix_clock_register(&pc_posix->clock, dev);
	if (err)
		goto put;
	return 0;

put:
	put_device(dev);
	return err;
}

int pc_posix_init(void)
{
	int err;

	err = alloc_chrdev_region(&pc_posix_devt, 0, 1, pc_name "_posix");
	if (err)
		return err;
	err = class_register(&pc_posix_class);
	if (err)
		goto no_class;
	err = pc_posix_add();
	if (err)
		goto no_device;
	return 0;

no_device:
	class_unregister(&pc_posix_class);
no_class:
	unregister_chrdev_region(pc_posix_devt, 1);
	return err;
}

void pc_posix_exit(void)
{
	posix_clock_unregister(&pc_posix->clock);
	class_unregister(&pc_posix_class);
	unregister_chrdev_region(pc_posix_devt, 1);
}
