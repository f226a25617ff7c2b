// SPDX-License-Identifier: GPL-2.0
/* Histograms put every value into the bucket that holds it. */
#include <stdint.h>

#include "hist.h"
#include "tap.h"

static void every_value_lies_in_its_bucket(void)
{
	uint64_t v;
	unsigned int b;

	for (v = 0; v < UINT64_MAX / 2; v += v / 4 + 1) {
		b = hist_bucket(v);
		ASSERT(b < HIST_BUCKETS);
		EXPECT(hist_bucket_start(b) <= v);
		if (b < HIST_BUCKETS - 1)
			EXPECT(hist_bucket_start(b + 1) > v);
	}
	EXPECT_EQ(hist_bucket(UINT64_MAX), HIST_BUCKETS - 1);
}

static void buckets_are_narrow_and_in_order(void)
{
	unsigned int b;

	for (b = 16; b < HIST_BUCKETS - 2; b++) {
		uint64_t start = hist_bucket_start(b);
		uint64_t width = hist_bucket_start(b + 1) - start;

		EXPECT(width > 0 && width <= start / 16);
	}
}

static void quantiles_are_within_a_bucket(void)
{
	struct hist h = { 0 };
	uint64_t v;

	for (v = 1; v <= 1000; v++)
		hist_add(&h, v * 1000);
	EXPECT_EQ(h.min, 1000);
	EXPECT_EQ(h.max, 1000000);
	EXPECT_EQ(hist_mean(&h), 500500);
	EXPECT_OP(hist_quantile(&h, 0.5), >=, 500000);
	EXPECT_OP(hist_quantile(&h, 0.5), <=, 500000 + 500000 / 16);
	EXPECT_EQ(hist_quantile(&h, 1), 1000000);
	EXPECT_OP(hist_quantile(&h, 0), <=, 1000 + 1000 / 16);
	hist_free(&h);
}

static void an_empty_one_gives_zero_and_clear_empties(void)
{
	struct hist h = { 0 };

	EXPECT_EQ(hist_quantile(&h, 0.5), 0);
	EXPECT_EQ(hist_mean(&h), 0);
	hist_add(&h, 7);
	hist_clear(&h);
	EXPECT_EQ(h.count, 0);
	EXPECT_EQ(hist_quantile(&h, 0.99), 0);
	hist_add(&h, 9);
	EXPECT_EQ(h.min, 9);
	EXPECT_EQ(hist_quantile(&h, 0.5), 9);
	hist_free(&h);
}

static const struct tap_test tests[] = {
	{ "every_value_lies_in_its_bucket", every_value_lies_in_its_bucket },
	{ "buckets_are_narrow_and_in_order", buckets_are_narrow_and_in_order },
	{ "quantiles_are_within_a_bucket", quantiles_are_within_a_bucket },
	{ "an_empty_one_gives_zero_and_clear_empties",
	  an_empty_one_gives_zero_and_clear_empties },
};

TAP_MAIN(tests)
