// SPDX-License-Identifier: GPL-2.0
#include <linux/device.h>

char *probe(const struct device *dev, umode_t *mode);
struct class probe_class;

void probe_use(void);
void probe_use(void)
{
	probe_class.devnode = probe;
}
