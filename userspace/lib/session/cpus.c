// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* Which CPUs there are, and which are online. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock/cpus.h"
#include "session/internal.h"

/* "0-3,8" into *cpus; returns how many, -EINVAL, -ERANGE, -ENOMEM. */
int pc_cpus_parse(const char *p, int **cpus)
{
	int *list = NULL, *bigger;
	int n = 0, first, last, got;

	while ((got = cpus_next_range(&p, CPUS_MAX, &first, &last)) > 0) {
		bigger = realloc(list, (n + last - first + 1) * sizeof(*list));
		if (!bigger) {
			got = -ENOMEM;
			break;
		}
		list = bigger;
		while (first <= last)
			list[n++] = first++;
	}
	if (got) {
		free(list);
		return got;
	}
	*cpus = list;
	return n;
}

int pc_cpus_read(const char *path, int **cpus)
{
	char text[4096];
	FILE *f = fopen(path, "re");
	int n;

	if (!f)
		return -errno;
	n = fgets(text, sizeof(text), f) ? pc_cpus_parse(text, cpus) : -EIO;
	fclose(f);
	return n;
}

bool pc_cpus_have(const int *list, int n, int cpu)
{
	int i;

	for (i = 0; i < n; i++)
		if (list[i] == cpu)
			return true;
	return false;
}

/* Every CPU asked for is there, once, and online. */
int pc_cpus_check(struct perfclock_session *s)
{
	int *online = NULL, *present = NULL;
	int nr_online, nr_present, err = 0;
	unsigned int i;

	nr_online = pc_cpus_read(s->online_path, &online);
	if (nr_online <= 0) {
		free(online);
		return pc_session_fail(s, nr_online ? nr_online : -ENODEV,
			"cannot read %s: is sysfs mounted?", s->online_path);
	}
	nr_present = pc_cpus_read(PC_CPUS_PRESENT, &present);
	for (i = 0; i < s->nr_cpus && !err; i++) {
		int cpu = s->cpus[i];

		if (pc_cpus_have(s->cpus, i, cpu))
			err = pc_session_fail(s, -EINVAL,
				"CPU %d is named twice", cpu);
		else if (pc_cpus_have(online, nr_online, cpu))
			continue;
		else if (pc_cpus_have(present, nr_present, cpu))
			err = pc_session_fail(s, -ENODEV,
				"CPU %d is offline; bring it up with: echo 1 > "
				"/sys/devices/system/cpu/cpu%d/online", cpu,
				cpu);
		else
			err = pc_session_fail(s, -EINVAL,
				"there is no CPU %d; " PC_CPUS_PRESENT " lists "
				"those there are", cpu);
	}
	free(online);
	free(present);
	return err;
}
