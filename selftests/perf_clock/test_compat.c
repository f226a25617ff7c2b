// SPDX-License-Identifier: GPL-2.0
/*
 * 32-bit programs on a 64-bit kernel. On x86 no 32-bit compiler is needed for
 * that: int $0x80 enters the kernel as a 32-bit program does, from a 64-bit
 * one too, if the addresses it passes fit into 32 bits. For arm64 this program
 * is to be compiled for arm.
 */
#include "perf_clock_test.h"

#if defined(__x86_64__) || defined(__i386__) || defined(__arm__)

/* Of x86 and arm alike. */
#define NR32_READ	3
#define NR32_OPEN	5
#define NR32_CLOSE	6
#define NR32_IOCTL	54
#define NR32_MMAP2	192

#ifdef __x86_64__
static long syscall32(int nr, long a, long b, long c, long d, long e, long f)
{
	long ret;

	/* rbp holds the sixth argument; r8 to r11 may be cleared. */
	asm volatile("push %%rbp\n\t"
		     "mov %[f], %%rbp\n\t"
		     "int $0x80\n\t"
		     "pop %%rbp"
		     : "=a" (ret)
		     : "a" (nr), "b" (a), "c" (b), "d" (c), "S" (d), "D" (e),
		       [f] "r" (f)
		     : "memory", "r8", "r9", "r10", "r11", "cc");
	return (int)ret;
}
#else
#ifndef MAP_32BIT
#define MAP_32BIT	0	/* every address is */
#endif

static long syscall32(int nr, long a, long b, long c, long d, long e, long f)
{
	long ret = syscall(nr, a, b, c, d, e, f);

	return ret == -1 ? -errno : ret;
}
#endif

FIXTURE(program32) {
	char *low;	/* memory below 4 GiB */
	long fd;
};

static int can_do_32_bit(void *arg)
{
	(void)arg;
	return syscall32(NR32_CLOSE, -1, 0, 0, 0, 0, 0) != -EBADF;
}

FIXTURE_SETUP(program32)
{
	if (in_child(can_do_32_bit, NULL))
		SKIP(return, "this kernel runs no 32-bit programs");
	self->low = mmap(NULL, page_size(), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	ASSERT_NE(MAP_FAILED, self->low);
	strcpy(self->low, NODE);
	self->fd = syscall32(NR32_OPEN, (long)self->low, O_RDONLY, 0, 0, 0, 0);
	ASSERT_GE(self->fd, 0);
}

FIXTURE_TEARDOWN(program32)
{
	close(self->fd);
}

TEST_F(program32, reads)
{
	struct perf_clock_read *record = (void *)self->low;

	memset(self->low, 0, 64);
	EXPECT_EQ(16, syscall32(NR32_READ, self->fd, (long)record, 64, 0, 0,
				0));
	EXPECT_GT(record->now, 0);
	EXPECT_EQ(-EINVAL, syscall32(NR32_READ, self->fd, (long)record, 15, 0,
				     0, 0));
}

TEST_F(program32, asks_by_ioctl)
{
	struct perf_clock_caps *caps = (void *)self->low;
	struct perf_clock_snapshot *snap = (void *)self->low;
	struct perf_clock_wait *wait = (void *)self->low;
	struct perf_clock_mode *mode = (void *)self->low;

	memset(self->low, 0x55, page_size());
	ASSERT_EQ(0, syscall32(NR32_IOCTL, self->fd, PERF_CLOCK_IOC_CAPS,
			       (long)caps, 0, 0, 0));
	EXPECT_EQ(sizeof(struct perf_clock_page), caps->size);

	memset(self->low, 0, page_size());
	ASSERT_EQ(0, syscall32(NR32_IOCTL, self->fd, PERF_CLOCK_IOC_SNAPSHOT,
			       (long)snap, 0, 0, 0));
	EXPECT_GT(snap->now[PERF_CLOCK_MONOTONIC], 0);

	memset(self->low, 0, page_size());
	wait->timeout = 5 * NSEC;
	ASSERT_EQ(0, syscall32(NR32_IOCTL, self->fd, PERF_CLOCK_IOC_WAIT,
			       (long)wait, 0, 0, 0));
	EXPECT_GT(wait->watermark, 0);

	memset(self->low, 0, page_size());
	mode->mode = 7;
	EXPECT_EQ(-EINVAL, syscall32(NR32_IOCTL, self->fd,
				     PERF_CLOCK_IOC_SET_MODE, (long)mode, 0, 0,
				     0));
	EXPECT_EQ(-ENOTTY, syscall32(NR32_IOCTL, self->fd,
				     _IO(PERF_CLOCK_IOC_TYPE, 77), (long)mode,
				     0, 0, 0));
}

TEST_F(program32, maps_the_page)
{
	long at = syscall32(NR32_MMAP2, 0, page_size(), PROT_READ, MAP_SHARED,
			    self->fd, 0);
	struct perf_clock_page *page;

	ASSERT_FALSE(at < 0 && at > -4096);
	page = (void *)(at & 0xffffffffUL);
	EXPECT_EQ(PERF_CLOCK_MAGIC, page->magic);
}

#else

TEST(program32)
{
	SKIP(return, "not compiled as a 32-bit program");
}

#endif

TEST_HARNESS_MAIN
