// SPDX-License-Identifier: GPL-2.0
/*
 * To be preloaded into the command (LD_PRELOAD), by test_cmd_faults.py:
 *
 *	STORM_US=n	a signal every n microseconds, caught without
 *			SA_RESTART, so that whatever waits gets EINTR
 *	STORM_SHORT=n	no read() or write() gets beyond n bytes
 *	STORM_EINTR=n	every n-th of them is interrupted before it began
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/types.h>
#include <unistd.h>

static size_t longest;
static unsigned int every, calls;

static void nothing(int sig)
{
	(void)sig;
}

static unsigned long number(const char *name)
{
	const char *value = getenv(name);

	return value ? strtoul(value, NULL, 10) : 0;
}

static void __attribute__((constructor)) begin(void)
{
	struct sigaction sa = { .sa_handler = nothing };
	struct itimerval it = { .it_value.tv_usec = number("STORM_US") };

	longest = number("STORM_SHORT");
	every = number("STORM_EINTR");
	if (!it.it_value.tv_usec)
		return;
	it.it_interval = it.it_value;
	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &it, NULL);
}

static int interrupted(void)
{
	if (!every || __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) % every)
		return 0;
	errno = EINTR;
	return 1;
}

static size_t shortened(size_t n)
{
	return longest && n > longest ? longest : n;
}

/* The functions of libc's that these stand before. */
#define REAL(name) ({							\
	static __typeof__(&name) real;					\
	if (!real)							\
		real = (__typeof__(&name))dlsym(RTLD_NEXT, #name);	\
	real;								\
})

ssize_t read(int fd, void *buf, size_t n)
{
	return interrupted() ? -1 : REAL(read)(fd, buf, shortened(n));
}

ssize_t write(int fd, const void *buf, size_t n)
{
	return interrupted() ? -1 : REAL(write)(fd, buf, shortened(n));
}

ssize_t pread(int fd, void *buf, size_t n, off_t at)
{
	return interrupted() ? -1 : REAL(pread)(fd, buf, shortened(n), at);
}

ssize_t pwrite(int fd, const void *buf, size_t n, off_t at)
{
	return interrupted() ? -1 : REAL(pwrite)(fd, buf, shortened(n), at);
}
