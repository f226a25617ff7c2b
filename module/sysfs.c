// SPDX-License-Identifier: GPL-2.0
/*
 * Attributes of /sys/class/misc/perf_clock/, one value each; they are
 * described in Documentation/ABI/testing/sysfs-class-misc-perf_clock.
 * Looking never starts the engine.
 */
#include <linux/device.h>
#include <linux/kernel.h>
#include <linux/sysfs.h>

#include "perf_clock.h"

static ssize_t clock_state_show(struct device *dev,
				struct device_attribute *attr, char *buf)
{
	static const char * const names[] = {
		[PERF_CLOCK_STATE_UNKNOWN]	= "unknown",
		[PERF_CLOCK_STATE_STABLE]	= "stable",
		[PERF_CLOCK_STATE_UNSTABLE]	= "unstable",
	};

	return sysfs_emit(buf, "%s\n", names[pc_clock_state()]);
}
static DEVICE_ATTR_RO(clock_state);

static ssize_t mode_show(struct device *dev, struct device_attribute *attr,
			 char *buf)
{
	return sysfs_emit(buf, "%s\n",
			  pc_page_mode() == PERF_CLOCK_MODE_EXPEDITED ?
			  "expedited" : "normal");
}
static DEVICE_ATTR_RO(mode);

static ssize_t users_show(struct device *dev, struct device_attribute *attr,
			  char *buf)
{
	return sysfs_emit(buf, "%u\n", pc_engine_users());
}
static DEVICE_ATTR_RO(users);

static ssize_t gp_completed_show(struct device *dev,
				 struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%llu\n", pc_page_gp_completed());
}
static DEVICE_ATTR_RO(gp_completed);

static ssize_t gp_duration_ns_show(struct device *dev,
				   struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%llu\n", pc_page_gp_duration());
}
static DEVICE_ATTR_RO(gp_duration_ns);

static ssize_t watermark_ns_show(struct device *dev,
				 struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%llu\n", pc_page_watermark(PERF_CLOCK_PERF));
}
static DEVICE_ATTR_RO(watermark_ns);

static ssize_t pc_store_us(const char *buf, size_t count, unsigned int *us)
{
	unsigned int value;
	int err;

	err = kstrtouint(buf, 0, &value);
	if (err)
		return err;
	if (value < PC_INTERVAL_US_MIN || value > PC_INTERVAL_US_MAX)
		return -ERANGE;
	WRITE_ONCE(*us, value);
	return count;
}

static ssize_t interval_us_show(struct device *dev,
				struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", READ_ONCE(pc_interval_us));
}

static ssize_t interval_us_store(struct device *dev,
				 struct device_attribute *attr,
				 const char *buf, size_t count)
{
	return pc_store_us(buf, count, &pc_interval_us);
}
static DEVICE_ATTR_RW(interval_us);

static ssize_t expedited_interval_us_show(struct device *dev,
					  struct device_attribute *attr,
					  char *buf)
{
	return sysfs_emit(buf, "%u\n", READ_ONCE(pc_expedited_interval_us));
}

static ssize_t expedited_interval_us_store(struct device *dev,
					   struct device_attribute *attr,
					   const char *buf, size_t count)
{
	return pc_store_us(buf, count, &pc_expedited_interval_us);
}
static DEVICE_ATTR_RW(expedited_interval_us);

static struct attribute *pc_attrs[] = {
	&dev_attr_clock_state.attr,
	&dev_attr_expedited_interval_us.attr,
	&dev_attr_gp_completed.attr,
	&dev_attr_gp_duration_ns.attr,
	&dev_attr_interval_us.attr,
	&dev_attr_mode.attr,
	&dev_attr_users.attr,
	&dev_attr_watermark_ns.attr,
	NULL
};

static const struct attribute_group pc_attr_group = {
	.attrs = pc_attrs,
};

const struct attribute_group *pc_attribute_groups[] = {
	&pc_attr_group,
	NULL
};
