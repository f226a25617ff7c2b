// SPDX-License-Identifier: GPL-2.0
/*
 * perf_clock: the clock that perf stamps its records with, for user space,
 * and a watermark below which no record can still turn up.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kernel.h>
#include <linux/module.h>

#include "perf_clock.h"

static int __init perf_clock_init(void)
{
	int err;

	err = pc_page_init();
	if (err)
		return err;
	err = pc_engine_init();
	if (err)
		goto no_engine;
	err = pc_posix_init();
	if (err)
		goto no_posix;
	/* Last: from here on the module can be used. */
	err = pc_device_init();
	if (err)
		goto no_device;

	pr_info("loaded, ABI version %d\n", PERF_CLOCK_ABI_VERSION);
	return 0;

no_device:
	pc_posix_exit();
no_posix:
	pc_engine_exit();
no_engine:
	pc_page_exit();
	return err;
}

static void __exit perf_clock_exit(void)
{
	/* No file is open: each holds the module. */
	pc_device_exit();
	pc_posix_exit();
	pc_engine_exit();
	pc_page_exit();
}

module_init(perf_clock_init);
module_exit(perf_clock_exit);

MODULE_LICENSE("GPL");
MODULE_AUTHOR("The perf_clock authors");
MODULE_DESCRIPTION("The perf clock and a proven watermark for user space");
MODULE_VERSION("0.1.0");
