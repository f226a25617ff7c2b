// SPDX-License-Identifier: GPL-2.0
/* Begins and ends find each other by key, and none is lost on the way. */
#include <stdint.h>

#include "pairs.h"
#include "tap.h"

static struct pair_key key_of(uint64_t a, uint64_t b)
{
	struct pair_key key = { { a, b } };

	return key;
}

static unsigned int group_of(struct pairs *p, uint64_t v)
{
	struct group_key key = { { v } };
	bool is_new;
	unsigned int g = pairs_group(p, &key, &is_new);

	if (is_new)
		p->groups[g].name = strdup("x");
	return g;
}

static void an_end_belongs_to_the_begin_of_its_key(void)
{
	struct pair_key a = key_of(1, 0), b = key_of(2, 0);
	struct pairs p;
	uint64_t ns;

	pairs_init(&p);
	pairs_begin(&p, &a, 100, 0, group_of(&p, 7), false);
	pairs_begin(&p, &b, 110, 0, group_of(&p, 8), false);
	EXPECT_EQ(pairs_end(&p, &a, 150, 0, &ns), 0);
	EXPECT_EQ(ns, 50);
	EXPECT_EQ(pairs_end(&p, &b, 111, 0, &ns), 1);
	EXPECT_EQ(ns, 1);
	EXPECT_EQ(p.paired, 2);
	EXPECT_EQ(p.open, 0);
	pairs_free(&p);
}

static void what_has_no_partner_is_counted(void)
{
	struct pair_key a = key_of(1, 0);
	struct pairs p;
	uint64_t ns;

	pairs_init(&p);
	EXPECT_EQ(pairs_end(&p, &a, 5, 0, &ns), -1);
	EXPECT_EQ(p.lone_ends, 1);
	pairs_begin(&p, &a, 10, 0, group_of(&p, 1), false);
	pairs_begin(&p, &a, 20, 0, group_of(&p, 1), false);
	EXPECT_EQ(p.lone_begins, 1);
	EXPECT_EQ(p.open, 1);
	EXPECT_EQ(pairs_end(&p, &a, 30, 0, &ns), 0);
	EXPECT_EQ(ns, 10);
	pairs_free(&p);
}

static void a_kept_begin_counts_from_the_first(void)
{
	struct pair_key a = key_of(1, 0);
	struct pairs p;
	uint64_t ns;

	pairs_init(&p);
	pairs_begin(&p, &a, 10, 0, group_of(&p, 1), true);
	pairs_begin(&p, &a, 20, 0, group_of(&p, 1), true);
	EXPECT_EQ(p.lone_begins, 0);
	EXPECT_EQ(pairs_end(&p, &a, 30, 0, &ns), 0);
	EXPECT_EQ(ns, 20);
	pairs_free(&p);
}

static void a_duration_is_never_negative(void)
{
	struct pair_key a = key_of(1, 0);
	struct pairs p;
	uint64_t ns;

	pairs_init(&p);
	pairs_begin(&p, &a, 100, 0, group_of(&p, 1), false);
	EXPECT_EQ(pairs_end(&p, &a, 99, 0, &ns), -1);
	EXPECT_EQ(p.reversed, 1);
	EXPECT_EQ(p.paired, 0);
	EXPECT_EQ(p.groups[0].time.count, 0);
	/* No time at all is one, too. */
	pairs_begin(&p, &a, 100, 0, group_of(&p, 1), false);
	EXPECT_EQ(pairs_end(&p, &a, 100, 0, &ns), 0);
	EXPECT_EQ(ns, 0);
	EXPECT_EQ(p.reversed, 1);
	EXPECT_EQ(p.paired, 1);
	pairs_free(&p);
}

static void an_end_that_was_read_before_its_begin_is_told(void)
{
	struct pair_key a = key_of(1, 0);
	struct pairs p;
	uint64_t ns;

	pairs_init(&p);
	pairs_begin(&p, &a, 100, 2, group_of(&p, 1), false);
	pairs_end(&p, &a, 110, 1, &ns);
	EXPECT_EQ(p.mispaired, 1);
	pairs_begin(&p, &a, 120, 3, group_of(&p, 1), false);
	pairs_end(&p, &a, 130, 4, &ns);
	pairs_begin(&p, &a, 140, 0, group_of(&p, 1), false);
	pairs_end(&p, &a, 150, 5, &ns);
	EXPECT_EQ(p.mispaired, 1);
	EXPECT_EQ(p.groups[0].mispaired, 1);
	pairs_free(&p);
}

static void times_that_begin_anew_leave_what_is_open(void)
{
	struct pair_key a = key_of(1, 0), b = key_of(2, 0);
	struct pairs p;
	uint64_t ns;

	pairs_init(&p);
	pairs_begin(&p, &a, 100, 2, group_of(&p, 1), false);
	pairs_end(&p, &a, 110, 1, &ns);
	pairs_begin(&p, &b, 120, 3, group_of(&p, 1), false);
	pairs_reset_times(&p);
	EXPECT_EQ(p.groups[0].time.count, 0);
	EXPECT_EQ(p.groups[0].mispaired, 0);
	EXPECT_EQ(p.open, 1);
	EXPECT_EQ(pairs_end(&p, &b, 150, 4, &ns), 0);
	EXPECT_EQ(ns, 30);
	EXPECT_EQ(p.groups[0].time.count, 1);
	EXPECT_EQ(p.groups[0].time.sum, 30);
	pairs_free(&p);
}

/* Against a plain array, with many keys open at once and the table growing. */
static void many_open_pairs_survive_growth_and_removal(void)
{
	static uint64_t begun[5000];
	struct pairs p;
	uint64_t x = 1, ns, now = 0;
	unsigned int i, k, open = 0;
	struct pair_key key;

	memset(begun, 0, sizeof(begun));
	pairs_init(&p);
	for (i = 0; i < 200000; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		k = x % 5000;
		key = key_of(k * 0x100000000ULL, k % 3);
		now++;
		if (begun[k]) {
			ASSERT(pairs_end(&p, &key, now, 0, &ns) >= 0);
			ASSERT_EQ(ns, now - begun[k]);
			begun[k] = 0;
			open--;
		} else {
			pairs_begin(&p, &key, now, 0, group_of(&p, k % 700),
				    false);
			begun[k] = now;
			open++;
		}
	}
	EXPECT_EQ(p.open, open);
	EXPECT_EQ(p.lone_begins + p.lone_ends, 0);
	EXPECT_EQ(p.nr_groups, 700);
	pairs_free(&p);
}

static const struct tap_test tests[] = {
	{ "an_end_belongs_to_the_begin_of_its_key",
	  an_end_belongs_to_the_begin_of_its_key },
	{ "what_has_no_partner_is_counted", what_has_no_partner_is_counted },
	{ "a_kept_begin_counts_from_the_first",
	  a_kept_begin_counts_from_the_first },
	{ "a_duration_is_never_negative", a_duration_is_never_negative },
	{ "an_end_that_was_read_before_its_begin_is_told",
	  an_end_that_was_read_before_its_begin_is_told },
	{ "times_that_begin_anew_leave_what_is_open",
	  times_that_begin_anew_leave_what_is_open },
	{ "many_open_pairs_survive_growth_and_removal",
	  many_open_pairs_survive_growth_and_removal },
};

TAP_MAIN(tests)
