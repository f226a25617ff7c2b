// SPDX-License-Identifier: GPL-2.0
/*
 * CPUs go and come under load: watermarks go on, never backwards, never above
 * a clock. That no record is late meanwhile is test_records' to show.
 */
#include "perf_clock_test.h"

FIXTURE(cpus) {
	const struct perf_clock_page *page;
	int fd;
	long n;
};

static int set_online(long cpu, int online)
{
	char path[128];
	int fd, ok;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%ld/online",
		 cpu);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	ok = write(fd, online ? "1" : "0", 1) == 1;
	close(fd);
	return ok;
}

FIXTURE_SETUP(cpus)
{
	self->fd = open(NODE, O_RDONLY | O_CLOEXEC);
	ASSERT_GE(self->fd, 0);
	self->page = map_page(self->fd);
	ASSERT_NE(MAP_FAILED, self->page);
	self->n = sysconf(_SC_NPROCESSORS_CONF);
	if (self->n < 2)
		SKIP(return, "one CPU only");
	if (!set_online(1, 1))
		SKIP(return, "CPU 1 cannot be set on or off line here");
}

FIXTURE_TEARDOWN(cpus)
{
	long cpu;

	for (cpu = 1; cpu < self->n; cpu++)
		set_online(cpu, 1);
	munmap((void *)self->page, page_size());
	close(self->fd);
}

/* System calls on any CPU until the parent is gone or says so. */
static pid_t start_load(void)
{
	pid_t parent = getpid(), pid = fork();

	if (pid)
		return pid;
	while (getppid() == parent)
		;
	_exit(0);
}

TEST_F_TIMEOUT(cpus, come_and_go_under_load, 120)
{
	struct perf_clock_read record;
	uint64_t last = 0, mark;
	pid_t load[4];
	int i, status;
	long cpu;

	for (i = 0; i < 4; i++) {
		load[i] = start_load();
		ASSERT_GT(load[i], 0);
	}
	for (i = 0; i < 4; i++) {
		for (cpu = 1; cpu < self->n; cpu++) {
			ASSERT_TRUE(set_online(cpu, 0));
			ASSERT_TRUE(await_watermark(self->page,
						    PERF_CLOCK_PERF, last,
						    10000));
			mark = watermark(self->page, PERF_CLOCK_PERF);
			ASSERT_GE(mark, last);
			ASSERT_EQ(16, read(self->fd, &record, 16));
			ASSERT_GE(record.now, mark);
			last = mark;
		}
		for (cpu = 1; cpu < self->n; cpu++) {
			ASSERT_TRUE(set_online(cpu, 1));
			mark = watermark(self->page, PERF_CLOCK_PERF);
			ASSERT_GE(mark, last);
			/* The newcomer shows no less than was promised. */
			if (!pin_to(cpu)) {
				ASSERT_EQ(16, read(self->fd, &record, 16));
				ASSERT_GE(record.now, mark);
			}
			last = mark;
		}
		ASSERT_EQ(0, pin_to(0));
	}
	for (i = 0; i < 4; i++) {
		kill(load[i], SIGKILL);
		waitpid(load[i], &status, 0);
	}
}

TEST_HARNESS_MAIN
