// SPDX-License-Identifier: GPL-2.0
/* Attributes: one value each, as Documentation/ABI/testing says. */
#include "perf_clock_test.h"

TEST(each_attribute_is_one_line)
{
	static const char * const names[] = {
		"clock_state", "expedited_interval_us", "gp_completed",
		"gp_duration_ns", "interval_us", "mode", "users",
		"watermark_ns",
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++) {
		ASSERT_NE(NULL, sysfs_text(names[i]));
		EXPECT_EQ(NULL, strchr(sysfs_text(names[i]), ' '));
	}
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
	EXPECT_GT(0, sysfs_write("mode", "expedited"));
	EXPECT_GT(0, sysfs_write("users", "1"));
	EXPECT_GT(0, sysfs_write("watermark_ns", "1"));
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
