// SPDX-License-Identifier: GPL-2.0
/* Opts structures of any age are taken in, or refused, as promised. */
#include <stdint.h>

#include <perfclock.h>
#include <perfclock/perfdata.h>
#include <perfclock/policy.h>

#include "opts.h"
#include "tap.h"

/* By pointer: inlined, gcc warns under sanitizers of a branch never taken. */
static int (*volatile give_back)(void *dst, const void *src, size_t size) =
	opts_return;

struct opts {
	size_t sz;
	uint64_t a, b;
};

struct newer_opts {
	struct opts known;
	uint64_t c;
};

static void null_means_defaults(void)
{
	struct opts o = { 1, 2, 3 };

	EXPECT_EQ(opts_copy(&o, sizeof(o), NULL), 0);
	EXPECT_EQ(o.sz, sizeof(o));
	EXPECT_EQ(o.a, 0);
	EXPECT_EQ(o.b, 0);
}

static void older_caller_gets_zero_tail(void)
{
	struct opts in = { offsetof(struct opts, b), 7, 8 }, o;

	EXPECT_EQ(opts_copy(&o, sizeof(o), &in), 0);
	EXPECT_EQ(o.a, 7);
	EXPECT_EQ(o.b, 0);
}

static void newer_caller_with_zero_tail_is_taken(void)
{
	struct newer_opts in = { { sizeof(in), 7, 8 }, 0 };
	struct opts o;

	EXPECT_EQ(opts_copy(&o, sizeof(o), &in), 0);
	EXPECT_EQ(o.b, 8);
	EXPECT_EQ(o.sz, sizeof(o));
}

static void newer_caller_with_unknown_wish_is_refused(void)
{
	struct newer_opts in = { { sizeof(in), 7, 8 }, 1 };
	struct opts o;

	EXPECT_EQ(opts_copy(&o, sizeof(o), &in), -E2BIG);
	in.c = 1ull << 56;
	EXPECT_EQ(opts_copy(&o, sizeof(o), &in), -E2BIG);
	in.c = 1ull << 24;
	EXPECT_EQ(opts_copy(&o, sizeof(o), &in), -E2BIG);
}

static void missing_size_is_refused(void)
{
	struct opts in = { 0, 7, 8 }, o;

	EXPECT_EQ(opts_copy(&o, sizeof(o), &in), -EINVAL);
	EXPECT_EQ(give_back(&in, &o, sizeof(o)), -EINVAL);
}

static void results_fit_the_caller(void)
{
	struct newer_opts big = { { sizeof(big), 0, 0 }, 99 };
	struct opts small = { offsetof(struct opts, b), 0, 42 };
	struct opts src = { sizeof(src), 5, 6 };

	EXPECT_EQ(give_back(&big, &src, sizeof(src)), 0);
	EXPECT_EQ(big.known.b, 6);
	EXPECT_EQ(big.c, 0);
	EXPECT_EQ(big.known.sz, sizeof(big));
	EXPECT_EQ(give_back(&small, &src, sizeof(src)), 0);
	EXPECT_EQ(small.a, 5);
	EXPECT_EQ(small.b, 42);
}

/* Freeing what was to be made is right then, whatever came. */
#define EXPECT_NULL_OF(type, call) do { \
	struct type *made = (void *)1; \
\
	EXPECT((call) < 0); \
	EXPECT(!made); \
} while (0)

static void what_fails_to_be_made_is_null(void)
{
	struct perfclock_order_opts no_order = { 0 };
	struct perfclock_shadow_opts no_shadow = { 0 };
	struct perfclock_open_opts no_clock = { 0 };
	struct perfclock_session_opts no_session = { 0 };
	struct perfclock_perfdata_opts no_file = { 0 };

	EXPECT_NULL_OF(perfclock_order,
		       perfclock_order_new(&made, 1, &no_order));
	EXPECT_NULL_OF(perfclock_order,
		       perfclock_order_new(&made, UINT32_MAX, NULL));
	EXPECT_NULL_OF(perfclock_policy, perfclock_policy_new(&made, "hope", 1));
	EXPECT_NULL_OF(perfclock_policy, perfclock_policy_new(&made, NULL, 1));
	EXPECT_NULL_OF(perfclock_shadow,
		       perfclock_shadow_new(&made, "min-max", 1, &no_shadow));
	EXPECT_NULL_OF(perfclock_shadow,
		       perfclock_shadow_new(&made, "hope", 1, NULL));
	EXPECT_NULL_OF(perfclock, perfclock_open(&made, &no_clock));
	EXPECT_NULL_OF(perfclock_session,
		       perfclock_session_new(&made, &no_session));
	EXPECT_NULL_OF(perfclock_perfdata,
		       perfclock_perfdata_open(&made, "/", &no_file));
	EXPECT_NULL_OF(perfclock_perfdata,
		       perfclock_perfdata_open(&made, "/", NULL));
	EXPECT_NULL_OF(perfclock_perfdata,
		       perfclock_perfdata_open_fd(&made, -1, NULL));
}

static const struct tap_test tests[] = {
	{ "null_means_defaults", null_means_defaults },
	{ "older_caller_gets_zero_tail", older_caller_gets_zero_tail },
	{ "newer_caller_with_zero_tail_is_taken",
	  newer_caller_with_zero_tail_is_taken },
	{ "newer_caller_with_unknown_wish_is_refused",
	  newer_caller_with_unknown_wish_is_refused },
	{ "missing_size_is_refused", missing_size_is_refused },
	{ "results_fit_the_caller", results_fit_the_caller },
	{ "what_fails_to_be_made_is_null", what_fails_to_be_made_is_null },
};

TAP_MAIN(tests)
