// SPDX-License-Identifier: GPL-2.0
/* Opening a clock: what is refused, and how it is said. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include <linux/perf_clock.h>
#include <perfclock.h>

#include "tap.h"

static char error[512];

static int try(struct perfclock **clk, struct perfclock_open_opts o)
{
	o.sz = sizeof(o);
	o.error = error;
	o.error_size = sizeof(error);
	strcpy(error, "stale");
	return perfclock_open(clk, &o);
}

#define TRY(clk, ...) try(clk, (struct perfclock_open_opts){ __VA_ARGS__ })

static void unknown_names_and_flags_are_refused(void)
{
	struct perfclock *clk = (void *)1;

	EXPECT_EQ(TRY(&clk, .clock = PERFCLOCK_MONOTONIC, .source = "sundial"),
		  -EINVAL);
	EXPECT(strstr(error, "'sundial'"));
	EXPECT(!clk);
	EXPECT_EQ(TRY(&clk, .clock = PERFCLOCK_MONOTONIC, .provider = "hope"),
		  -EINVAL);
	EXPECT(strstr(error, "'hope'"));
	EXPECT_EQ(TRY(&clk, .clock = PERFCLOCK_MONOTONIC,
		      .provider = "module=1"), -EINVAL);
	EXPECT_EQ(TRY(&clk, .clock = PERFCLOCK_MONOTONIC, .flags = 1u << 31),
		  -EINVAL);
	EXPECT_EQ(TRY(&clk, .clock = 17), -EINVAL);
	EXPECT_EQ(TRY(&clk, .clock = PERFCLOCK_MONOTONIC, .nr_cpus = 1),
		  -EINVAL);
	EXPECT_EQ(TRY(&clk, .clock = PERFCLOCK_MONOTONIC, .nr_cpus = 1,
		      .cpus = (const int[]){ -1 }), -EINVAL);
}

static void clocks_have_names(void)
{
	static const char *const names[] = {
		"perf", "monotonic", "monotonic_raw", "boottime",
	};
	int i;

	EXPECT_EQ(PERFCLOCK_CLOCKS, 4);
	for (i = 0; i < 4; i++) {
		EXPECT_STREQ(perfclock_clock_name(i), names[i]);
		EXPECT_EQ(perfclock_clock_from_name(names[i]), i);
	}
	EXPECT(!perfclock_clock_name(PERFCLOCK_CLOCKS));
	EXPECT(!perfclock_clock_name(-1));
	EXPECT_EQ(perfclock_clock_from_name(NULL), -EINVAL);
	EXPECT_EQ(perfclock_clock_from_name(""), -EINVAL);
	EXPECT_EQ(perfclock_clock_from_name("mono"), -EINVAL);
	EXPECT_EQ(perfclock_clock_from_name("monotonic_raw2"), -EINVAL);
}

static void a_source_serves_only_its_clocks(void)
{
	struct perfclock *clk;

	EXPECT_EQ(TRY(&clk, .clock = PERFCLOCK_PERF, .source = "clockid"),
		  -EOPNOTSUPP);
	EXPECT(strstr(error, "clockid"));
	EXPECT(strstr(error, "perf"));
}

static void without_a_provider_there_is_no_watermark(void)
{
	struct perfclock_info info = { .sz = sizeof(info), .proven = true };
	struct perfclock *clk;
	uint64_t ns;

	ASSERT_EQ(TRY(&clk, .clock = PERFCLOCK_MONOTONIC,
		      .flags = PERFCLOCK_OPEN_NO_WATERMARK), 0);
	EXPECT_STREQ(error, "");
	EXPECT_EQ(perfclock_watermark(clk, &ns), -ENODATA);
	EXPECT_EQ(perfclock_watermark_wait(clk, 0, 0), -ENODATA);
	EXPECT_EQ(perfclock_watermark_fd(clk), -ENODATA);
	EXPECT_EQ(perfclock_watermark_ack(clk), -ENODATA);
	perfclock_watermark_observe(clk, 1);
	EXPECT_EQ(perfclock_now(clk, &ns), 0);
	EXPECT_EQ(perfclock_get_info(clk, &info), 0);
	EXPECT_STREQ(info.provider, "none");
	EXPECT(!info.proven);
	EXPECT_EQ(info.clock, PERFCLOCK_MONOTONIC);
	EXPECT_OP(info.resolution, >, 0);
	info.sz = 0;
	EXPECT_EQ(perfclock_get_info(clk, &info), -EINVAL);
	perfclock_close(clk);
	perfclock_close(NULL);
}

static uint64_t gettime(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static void now_is_the_clock_that_was_asked_for(void)
{
	static const struct {
		enum perfclock_clockid clock;
		clockid_t id;
	} all[] = {
		{ PERFCLOCK_MONOTONIC, CLOCK_MONOTONIC },
		{ PERFCLOCK_MONOTONIC_RAW, CLOCK_MONOTONIC_RAW },
		{ PERFCLOCK_BOOTTIME, CLOCK_BOOTTIME },
	};
	struct perfclock *clk;
	uint64_t before, ns;
	int i;

	for (i = 0; i < 3; i++) {
		ASSERT_EQ(TRY(&clk, .clock = all[i].clock,
			      .source = "clockid",
			      .flags = PERFCLOCK_OPEN_NO_WATERMARK), 0);
		before = gettime(all[i].id);
		EXPECT_EQ(perfclock_now(clk, &ns), 0);
		EXPECT_OP(ns, >=, before);
		EXPECT_OP(ns, <=, gettime(all[i].id));
		perfclock_close(clk);
	}
}

/* A file in the place of the device, with this page in it. */
static const char *fake_device(const struct perf_clock_page *page, size_t size)
{
	static char path[64];
	int fd;

	strcpy(path, "/tmp/perfclock-test-XXXXXX");
	fd = mkstemp(path);
	ASSERT(fd >= 0);
	ASSERT_EQ(write(fd, page, size), size);
	close(fd);
	return path;
}

static const struct perf_clock_page good_page = {
	.magic = PERF_CLOCK_MAGIC,
	.size = sizeof(struct perf_clock_page),
	.version = PERF_CLOCK_ABI_VERSION,
	.nr_clocks = PERF_CLOCK_NR,
	.mark[PERF_CLOCK_MONOTONIC] = { .watermark = 1234, .margin = 5 },
};

static int try_page(const struct perf_clock_page *page, size_t size,
		    enum perfclock_clockid clock, struct perfclock **clk)
{
	const char *path = fake_device(page, size);
	int err = TRY(clk, .clock = clock, .source = "clockid",
		      .provider = "module", .device = path);

	unlink(path);
	return err;
}

static void watermark_of_the_page_is_of_the_clock(void)
{
	struct perfclock_info info = { .sz = sizeof(info) };
	struct perfclock *clk;
	uint64_t ns;

	ASSERT_EQ(try_page(&good_page, sizeof(good_page), PERFCLOCK_MONOTONIC,
			   &clk), 0);
	EXPECT_EQ(perfclock_watermark(clk, &ns), 0);
	EXPECT_EQ(ns, 1234);
	EXPECT_EQ(perfclock_watermark_wait(clk, 1233, -1), 0);
	EXPECT_EQ(perfclock_get_info(clk, &info), 0);
	EXPECT_STREQ(info.provider, "module");
	EXPECT_STREQ(info.source, "clockid");
	EXPECT(info.proven);
	EXPECT_EQ(info.watermark, 1234);
	EXPECT_EQ(info.margin, 5);
	perfclock_close(clk);
}

static struct perfclock_info info_of(const struct perf_clock_page *page)
{
	struct perfclock_info info = { .sz = sizeof(info) };
	struct perfclock *clk;

	ASSERT_EQ(try_page(page, sizeof(*page), PERFCLOCK_MONOTONIC, &clk), 0);
	EXPECT_EQ(perfclock_get_info(clk, &info), 0);
	perfclock_close(clk);
	return info;
}

static void grace_periods_are_of_the_page_where_it_knows_them(void)
{
	struct perf_clock_page page = good_page;

	page.gp_completed = 7;
	page.gp_duration = 99;
	EXPECT_EQ(info_of(&page).gp_duration, 0);
	EXPECT_EQ(info_of(&page).moves, 7);
	page.flags = PERF_CLOCK_PAGE_GP_VALID;
	EXPECT_EQ(info_of(&page).gp_duration, 99);
	/* The kernel is changing it, without an end. */
	page.seq_count = 3;
	EXPECT_EQ(info_of(&page).gp_duration, 0);
}

static void a_file_that_is_no_device_is_refused(void)
{
	struct perf_clock_page page = good_page;
	struct perfclock *clk;

	page.magic = __builtin_bswap32(PERF_CLOCK_MAGIC);
	EXPECT_EQ(try_page(&page, sizeof(page), PERFCLOCK_MONOTONIC, &clk),
		  -EPROTO);
	EXPECT(strstr(error, "not a perf_clock device"));
	EXPECT_EQ(try_page(&page, 0, PERFCLOCK_MONOTONIC, &clk), -EPROTO);
	EXPECT(strstr(error, "not a perf_clock device"));
	EXPECT_EQ(TRY(&clk, .clock = PERFCLOCK_MONOTONIC,
		      .provider = "module", .device = "/dev/null"), -EPROTO);
	EXPECT_EQ(TRY(&clk, .clock = PERFCLOCK_PERF, .source = "module",
		      .device = "/dev/zero"), -EPROTO);
}

static void a_module_of_another_abi_is_refused_by_age(void)
{
	struct perf_clock_page page = good_page;
	struct perfclock *clk;

	page.version = PERF_CLOCK_ABI_VERSION + 1;
	EXPECT_EQ(try_page(&page, sizeof(page), PERFCLOCK_MONOTONIC, &clk),
		  -EPROTO);
	EXPECT(strstr(error, "too new"));
	page.version = PERF_CLOCK_ABI_VERSION - 1;
	EXPECT_EQ(try_page(&page, sizeof(page), PERFCLOCK_MONOTONIC, &clk),
		  -EPROTO);
	EXPECT(strstr(error, "too old"));
	page = good_page;
	page.size = 16;
	EXPECT_EQ(try_page(&page, sizeof(page), PERFCLOCK_MONOTONIC, &clk),
		  -EPROTO);
	EXPECT(strstr(error, "too old"));
}

static void an_older_module_serves_the_clocks_it_has(void)
{
	struct perf_clock_page page = good_page;
	struct perfclock *clk;

	page.nr_clocks = 2;
	EXPECT_EQ(try_page(&page, sizeof(page), PERFCLOCK_MONOTONIC, &clk), 0);
	perfclock_close(clk);
	EXPECT_EQ(try_page(&page, sizeof(page), PERFCLOCK_BOOTTIME, &clk),
		  -EOPNOTSUPP);
	EXPECT(strstr(error, "boottime"));
	page = good_page;
	page.size = offsetof(struct perf_clock_page, mark[2]);
	EXPECT_EQ(try_page(&page, sizeof(page), PERFCLOCK_MONOTONIC, &clk), 0);
	perfclock_close(clk);
	EXPECT_EQ(try_page(&page, sizeof(page), PERFCLOCK_MONOTONIC_RAW, &clk),
		  -EOPNOTSUPP);
}

static void a_newer_module_of_the_same_version_is_fine(void)
{
	struct perf_clock_page page = good_page;
	struct perfclock *clk;

	page.size += 64;
	page.nr_clocks++;
	ASSERT_EQ(try_page(&page, sizeof(page), PERFCLOCK_MONOTONIC, &clk), 0);
	perfclock_close(clk);
}

static void expedited_is_the_modules_or_nobodys(void)
{
	struct perfclock *clk;

	EXPECT_EQ(TRY(&clk, .clock = PERFCLOCK_MONOTONIC,
		      .provider = "membarrier",
		      .flags = PERFCLOCK_OPEN_EXPEDITED), -EOPNOTSUPP);
	EXPECT(strstr(error, "expedited"));
	EXPECT_EQ(TRY(&clk, .clock = PERFCLOCK_MONOTONIC,
		      .device = "/nonexistent",
		      .flags = PERFCLOCK_OPEN_EXPEDITED), -ENODEV);
	EXPECT(strstr(error, "/nonexistent"));
	EXPECT(!strstr(error, "membarrier"));
}

static void an_absent_device_names_the_module(void)
{
	struct perfclock *clk;

	EXPECT_EQ(TRY(&clk, .clock = PERFCLOCK_MONOTONIC,
		      .provider = "module", .device = "/nonexistent"),
		  -ENODEV);
	EXPECT(strstr(error, "/nonexistent"));
	EXPECT(strstr(error, "not loaded"));
}

static int probe(bool source, unsigned int i,
		 const struct perfclock_open_opts *o,
		 struct perfclock_choice *c)
{
	return source ? perfclock_probe_source(i, o, c) :
			perfclock_probe_provider(i, o, c);
}

/* How many; where the one of that name is goes to *at. */
static int probe_all(bool source, const struct perfclock_open_opts *o,
		     const char *name, int *at)
{
	struct perfclock_choice c = { .sz = sizeof(c) };
	const char *names[16];
	int n, k;

	*at = -1;
	for (n = 0; n < 16 && probe(source, n, o, &c) == 1; n++) {
		names[n] = c.name;
		for (k = 0; k < n; k++)
			EXPECT(strcmp(names[k], c.name));
		EXPECT(c.available || c.reason[0]);
		EXPECT_EQ(c.proven, !source && strcmp(c.name, "backoff"));
		if (!strcmp(c.name, name))
			*at = n;
	}
	EXPECT_EQ(probe(source, n, o, &c), 0);
	EXPECT_EQ(probe(source, UINT32_MAX, o, &c), 0);
	return n;
}

static void probing_names_every_choice_once(void)
{
	struct perfclock_open_opts o = { .sz = sizeof(o) };
	struct perfclock_choice c = { .sz = sizeof(c) };
	int at;

	o.clock = PERFCLOCK_MONOTONIC;
	o.device = "/nonexistent";
	EXPECT_EQ(probe_all(false, &o, "module", &at), 4);
	EXPECT_EQ(at, 0);
	EXPECT_EQ(perfclock_probe_provider(0, &o, &c), 1);
	EXPECT(!c.available);
	EXPECT(strstr(c.reason, "/nonexistent"));
	EXPECT_EQ(probe_all(true, &o, "clockid", &at), 3);
	ASSERT_OP(at, >=, 0);
	EXPECT_EQ(perfclock_probe_source(at, &o, &c), 1);
	EXPECT(c.available);
	EXPECT_STREQ(c.reason, "");
	EXPECT_OP(c.cost_ns, >, 0);
	EXPECT_OP(c.resolution, >, 0);
	o.clock = PERFCLOCK_PERF;
	probe_all(true, &o, "clockid", &at);
	EXPECT_EQ(at, -1);
}

static void probing_asks_for_what_it_names_and_tells_by_reason(void)
{
	struct perfclock_open_opts o = {
		.sz = sizeof(o), .clock = PERFCLOCK_MONOTONIC,
		.device = "/nonexistent", .error = error,
		.error_size = sizeof(error),
	};
	struct perfclock_choice c = { .sz = sizeof(c) };
	int at;

	strcpy(error, "mine");
	o.provider = "hope";
	o.flags = PERFCLOCK_OPEN_NO_WATERMARK;
	EXPECT_EQ(perfclock_probe_provider(0, &o, &c), 1);
	EXPECT(!c.available);
	EXPECT(strstr(c.reason, "/nonexistent"));
	o.source = "sundial";
	probe_all(true, &o, "clockid", &at);
	EXPECT_EQ(perfclock_probe_source(at, &o, &c), 1);
	EXPECT(c.available);
	c.sz = 0;
	EXPECT_EQ(perfclock_probe_source(at, &o, &c), -EINVAL);
	EXPECT_EQ(perfclock_probe_provider(3, &o, &c), -EINVAL);
	c.sz = sizeof(c);
	o.clock = 99;
	EXPECT_EQ(perfclock_probe_source(0, &o, &c), -EINVAL);
	EXPECT_EQ(perfclock_probe_provider(0, &o, &c), -EINVAL);
	EXPECT_STREQ(error, "mine");
}

static const struct tap_test tests[] = {
	{ "unknown_names_and_flags_are_refused",
	  unknown_names_and_flags_are_refused },
	{ "a_source_serves_only_its_clocks", a_source_serves_only_its_clocks },
	{ "without_a_provider_there_is_no_watermark",
	  without_a_provider_there_is_no_watermark },
	{ "now_is_the_clock_that_was_asked_for",
	  now_is_the_clock_that_was_asked_for },
	{ "watermark_of_the_page_is_of_the_clock",
	  watermark_of_the_page_is_of_the_clock },
	{ "a_file_that_is_no_device_is_refused",
	  a_file_that_is_no_device_is_refused },
	{ "a_module_of_another_abi_is_refused_by_age",
	  a_module_of_another_abi_is_refused_by_age },
	{ "an_older_module_serves_the_clocks_it_has",
	  an_older_module_serves_the_clocks_it_has },
	{ "a_newer_module_of_the_same_version_is_fine",
	  a_newer_module_of_the_same_version_is_fine },
	{ "expedited_is_the_modules_or_nobodys",
	  expedited_is_the_modules_or_nobodys },
	{ "an_absent_device_names_the_module",
	  an_absent_device_names_the_module },
	{ "clocks_have_names", clocks_have_names },
	{ "grace_periods_are_of_the_page_where_it_knows_them",
	  grace_periods_are_of_the_page_where_it_knows_them },
	{ "probing_names_every_choice_once",
	  probing_names_every_choice_once },
	{ "probing_asks_for_what_it_names_and_tells_by_reason",
	  probing_asks_for_what_it_names_and_tells_by_reason },
};

TAP_MAIN(tests)
