// SPDX-License-Identifier: GPL-2.0
/* read() of /dev/perf_clock, and that all doors tell the same time. */
#include <sys/uio.h>

#include "perf_clock_test.h"

FIXTURE(node) {
	int fd;
};

FIXTURE_SETUP(node)
{
	self->fd = open(NODE, O_RDONLY | O_CLOEXEC);
	ASSERT_GE(self->fd, 0);
}

FIXTURE_TEARDOWN(node)
{
	close(self->fd);
}

TEST_F(node, one_record_of_16_bytes_whatever_the_room)
{
	char buf[64];
	size_t room;

	ASSERT_EQ(16, sizeof(struct perf_clock_read));
	for (room = 16; room <= sizeof(buf); room++) {
		memset(buf, 0x55, sizeof(buf));
		ASSERT_EQ(16, read(self->fd, buf, room));
		EXPECT_EQ(0x55, buf[16]);
	}
}

TEST_F(node, short_buffer_is_refused)
{
	char buf[16];
	size_t room;

	for (room = 1; room < sizeof(buf); room++) {
		ASSERT_EQ(-1, read(self->fd, buf, room));
		ASSERT_EQ(EINVAL, errno);
	}
	ASSERT_EQ(-1, read(self->fd, buf, 0));
	EXPECT_EQ(EINVAL, errno);
}

TEST_F(node, bad_address_is_refused)
{
	char *none = mmap(NULL, page_size(), PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_EQ(-1, read(self->fd, none, 16));
	EXPECT_EQ(EFAULT, errno);
}

TEST_F(node, scattered_buffers_are_filled)
{
	struct perf_clock_read record = { 0 };
	struct iovec parts[2] = {
		{ .iov_base = &record.now, .iov_len = 8 },
		{ .iov_base = &record.watermark, .iov_len = 8 },
	};

	ASSERT_EQ(16, readv(self->fd, parts, 2));
	EXPECT_NE(0, record.now);
	parts[1].iov_len = 7;
	ASSERT_EQ(-1, readv(self->fd, parts, 2));
	EXPECT_EQ(EINVAL, errno);
}

TEST_F(node, it_has_no_position)
{
	char buf[16];

	ASSERT_EQ(-1, pread(self->fd, buf, 16, 0));
	EXPECT_EQ(ESPIPE, errno);
	ASSERT_EQ(-1, lseek(self->fd, 0, SEEK_SET));
	EXPECT_EQ(ESPIPE, errno);
}

TEST_F(node, a_read_that_must_not_wait_does_not)
{
	struct perf_clock_read record;
	struct iovec part = { .iov_base = &record, .iov_len = 16 };

	ASSERT_EQ(16, preadv2(self->fd, &part, 1, -1, RWF_NOWAIT));
	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, O_NONBLOCK));
	ASSERT_EQ(16, read(self->fd, &record, 16));
}

TEST_F(node, cannot_be_written)
{
	char buf[16] = { 0 };
	int fd;

	ASSERT_EQ(-1, write(self->fd, buf, 16));
	EXPECT_EQ(EBADF, errno);
	fd = open(NODE, O_RDWR);
	if (fd < 0)
		SKIP(return, "not root: cannot open for writing at all");
	EXPECT_EQ(-1, write(fd, buf, 16));
	EXPECT_EQ(EINVAL, errno);
	close(fd);
}

static int read_as_nobody(void *arg)
{
	struct perf_clock_read record;
	int fd;

	(void)arg;
	if (become_nobody())
		return 1;
	fd = open(NODE, O_RDONLY);
	if (fd < 0)
		return 2;
	if (read(fd, &record, 16) != 16)
		return 3;
	if (map_page(fd) == MAP_FAILED)
		return 4;
	fd = open(NODE, O_RDWR);
	if (fd >= 0 || errno != EACCES)
		return 5;
	fd = open(POSIX_NODE, O_RDONLY);
	return fd < 0 ? 6 : 0;
}

TEST_F(node, everyone_may_read)
{
	if (getuid())
		SKIP(return, "not root: cannot become nobody");
	EXPECT_EQ(0, in_child(read_as_nobody, NULL));
}

/* On one CPU: the perf clock is monotonic per CPU only. */
TEST_F(node, never_backwards_on_a_cpu_and_never_below_the_watermark)
{
	const struct perf_clock_page *page = map_page(self->fd);
	struct perf_clock_read record, last = { 0 };
	int64_t end = now_ns() + NSEC;
	uint64_t mark;
	int n = 0;

	ASSERT_NE(MAP_FAILED, page);
	ASSERT_EQ(0, pin_to(sched_getcpu()));
	while (now_ns() < end) {
		mark = watermark(page, PERF_CLOCK_PERF);
		ASSERT_EQ(16, read(self->fd, &record, 16));
		ASSERT_GE(record.now, last.now);
		ASSERT_GE(record.watermark, last.watermark);
		ASSERT_GE(record.watermark, mark);
		ASSERT_GE(record.now, record.watermark);
		last = record;
		n++;
	}
	EXPECT_GT(n, 100);
	EXPECT_GT(last.watermark, 0);
}

/* Any CPU: still no clock read after a watermark was seen is below it. */
TEST_F(node, no_cpu_shows_less_than_a_watermark_seen_before)
{
	const struct perf_clock_page *page = map_page(self->fd);
	long cpu, n = sysconf(_SC_NPROCESSORS_CONF);
	struct perf_clock_read record;
	int64_t end = now_ns() + 2 * NSEC;
	uint64_t mark;
	int reads = 0;

	ASSERT_NE(MAP_FAILED, page);
	ASSERT_TRUE(await_watermark(page, PERF_CLOCK_PERF, 0, 5000));
	for (cpu = 0; now_ns() < end; cpu = (cpu + 1) % n) {
		mark = watermark(page, PERF_CLOCK_PERF);
		if (pin_to(cpu))
			continue;	/* offline */
		ASSERT_EQ(16, read(self->fd, &record, 16));
		ASSERT_GE(record.now, mark);
		reads++;
	}
	EXPECT_GT(reads, 100);
}

TEST_F(node, all_doors_show_the_same_clock)
{
	int posix = open(POSIX_NODE, O_RDONLY | O_CLOEXEC), i;
	struct perf_clock_snapshot snap;
	struct perf_clock_read a, b;
	struct timespec ts;
	uint64_t between;

	ASSERT_GE(posix, 0);
	ASSERT_EQ(0, pin_to(sched_getcpu()));
	for (i = 0; i < 1000; i++) {
		ASSERT_EQ(16, read(self->fd, &a, 16));
		ASSERT_EQ(0, clock_gettime((~(clockid_t)posix << 3) | 3, &ts));
		between = ts.tv_sec * NSEC + ts.tv_nsec;
		ASSERT_EQ(0, snapshot(self->fd, &snap));
		ASSERT_EQ(16, read(self->fd, &b, 16));
		ASSERT_LE(a.now, between);
		ASSERT_LE(between, snap.now[PERF_CLOCK_PERF]);
		ASSERT_LE(snap.now[PERF_CLOCK_PERF], b.now);
	}
	close(posix);
}

TEST_HARNESS_MAIN
