// SPDX-License-Identifier: GPL-2.0
/* The page: what it shows, and that nobody ever writes it. */
#include "perf_clock_test.h"

FIXTURE(page) {
	int fd;
	size_t size;
};

FIXTURE_SETUP(page)
{
	self->size = page_size();
	self->fd = open(NODE, O_RDONLY | O_CLOEXEC);
	ASSERT_GE(self->fd, 0);
}

FIXTURE_TEARDOWN(page)
{
	close(self->fd);
}

TEST_F(page, says_what_it_is)
{
	static const uint64_t margins[PERF_CLOCK_NR] = {
		[PERF_CLOCK_PERF] = 20000,
		[PERF_CLOCK_MONOTONIC] = 30000,
		[PERF_CLOCK_MONOTONIC_RAW] = 20000,
		[PERF_CLOCK_BOOTTIME] = 30000,
	};
	const struct perf_clock_page *page = map_page(self->fd);
	size_t i;

	ASSERT_NE(MAP_FAILED, page);
	EXPECT_EQ(PERF_CLOCK_MAGIC, page->magic);
	EXPECT_EQ(PERF_CLOCK_ABI_VERSION, page->version);
	EXPECT_EQ(sizeof(*page), page->size);
	EXPECT_EQ(PERF_CLOCK_NR, page->nr_clocks);
	EXPECT_LE(page->clock_state, PERF_CLOCK_STATE_UNSTABLE);
	EXPECT_EQ(0, page->reserved0);
	EXPECT_NE(0, page->flags & PERF_CLOCK_PAGE_RUNNING);
	for (i = 0; i < PERF_CLOCK_NR; i++)
		EXPECT_EQ(margins[i], page->mark[i].margin);
}

TEST_F(page, is_zero_where_it_has_no_meaning)
{
	const struct perf_clock_page *page = map_page(self->fd);
	const char *bytes = (const char *)page;
	size_t i;

	ASSERT_NE(MAP_FAILED, page);
	for (i = PERF_CLOCK_NR; i < PERF_CLOCK_MAX; i++) {
		EXPECT_EQ(0, page->mark[i].watermark);
		EXPECT_EQ(0, page->mark[i].margin);
	}
	for (i = page->size; i < self->size; i++)
		ASSERT_EQ(0, bytes[i]);
}

TEST_F(page, all_watermarks_move_and_stay_below_their_clocks)
{
	const struct perf_clock_page *page = map_page(self->fd);
	uint64_t last[PERF_CLOCK_NR] = { 0 }, mark[PERF_CLOCK_NR];
	int i, least, moves[PERF_CLOCK_NR] = { 0 };
	struct perf_clock_snapshot snap;
	int64_t end = now_ns() + 20 * NSEC;

	ASSERT_NE(MAP_FAILED, page);
	do {
		for (i = 0; i < PERF_CLOCK_NR; i++)
			mark[i] = watermark(page, i);
		ASSERT_EQ(0, snapshot(self->fd, &snap));
		least = INT_MAX;
		for (i = 0; i < PERF_CLOCK_NR; i++) {
			ASSERT_GE(mark[i], last[i]);
			ASSERT_GE(snap.watermark[i], mark[i]);
			ASSERT_GE(snap.now[i], snap.watermark[i]);
			moves[i] += mark[i] > last[i];
			last[i] = mark[i];
			if (moves[i] < least)
				least = moves[i];
		}
	} while (least < 50 && now_ns() < end);
	EXPECT_GE(least, 10);
}

TEST_F(page, several_fields_can_be_read_as_one)
{
	const struct perf_clock_page *page = map_page(self->fd);
	int64_t end = now_ns() + NSEC;
	struct page_look look, last;
	int moves = 0;

	ASSERT_NE(MAP_FAILED, page);
	ASSERT_TRUE(await_watermark(page, PERF_CLOCK_PERF, 0, 5000));
	look_at_page(page, &last);
	while (now_ns() < end) {
		look_at_page(page, &look);
		ASSERT_GE(look.gp_completed, last.gp_completed);
		ASSERT_GE(look.gp_start, last.gp_start);
		ASSERT_EQ(look.gp_completed == last.gp_completed,
			  look.gp_start == last.gp_start);
		/* Odd and even again: else no reader would know. */
		ASSERT_GE(look.seq - last.seq,
			  2 * (look.gp_completed - last.gp_completed));
		ASSERT_GT(look.gp_duration, 0);
		ASSERT_LE(look.gp_start + look.gp_duration, now_ns());
		ASSERT_NE(0, look.flags & PERF_CLOCK_PAGE_GP_VALID);
		moves += look.gp_completed > last.gp_completed;
		last = look;
	}
	EXPECT_GT(moves, 0);
}

/* What clock i showed when MONOTONIC showed 0, now. */
static int64_t offset(const struct perf_clock_snapshot *snap, int i)
{
	return snap->now[i] - snap->now[PERF_CLOCK_MONOTONIC];
}

/*
 * Some of many are enough for each: a host may take the CPU away between any
 * two reads of clocks. The perf clock, where it is unstable, differs from CPU
 * to CPU by some ticks.
 */
TEST_F(page, watermarks_are_their_clocks_at_the_start_less_the_margin)
{
	static const int64_t room[PERF_CLOCK_NR] = {
		[PERF_CLOCK_PERF] = 50 * MSEC,
		[PERF_CLOCK_MONOTONIC] = 1,
		[PERF_CLOCK_MONOTONIC_RAW] = 10000,
		[PERF_CLOCK_BOOTTIME] = 10000,
	};
	const struct perf_clock_page *page = map_page(self->fd);
	int i, round, good[PERF_CLOCK_NR] = { 0 }, start = 0;
	struct perf_clock_snapshot snap;
	struct page_look look;
	int64_t clock, mono, margin;

	ASSERT_NE(MAP_FAILED, page);
	margin = page->mark[PERF_CLOCK_MONOTONIC].margin;
	for (round = 0; round < 50; round++) {
		ASSERT_TRUE(await_watermark(page, PERF_CLOCK_PERF,
					    watermark(page, PERF_CLOCK_PERF),
					    5000));
		look_at_page(page, &look);
		ASSERT_EQ(0, snapshot(self->fd, &snap));
		mono = look.watermark[PERF_CLOCK_MONOTONIC] + margin;
		/* It was read after the start, but not long after. */
		start += mono >= (int64_t)look.gp_start &&
			 mono < (int64_t)look.gp_start + margin;
		for (i = 0; i < PERF_CLOCK_NR; i++) {
			clock = look.watermark[i] + page->mark[i].margin;
			good[i] += llabs(clock - mono - offset(&snap, i)) <
				   room[i];
		}
	}
	EXPECT_GT(start, 0);
	for (i = 0; i < PERF_CLOCK_NR; i++)
		EXPECT_GT(good[i], 0);
}

TEST_F(page, durations_end_when_the_watermark_moves)
{
	const struct perf_clock_page *page = map_page(self->fd);
	struct pollfd p = { .fd = self->fd, .events = POLLIN };
	int64_t published, late;
	struct page_look look;
	int round, good = 0;

	ASSERT_NE(MAP_FAILED, page);
	for (round = 0; round < 50; round++) {
		ASSERT_EQ(1, poll(&p, 1, 5000));
		look_at_page(page, &look);
		published = look.gp_start + look.gp_duration;
		late = now_ns() - published;
		ASSERT_GE(late, 0);
		good += late < (int64_t)look.gp_duration / 2;
	}
	EXPECT_GT(good, 0);
}

/* "Unknown" is for the first moments. All doors say the same. */
TEST_F(page, tells_whether_the_clock_is_stable)
{
	static const char * const names[] = { "unknown", "stable", "unstable" };
	const struct perf_clock_page *page = map_page(self->fd);
	struct perf_clock_caps caps = { 0 };
	uint32_t state = 0;
	int tries, same;

	ASSERT_NE(MAP_FAILED, page);
	for (tries = 0; tries < 1000; tries++) {
		state = __atomic_load_n(&page->clock_state, __ATOMIC_RELAXED);
		ASSERT_LE(state, PERF_CLOCK_STATE_UNSTABLE);
		ASSERT_EQ(0, ioctl(self->fd, PERF_CLOCK_IOC_CAPS, &caps));
		same = caps.clock_state == state &&
		       !strcmp(names[state], sysfs_text("clock_state"));
		if (state != PERF_CLOCK_STATE_UNKNOWN && same)
			break;
		sleep_ms(10);
	}
	EXPECT_NE(PERF_CLOCK_STATE_UNKNOWN, state);
	EXPECT_EQ(state, caps.clock_state);
	EXPECT_STREQ(names[state], sysfs_text("clock_state"));
	TH_LOG("the perf clock is %s", names[state]);
}

TEST_F(page, wrong_size_or_place_is_refused)
{
	size_t size = self->size;

	EXPECT_EQ(MAP_FAILED, mmap(NULL, 2 * size, PROT_READ, MAP_SHARED,
				   self->fd, 0));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, size, PROT_READ, MAP_SHARED,
				   self->fd, size));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 0, PROT_READ, MAP_SHARED,
				   self->fd, 0));
	EXPECT_EQ(EINVAL, errno);
}

TEST_F(page, cannot_be_mapped_writable)
{
	int fd;

	EXPECT_EQ(MAP_FAILED, mmap(NULL, self->size, PROT_READ | PROT_WRITE,
				   MAP_SHARED, self->fd, 0));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, self->size, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE, self->fd, 0));
	EXPECT_EQ(EPERM, errno);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, self->size, PROT_READ | PROT_EXEC,
				   MAP_SHARED, self->fd, 0));
	EXPECT_EQ(EPERM, errno);

	fd = open(NODE, O_RDWR);
	if (fd < 0)
		SKIP(return, "not root: cannot open for writing at all");
	EXPECT_EQ(MAP_FAILED, mmap(NULL, self->size, PROT_READ | PROT_WRITE,
				   MAP_SHARED, fd, 0));
	EXPECT_EQ(EPERM, errno);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, self->size, PROT_WRITE,
				   MAP_SHARED, fd, 0));
	EXPECT_EQ(EPERM, errno);
	close(fd);
}

TEST_F(page, cannot_be_made_writable_later)
{
	int flags[2] = { MAP_SHARED, MAP_PRIVATE }, i;
	int fd = open(NODE, getuid() ? O_RDONLY : O_RDWR);
	void *page;

	ASSERT_GE(fd, 0);
	for (i = 0; i < 2; i++) {
		page = mmap(NULL, self->size, PROT_READ, flags[i], fd, 0);
		ASSERT_NE(MAP_FAILED, page);
		EXPECT_EQ(-1, mprotect(page, self->size,
				       PROT_READ | PROT_WRITE));
		EXPECT_EQ(EACCES, errno);
		EXPECT_EQ(-1, mprotect(page, self->size,
				       PROT_READ | PROT_EXEC));
		EXPECT_EQ(EACCES, errno);
	}
	close(fd);
}

/* A debugger may write where a program may not: not here. */
TEST_F(page, cannot_be_written_through_proc_mem)
{
	int flags[2] = { MAP_SHARED, MAP_PRIVATE }, i;
	int mem = open("/proc/self/mem", O_RDWR);
	const struct perf_clock_page *page;
	uint32_t word = 0;

	if (mem < 0)
		SKIP(return, "cannot open /proc/self/mem");
	for (i = 0; i < 2; i++) {
		page = mmap(NULL, self->size, PROT_READ, flags[i], self->fd, 0);
		ASSERT_NE(MAP_FAILED, page);
		EXPECT_GE(0, pwrite(mem, &word, 4, (off_t)(uintptr_t)page));
		EXPECT_EQ(PERF_CLOCK_MAGIC, page->magic);
	}
	close(mem);
}

TEST_F_SIGNAL(page, a_store_faults, SIGSEGV)
{
	struct perf_clock_page *page = mmap(NULL, self->size, PROT_READ,
					    MAP_SHARED, self->fd, 0);

	ASSERT_NE(MAP_FAILED, page);
	*(volatile uint32_t *)&page->magic = 0;
}

TEST_F(page, does_not_grow)
{
	void *page = mmap(NULL, self->size, PROT_READ, MAP_SHARED,
			  self->fd, 0);

	ASSERT_NE(MAP_FAILED, page);
	EXPECT_EQ(MAP_FAILED, mremap(page, self->size, 2 * self->size,
				     MREMAP_MAYMOVE));
	EXPECT_EQ(EFAULT, errno);
}

TEST_F(page, lives_on_after_close_and_fork)
{
	const struct perf_clock_page *page = map_page(self->fd);
	uint64_t mark;
	int status;
	pid_t pid;

	ASSERT_NE(MAP_FAILED, page);
	close(self->fd);
	self->fd = -1;
	mark = watermark(page, PERF_CLOCK_PERF);
	EXPECT_TRUE(await_watermark(page, PERF_CLOCK_PERF, mark, 5000));
	pid = fork();
	ASSERT_GE(pid, 0);
	if (pid == 0) {
		mark = watermark(page, PERF_CLOCK_PERF);
		_exit(!await_watermark(page, PERF_CLOCK_PERF, mark, 5000));
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

TEST_HARNESS_MAIN
