// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* Which CPUs there are, and which are online. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/internal.h"

#define CPU_DIR "/sys/devices/system/cpu/"
#define CPU_LIST_MAX 65536

/* "0-3,8" into *cpus; returns how many, -EINVAL, -ENOMEM. */
static int parse_list(const char *p, int **cpus)
{
	long first, last;
	int *list = NULL, *bigger;
	int n = 0;
	char *end;

	while (*p && *p != '\n') {
		first = last = strtol(p, &end, 10);
		if (end == p)
			goto bad;
		if (*end == '-') {
			p = end + 1;
			last = strtol(p, &end, 10);
			if (end == p)
				goto bad;
		}
		if (first < 0 || last < first || last > CPU_LIST_MAX)
			goto bad;
		bigger = realloc(list, (n + last - first + 1) * sizeof(*list));
		if (!bigger) {
			free(list);
			return -ENOMEM;
		}
		list = bigger;
		while (first <= last)
			list[n++] = first++;
		p = *end == ',' ? end + 1 : end;
	}
	*cpus = list;
	return n;
bad:
	free(list);
	return -EINVAL;
}

static int read_list(const char *path, int **cpus)
{
	char text[4096];
	FILE *f = fopen(path, "re");
	int n;

	if (!f)
		return -errno;
	n = fgets(text, sizeof(text), f) ? parse_list(text, cpus) : -EIO;
	fclose(f);
	return n;
}

int pc_cpus_online(int **cpus)
{
	return read_list(CPU_DIR "online", cpus);
}

static bool has(const int *list, int n, int cpu)
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

	nr_online = pc_cpus_online(&online);
	if (nr_online <= 0)
		return pc_session_fail(s, nr_online ? nr_online : -ENODEV,
			"cannot read " CPU_DIR "online: is sysfs mounted?");
	nr_present = read_list(CPU_DIR "present", &present);
	for (i = 0; i < s->nr_cpus && !err; i++) {
		int cpu = s->cpus[i];

		if (has(s->cpus, i, cpu))
			err = pc_session_fail(s, -EINVAL,
				"CPU %d is named twice", cpu);
		else if (has(online, nr_online, cpu))
			continue;
		else if (has(present, nr_present, cpu))
			err = pc_session_fail(s, -ENODEV,
				"CPU %d is offline; bring it up with: echo 1 > "
				CPU_DIR "cpu%d/online", cpu, cpu);
		else
			err = pc_session_fail(s, -EINVAL,
				"there is no CPU %d; " CPU_DIR "present lists "
				"those there are", cpu);
	}
	free(online);
	free(present);
	return err;
}
