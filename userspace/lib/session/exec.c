// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * A command of ours: forked at once, so that events can be opened on it, but
 * it runs only when all of them are. The kernel enables them at its exec.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "session/internal.h"

/* In the child: nothing but async-signal-safe calls. */
static void wait_and_exec(int sock, char *const argv[])
{
	ssize_t n;
	char c;
	int err;

	do
		n = read(sock, &c, 1);
	while (n < 0 && errno == EINTR);
	/* End of file: the session was freed and we aren't wanted. */
	if (n == 1) {
		execvp(argv[0], argv);
		err = errno;
		send(sock, &err, sizeof(err), MSG_NOSIGNAL);
	}
	_exit(127);
}

static int fork_waiting(struct perfclock_session *s, char *const argv[])
{
	int pair[2], err;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return -errno;
	pid = fork();
	if (pid < 0) {
		err = -errno;
		close(pair[0]);
		close(pair[1]);
		return err;
	}
	if (!pid) {
		close(pair[0]);
		wait_and_exec(pair[1], argv);
	}
	close(pair[1]);
	s->target.child_fd = pair[0];
	s->target.child = pid;
	return 0;
}

int perfclock_session_exec(struct perfclock_session *s, char *const argv[],
			   pid_t *pid)
{
	struct pc_target *t = &s->target;
	int err;

	if (s->state != PC_SESSION_NEW || t->nr_tids || t->cgroup_fd >= 0 ||
	    !argv || !argv[0])
		return pc_session_fail(s, -EINVAL, "command: one command, "
			"before the start, and no pids or cgroup with it");
	/* A call that failed may have left its own. */
	if (!t->tids)
		t->tids = malloc(sizeof(*t->tids));
	free(t->command);
	t->command = strdup(argv[0]);
	if (!t->tids || !t->command)
		return pc_session_no_memory(s);
	err = fork_waiting(s, argv);
	if (err)
		return pc_session_fail(s, err, "command %s: fork: %s", argv[0],
				       strerror(-err));
	t->tids[0] = t->child;
	t->nr_tids = 1;
	*pid = t->child;
	return 0;
}

int pc_exec_go(struct perfclock_session *s)
{
	struct pc_target *t = &s->target;
	ssize_t n;
	int err;

	if (!t->child)
		return 0;
	/* If it was killed meanwhile that is for the caller to find out. */
	if (send(t->child_fd, "", 1, MSG_NOSIGNAL) != 1)
		return 0;
	do
		n = read(t->child_fd, &err, sizeof(err));
	while (n < 0 && errno == EINTR);
	/* End of file: the exec closed the other end. */
	if (n == sizeof(err))
		return pc_session_fail(s, -err, "command %s: %s", t->command,
				       strerror(err));
	return 0;
}

void pc_exec_fini(struct perfclock_session *s)
{
	if (s->target.child_fd >= 0)
		close(s->target.child_fd);
	free(s->target.command);
}
