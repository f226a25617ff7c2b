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
	rmdir(INSTANCE);	/* of a test that was killed */
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

/* Records n grace periods or more; what the page says before it ends. */
static int record_grace_periods(const struct perf_clock_page *page, uint64_t n,
				struct page_look *look)
{
	int64_t limit = now_ns() + 20 * NSEC;
	uint64_t gp;

	/* Turning them on may take several grace periods: count from there. */
	if (!write_file(INSTANCE "/events/perf_clock/enable", "1"))
		return 0;
	gp = gp_completed(page);
	while (gp_completed(page) < gp + n && now_ns() < limit)
		sleep_ms(10);
	look_at_page(page, look);
	return write_file(INSTANCE "/events/perf_clock/enable", "0");
}

struct gp_event {
	int start;			/* of the two kinds */
	unsigned long long value;	/* floor or watermark */
	unsigned long long more;	/* cookie or duration */
	int expedited;
};

/* The next event of ours; 0: no more. -1: it reads otherwise. */
static int next_event(FILE *f, struct gp_event *e)
{
	char line[512], *text;

	while (fgets(line, sizeof(line), f)) {
		text = strstr(line, "perf_clock_gp_start: ");
		e->start = text != NULL;
		if (text)
			return sscanf(text, "%*s floor=%llu cookie=%llu expedited=%d",
				      &e->value, &e->more,
				      &e->expedited) == 3 ? 1 : -1;
		text = strstr(line, "perf_clock_gp_end: ");
		if (text)
			return sscanf(text, "%*s watermark=%llu duration=%llu expedited=%d",
				      &e->value, &e->more,
				      &e->expedited) == 3 ? 1 : -1;
	}
	return 0;
}

TEST_F(trace, tells_of_each_grace_period)
{
	uint64_t last = 0, floor = 0, duration = 0;
	int starts = 0, ends = 0, got;
	struct page_look before, after;
	struct gp_event e;
	FILE *f;

	ASSERT_TRUE(await_watermark(self->page, PERF_CLOCK_PERF, 0, 5000));
	look_at_page(self->page, &before);
	ASSERT_TRUE(record_grace_periods(self->page, 10, &after));

	f = fopen(INSTANCE "/trace", "re");
	ASSERT_NE(NULL, f);
	while ((got = next_event(f, &e)) > 0) {
		ASSERT_EQ(0, e.expedited);
		if (e.start) {
			/* Taken now: after all that was published before. */
			ASSERT_GE(e.value, floor);
			ASSERT_GE(e.value, last);
			ASSERT_GE(e.value, before.watermark[PERF_CLOCK_PERF]);
			floor = e.value;
			starts++;
			continue;
		}
		ASSERT_GE(e.value, last);
		ASSERT_LE(e.value, watermark(self->page, PERF_CLOCK_PERF));
		ASSERT_GT(e.more, 0);
		last = e.value;
		if (last == after.watermark[PERF_CLOCK_PERF])
			duration = e.more;
		ends++;
	}
	ASSERT_EQ(0, got);
	fclose(f);
	EXPECT_GE(starts, 5);
	EXPECT_GE(ends, 8);
	EXPECT_EQ(after.gp_duration, duration);
}

/*
 * The engine gives up on expedited grace periods where they are slow, for a
 * second or so: some are enough.
 */
TEST_F(trace, tells_expedited_ones_apart)
{
	int starts = 0, ends = 0, got;
	struct gp_event e, start = { 0 };
	struct page_look look;
	FILE *f;

	if (set_mode(self->fd, PERF_CLOCK_MODE_EXPEDITED))
		SKIP(return, "mode: %s", strerror(errno));
	ASSERT_TRUE(record_grace_periods(self->page, 300, &look));

	f = fopen(INSTANCE "/trace", "re");
	ASSERT_NE(NULL, f);
	while ((got = next_event(f, &e)) > 0) {
		if (!e.expedited)
			continue;
		if (e.start) {
			EXPECT_EQ(0, e.more);
			starts++;
			start = e;
		} else if (start.value) {
			/* One after the other: it ends the one before. */
			EXPECT_EQ(start.value, e.value);
			ends++;
		}
	}
	ASSERT_EQ(0, got);
	fclose(f);
	EXPECT_GT(starts, 0);
	EXPECT_GT(ends, 0);
}

/* Opening, closing and changes of mode wake it up before its time. */
TEST_F(trace, expedited_ones_keep_their_distance_whoever_wakes_the_engine)
{
	int other = open(NODE, O_RDONLY | O_CLOEXEC), i, n = 0, got;
	char restore[128];
	struct gp_event e;
	int64_t begin, took;
	FILE *f;

	ASSERT_GE(other, 0);
	if (set_mode(self->fd, PERF_CLOCK_MODE_EXPEDITED))
		SKIP(return, "mode: %s", strerror(errno));
	snprintf(restore, sizeof(restore), "%s",
		 sysfs_text("expedited_interval_us"));
	ASSERT_EQ(0, sysfs_write("expedited_interval_us", "50000"));
	sleep_ms(100);
	begin = now_ns();
	EXPECT_TRUE(write_file(INSTANCE "/events/perf_clock/enable", "1"));
	for (i = 0; i < 500; i++) {
		EXPECT_EQ(0, set_mode(other, i % 2));
		sleep_ms(1);
	}
	EXPECT_TRUE(write_file(INSTANCE "/events/perf_clock/enable", "0"));
	took = now_ns() - begin;
	EXPECT_EQ(0, sysfs_write("expedited_interval_us", restore));
	close(other);

	f = fopen(INSTANCE "/trace", "re");
	ASSERT_NE(NULL, f);
	while ((got = next_event(f, &e)) > 0)
		n += e.start && e.expedited;
	ASSERT_EQ(0, got);
	fclose(f);
	EXPECT_GT(n, 0);
	EXPECT_LE(n, took / (50 * MSEC) + 1);
}

TEST_HARNESS_MAIN
