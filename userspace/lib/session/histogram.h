/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * Internal: a log-linear histogram of nanoseconds. Sixteen buckets an octave,
 * so a quantile is within 1/16 above the true value; no allocation.
 */
#ifndef PERFCLOCK_LIB_HISTOGRAM_H
#define PERFCLOCK_LIB_HISTOGRAM_H

#include <stdint.h>

#define PC_HIST_SUB_BITS	4
#define PC_HIST_SUB		(1u << PC_HIST_SUB_BITS)
#define PC_HIST_BUCKETS		((64 - PC_HIST_SUB_BITS + 1) * PC_HIST_SUB)

struct pc_histogram {
	uint64_t total;
	uint64_t max;
	uint64_t bucket[PC_HIST_BUCKETS];
};

static inline unsigned int pc_histogram_index(uint64_t v)
{
	unsigned int shift;

	if (v < PC_HIST_SUB)
		return v;
	shift = 63 - __builtin_clzll(v) - PC_HIST_SUB_BITS;
	return shift * PC_HIST_SUB + (v >> shift);
}

/* The greatest value of a bucket. */
static inline uint64_t pc_histogram_upper(unsigned int i)
{
	unsigned int shift;

	if (i < PC_HIST_SUB)
		return i;
	shift = i / PC_HIST_SUB - 1;
	return ((uint64_t)(i % PC_HIST_SUB + PC_HIST_SUB + 1) << shift) - 1;
}

static inline void pc_histogram_add(struct pc_histogram *h, uint64_t v)
{
	h->bucket[pc_histogram_index(v)]++;
	h->total++;
	if (v > h->max)
		h->max = v;
}

/* The value that num/den of all are not above; 0 if there are none. */
static inline uint64_t pc_histogram_quantile(const struct pc_histogram *h,
					     unsigned int num,
					     unsigned int den)
{
	uint64_t want = (h->total * num + den - 1) / den, seen = 0;
	unsigned int i;

	for (i = 0; i < PC_HIST_BUCKETS && h->total; i++) {
		seen += h->bucket[i];
		if (seen >= want) {
			uint64_t v = pc_histogram_upper(i);

			return v < h->max ? v : h->max;
		}
	}
	return 0;
}

#endif /* PERFCLOCK_LIB_HISTOGRAM_H */
