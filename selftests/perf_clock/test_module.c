// SPDX-License-Identifier: GPL-2.0
/*
 * Loading and unloading. PERF_CLOCK_KO names the module file; needs root and
 * nobody else at the node.
 */
#include "perf_clock_test.h"

static const char *module_path(void)
{
	const char *path = getenv("PERF_CLOCK_KO");

	return path ? path : "/vm/perf_clock.ko";
}

static int load(const char *params)
{
	int fd = open(module_path(), O_RDONLY | O_CLOEXEC), err;

	if (fd < 0)
		return -1;
	err = syscall(SYS_finit_module, fd, params, 0);
	close(fd);
	return err;
}

static int unload(void)
{
	return syscall(SYS_delete_module, "perf_clock", O_NONBLOCK);
}

FIXTURE(module) {
	int fd;
};

FIXTURE_SETUP(module)
{
	self->fd = -1;
	if (getuid())
		SKIP(return, "not root");
	if (access(module_path(), R_OK))
		SKIP(return, "no module file %s: set PERF_CLOCK_KO",
		     module_path());
	if (node_in_use())
		SKIP(return, "somebody else uses " NODE);
}

FIXTURE_TEARDOWN(module)
{
	close(self->fd);
	if (access(NODE, F_OK))
		load("");
}

TEST_F(module, is_not_unloaded_while_a_file_is_open)
{
	self->fd = open(NODE, O_RDONLY);
	ASSERT_GE(self->fd, 0);
	EXPECT_EQ(-1, unload());
	EXPECT_EQ(EWOULDBLOCK, errno);
	close(self->fd);

	self->fd = open(POSIX_NODE, O_RDONLY);
	ASSERT_GE(self->fd, 0);
	EXPECT_EQ(-1, unload());
	EXPECT_EQ(EWOULDBLOCK, errno);
}

TEST_F(module, is_not_unloaded_while_its_page_is_mapped)
{
	const struct perf_clock_page *page;

	self->fd = open(NODE, O_RDONLY);
	page = map_page(self->fd);
	ASSERT_NE(MAP_FAILED, page);
	close(self->fd);
	self->fd = -1;
	EXPECT_EQ(-1, unload());
	EXPECT_EQ(EWOULDBLOCK, errno);
	EXPECT_EQ(PERF_CLOCK_MAGIC, page->magic);
	munmap((void *)page, page_size());
}

TEST_F(module, is_not_loaded_twice)
{
	EXPECT_EQ(-1, load(""));
	EXPECT_EQ(EEXIST, errno);
}

static uint64_t tick_us(void)
{
	struct timespec ts = { 0 };

	clock_getres(CLOCK_MONOTONIC_COARSE, &ts);
	return ts.tv_nsec / 1000;
}

TEST_F(module, takes_defaults_as_parameters)
{
	/* None, or out of bounds: the built-in defaults. */
	static const char * const none[] = {
		"", "interval_us=99 expedited_interval_us=99",
		"interval_us=1000001 expedited_interval_us=1000001",
	};
	size_t i;

	ASSERT_EQ(0, unload());
	ASSERT_EQ(0, load("interval_us=2500 expedited_interval_us=777"));
	EXPECT_EQ(2500, sysfs_number("interval_us"));
	EXPECT_EQ(777, sysfs_number("expedited_interval_us"));
	for (i = 0; i < ARRAY_LEN(none); i++) {
		ASSERT_EQ(0, unload());
		ASSERT_EQ(0, load(none[i]));
		EXPECT_EQ(tick_us(), sysfs_number("interval_us"));
		EXPECT_EQ(500, sysfs_number("expedited_interval_us"));
	}
	ASSERT_EQ(0, unload());
	ASSERT_EQ(0, load(""));
}

/* Lines in the kernel log since the last call that name the module. */
static int lines_logged(int kmsg)
{
	char line[8192];
	int n = 0;
	ssize_t len;

	for (;;) {
		len = read(kmsg, line, sizeof(line) - 1);
		if (len < 0 && errno == EPIPE)
			continue;	/* some were overwritten */
		if (len <= 0)
			return n;
		line[len] = '\0';
		n += strstr(line, "perf_clock") != NULL;
	}
}

TEST_F(module, says_one_line)
{
	struct perf_clock_read record;
	int kmsg = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (kmsg < 0)
		SKIP(return, "no /dev/kmsg");
	ASSERT_EQ(0, unload());
	lines_logged(kmsg);
	ASSERT_EQ(0, load(""));
	EXPECT_EQ(1, lines_logged(kmsg));
	self->fd = open(NODE, O_RDONLY);
	ASSERT_EQ(16, read(self->fd, &record, 16));
	EXPECT_EQ(0, set_mode(self->fd, PERF_CLOCK_MODE_EXPEDITED));
	sleep_ms(100);
	close(self->fd);
	self->fd = -1;
	ASSERT_EQ(0, unload());
	EXPECT_EQ(0, lines_logged(kmsg));
	close(kmsg);
	ASSERT_EQ(0, load(""));
}

/*
 * What was freed shall be free: give time to RCU, and let each slab cache
 * give back what it keeps, and KASAN the objects it holds in quarantine.
 */
static void settle(void)
{
	glob_t caches;
	size_t i;
	int fd;

	sleep_ms(200);
	if (glob("/sys/kernel/slab/*/shrink", 0, NULL, &caches))
		return;
	for (i = 0; i < caches.gl_pathc; i++) {
		fd = open(caches.gl_pathv[i], O_WRONLY | O_CLOEXEC);
		if (fd >= 0 && write(fd, "1", 1) != 1)
			perror(caches.gl_pathv[i]);
		close(fd);
	}
	globfree(&caches);
}

/* kB of pages that are free but kept for one CPU: not in MemFree. */
static long kept_by_cpus(void)
{
	FILE *f = fopen("/proc/zoneinfo", "re");
	char line[256];
	long pages, sum = 0;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, " count: %ld", &pages) == 1)
			sum += pages;
	if (f)
		fclose(f);
	return sum * (page_size() / 1024);
}

/*
 * kB that the kernel has taken for itself, whatever for: pages that nobody
 * keeps count of, as that of our own page, are in no line of meminfo. So it
 * is all but what is free, and what files and programs have.
 */
static long kernel_memory_now(void)
{
	static const char * const not_it[] = {
		"MemFree:", "Buffers:", "Cached:", "SwapCached:", "AnonPages:",
	};
	FILE *f;
	char name[64];
	long kb, sum = 0;
	size_t i;

	settle();
	f = fopen("/proc/meminfo", "re");
	while (f && fscanf(f, "%63s %ld%*[^\n]", name, &kb) == 2) {
		if (!strcmp(name, "MemTotal:"))
			sum += kb;
		for (i = 0; i < ARRAY_LEN(not_it); i++)
			if (!strcmp(name, not_it[i]))
				sum -= kb;
	}
	if (f)
		fclose(f);
	return sum - kept_by_cpus();
}

static int compare(const void *a, const void *b)
{
	long x = *(const long *)a, y = *(const long *)b;

	return (x > y) - (x < y);
}

/* The median of some looks: one alone wavers by 100 kB or so. */
static long kernel_memory(void)
{
	long looks[7];
	size_t i;

	for (i = 0; i < ARRAY_LEN(looks); i++)
		looks[i] = kernel_memory_now();
	qsort(looks, ARRAY_LEN(looks), sizeof(looks[0]), compare);
	return looks[ARRAY_LEN(looks) / 2];
}

static int use_and_unload(int i)
{
	const struct perf_clock_page *page;
	int fd;

	fd = open(NODE, O_RDONLY | O_CLOEXEC);
	page = map_page(fd);
	if (page == MAP_FAILED)
		return -1;
	/* In the middle of a grace period, mostly. */
	if (i % 3 == 1)
		set_mode(fd, PERF_CLOCK_MODE_EXPEDITED);
	if (i % 3 == 2)
		await_watermark(page, PERF_CLOCK_PERF, 0, 5000);
	munmap((void *)page, page_size());
	close(fd);
	return unload();
}

TEST_F_TIMEOUT(module, a_hundred_loads_and_unloads_leak_nothing, 200)
{
	long before = 0, after;
	int i;

	ASSERT_EQ(0, unload());
	for (i = 0; i < 130; i++) {
		if (i == 30)	/* caches are warm */
			before = kernel_memory();
		ASSERT_EQ(0, load(""));
		ASSERT_EQ(0, use_and_unload(i));
	}
	after = kernel_memory();
	TH_LOG("%ld kB, then %ld kB", before, after);
	/* A leaked page each would be 400 kB. */
	EXPECT_LT(after - before, 250);
	ASSERT_EQ(0, load(""));
}

TEST_HARNESS_MAIN
