// SPDX-License-Identifier: GPL-2.0
/*
 * The engine runs while some file asks for watermarks, and not else. These
 * tests need to be alone with the node: each skips if somebody else uses it.
 */
#include <sys/socket.h>
#include <sys/resource.h>

#include "perf_clock_test.h"

FIXTURE(engine) {
	int fd;
};

FIXTURE_SETUP(engine)
{
	if (node_in_use())
		SKIP(return, "somebody else uses " NODE);
	ASSERT_EQ(0, sysfs_number("users"));
	self->fd = open(NODE, O_RDONLY | O_CLOEXEC);
	ASSERT_GE(self->fd, 0);
}

FIXTURE_TEARDOWN(engine)
{
	close(self->fd);
}

static int stands_still(void)
{
	uint64_t gp;

	/* A step that was under way may still end. */
	sleep_ms(100);
	gp = sysfs_number("gp_completed");
	sleep_ms(150);
	return sysfs_number("gp_completed") == gp;
}

static int runs(void)
{
	uint64_t gp = sysfs_number("gp_completed");
	int tries;

	for (tries = 0; tries < 500; tries++) {
		if (sysfs_number("gp_completed") > gp + 3)
			return 1;
		sleep_ms(10);
	}
	return 0;
}

TEST_F(engine, opening_does_not_start_it)
{
	struct perf_clock_caps caps;

	ASSERT_EQ(0, ioctl(self->fd, PERF_CLOCK_IOC_CAPS, &caps));
	EXPECT_EQ(0, sysfs_number("users"));
	EXPECT_TRUE(stands_still());
}

TEST_F(engine, the_time_without_the_watermark_does_not_start_it)
{
	struct perf_clock_snapshot snap;

	memset(&snap, 0, sizeof(snap));
	snap.flags = PERF_CLOCK_SNAPSHOT_NOW;
	ASSERT_EQ(0, ioctl(self->fd, PERF_CLOCK_IOC_SNAPSHOT, &snap));
	EXPECT_NE(0, snap.now[PERF_CLOCK_PERF]);
	EXPECT_EQ(0, sysfs_number("users"));
	EXPECT_TRUE(stands_still());
}

static int by_read(int fd)
{
	struct perf_clock_read record;

	return read(fd, &record, sizeof(record)) == sizeof(record);
}

static int by_mmap(int fd)
{
	void *page = (void *)map_page(fd);

	return page != MAP_FAILED && !munmap(page, page_size());
}

static int by_poll(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) >= 0;
}

static int by_snapshot(int fd)
{
	struct perf_clock_snapshot snap;

	return !snapshot(fd, &snap);
}

static int by_wait(int fd)
{
	struct perf_clock_wait wait = { .stamp = ~0ULL };

	return ioctl(fd, PERF_CLOCK_IOC_WAIT, &wait) && errno == ETIMEDOUT;
}

static int by_mode(int fd)
{
	return !set_mode(fd, PERF_CLOCK_MODE_NORMAL);
}

TEST_F(engine, each_door_starts_it_and_close_stops_it)
{
	static int (*const doors[])(int) = {
		by_read, by_mmap, by_poll, by_snapshot, by_wait, by_mode,
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(doors); i++) {
		ASSERT_TRUE(doors[i](self->fd));
		EXPECT_EQ(1, sysfs_number("users"));
		EXPECT_TRUE(runs());
		close(self->fd);
		EXPECT_EQ(0, sysfs_number("users"));
		EXPECT_TRUE(stands_still());
		self->fd = open(NODE, O_RDONLY | O_CLOEXEC);
		ASSERT_GE(self->fd, 0);
	}
}

TEST_F(engine, a_refused_call_does_not_start_it)
{
	struct perf_clock_wait wait = { .clock = PERF_CLOCK_NR };
	struct perf_clock_snapshot snap = { .flags = 1U << 31 };
	char buf[8];

	EXPECT_EQ(-1, read(self->fd, buf, sizeof(buf)));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 2 * page_size(), PROT_READ,
				   MAP_SHARED, self->fd, 0));
	EXPECT_EQ(-1, set_mode(self->fd, 77));
	EXPECT_EQ(-1, ioctl(self->fd, PERF_CLOCK_IOC_SNAPSHOT, &snap));
	EXPECT_EQ(-1, ioctl(self->fd, PERF_CLOCK_IOC_WAIT, &wait));
	EXPECT_EQ(0, sysfs_number("users"));
}

TEST_F(engine, a_mapping_keeps_it_running_after_close)
{
	const struct perf_clock_page *page = map_page(self->fd);

	ASSERT_NE(MAP_FAILED, page);
	close(self->fd);
	self->fd = -1;
	EXPECT_EQ(1, sysfs_number("users"));
	EXPECT_TRUE(runs());
	EXPECT_NE(0, page->flags & PERF_CLOCK_PAGE_RUNNING);
	munmap((void *)page, page_size());
	EXPECT_EQ(0, sysfs_number("users"));
	EXPECT_TRUE(stands_still());
}

TEST_F(engine, a_watermark_outlives_a_stop)
{
	const struct perf_clock_page *page = map_page(self->fd);
	struct page_look look;
	uint64_t mark;
	int64_t again;

	ASSERT_NE(MAP_FAILED, page);
	ASSERT_TRUE(await_watermark(page, PERF_CLOCK_PERF, 0, 5000));
	mark = watermark(page, PERF_CLOCK_PERF);
	munmap((void *)page, page_size());
	close(self->fd);
	ASSERT_TRUE(stands_still());
	EXPECT_GE(sysfs_number("watermark_ns"), mark);
	mark = sysfs_number("watermark_ns");

	self->fd = open(NODE, O_RDONLY | O_CLOEXEC);
	again = now_ns();
	page = map_page(self->fd);
	ASSERT_NE(MAP_FAILED, page);
	EXPECT_GE(watermark(page, PERF_CLOCK_PERF), mark);
	EXPECT_TRUE(await_watermark(page, PERF_CLOCK_PERF, mark, 5000));
	/* What was in flight then tells nothing of how long they take. */
	look_at_page(page, &look);
	EXPECT_GE(look.gp_start, again);
}

TEST_F(engine, mode_is_expedited_while_one_file_asks)
{
	int other = open(NODE, O_RDONLY | O_CLOEXEC);
	const struct perf_clock_page *page = map_page(other);

	ASSERT_NE(MAP_FAILED, page);
	EXPECT_EQ(PERF_CLOCK_MODE_NORMAL, page->mode);
	if (set_mode(self->fd, PERF_CLOCK_MODE_EXPEDITED) && errno == EPERM)
		SKIP(return, "no privilege for the expedited mode");
	EXPECT_EQ(PERF_CLOCK_MODE_EXPEDITED, page->mode);
	EXPECT_STREQ("expedited", sysfs_text("mode"));
	EXPECT_TRUE(runs());
	/* Twice is once. */
	EXPECT_EQ(0, set_mode(self->fd, PERF_CLOCK_MODE_EXPEDITED));
	EXPECT_EQ(0, set_mode(other, PERF_CLOCK_MODE_EXPEDITED));
	EXPECT_EQ(0, set_mode(other, PERF_CLOCK_MODE_NORMAL));
	EXPECT_EQ(PERF_CLOCK_MODE_EXPEDITED, page->mode);
	close(self->fd);
	self->fd = -1;
	EXPECT_EQ(PERF_CLOCK_MODE_NORMAL, page->mode);
	EXPECT_STREQ("normal", sysfs_text("mode"));
	EXPECT_TRUE(runs());
	munmap((void *)page, page_size());
	close(other);
	EXPECT_EQ(0, sysfs_number("users"));
}

/*
 * Normal grace periods that are under way when the mode changes end after
 * expedited ones that began later: that is no news.
 */
TEST_F(engine, nothing_goes_backwards_when_the_mode_changes)
{
	const struct perf_clock_page *page = map_page(self->fd);
	int64_t end = now_ns() + 2 * NSEC, change = 0;
	struct page_look look, last;
	int i, moved, expedited = 0;

	ASSERT_NE(MAP_FAILED, page);
	if (set_mode(self->fd, PERF_CLOCK_MODE_EXPEDITED) && errno == EPERM)
		SKIP(return, "no privilege for the expedited mode");
	ASSERT_TRUE(await_watermark(page, PERF_CLOCK_PERF, 0, 5000));
	look_at_page(page, &last);
	while (now_ns() < end) {
		if (now_ns() > change) {
			expedited = !expedited;
			ASSERT_EQ(0, set_mode(self->fd, expedited));
			change = now_ns() + 10 * MSEC;
		}
		look_at_page(page, &look);
		moved = 0;
		for (i = 0; i < PERF_CLOCK_NR; i++) {
			ASSERT_GE(look.watermark[i], last.watermark[i]);
			moved |= look.watermark[i] > last.watermark[i];
		}
		ASSERT_GE(look.gp_start, last.gp_start);
		ASSERT_EQ(moved, look.gp_completed > last.gp_completed);
		last = look;
	}
}

TEST_F(engine, normal_steps_keep_their_distance)
{
	char restore[128];
	int64_t begin;
	uint64_t gp, n;

	snprintf(restore, sizeof(restore), "%s", sysfs_text("interval_us"));
	if (sysfs_write("interval_us", "200000") == -EACCES)
		SKIP(return, "not root: cannot write attributes");
	ASSERT_TRUE(by_read(self->fd));
	sleep_ms(400);
	begin = now_ns();
	gp = sysfs_number("gp_completed");
	sleep_ms(1000);
	n = sysfs_number("gp_completed") - gp;
	/* At each step, what has ended by then is published at once. */
	EXPECT_LE(n, (uint64_t)(now_ns() - begin) / (200 * MSEC) + 1);
	EXPECT_GT(n, 1);
	EXPECT_EQ(0, sysfs_write("interval_us", restore));
}

/*
 * Both intervals, as the engine may find that expedited grace periods are no
 * faster here than normal ones, and take to those.
 */
TEST_F(engine, expedited_grace_periods_keep_their_distance)
{
	static const char * const names[] = {
		"interval_us", "expedited_interval_us",
	};
	char restore[2][128];
	int64_t begin;
	uint64_t gp, n;
	int i;

	if (set_mode(self->fd, PERF_CLOCK_MODE_EXPEDITED) && errno == EPERM)
		SKIP(return, "no privilege for the expedited mode");
	for (i = 0; i < 2; i++) {
		snprintf(restore[i], sizeof(restore[i]), "%s",
			 sysfs_text(names[i]));
		ASSERT_EQ(0, sysfs_write(names[i], "20000"));
	}
	sleep_ms(100);
	begin = now_ns();
	gp = sysfs_number("gp_completed");
	sleep_ms(1000);
	n = sysfs_number("gp_completed") - gp;
	/* Some more for the edges, and for normal ones still in flight. */
	EXPECT_LE(n, (uint64_t)(now_ns() - begin) / (20 * MSEC) + 4);
	EXPECT_GT(n, 3);
	for (i = 0; i < 2; i++)
		EXPECT_EQ(0, sysfs_write(names[i], restore[i]));
}

TEST_F(engine, many_open_files)
{
	struct rlimit limit = { 2048, 2048 };
	int fds[1000];
	size_t i, n;

	setrlimit(RLIMIT_NOFILE, &limit);
	for (n = 0; n < ARRAY_LEN(fds); n++) {
		fds[n] = open(NODE, O_RDONLY | O_CLOEXEC);
		if (fds[n] < 0)
			break;
		ASSERT_TRUE(by_read(fds[n]));
	}
	EXPECT_GE(n, 900);
	EXPECT_EQ(n, sysfs_number("users"));
	EXPECT_TRUE(runs());
	for (i = 0; i < n; i++)
		close(fds[i]);
	EXPECT_EQ(0, sysfs_number("users"));
	EXPECT_TRUE(stands_still());
}

TEST_F(engine, a_thousand_times_opened_and_closed)
{
	int i, fd;

	for (i = 0; i < 1000; i++) {
		fd = open(NODE, O_RDONLY | O_CLOEXEC);
		ASSERT_GE(fd, 0);
		ASSERT_TRUE(i % 2 ? by_mmap(fd) : by_read(fd));
		close(fd);
	}
	EXPECT_EQ(0, sysfs_number("users"));
	EXPECT_TRUE(stands_still());
}

TEST_F(engine, a_forked_child_shares_the_file)
{
	int pipes[2], status;
	pid_t pid;
	char c;

	ASSERT_TRUE(by_read(self->fd));
	ASSERT_EQ(0, pipe(pipes));
	pid = fork();
	ASSERT_GE(pid, 0);
	if (pid == 0) {
		close(pipes[1]);
		if (read(pipes[0], &c, 1) != 0)
			_exit(2);
		_exit(by_read(self->fd) && runs() ? 0 : 1);
	}
	close(self->fd);
	self->fd = -1;
	EXPECT_EQ(1, sysfs_number("users"));
	close(pipes[0]);
	close(pipes[1]);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, sysfs_number("users"));
}

/* The file as a message to a process without privileges: its mode stays. */
static int receive(void *arg)
{
	char space[CMSG_SPACE(sizeof(int))], c;
	struct iovec part = { .iov_base = &c, .iov_len = 1 };
	struct msghdr msg = {
		.msg_iov = &part, .msg_iovlen = 1,
		.msg_control = space, .msg_controllen = sizeof(space),
	};
	struct cmsghdr *head;
	int fd;

	if (become_nobody() || recvmsg(*(int *)arg, &msg, 0) != 1)
		return 1;
	head = CMSG_FIRSTHDR(&msg);
	if (!head)
		return 2;
	memcpy(&fd, CMSG_DATA(head), sizeof(fd));
	if (!by_read(fd) || !by_mmap(fd))
		return 3;
	if (strcmp("expedited", sysfs_text("mode")))
		return 4;
	/* It may give the mode up, but not ask for it again. */
	if (set_mode(fd, PERF_CLOCK_MODE_NORMAL) ||
	    strcmp("normal", sysfs_text("mode")))
		return 5;
	if (!set_mode(fd, PERF_CLOCK_MODE_EXPEDITED) || errno != EPERM)
		return 6;
	return 0;
}

static int send_file(int sock, int fd)
{
	char space[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec part = { .iov_base = "x", .iov_len = 1 };
	struct msghdr msg = {
		.msg_iov = &part, .msg_iovlen = 1,
		.msg_control = space, .msg_controllen = sizeof(space),
	};
	struct cmsghdr *head = CMSG_FIRSTHDR(&msg);

	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(head), &fd, sizeof(fd));
	return sendmsg(sock, &msg, 0) == 1;
}

TEST_F(engine, a_file_can_be_passed_on)
{
	int socks[2];

	if (getuid())
		SKIP(return, "not root: cannot become nobody");
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, socks));
	ASSERT_EQ(0, set_mode(self->fd, PERF_CLOCK_MODE_EXPEDITED));
	ASSERT_TRUE(send_file(socks[0], self->fd));
	EXPECT_EQ(0, in_child(receive, &socks[1]));
	EXPECT_EQ(1, sysfs_number("users"));
}

TEST_HARNESS_MAIN
