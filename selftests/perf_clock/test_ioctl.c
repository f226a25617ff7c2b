// SPDX-License-Identifier: GPL-2.0
/* The ioctls, and each errno that they can give. */
#include <pthread.h>

#include <linux/capability.h>

#include "perf_clock_test.h"

FIXTURE(node) {
	int fd;
	void *nowhere;		/* an address that faults */
};

FIXTURE_SETUP(node)
{
	self->fd = open(NODE, O_RDONLY | O_CLOEXEC);
	ASSERT_GE(self->fd, 0);
	self->nowhere = mmap(NULL, page_size(), PROT_NONE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->nowhere);
}

FIXTURE_TEARDOWN(node)
{
	close(self->fd);
}

TEST_F(node, caps)
{
	struct perf_clock_caps caps;
	size_t i;

	memset(&caps, 0x55, sizeof(caps));
	ASSERT_EQ(0, ioctl(self->fd, PERF_CLOCK_IOC_CAPS, &caps));
	EXPECT_EQ(sizeof(struct perf_clock_page), caps.size);
	EXPECT_EQ(PERF_CLOCK_ABI_VERSION, caps.version);
	EXPECT_EQ(PERF_CLOCK_NR, caps.nr_clocks);
	EXPECT_LE(caps.clock_state, PERF_CLOCK_STATE_UNSTABLE);
	EXPECT_EQ(1, caps.modes & 1);
	EXPECT_EQ(1, caps.resolution);
	for (i = 0; i < ARRAY_LEN(caps.reserved); i++)
		EXPECT_EQ(0, caps.reserved[i]);
	EXPECT_EQ(-1, ioctl(self->fd, PERF_CLOCK_IOC_CAPS, self->nowhere));
	EXPECT_EQ(EFAULT, errno);
}

TEST_F(node, unknown_numbers)
{
	char room[4096] = { 0 };
	unsigned int nr;

	for (nr = 4; nr < 256; nr++) {
		ASSERT_EQ(-1, ioctl(self->fd, _IO(PERF_CLOCK_IOC_TYPE, nr),
				    room));
		ASSERT_EQ(ENOTTY, errno);
	}
	/* The size is part of the number. */
	EXPECT_EQ(-1, ioctl(self->fd, _IOR(PERF_CLOCK_IOC_TYPE, 0, char),
			    room));
	EXPECT_EQ(ENOTTY, errno);
	EXPECT_EQ(-1, ioctl(self->fd, TCGETS, room));
	EXPECT_EQ(ENOTTY, errno);
}

TEST_F(node, snapshot_shows_all_clocks_of_one_moment)
{
	static const clockid_t ids[PERF_CLOCK_NR] = {
		[PERF_CLOCK_MONOTONIC] = CLOCK_MONOTONIC,
		[PERF_CLOCK_MONOTONIC_RAW] = CLOCK_MONOTONIC_RAW,
		[PERF_CLOCK_BOOTTIME] = CLOCK_BOOTTIME,
	};
	struct perf_clock_snapshot snap;
	struct timespec before, after;
	int i, round;

	for (round = 0; round < 100; round++) {
		for (i = PERF_CLOCK_MONOTONIC; i < PERF_CLOCK_NR; i++) {
			clock_gettime(ids[i], &before);
			ASSERT_EQ(0, snapshot(self->fd, &snap));
			clock_gettime(ids[i], &after);
			/* 1 us: slopes of fast and ordinary readers */
			EXPECT_LE(before.tv_sec * NSEC + before.tv_nsec - 1000,
				  snap.now[i]);
			EXPECT_GE(after.tv_sec * NSEC + after.tv_nsec + 1000,
				  snap.now[i]);
		}
	}
	for (i = PERF_CLOCK_NR; i < PERF_CLOCK_MAX; i++) {
		EXPECT_EQ(0, snap.now[i]);
		EXPECT_EQ(0, snap.watermark[i]);
	}
}

TEST_F(node, snapshot_says_on_which_cpu)
{
	long cpu, n = sysconf(_SC_NPROCESSORS_CONF);
	struct perf_clock_snapshot snap;
	int seen = 0;

	for (cpu = 0; cpu < n; cpu++) {
		if (pin_to(cpu))
			continue;	/* offline */
		ASSERT_EQ(0, snapshot(self->fd, &snap));
		EXPECT_EQ(cpu, snap.cpu);
		seen++;
	}
	EXPECT_GT(seen, 0);
}

TEST_F(node, snapshot_counts_grace_periods)
{
	const struct perf_clock_page *page = map_page(self->fd);
	struct perf_clock_snapshot snap;
	uint64_t before;

	ASSERT_NE(MAP_FAILED, page);
	ASSERT_TRUE(await_watermark(page, PERF_CLOCK_PERF, 0, 5000));
	before = gp_completed(page);
	ASSERT_EQ(0, snapshot(self->fd, &snap));
	EXPECT_GT(snap.gp_completed, 0);
	EXPECT_GE(snap.gp_completed, before);
	EXPECT_LE(snap.gp_completed, gp_completed(page));
}

TEST_F(node, snapshot_of_only_the_times)
{
	struct perf_clock_snapshot snap, all;
	int i;

	memset(&snap, 0xff, sizeof(snap));
	memset(snap.reserved, 0, sizeof(snap.reserved));
	snap.flags = PERF_CLOCK_SNAPSHOT_NOW;
	ASSERT_EQ(0, ioctl(self->fd, PERF_CLOCK_IOC_SNAPSHOT, &snap));
	EXPECT_EQ(0, snap.flags);
	EXPECT_EQ(0, snap.gp_completed);
	EXPECT_GT(sysconf(_SC_NPROCESSORS_CONF), snap.cpu);
	ASSERT_EQ(0, snapshot(self->fd, &all));
	for (i = 0; i < PERF_CLOCK_MAX; i++)
		EXPECT_EQ(0, snap.watermark[i]);
	/* The perf clock may be another CPU's by now. */
	for (i = PERF_CLOCK_MONOTONIC; i < PERF_CLOCK_NR; i++) {
		EXPECT_NE(0, snap.now[i]);
		EXPECT_LE(snap.now[i], all.now[i]);
	}
}

TEST_F(node, snapshot_refuses)
{
	struct perf_clock_snapshot snap;
	size_t i;

	memset(&snap, 0, sizeof(snap));
	snap.flags = PERF_CLOCK_SNAPSHOT_NOW << 1;
	EXPECT_EQ(-1, ioctl(self->fd, PERF_CLOCK_IOC_SNAPSHOT, &snap));
	EXPECT_EQ(EINVAL, errno);
	for (i = 0; i < ARRAY_LEN(snap.reserved); i++) {
		memset(&snap, 0, sizeof(snap));
		snap.reserved[i] = 1ULL << 63;
		EXPECT_EQ(-1, ioctl(self->fd, PERF_CLOCK_IOC_SNAPSHOT, &snap));
		EXPECT_EQ(EINVAL, errno);
	}
	EXPECT_EQ(-1, ioctl(self->fd, PERF_CLOCK_IOC_SNAPSHOT, self->nowhere));
	EXPECT_EQ(EFAULT, errno);
}

static int wait_for(int fd, int clock, uint64_t stamp, int64_t timeout,
		    uint64_t *mark)
{
	struct perf_clock_wait wait = {
		.clock = clock, .stamp = stamp, .timeout = timeout,
	};
	int err = ioctl(fd, PERF_CLOCK_IOC_WAIT, &wait);

	if (mark)
		*mark = wait.watermark;
	return err;
}

TEST_F(node, wait_returns_when_the_watermark_has_passed)
{
	struct perf_clock_snapshot snap;
	uint64_t mark;
	int i;

	for (i = 0; i < PERF_CLOCK_NR; i++) {
		ASSERT_EQ(0, snapshot(self->fd, &snap));
		ASSERT_EQ(0, wait_for(self->fd, i, snap.now[i], -1, &mark));
		EXPECT_GT(mark, snap.now[i]);
		/* What has passed, has passed. */
		EXPECT_EQ(0, wait_for(self->fd, i, snap.now[i], 0, &mark));
		EXPECT_EQ(0, wait_for(self->fd, i, 0, 0, &mark));
	}
}

TEST_F(node, wait_is_for_strictly_above)
{
	uint64_t mark, again;
	int tries;

	ASSERT_EQ(0, wait_for(self->fd, PERF_CLOCK_PERF, 0, -1, NULL));
	for (tries = 0; tries < 100; tries++) {
		ASSERT_EQ(0, wait_for(self->fd, PERF_CLOCK_PERF, 0, 0, &mark));
		if (!wait_for(self->fd, PERF_CLOCK_PERF, mark, 0, &again)) {
			ASSERT_GT(again, mark);
			continue;
		}
		ASSERT_EQ(ETIMEDOUT, errno);
		ASSERT_EQ(mark, again);
	}
}

TEST_F(node, wait_times_out)
{
	int64_t begin = now_ns();
	uint64_t mark = 0;

	EXPECT_EQ(-1, wait_for(self->fd, PERF_CLOCK_PERF, ~0ULL, 0, NULL));
	EXPECT_EQ(ETIMEDOUT, errno);
	EXPECT_EQ(-1, wait_for(self->fd, PERF_CLOCK_PERF, ~0ULL, 50 * MSEC,
			       &mark));
	EXPECT_EQ(ETIMEDOUT, errno);
	EXPECT_GE(now_ns() - begin, 50 * MSEC);
	EXPECT_LT(now_ns() - begin, 10 * NSEC);
	EXPECT_GT(mark, 0);
}

static volatile sig_atomic_t alarms;

static void count_alarm(int sig)
{
	(void)sig;
	alarms++;
}

/* SIGALRM after 50 ms, with or without SA_RESTART, until the test ends. */
static void alarm_soon(int flags, long interval_us)
{
	struct sigaction sa = { .sa_handler = count_alarm, .sa_flags = flags };
	struct itimerval timer = {
		.it_value.tv_usec = 50000, .it_interval.tv_usec = interval_us,
	};

	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
}

TEST_F(node, wait_is_interrupted_by_signals)
{
	alarm_soon(0, 50000);
	EXPECT_EQ(-1, wait_for(self->fd, PERF_CLOCK_PERF, ~0ULL, -1, NULL));
	EXPECT_EQ(EINTR, errno);
	EXPECT_EQ(-1, wait_for(self->fd, PERF_CLOCK_PERF, ~0ULL, 60 * NSEC,
			       NULL));
	EXPECT_EQ(EINTR, errno);
	/* With SA_RESTART: one with a limit must not begin anew. */
	alarm_soon(SA_RESTART, 50000);
	EXPECT_EQ(-1, wait_for(self->fd, PERF_CLOCK_PERF, ~0ULL, 60 * NSEC,
			       NULL));
	EXPECT_EQ(EINTR, errno);
}

TEST_F(node, wait_without_a_limit_is_restarted)
{
	struct perf_clock_snapshot snap;
	uint64_t stamp, mark;

	ASSERT_EQ(0, snapshot(self->fd, &snap));
	stamp = snap.now[PERF_CLOCK_MONOTONIC] + 300 * MSEC;
	alarm_soon(SA_RESTART, 50000);
	EXPECT_EQ(0, wait_for(self->fd, PERF_CLOCK_MONOTONIC, stamp, -1,
			      &mark));
	EXPECT_GT(mark, stamp);
	EXPECT_GT(alarms, 0);
}

TEST_F(node, wait_refuses)
{
	struct perf_clock_wait wait;
	unsigned int i;

	EXPECT_EQ(-1, wait_for(self->fd, PERF_CLOCK_NR, 0, 0, NULL));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, wait_for(self->fd, -1, 0, 0, NULL));
	EXPECT_EQ(EINVAL, errno);
	memset(&wait, 0, sizeof(wait));
	wait.flags = 1;
	EXPECT_EQ(-1, ioctl(self->fd, PERF_CLOCK_IOC_WAIT, &wait));
	EXPECT_EQ(EINVAL, errno);
	for (i = 0; i < ARRAY_LEN(wait.reserved); i++) {
		memset(&wait, 0, sizeof(wait));
		wait.reserved[i] = 1;
		EXPECT_EQ(-1, ioctl(self->fd, PERF_CLOCK_IOC_WAIT, &wait));
		EXPECT_EQ(EINVAL, errno);
	}
	EXPECT_EQ(-1, ioctl(self->fd, PERF_CLOCK_IOC_WAIT, self->nowhere));
	EXPECT_EQ(EFAULT, errno);
}

TEST_F(node, wait_cannot_answer_into_memory_that_is_read_only)
{
	struct perf_clock_wait *wait = mmap(NULL, page_size(), PROT_READ,
					    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_NE(MAP_FAILED, wait);
	EXPECT_EQ(-1, ioctl(self->fd, PERF_CLOCK_IOC_WAIT, wait));
	EXPECT_EQ(EFAULT, errno);
}

static void *waiter(void *arg)
{
	int fd = *(int *)arg;
	struct perf_clock_snapshot snap;
	int i;

	for (i = 0; i < 20; i++)
		if (snapshot(fd, &snap) ||
		    wait_for(fd, PERF_CLOCK_MONOTONIC,
			     snap.now[PERF_CLOCK_MONOTONIC], -1, NULL))
			return arg;
	return NULL;
}

TEST_F(node, many_wait_on_one_file)
{
	pthread_t threads[16];
	void *bad;
	size_t i;

	for (i = 0; i < ARRAY_LEN(threads); i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, waiter,
					    &self->fd));
	for (i = 0; i < ARRAY_LEN(threads); i++) {
		ASSERT_EQ(0, pthread_join(threads[i], &bad));
		EXPECT_EQ(NULL, bad);
	}
}

TEST_F(node, set_mode_refuses)
{
	struct perf_clock_mode mode;
	size_t i;

	EXPECT_EQ(-1, set_mode(self->fd, 2));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, set_mode(self->fd, ~0u));
	EXPECT_EQ(EINVAL, errno);
	memset(&mode, 0, sizeof(mode));
	mode.flags = 1;
	EXPECT_EQ(-1, ioctl(self->fd, PERF_CLOCK_IOC_SET_MODE, &mode));
	EXPECT_EQ(EINVAL, errno);
	for (i = 0; i < ARRAY_LEN(mode.reserved); i++) {
		memset(&mode, 0, sizeof(mode));
		mode.reserved[i] = 1;
		EXPECT_EQ(-1, ioctl(self->fd, PERF_CLOCK_IOC_SET_MODE, &mode));
		EXPECT_EQ(EINVAL, errno);
	}
	EXPECT_EQ(-1, ioctl(self->fd, PERF_CLOCK_IOC_SET_MODE, self->nowhere));
	EXPECT_EQ(EFAULT, errno);
}

static int mode_as_nobody(void *arg)
{
	int fd = *(int *)arg;
	struct perf_clock_caps caps;

	if (become_nobody())
		return 1;
	if (ioctl(fd, PERF_CLOCK_IOC_CAPS, &caps) || caps.modes != 1)
		return 2;
	if (set_mode(fd, PERF_CLOCK_MODE_NORMAL))
		return 3;
	if (set_mode(fd, PERF_CLOCK_MODE_EXPEDITED) != -1 || errno != EPERM)
		return 4;
	return 0;
}

TEST_F(node, expedited_is_for_the_privileged)
{
	struct perf_clock_caps caps;

	if (getuid())
		SKIP(return, "not root: cannot become nobody");
	EXPECT_EQ(0, in_child(mode_as_nobody, &self->fd));
	ASSERT_EQ(0, ioctl(self->fd, PERF_CLOCK_IOC_CAPS, &caps));
	EXPECT_EQ(3, caps.modes);
	EXPECT_EQ(0, set_mode(self->fd, PERF_CLOCK_MODE_EXPEDITED));
	EXPECT_EQ(0, set_mode(self->fd, PERF_CLOCK_MODE_NORMAL));
}

#ifndef CAP_PERFMON
#define CAP_PERFMON	38
#endif

struct mode_try {
	int fd;
	int cap;	/* the only one; -1: none */
};

static int keep_only(int cap)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2] = { 0 };

	if (cap >= 0) {
		data[cap / 32].permitted = 1U << cap % 32;
		data[cap / 32].effective = 1U << cap % 32;
	}
	return syscall(SYS_capset, &head, data);
}

/* 0: may not, 1: may, else: what is said and what is done differ. */
static int mode_with_one_capability(void *arg)
{
	const struct mode_try *try = arg;
	struct perf_clock_caps caps;
	int may;

	if (keep_only(try->cap))
		return 2;
	if (ioctl(try->fd, PERF_CLOCK_IOC_CAPS, &caps))
		return 3;
	may = !set_mode(try->fd, PERF_CLOCK_MODE_EXPEDITED);
	if (!may && errno != EPERM)
		return 4;
	return caps.modes == (may ? 3 : 1) ? may : 5;
}

TEST_F(node, expedited_needs_one_capability_of_two)
{
	struct mode_try try = { .fd = self->fd };

	if (getuid())
		SKIP(return, "not root: no capabilities to drop");
	try.cap = CAP_PERFMON;
	EXPECT_EQ(1, in_child(mode_with_one_capability, &try));
	try.cap = CAP_SYS_ADMIN;
	EXPECT_EQ(1, in_child(mode_with_one_capability, &try));
	try.cap = CAP_SYS_RESOURCE;
	EXPECT_EQ(0, in_child(mode_with_one_capability, &try));
	try.cap = -1;	/* root's number alone gives nothing */
	EXPECT_EQ(0, in_child(mode_with_one_capability, &try));
}

TEST_HARNESS_MAIN
