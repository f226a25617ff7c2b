// SPDX-License-Identifier: GPL-2.0
/* Attributes: one value each, as Documentation/ABI/testing says. */
#include "perf_clock_test.h"

/* All that an attribute says, its line break too. */
static const char *all_of(const char *name)
{
	static char text[4096];
	char path[256];
	size_t len;
	FILE *f;

	snprintf(path, sizeof(path), SYSFS "%s", name);
	f = fopen(path, "re");
	if (!f)
		return "";
	len = fread(text, 1, sizeof(text) - 1, f);
	text[len] = '\0';
	fclose(f);
	return text;
}

TEST(each_attribute_is_one_line)
{
	static const char * const names[] = {
		"clock_state", "expedited_interval_us", "gp_completed",
		"gp_duration_ns", "interval_us", "mode", "users",
		"watermark_ns",
	};
	size_t i, len;

	for (i = 0; i < ARRAY_LEN(names); i++) {
		const char *text = all_of(names[i]);

		len = strlen(text);
		ASSERT_GT(len, 1);
		EXPECT_EQ(len - 1, strcspn(text, " \n"));
		EXPECT_EQ('\n', text[len - 1]);
	}
}

TEST(numbers_are_those_of_the_page)
{
	int fd = open(NODE, O_RDONLY | O_CLOEXEC), tries;
	uint64_t mark = 0, duration = 0, gp = 0;
	const struct perf_clock_page *page = map_page(fd);
	struct page_look look, again;

	ASSERT_NE(MAP_FAILED, page);
	ASSERT_TRUE(await_watermark(page, PERF_CLOCK_PERF, 0, 5000));
	for (tries = 0; tries < 1000; tries++) {
		look_at_page(page, &look);
		mark = sysfs_number("watermark_ns");
		duration = sysfs_number("gp_duration_ns");
		gp = sysfs_number("gp_completed");
		look_at_page(page, &again);
		if (look.seq == again.seq)
			break;
	}
	ASSERT_EQ(look.seq, again.seq);
	EXPECT_EQ(look.watermark[PERF_CLOCK_PERF], mark);
	EXPECT_EQ(look.gp_duration, duration);
	EXPECT_EQ(look.gp_completed, gp);
	close(fd);
}

TEST(words_are_known)
{
	char *text = sysfs_text("clock_state");

	EXPECT_TRUE(!strcmp(text, "stable") || !strcmp(text, "unstable") ||
		    !strcmp(text, "unknown"));
	text = sysfs_text("mode");
	EXPECT_TRUE(!strcmp(text, "normal") || !strcmp(text, "expedited"));
}

TEST(intervals_have_bounds)
{
	static const char * const names[] = {
		"interval_us", "expedited_interval_us",
	};
	char restore[128];
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++) {
		snprintf(restore, sizeof(restore), "%s", sysfs_text(names[i]));
		if (sysfs_write(names[i], restore) == -EACCES)
			SKIP(return, "not root: cannot write attributes");
		EXPECT_EQ(-ERANGE, sysfs_write(names[i], "99"));
		EXPECT_EQ(-ERANGE, sysfs_write(names[i], "1000001"));
		EXPECT_EQ(-ERANGE, sysfs_write(names[i], "99999999999"));
		EXPECT_EQ(-EINVAL, sysfs_write(names[i], "soon"));
		EXPECT_EQ(-EINVAL, sysfs_write(names[i], "-1"));
		EXPECT_STREQ(restore, sysfs_text(names[i]));
		EXPECT_EQ(0, sysfs_write(names[i], "100"));
		EXPECT_EQ(100, sysfs_number(names[i]));
		EXPECT_EQ(0, sysfs_write(names[i], "1000000"));
		EXPECT_EQ(0, sysfs_write(names[i], restore));
	}
}

TEST(the_rest_is_read_only)
{
	static const char * const names[] = {
		"clock_state", "gp_completed", "gp_duration_ns", "mode",
		"users", "watermark_ns",
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++)
		EXPECT_EQ(-EACCES, sysfs_write(names[i], "1"));
}

TEST(nodes_are_for_everyone_to_read_and_nobody_to_write)
{
	static const char * const nodes[] = { NODE, POSIX_NODE };
	struct stat st;
	size_t i;

	for (i = 0; i < ARRAY_LEN(nodes); i++) {
		ASSERT_EQ(0, stat(nodes[i], &st));
		EXPECT_TRUE(S_ISCHR(st.st_mode));
		EXPECT_EQ(0444, st.st_mode & 0777);
	}
}

TEST_HARNESS_MAIN
