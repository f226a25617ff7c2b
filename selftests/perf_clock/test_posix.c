// SPDX-License-Identifier: GPL-2.0
/* /dev/perf_clock_posix: the perf clock as a dynamic POSIX clock. */
#include <sys/timex.h>

#include "perf_clock_test.h"

FIXTURE(clock) {
	int fd;
	clockid_t id;
};

FIXTURE_SETUP(clock)
{
	self->fd = open(POSIX_NODE, O_RDONLY | O_CLOEXEC);
	ASSERT_GE(self->fd, 0);
	self->id = (~(clockid_t)self->fd << 3) | 3;
}

FIXTURE_TEARDOWN(clock)
{
	close(self->fd);
}

TEST_F(clock, runs_forward_at_the_pace_of_time)
{
	int64_t begin = now_ns(), wall, perf;
	struct timespec a, b;

	ASSERT_EQ(0, pin_to(sched_getcpu()));
	ASSERT_EQ(0, clock_gettime(self->id, &a));
	sleep_ms(500);
	ASSERT_EQ(0, clock_gettime(self->id, &b));
	wall = now_ns() - begin;
	perf = (b.tv_sec - a.tv_sec) * NSEC + b.tv_nsec - a.tv_nsec;
	/* An unstable clock is behind while its CPU is not run by the host. */
	EXPECT_GE(perf, 250 * MSEC);
	EXPECT_LE(perf, wall + 100 * MSEC);
}

TEST_F(clock, has_a_resolution)
{
	struct timespec ts;

	ASSERT_EQ(0, clock_getres(self->id, &ts));
	EXPECT_EQ(0, ts.tv_sec);
	EXPECT_EQ(1, ts.tv_nsec);
}

TEST_F(clock, cannot_be_set)
{
	struct timespec ts = { .tv_sec = 1 };

	EXPECT_EQ(-1, clock_settime(self->id, &ts));
	EXPECT_TRUE(errno == EACCES || errno == EOPNOTSUPP);
}

TEST_F(clock, cannot_be_set_by_who_opened_it_for_writing)
{
	struct timespec ts = { .tv_sec = 1 };
	int fd = open(POSIX_NODE, O_RDWR);

	if (fd < 0)
		SKIP(return, "not root: cannot open for writing at all");
	EXPECT_EQ(-1, clock_settime((~(clockid_t)fd << 3) | 3, &ts));
	EXPECT_EQ(EOPNOTSUPP, errno);
	close(fd);
}

TEST_F(clock, cannot_be_adjusted)
{
	struct timex tx = { .modes = ADJ_FREQUENCY, .freq = 1 };
	int fd;

	EXPECT_EQ(-1, clock_adjtime(self->id, &tx));
	EXPECT_TRUE(errno == EACCES || errno == EOPNOTSUPP);
	fd = open(POSIX_NODE, O_RDWR);
	if (fd < 0)
		SKIP(return, "not root: cannot open for writing at all");
	EXPECT_EQ(-1, clock_adjtime((~(clockid_t)fd << 3) | 3, &tx));
	EXPECT_EQ(EOPNOTSUPP, errno);
	close(fd);
}

TEST_F(clock, has_no_timers)
{
	struct sigevent ev = { .sigev_notify = SIGEV_NONE };
	timer_t timer;

	EXPECT_EQ(-1, timer_create(self->id, &ev, &timer));
	EXPECT_TRUE(errno == EOPNOTSUPP || errno == EINVAL);
}

TEST_F(clock, has_no_page_and_no_ioctl)
{
	EXPECT_EQ(MAP_FAILED, mmap(NULL, page_size(), PROT_READ, MAP_SHARED,
				   self->fd, 0));
	EXPECT_EQ(ENODEV, errno);
	EXPECT_EQ(-1, ioctl(self->fd, PERF_CLOCK_IOC_CAPS, NULL));
	EXPECT_EQ(ENOTTY, errno);
}

TEST_F(clock, never_starts_the_engine)
{
	struct timespec ts;
	uint64_t gp;
	int i;

	if (node_in_use())
		SKIP(return, "somebody else uses " NODE);
	gp = sysfs_number("gp_completed");
	for (i = 0; i < 1000; i++)
		ASSERT_EQ(0, clock_gettime(self->id, &ts));
	sleep_ms(100);
	EXPECT_EQ(0, sysfs_number("users"));
	EXPECT_EQ(gp, sysfs_number("gp_completed"));
}

TEST_HARNESS_MAIN
