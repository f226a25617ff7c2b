// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* What a refused perf_event_open or mmap means, and what helps. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "session/internal.h"

long pc_read_setting(const char *path)
{
	FILE *f = fopen(path, "re");
	long v = -1;

	if (f) {
		if (fscanf(f, "%ld", &v) != 1)
			v = -1;
		fclose(f);
	}
	return v;
}

static int no_permission(struct perfclock_session *s, int err,
			 const char *name, const char *where)
{
	return pc_session_fail(s, err, "event %s on %s: no permission "
		"(kernel.perf_event_paranoid is %ld): run as root, with "
		"CAP_PERFMON, or after: sysctl kernel.perf_event_paranoid=-1",
		name, where,
		pc_read_setting("/proc/sys/kernel/perf_event_paranoid"));
}

/* What else there is to say, by error. */
static const char *meaning(int err)
{
	switch (err) {
	case -EMFILE:
		return "no more open files are allowed: raise ulimit -n";
	case -ENFILE:
		return "the system has no more open files: raise fs.file-max";
	case -ENODEV:
		return "the CPU is offline, or has no such event";
	case -ESRCH:
		return "no such task";
	case -ENOENT:
	case -EOPNOTSUPP:
		return "this machine has no such event (a guest may lack the "
		       "hardware)";
	case -E2BIG:
	case -EINVAL:
		return "the kernel does not take these settings";
	case -EBADF:
		return "not a perf cgroup";
	case -EBUSY:
		return "the hardware counter is taken";
	default:
		return strerror(-err);
	}
}

int pc_open_failed(struct perfclock_session *s, int err, const char *name,
		   pid_t pid, int cpu)
{
	char where[64];

	if (s->target.cgroup_fd >= 0)
		snprintf(where, sizeof(where), "the cgroup, CPU %d", cpu);
	else if (pid >= 0)
		snprintf(where, sizeof(where), "task %d, CPU %d", pid, cpu);
	else
		snprintf(where, sizeof(where), "CPU %d", cpu);
	if (err == -EACCES || err == -EPERM)
		return no_permission(s, err, name, where);
	return pc_session_fail(s, err, "event %s on %s (%u files open): %s",
			       name, where, s->nr_files,
			       s->target.cgroup_fd >= 0 && err == -ENOENT ?
			       "this cgroup hierarchy has no perf_event "
			       "controller" : meaning(err));
}

int pc_map_failed(struct perfclock_session *s, int err, int cpu)
{
	if (err == -EPERM)
		return pc_session_fail(s, err, "ring of CPU %d: %zu KiB are "
			"more than may be locked: take fewer pages, or raise "
			"kernel.perf_event_mlock_kb (now %ld) or ulimit -l "
			"(RLIMIT_MEMLOCK), or have CAP_IPC_LOCK", cpu,
			s->ring_bytes >> 10,
			pc_read_setting("/proc/sys/kernel/perf_event_mlock_kb"));
	return pc_session_fail(s, err, "ring of CPU %d: mmap of %zu KiB: %s",
			       cpu, s->ring_bytes >> 10, strerror(-err));
}
