// SPDX-License-Identifier: GPL-2.0
/* Policies and their shadows, seen from outside: what each call promises. */
#include <errno.h>
#include <stdint.h>

#include <perfclock/policy.h>

#include "tap.h"

#define RING_MAX	(PERFCLOCK_ORDER_MAX_RINGS - 1)

static struct perfclock_policy *new(const char *name, unsigned int rings)
{
	struct perfclock_policy *p = NULL;

	ASSERT_EQ(perfclock_policy_new(&p, name, rings), 0);
	return p;
}

static uint64_t limit_of(struct perfclock_policy *p)
{
	uint64_t limit = 77;

	perfclock_policy_round_end(p, &limit);
	return limit;
}

static void the_list_names_policies_that_there_are(void)
{
	static const char *const names[] = {
		"none", "pass-max", "min-max", "first-min", "backoff=1000",
		"backoff=1000000", "backoff=10000000", "round-start",
		"watermark",
	};
	const unsigned int nr = sizeof(names) / sizeof(names[0]);
	struct perfclock_policy *p;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		EXPECT_STREQ(perfclock_policy_list(i), names[i]);
		p = new(names[i], 1);
		EXPECT_STREQ(perfclock_policy_name(p), names[i]);
		EXPECT_EQ(perfclock_policy_at_once(p), i == 0);
		EXPECT_EQ(perfclock_policy_needs_clock(p), i >= nr - 2);
		perfclock_policy_free(p);
	}
	EXPECT(!perfclock_policy_list(nr));
	EXPECT(!perfclock_policy_list(UINT32_MAX));
	perfclock_policy_free(NULL);
}

static void names_that_are_none_are_refused(void)
{
	static const char *const bad[] = {
		"", "hope", "min", "min-max2", "min-max=1", "watermark=",
		"backoff", "backoff=", "backoff=-1", "backoff=1x",
		"backoff= 1", "backoff=18446744073709551616",
		"backoff=00000000000000000000000000000001",
	};
	struct perfclock_policy *p;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		p = (void *)1;
		EXPECT_EQ(perfclock_policy_new(&p, bad[i], 1), -EINVAL);
		EXPECT(!p);
	}
	p = new("backoff=18446744073709551615", 1);
	perfclock_policy_free(p);
}

/* Two rounds: what each rule says at the end of the first, of the second. */
static void each_rule_says_what_the_header_says(void)
{
	static const struct {
		const char *name;
		uint64_t first, second;
	} rules[] = {
		{ "none", UINT64_MAX, UINT64_MAX },
		{ "pass-max", 0, 31 },
		{ "min-max", 21, 41 },
		{ "first-min", 11, 41 },
		{ "backoff=4", 27, 56 },
		{ "backoff=29", 2, 31 },
		{ "backoff=30", 0, 30 },
		{ "round-start", 51, 81 },
		{ "watermark", 25, 35 },
	};
	struct perfclock_policy *p;
	size_t i;

	for (i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		printf("# %s\n", rules[i].name);
		p = new(rules[i].name, 2);
		perfclock_policy_round_begin(p, 50, 25);
		EXPECT_EQ(perfclock_policy_read(p, 0, 10), 0);
		EXPECT_EQ(perfclock_policy_read(p, 0, 30), 0);
		EXPECT_EQ(perfclock_policy_read(p, 1, 20), 0);
		EXPECT_EQ(limit_of(p), rules[i].first);
		perfclock_policy_round_begin(p, 80, 35);
		EXPECT_EQ(perfclock_policy_read(p, 1, 59), 0);
		EXPECT_EQ(perfclock_policy_read(p, 1, 35), 0);
		EXPECT_EQ(perfclock_policy_read(p, 0, 40), 0);
		EXPECT_EQ(limit_of(p), rules[i].second);
		perfclock_policy_free(p);
	}
}

static void stamps_that_say_nothing_move_no_rule(void)
{
	struct perfclock_policy *p;
	const char *name;
	uint64_t before;
	unsigned int i;

	for (i = 0; (name = perfclock_policy_list(i)); i++) {
		p = new(name, 1);
		perfclock_policy_round_begin(p, 50000000, 40000000);
		EXPECT_EQ(perfclock_policy_read(p, 0, 30000000), 0);
		before = limit_of(p);
		EXPECT_EQ(perfclock_policy_read(p, 0, 0), 0);
		EXPECT_EQ(perfclock_policy_read(p, 0, UINT64_MAX), 0);
		EXPECT_EQ(limit_of(p), before);
		perfclock_policy_free(p);
	}
	/* Any other is believed. */
	p = new("min-max", 1);
	perfclock_policy_round_begin(p, 0, 0);
	EXPECT_EQ(perfclock_policy_read(p, 0, UINT64_MAX - 1), 0);
	EXPECT_EQ(limit_of(p), UINT64_MAX);
	perfclock_policy_free(p);
}

static void rings_count_once_declared_or_seen(void)
{
	struct perfclock_policy *p = new("min-max", 3);

	perfclock_policy_round_begin(p, 0, 0);
	EXPECT_EQ(perfclock_policy_read(p, 0, 5), 0);
	EXPECT_EQ(perfclock_policy_read(p, 1, 6), 0);
	EXPECT_EQ(limit_of(p), 0);
	EXPECT_EQ(perfclock_policy_read(p, 2, 7), 0);
	EXPECT_EQ(limit_of(p), 6);
	/* Nobody declared it, nor those before it: they exist now. */
	EXPECT_EQ(perfclock_policy_read(p, RING_MAX, 8), 0);
	EXPECT_EQ(limit_of(p), 0);
	EXPECT_EQ(perfclock_policy_read(p, RING_MAX + 1, 8), -EINVAL);
	EXPECT_EQ(perfclock_policy_read(p, UINT32_MAX, 8), -EINVAL);
	perfclock_policy_free(p);
	p = new("min-max", RING_MAX + 1);
	perfclock_policy_free(p);
	EXPECT_EQ(perfclock_policy_new(&p, "min-max", RING_MAX + 2), -EINVAL);
	EXPECT(!p);
}

/* Shadows. What they told: "0:10#7" is ring 0's 10, with tag 7. */
static char told[512];
static int stop_at, nr_told;

static int delivered(const struct perfclock_record *rec, void *ctx)
{
	size_t n = strlen(told);

	EXPECT(ctx == told);
	snprintf(told + n, sizeof(told) - n, "%s%u:%llu#%u%s", n ? " " : "",
		 rec->ring, (unsigned long long)rec->stamp, rec->tag,
		 rec->flags & PERFCLOCK_RECORD_LATE ? "!" : "");
	return ++nr_told == stop_at ? -ECANCELED : 0;
}

static void late(unsigned int ring, uint64_t stamp, uint32_t tag,
		 uint64_t late_ns, void *ctx)
{
	size_t n = strlen(told);

	EXPECT(ctx == told);
	snprintf(told + n, sizeof(told) - n, "%slate(%u:%llu#%u by %llu)",
		 n ? " " : "", ring, (unsigned long long)stamp, tag,
		 (unsigned long long)late_ns);
}

static struct perfclock_shadow_opts telling(void)
{
	told[0] = '\0';
	stop_at = nr_told = 0;
	return (struct perfclock_shadow_opts){
		.sz = sizeof(struct perfclock_shadow_opts),
		.delivered = delivered, .late = late, .ctx = told,
	};
}

static struct perfclock_shadow *shadow(const char *name, unsigned int rings)
{
	const struct perfclock_shadow_opts opts = telling();
	struct perfclock_shadow *s = NULL;

	ASSERT_EQ(perfclock_shadow_new(&s, name, rings, &opts), 0);
	EXPECT_STREQ(perfclock_shadow_name(s), name);
	return s;
}

static struct perfclock_shadow_stats stats(const struct perfclock_shadow *s)
{
	struct perfclock_shadow_stats st = { .sz = sizeof(st) };

	EXPECT_EQ(perfclock_shadow_get_stats(s, &st), 0);
	return st;
}

static void a_shadow_tells_what_is_delivered_and_what_is_late(void)
{
	struct perfclock_shadow *s = shadow("round-start", 2);

	perfclock_shadow_round_begin(s, 20, 0);
	EXPECT_EQ(perfclock_shadow_read(s, 1, 18, 1, 0), 0);
	EXPECT_EQ(perfclock_shadow_read(s, 0, 10, 2, 0), 0);
	EXPECT_EQ(perfclock_shadow_read(s, 0, 30, 3, 0), 0);
	EXPECT_EQ(stats(s).held_max, 0);
	EXPECT_EQ(perfclock_shadow_round_end(s), 2);
	EXPECT_STREQ(told, "0:10#2 1:18#1");
	EXPECT_EQ(stats(s).limit, 21);
	EXPECT_EQ(stats(s).held_max, 3);
	told[0] = '\0';
	perfclock_shadow_round_begin(s, 25, 0);
	EXPECT_EQ(perfclock_shadow_read(s, 1, 18, 4, 0), 0);
	EXPECT_EQ(perfclock_shadow_read(s, 1, 12, 5, 0), 0);
	EXPECT_STREQ(told, "late(1:12#5 by 6)");
	/* It keeps its place, and says nothing. */
	EXPECT_EQ(perfclock_shadow_read(s, 0, 3, 6, PERFCLOCK_RECORD_PLACED),
		  0);
	EXPECT_EQ(perfclock_shadow_round_end(s), 2);
	EXPECT_STREQ(told, "late(1:12#5 by 6) 1:12#5! 1:18#4");
	EXPECT_EQ(stats(s).read, 6);
	EXPECT_EQ(stats(s).delivered, 4);
	EXPECT_EQ(stats(s).held, 2);
	EXPECT_EQ(stats(s).held_max, 4);
	EXPECT_EQ(stats(s).late, 1);
	EXPECT_EQ(stats(s).max_late_ns, 6);
	EXPECT_EQ(stats(s).rounds, 2);
	EXPECT_EQ(stats(s).limit, 26);
	EXPECT_EQ(stats(s).left, 0);
	told[0] = '\0';
	EXPECT_EQ(perfclock_shadow_end(s), 2);
	EXPECT_STREQ(told, "0:30#3 0:3#6");
	EXPECT_EQ(stats(s).left, 2);
	EXPECT_EQ(stats(s).delivered, 6);
	EXPECT_EQ(perfclock_shadow_read(s, 0, 40, 0, 0), -EPIPE);
	perfclock_shadow_free(s);
	perfclock_shadow_free(NULL);
}

/* A stamp that is placed is not to be trusted: the rule doesn't see it. */
static void what_is_placed_moves_no_rule(void)
{
	struct perfclock_shadow *s = shadow("min-max", 1);

	perfclock_shadow_round_begin(s, 0, 0);
	EXPECT_EQ(perfclock_shadow_read(s, 0, 10, 1, 0), 0);
	EXPECT_EQ(perfclock_shadow_read(s, 0, 99, 2, PERFCLOCK_RECORD_PLACED),
		  0);
	EXPECT_EQ(perfclock_shadow_round_end(s), 2);
	EXPECT_EQ(stats(s).limit, 11);
	EXPECT_EQ(perfclock_shadow_read(s, 0, 50, 3, 0), 0);
	EXPECT_EQ(stats(s).late, 0);
	EXPECT(!strstr(told, "late"));
	perfclock_shadow_free(s);
}

static void a_shadow_stops_where_it_is_told_to(void)
{
	struct perfclock_shadow *s = shadow("watermark", 1);

	perfclock_shadow_round_begin(s, 0, 100);
	EXPECT_EQ(perfclock_shadow_read(s, 0, 10, 1, 0), 0);
	EXPECT_EQ(perfclock_shadow_read(s, 0, 20, 2, 0), 0);
	stop_at = 1;
	EXPECT_EQ(perfclock_shadow_round_end(s), -ECANCELED);
	EXPECT_STREQ(told, "0:10#1");
	EXPECT_EQ(perfclock_shadow_round_end(s), 1);
	perfclock_shadow_free(s);
	/* At once: it is the read that delivers. */
	s = shadow("none", 1);
	perfclock_shadow_round_begin(s, 0, 0);
	EXPECT_EQ(perfclock_shadow_read(s, 0, 10, 1, 0), 0);
	EXPECT_STREQ(told, "0:10#1");
	stop_at = 2;
	EXPECT_EQ(perfclock_shadow_read(s, 0, 20, 2, 0), -ECANCELED);
	perfclock_shadow_free(s);
}

static void a_shadow_refuses_by_errno(void)
{
	struct perfclock_shadow_stats st = { .sz = 0 };
	struct {
		struct perfclock_shadow_opts known;
		uint64_t more;
	} newer = { telling(), 1 };
	struct perfclock_shadow *s;

	newer.known.sz = sizeof(newer);
	EXPECT_EQ(perfclock_shadow_new(&s, "none", 1, &newer.known), -E2BIG);
	EXPECT(!s);
	EXPECT_EQ(perfclock_shadow_new(&s, "hope", 1, NULL), -EINVAL);
	EXPECT_EQ(perfclock_shadow_new(&s, "none", RING_MAX + 2, NULL),
		  -EINVAL);
	s = shadow("none", 1);
	perfclock_shadow_round_begin(s, 0, 0);
	EXPECT_EQ(perfclock_shadow_get_stats(s, &st), -EINVAL);
	EXPECT_EQ(perfclock_shadow_read(s, 0, 5, 0, PERFCLOCK_RECORD_LATE),
		  -EINVAL);
	EXPECT_EQ(perfclock_shadow_read(s, RING_MAX, 5, 0, 0), 0);
	EXPECT_EQ(perfclock_shadow_read(s, RING_MAX + 1, 5, 0, 0), -EINVAL);
	EXPECT_EQ(stats(s).read, 1);
	perfclock_shadow_free(s);
}

static void a_shadow_keeps_to_its_memory(void)
{
	struct perfclock_shadow_opts opts = telling();
	struct perfclock_shadow *s;
	int n = 0, err;

	opts.memory_max = 16 << 10;
	ASSERT_EQ(perfclock_shadow_new(&s, "min-max", 2, &opts), 0);
	perfclock_shadow_round_begin(s, 0, 0);
	while (!(err = perfclock_shadow_read(s, 0, 1 + n, 0, 0)) && n < 10000)
		n++;
	EXPECT_EQ(err, -ENOBUFS);
	EXPECT_OP(n, >, 100);
	EXPECT_EQ(perfclock_shadow_end(s), n);
	perfclock_shadow_free(s);
}

#define T(name) { #name, name }
static const struct tap_test tests[] = {
	T(the_list_names_policies_that_there_are),
	T(names_that_are_none_are_refused),
	T(each_rule_says_what_the_header_says),
	T(stamps_that_say_nothing_move_no_rule),
	T(rings_count_once_declared_or_seen),
	T(a_shadow_tells_what_is_delivered_and_what_is_late),
	T(what_is_placed_moves_no_rule),
	T(a_shadow_stops_where_it_is_told_to),
	T(a_shadow_refuses_by_errno),
	T(a_shadow_keeps_to_its_memory),
};

TAP_MAIN(tests)
