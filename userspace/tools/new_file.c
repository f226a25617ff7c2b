// SPDX-License-Identifier: GPL-2.0
/* A file that gets its name when it is complete: see new_file.h. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <linux/fs.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common.h"
#include "new_file.h"

/* The temporary name, for whatever ends the program to remove. */
static char *temporary;

static void remove_temporary(int sig)
{
	if (temporary)
		unlink(temporary);
	signal(sig, SIG_DFL);
	raise(sig);
}

/* What is ignored (nohup) stays ignored. */
static void catch_signals(void)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGXCPU, SIGXFSZ };
	const struct sigaction sa = { .sa_handler = remove_temporary };
	struct sigaction was;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ends); i++)
		if (!sigaction(ends[i], NULL, &was) &&
		    was.sa_handler != SIG_IGN)
			sigaction(ends[i], &sa, NULL);
}

static int failed(const struct new_file *f, int err)
{
	if (err == EEXIST)
		tool_error("%s exists: it is not overwritten; remove it or "
			   "give another name", f->name);
	else
		tool_error("%s: %s", f->name, strerror(err));
	return TOOL_FAILED;
}

/* Where a descriptor can be found as a file that a link can be made to. */
static const char *proc_path(int fd, char *buf, size_t size)
{
	snprintf(buf, size, "/proc/self/fd/%d", fd);
	return buf;
}

/* The descriptor, or -1: there is no such thing here. */
static int open_nameless(const char *name)
{
	char *copy = tool_strdup(name), path[32];
	int fd = open(dirname(copy), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	free(copy);
	if (fd < 0)
		return -1;
	/* Without /proc only root could name it: better know that now. */
	if (!access(proc_path(fd, path, sizeof(path)), F_OK))
		return fd;
	close(fd);
	return -1;
}

static int open_temporary(const char *name)
{
	int fd, err;

	temporary = tool_printf("%s.XXXXXX", name);
	catch_signals();
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd >= 0)
		return fd;
	err = errno;
	free(temporary);
	temporary = NULL;
	errno = err;
	return -1;
}

int new_file_open(struct new_file *f, const char *name, mode_t mode)
{
	struct stat st;

	*f = (struct new_file){ name, -1 };
	if (!lstat(name, &st))
		return failed(f, EEXIST);
	f->fd = open_nameless(name);
	if (f->fd < 0)
		f->fd = open_temporary(name);
	if (f->fd < 0)
		return failed(f, errno);
	if (fchmod(f->fd, mode))
		tool_note("%s: mode: %s", name, strerror(errno));
	return TOOL_DONE;
}

/* Unless somebody else has taken the name meanwhile. 0, errno. */
static int rename_temporary(const char *name)
{
	if (!syscall(SYS_renameat2, AT_FDCWD, temporary, AT_FDCWD, name,
		     RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return errno;
	/* A file system that can't: link() does not replace either. */
	if (link(temporary, name))
		return errno;
	unlink(temporary);
	return 0;
}

int new_file_finish(struct new_file *f)
{
	char path[32];
	int fd = f->fd, err = 0;

	if (!temporary && linkat(AT_FDCWD, proc_path(fd, path, sizeof(path)),
				 AT_FDCWD, f->name, AT_SYMLINK_FOLLOW))
		return failed(f, errno);
	f->fd = -1;
	if (close(fd))		/* some file systems write only now */
		err = errno;
	if (err && !temporary)
		unlink(f->name);
	if (!err && temporary)
		err = rename_temporary(f->name);
	if (err && temporary)
		unlink(temporary);
	free(temporary);
	temporary = NULL;
	return err ? failed(f, err) : TOOL_DONE;
}

void new_file_drop(struct new_file *f)
{
	if (f->fd < 0)
		return;
	close(f->fd);
	f->fd = -1;
	if (temporary)
		unlink(temporary);
	free(temporary);
	temporary = NULL;
}
