// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* What is watched: everything on some CPUs, tasks, or a cgroup. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session/internal.h"

bool pc_target_is_tasks(const struct perfclock_session *s)
{
	return s->target.nr_tids > 0;
}

static int add_tid(struct perfclock_session *s, pid_t tid)
{
	struct pc_target *t = &s->target;
	pid_t *p = realloc(t->tids, (t->nr_tids + 1) * sizeof(*p));

	if (!p)
		return pc_session_no_memory(s);
	t->tids = p;
	t->tids[t->nr_tids++] = tid;
	return 0;
}

/*
 * The threads of a process. Those they start from now on are followed by the
 * kernel (inherit); one that an unopened thread starts while we open is
 * missed, as with every tool that attaches.
 */
static int add_threads(struct perfclock_session *s, pid_t pid)
{
	char path[64];
	struct dirent *d;
	int err = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = pid > 0 ? opendir(path) : NULL;
	if (!dir)
		return pc_session_fail(s, -ESRCH, "there is no process %d",
				       pid);
	while (!err && (d = readdir(dir)))
		if (d->d_name[0] != '.')
			err = add_tid(s, atoi(d->d_name));
	closedir(dir);
	return err;
}

static int open_cgroup(struct perfclock_session *s, const char *name)
{
	static const char *const roots[] = {
		"/sys/fs/cgroup", "/sys/fs/cgroup/perf_event",
		"/sys/fs/cgroup/unified",
	};
	char path[4096];
	unsigned int i;
	int fd = -1;

	if (name[0] == '/')
		fd = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (i = 0; fd < 0 && i < sizeof(roots) / sizeof(roots[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", roots[i], name);
		fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	if (fd < 0)
		return pc_session_fail(s, -errno, "cgroup %s: %s (looked for "
			"under /sys/fs/cgroup)", name, strerror(errno));
	s->target.cgroup_fd = fd;
	return 0;
}

int pc_target_init(struct perfclock_session *s,
		   const struct perfclock_session_opts *o)
{
	unsigned int i;
	int err;

	if (o->nr_pids && o->cgroup)
		return pc_session_fail(s, -EINVAL,
				       "pids or a cgroup, not both");
	if (o->nr_pids && !o->pids)
		return pc_session_fail(s, -EINVAL,
				       "nr_pids is set but pids is NULL");
	for (i = 0; i < o->nr_pids; i++) {
		err = add_threads(s, o->pids[i]);
		if (err)
			return err;
	}
	return o->cgroup ? open_cgroup(s, o->cgroup) : 0;
}

void pc_target_fini(struct perfclock_session *s)
{
	pc_exec_fini(s);
	free(s->target.tids);
	if (s->target.cgroup_fd >= 0)
		close(s->target.cgroup_fd);
}
