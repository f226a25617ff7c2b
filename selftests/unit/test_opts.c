// SPDX-License-Identifier: GPL-2.0
/* Opts structures of any age are taken in, or refused, as promised. */
#include <stdint.h>

#include "opts.h"
#include "tap.h"

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
}

static void missing_size_is_refused(void)
{
	struct opts in = { 0, 7, 8 }, o;

	EXPECT_EQ(opts_copy(&o, sizeof(o), &in), -EINVAL);
	EXPECT_EQ(opts_return(&in, &o, sizeof(o)), -EINVAL);
}

static void results_fit_the_caller(void)
{
	struct newer_opts big = { { sizeof(big), 0, 0 }, 99 };
	struct opts small = { offsetof(struct opts, b), 0, 42 };
	struct opts src = { sizeof(src), 5, 6 };

	EXPECT_EQ(opts_return(&big, &src, sizeof(src)), 0);
	EXPECT_EQ(big.known.b, 6);
	EXPECT_EQ(big.c, 0);
	EXPECT_EQ(big.known.sz, sizeof(big));
	EXPECT_EQ(opts_return(&small, &src, sizeof(src)), 0);
	EXPECT_EQ(small.a, 5);
	EXPECT_EQ(small.b, 42);
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
};

TAP_MAIN(tests)
