/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A histogram of 64-bit values, in buckets that are at most 1/16 wide: exact
 * below 16, then sixteen to each power of two. Sum, least and greatest are
 * exact.
 */
#ifndef TOOLS_HIST_H
#define TOOLS_HIST_H

#include <stdint.h>

#define HIST_SUB	16
#define HIST_BUCKETS	((64 - 3) * HIST_SUB)

struct hist {
	uint64_t count, sum, min, max;
	uint64_t *buckets;	/* HIST_BUCKETS, once there is a value */
};

void hist_free(struct hist *h);
void hist_add(struct hist *h, uint64_t value);
/* Forget the values, keep the memory. */
void hist_clear(struct hist *h);
/*
 * The value below or at which that share (0 to 1) of the values lies: the
 * bucket's upper end, and never beyond the greatest. 0 if empty.
 */
uint64_t hist_quantile(const struct hist *h, double share);
uint64_t hist_mean(const struct hist *h);

unsigned int hist_bucket(uint64_t value);
/* The least value of a bucket. */
uint64_t hist_bucket_start(unsigned int bucket);

#endif /* TOOLS_HIST_H */
