// SPDX-License-Identifier: GPL-2.0
/*
 * crowd_node SECONDS node|zero: 16 processes of a user without rights that
 * call, as fast as they can, all that the node offers them; or as many system
 * calls on /dev/zero, to compare with. What they must not get is told, and
 * gives exit status 1: expedited grace periods, or a byte beside the times.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/perf_clock.h>

#define PROCESSES	16
#define NODE		"/dev/perf_clock"

static int fail(const char *what)
{
	fprintf(stderr, "crowd_node: %s (%s)\n", what, strerror(errno));
	return 1;
}

static int all_zero(const void *p, size_t n)
{
	const uint8_t *bytes = p;

	while (n--)
		if (*bytes++)
			return 0;
	return 1;
}

/* Everybody sees the same page: what is no field of it is zero. */
static int look_at_page(int fd)
{
	const size_t size = sysconf(_SC_PAGESIZE);
	struct perf_clock_page *page;
	int bad = 0;

	page = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		return fail("mmap");
	if (page->size > size || page->reserved0 ||
	    !all_zero((char *)page + page->size, size - page->size))
		bad = fail("the page shows more than its fields");
	munmap(page, size);
	return bad;
}

static int ask_for_watermarks(int fd)
{
	struct perf_clock_snapshot snapshot = { 0 };
	struct perf_clock_wait wait = { .stamp = UINT64_MAX, .timeout = 1 };
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct perf_clock_read both;

	if (ioctl(fd, PERF_CLOCK_IOC_SNAPSHOT, &snapshot))
		return fail("snapshot");
	if (!all_zero(snapshot.reserved, sizeof(snapshot.reserved)))
		return fail("snapshot with more than its fields");
	if (!ioctl(fd, PERF_CLOCK_IOC_WAIT, &wait) || errno != ETIMEDOUT)
		return fail("wait for the end of time");
	if (read(fd, &both, sizeof(both)) != sizeof(both))
		return fail("read");
	return poll(&p, 1, 0) < 0 ? fail("poll") : 0;
}

static int ask_for_more(int fd)
{
	struct perf_clock_mode mode = { .mode = PERF_CLOCK_MODE_EXPEDITED };
	struct perf_clock_caps caps;

	if (!ioctl(fd, PERF_CLOCK_IOC_SET_MODE, &mode) || errno != EPERM)
		return fail("expedited grace periods are not refused");
	if (ioctl(fd, PERF_CLOCK_IOC_CAPS, &caps))
		return fail("caps");
	if (caps.modes >> PERF_CLOCK_MODE_EXPEDITED & 1 ||
	    !all_zero(caps.reserved, sizeof(caps.reserved)))
		return fail("caps that are not for this user");
	return 0;
}

static int call_node(void)
{
	int fd = open(NODE, O_RDONLY | O_CLOEXEC), bad, i;

	if (fd < 0)
		return fail(NODE);
	bad = look_at_page(fd);
	for (i = 0; !bad && i < 8; i++)
		bad = ask_for_watermarks(fd);
	if (!bad)
		bad = ask_for_more(fd);
	close(fd);
	return bad;
}

/* As many calls, on something that does nothing. */
static int call_zero(void)
{
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC), i;
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char byte;

	if (fd < 0)
		return fail("/dev/zero");
	for (i = 0; i < 18; i++)
		if (read(fd, &byte, 1) != 1 || poll(&p, 1, 0) < 0)
			return fail("read");
	close(fd);
	return 0;
}

static int run(int (*call)(void), time_t seconds)
{
	struct timespec now, begin;
	int bad;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		bad = call();
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (!bad && now.tv_sec - begin.tv_sec < seconds);
	return bad;
}

int main(int argc, char **argv)
{
	int i, n = 0, status, bad = 0;
	pid_t pid;

	if (argc != 3 || (strcmp(argv[2], "node") && strcmp(argv[2], "zero"))) {
		fprintf(stderr, "usage: crowd_node SECONDS node|zero\n");
		return 2;
	}
	if (!getuid())
		return fail("to be run as a user without rights");
	for (i = 0; i < PROCESSES; i++) {
		pid = fork();
		if (!pid)
			_exit(run(strcmp(argv[2], "node") ? call_zero :
				  call_node, atoi(argv[1])));
		n += pid > 0;
	}
	while (wait(&status) > 0)
		bad |= status;
	return bad || n < PROCESSES ? 1 : 0;
}
