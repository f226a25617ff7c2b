/* SPDX-License-Identifier: GPL-2.0 */
/* What the tests of /dev/perf_clock share. */
#ifndef PERF_CLOCK_TEST_H
#define PERF_CLOCK_TEST_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/perf_clock.h>

#include "../kselftest_harness.h"

#define NODE		"/dev/perf_clock"
#define POSIX_NODE	"/dev/perf_clock_posix"
#define SYSFS		"/sys/class/misc/perf_clock/"
#define NSEC		1000000000LL
#define MSEC		1000000LL
#define ARRAY_LEN(a)	(sizeof(a) / sizeof((a)[0]))

static inline int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NSEC + ts.tv_nsec;
}

static inline void sleep_ms(long ms)
{
	usleep(ms * 1000);
}

static inline size_t page_size(void)
{
	return sysconf(_SC_PAGESIZE);
}

/* The page of an open node, or MAP_FAILED. */
static inline const struct perf_clock_page *map_page(int fd)
{
	return mmap(NULL, page_size(), PROT_READ, MAP_SHARED, fd, 0);
}

static inline uint64_t watermark(const struct perf_clock_page *page, int clock)
{
	return __atomic_load_n(&page->mark[clock].watermark, __ATOMIC_ACQUIRE);
}

static inline uint64_t gp_completed(const struct perf_clock_page *page)
{
	return __atomic_load_n(&page->gp_completed, __ATOMIC_ACQUIRE);
}

/* Fields of the page that belong together. */
struct page_look {
	uint32_t seq;
	uint64_t flags, gp_completed, gp_duration, gp_start;
	uint64_t watermark[PERF_CLOCK_NR];
};

static inline void look_at_page(const struct perf_clock_page *page,
				struct page_look *look)
{
	int i;

	do {
		look->seq = __atomic_load_n(&page->seq_count, __ATOMIC_ACQUIRE);
		look->flags = __atomic_load_n(&page->flags, __ATOMIC_RELAXED);
		look->gp_completed = __atomic_load_n(&page->gp_completed,
						     __ATOMIC_RELAXED);
		look->gp_duration = __atomic_load_n(&page->gp_duration,
						    __ATOMIC_RELAXED);
		look->gp_start = __atomic_load_n(&page->gp_start,
						 __ATOMIC_RELAXED);
		for (i = 0; i < PERF_CLOCK_NR; i++)
			look->watermark[i] = watermark(page, i);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (look->seq & 1 ||
		 look->seq != __atomic_load_n(&page->seq_count,
					      __ATOMIC_RELAXED));
}

/* Until the watermark has moved past @above; false after @ms. */
static inline int await_watermark(const struct perf_clock_page *page,
				  int clock, uint64_t above, long ms)
{
	int64_t end = now_ns() + ms * MSEC;

	while (watermark(page, clock) <= above) {
		if (now_ns() > end)
			return 0;
		usleep(500);
	}
	return 1;
}

/* 0, or -1 and errno. */
static inline int set_mode(int fd, unsigned int mode)
{
	struct perf_clock_mode m = { .mode = mode };

	return ioctl(fd, PERF_CLOCK_IOC_SET_MODE, &m);
}

static inline int snapshot(int fd, struct perf_clock_snapshot *snap)
{
	memset(snap, 0, sizeof(*snap));
	return ioctl(fd, PERF_CLOCK_IOC_SNAPSHOT, snap);
}

/* The text of an attribute without its line break; NULL if it is not there. */
static inline char *sysfs_text(const char *name)
{
	static char text[128];
	char path[256];
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), SYSFS "%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	len = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (len <= 0)
		return NULL;
	text[len] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return text;
}

static inline uint64_t sysfs_number(const char *name)
{
	char *text = sysfs_text(name);

	return text ? strtoull(text, NULL, 10) : ~0ULL;
}

static inline int links_to_node(const char *pattern)
{
	char path[PATH_MAX];
	glob_t links;
	size_t i;
	ssize_t len;
	int found = 0;

	if (glob(pattern, GLOB_NOSORT, NULL, &links))
		return 0;
	for (i = 0; i < links.gl_pathc && !found; i++) {
		len = readlink(links.gl_pathv[i], path, sizeof(path) - 1);
		path[len < 0 ? 0 : len] = '\0';
		found = !strcmp(path, NODE);
	}
	globfree(&links);
	return found;
}

/*
 * Does a process use the node? Who is not root sees only its own. The engine's
 * count of users is not asked: it is one of the things to be tested.
 */
static inline int node_in_use(void)
{
	if (getuid())
		return sysfs_number("users") != 0;
	return links_to_node("/proc/[0-9]*/fd/*") ||
	       links_to_node("/proc/[0-9]*/map_files/*");
}

/* 0, or -errno. */
static inline int sysfs_write(const char *name, const char *text)
{
	char path[256];
	ssize_t len;
	int fd, err;

	snprintf(path, sizeof(path), SYSFS "%s", name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	len = write(fd, text, strlen(text));
	err = len < 0 ? -errno : 0;
	close(fd);
	return err;
}

/* Give up all privileges for good: for children only. */
static inline int become_nobody(void)
{
	if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
		return -1;
	return 0;
}

static inline int pin_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set);
}

/* A child that runs fn and exits with what it returns. */
static inline int in_child(int (*fn)(void *), void *arg)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(fn(arg));
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) :
				   128 + WTERMSIG(status);
}

#endif /* PERF_CLOCK_TEST_H */
