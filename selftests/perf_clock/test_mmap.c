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
		EXPECT_GT(page->mark[i].margin, 0);
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
	uint64_t gp, start, duration, last_gp = 0, last_start = 0;
	int64_t end = now_ns() + NSEC;
	uint32_t seq;

	ASSERT_NE(MAP_FAILED, page);
	ASSERT_TRUE(await_watermark(page, PERF_CLOCK_PERF, 0, 5000));
	while (now_ns() < end) {
		do {
			seq = __atomic_load_n(&page->seq_count,
					      __ATOMIC_ACQUIRE);
			gp = __atomic_load_n(&page->gp_completed,
					     __ATOMIC_RELAXED);
			start = __atomic_load_n(&page->gp_start,
						__ATOMIC_RELAXED);
			duration = __atomic_load_n(&page->gp_duration,
						   __ATOMIC_RELAXED);
			__atomic_thread_fence(__ATOMIC_ACQUIRE);
		} while (seq & 1 || seq != __atomic_load_n(&page->seq_count,
							   __ATOMIC_RELAXED));
		ASSERT_GE(gp, last_gp);
		ASSERT_GE(start, last_start);
		ASSERT_EQ(gp == last_gp, start == last_start);
		ASSERT_GT(duration, 0);
		ASSERT_LE(start + duration, now_ns());
		last_gp = gp;
		last_start = start;
	}
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
	if (pid == 0) {
		mark = watermark(page, PERF_CLOCK_PERF);
		_exit(!await_watermark(page, PERF_CLOCK_PERF, mark, 5000));
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

TEST_HARNESS_MAIN
