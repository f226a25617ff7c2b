// SPDX-License-Identifier: GPL-2.0
/* A histogram: see hist.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "hist.h"

void hist_free(struct hist *h)
{
	free(h->buckets);
	memset(h, 0, sizeof(*h));
}

void hist_clear(struct hist *h)
{
	uint64_t *buckets = h->buckets;

	memset(h, 0, sizeof(*h));
	h->buckets = buckets;
	if (buckets)
		memset(buckets, 0, HIST_BUCKETS * sizeof(*buckets));
}

unsigned int hist_bucket(uint64_t value)
{
	unsigned int shift;

	if (value < HIST_SUB)
		return value;
	/* The highest five bits say it: the first is 1, four tell which. */
	shift = 63 - __builtin_clzll(value) - 4;
	return (shift + 1) * HIST_SUB + (value >> shift) - HIST_SUB;
}

uint64_t hist_bucket_start(unsigned int bucket)
{
	unsigned int shift;

	if (bucket < HIST_SUB)
		return bucket;
	shift = bucket / HIST_SUB - 1;
	return (uint64_t)(bucket % HIST_SUB + HIST_SUB) << shift;
}

void hist_add(struct hist *h, uint64_t value)
{
	if (!h->buckets)
		h->buckets = tool_alloc(HIST_BUCKETS, sizeof(*h->buckets));
	if (!h->count || value < h->min)
		h->min = value;
	if (value > h->max)
		h->max = value;
	h->count++;
	h->sum += value;
	h->buckets[hist_bucket(value)]++;
}

uint64_t hist_quantile(const struct hist *h, double share)
{
	uint64_t wanted = ceil(share * h->count), seen = 0, end;
	unsigned int i;

	if (!h->count)
		return 0;
	if (!wanted)
		wanted = 1;
	for (i = 0; i < HIST_BUCKETS - 1; i++) {
		seen += h->buckets[i];
		if (seen >= wanted)
			break;
	}
	end = hist_bucket_start(i + 1) - 1;
	return end < h->max ? end : h->max;
}

uint64_t hist_mean(const struct hist *h)
{
	return h->count ? h->sum / h->count : 0;
}
