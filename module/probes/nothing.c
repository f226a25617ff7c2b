// SPDX-License-Identifier: GPL-2.0
/* Must compile: if it does not, nor does any other, whatever the kernel has. */
#include <linux/device.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
