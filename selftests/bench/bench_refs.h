/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How others merge rings, written down here for comparison: the same pushes,
 * copies included, and the same deliveries.
 */
#ifndef SELFTESTS_BENCH_REFS_H
#define SELFTESTS_BENCH_REFS_H

#include <stddef.h>
#include <stdint.h>

/* Consume a delivered record. */
typedef void (*bench_sink)(uint64_t stamp, const void *data, size_t len,
			   void *ctx);

struct bench_algo {
	const char *name;
	void *(*new)(unsigned int rings);
	void (*push)(void *self, unsigned int ring, uint64_t stamp,
		     const void *data, size_t len);
	/* Everything, in order. */
	void (*drain)(void *self, bench_sink sink, void *ctx);
	void (*free)(void *self);
};

extern const struct bench_algo bench_linear_scan;
extern const struct bench_algo bench_binary_heap;
extern const struct bench_algo bench_sorted_list;

#endif /* SELFTESTS_BENCH_REFS_H */
