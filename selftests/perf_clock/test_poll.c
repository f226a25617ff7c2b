// SPDX-License-Identifier: GPL-2.0
/* poll: readable once for each move of the watermark since the last look. */
#include <sys/epoll.h>

#include "perf_clock_test.h"

FIXTURE(node) {
	int fd;
	const struct perf_clock_page *page;
};

FIXTURE_SETUP(node)
{
	self->fd = open(NODE, O_RDONLY | O_CLOEXEC);
	ASSERT_GE(self->fd, 0);
	self->page = map_page(self->fd);
	ASSERT_NE(MAP_FAILED, self->page);
}

FIXTURE_TEARDOWN(node)
{
	munmap((void *)self->page, page_size());
	close(self->fd);
}

static int poll_fd(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int n = poll(&p, 1, ms);

	return n <= 0 ? n : p.revents;
}

/*
 * What is loaded after a poll may be newer than what the poll said, and then
 * the next poll says it: each does not show a move, but many do.
 */
TEST_F(node, wakes_when_the_watermark_moves)
{
	uint64_t last = 0, mark;
	int i, moves = 0;

	for (i = 0; i < 20; i++) {
		ASSERT_EQ(POLLIN, poll_fd(self->fd, 5000));
		mark = watermark(self->page, PERF_CLOCK_PERF);
		ASSERT_GT(mark, 0);
		ASSERT_GE(mark, last);
		moves += mark > last;
		last = mark;
	}
	EXPECT_GE(moves, 10);
}

TEST_F(node, says_it_once_for_each_move)
{
	uint64_t before, gp;
	int ready, n = 0, quiet = 0;

	ASSERT_EQ(POLLIN, poll_fd(self->fd, 5000));
	before = gp_completed(self->page);
	do {
		ready = poll_fd(self->fd, 0);
		ASSERT_GE(ready, 0);
		n += ready > 0;
		quiet += !ready;
		gp = gp_completed(self->page);
	} while (gp < before + 20);
	EXPECT_LE(n, (int)(gp - before) + 1);
	EXPECT_GT(n, 0);
	EXPECT_GT(quiet, 0);
}

TEST_F(node, a_read_is_a_look)
{
	struct perf_clock_read record;
	int tries, quiet = 0;

	ASSERT_TRUE(await_watermark(self->page, PERF_CLOCK_PERF, 0, 5000));
	for (tries = 0; tries < 100; tries++) {
		ASSERT_EQ(16, read(self->fd, &record, 16));
		quiet += !poll_fd(self->fd, 0);
	}
	/* A watermark may move in between, but not each time. */
	EXPECT_GT(quiet, 20);
}

/* Of 100 times that some call was made after a read: was all quiet then? */
static int quiet_after(int fd, int (*call)(int fd))
{
	struct perf_clock_read record;
	int tries, quiet = 0;

	for (tries = 0; tries < 100; tries++) {
		if (read(fd, &record, 16) != 16)
			return -1;
		if (call(fd))
			return -1;
		quiet += !poll_fd(fd, 0);
	}
	return quiet;
}

static int look_by_snapshot(int fd)
{
	struct perf_clock_snapshot snap;

	return snapshot(fd, &snap);
}

static int look_by_wait(int fd)
{
	struct perf_clock_wait wait = { .clock = PERF_CLOCK_PERF };

	return ioctl(fd, PERF_CLOCK_IOC_WAIT, &wait);
}

static int look_at_times(int fd)
{
	struct perf_clock_snapshot snap = { .flags = PERF_CLOCK_SNAPSHOT_NOW };

	return ioctl(fd, PERF_CLOCK_IOC_SNAPSHOT, &snap);
}

static int look_at_another_clock(int fd)
{
	struct perf_clock_wait wait = { .clock = PERF_CLOCK_BOOTTIME };

	return ioctl(fd, PERF_CLOCK_IOC_WAIT, &wait);
}

/* Opens a file that has not looked yet: readable, unless the call looks. */
static int readable_after(int (*call)(int fd))
{
	int fd = open(NODE, O_RDONLY | O_CLOEXEC), tries, readable = 0;

	for (tries = 0; tries < 20 && fd >= 0; tries++) {
		if (call(fd))
			break;
		readable += poll_fd(fd, 0) == POLLIN;
		close(fd);
		fd = open(NODE, O_RDONLY | O_CLOEXEC);
	}
	close(fd);
	return tries < 20 ? -1 : readable;
}

TEST_F(node, snapshots_and_waits_are_looks)
{
	int n;

	ASSERT_TRUE(await_watermark(self->page, PERF_CLOCK_PERF, 0, 5000));
	n = readable_after(look_by_snapshot);
	EXPECT_GE(n, 0);
	EXPECT_LT(n, 10);
	n = readable_after(look_by_wait);
	EXPECT_GE(n, 0);
	EXPECT_LT(n, 10);
}

TEST_F(node, neither_the_time_nor_another_clock_is_a_look)
{
	ASSERT_TRUE(await_watermark(self->page, PERF_CLOCK_PERF, 0, 5000));
	EXPECT_EQ(20, readable_after(look_at_times));
	EXPECT_EQ(20, readable_after(look_at_another_clock));
	/* Nor do they make what was looked at unseen. */
	EXPECT_GT(quiet_after(self->fd, look_at_times), 20);
	EXPECT_GT(quiet_after(self->fd, look_at_another_clock), 20);
}

TEST_F(node, files_look_each_for_themselves)
{
	int other = open(NODE, O_RDONLY | O_CLOEXEC);
	struct perf_clock_read record;

	ASSERT_GE(other, 0);
	ASSERT_TRUE(await_watermark(self->page, PERF_CLOCK_PERF, 0, 5000));
	ASSERT_EQ(16, read(self->fd, &record, 16));
	EXPECT_EQ(POLLIN, poll_fd(other, 0));
	close(other);
}

TEST_F(node, works_with_epoll)
{
	struct epoll_event ev = { .events = EPOLLIN }, got;
	int ep = epoll_create1(0), edge, i;

	ASSERT_GE(ep, 0);
	for (edge = 0; edge < 2; edge++) {
		ev.events = EPOLLIN | (edge ? EPOLLET : 0);
		ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_ADD, self->fd, &ev));
		for (i = 0; i < 10; i++) {
			ASSERT_EQ(1, epoll_wait(ep, &got, 1, 5000));
			EXPECT_EQ(EPOLLIN, got.events);
		}
		ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_DEL, self->fd, &ev));
	}
	close(ep);
}

TEST_F(node, is_never_writable)
{
	struct pollfd p = { .fd = self->fd, .events = POLLOUT | POLLPRI };

	EXPECT_EQ(0, poll(&p, 1, 50));
}

TEST_F(node, is_normal_data)
{
	struct pollfd p = { .fd = self->fd, .events = POLLRDNORM };

	EXPECT_EQ(1, poll(&p, 1, 5000));
	EXPECT_EQ(POLLRDNORM, p.revents);
}

TEST_HARNESS_MAIN
