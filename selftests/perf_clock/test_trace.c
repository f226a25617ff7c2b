// SPDX-License-Identifier: GPL-2.0
/* The module's own tracepoints, seen through a trace instance of our own. */
#include "perf_clock_test.h"

#define INSTANCE	"/sys/kernel/tracing/instances/perf_clock_test"

FIXTURE(trace) {
	const struct perf_clock_page *page;
	int fd;
};

static int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), ok;

	if (fd < 0)
		return 0;
	ok = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	close(fd);
	return ok;
}

FIXTURE_SETUP(trace)
{
	if (getuid())
		SKIP(return, "not root");
	if (mkdir(INSTANCE, 0700))
		SKIP(return, "no trace instance: %s", strerror(errno));
	self->fd = open(NODE, O_RDONLY | O_CLOEXEC);
	ASSERT_GE(self->fd, 0);
	self->page = map_page(self->fd);
	ASSERT_NE(MAP_FAILED, self->page);
}

FIXTURE_TEARDOWN(trace)
{
	write_file(INSTANCE "/events/perf_clock/enable", "0");
	rmdir(INSTANCE);
	close(self->fd);
}

TEST_F(trace, tells_of_each_grace_period)
{
	unsigned long long value, duration, last = 0;
	int starts = 0, ends = 0, expedited;
	int64_t limit;
	uint64_t gp;
	char line[512], *text;
	FILE *f;

	/* Turning them on may take several grace periods: count from there. */
	ASSERT_TRUE(write_file(INSTANCE "/events/perf_clock/enable", "1"));
	gp = gp_completed(self->page);
	limit = now_ns() + 20 * NSEC;
	while (gp_completed(self->page) < gp + 10 && now_ns() < limit)
		sleep_ms(10);
	ASSERT_TRUE(write_file(INSTANCE "/events/perf_clock/enable", "0"));

	f = fopen(INSTANCE "/trace", "re");
	ASSERT_NE(NULL, f);
	while (fgets(line, sizeof(line), f)) {
		text = strstr(line, "perf_clock_gp_start: ");
		if (text) {
			ASSERT_EQ(1, sscanf(text, "%*s floor=%llu", &value));
			starts++;
		}
		text = strstr(line, "perf_clock_gp_end: ");
		if (!text)
			continue;
		ASSERT_EQ(3, sscanf(text, "%*s watermark=%llu duration=%llu expedited=%d",
				    &value, &duration, &expedited));
		ASSERT_GE(value, last);
		ASSERT_LE(value, watermark(self->page, PERF_CLOCK_PERF));
		ASSERT_GT(duration, 0);
		ASSERT_EQ(0, expedited);
		last = value;
		ends++;
	}
	fclose(f);
	EXPECT_GE(starts, 5);
	EXPECT_GE(ends, 8);
}

TEST_HARNESS_MAIN
