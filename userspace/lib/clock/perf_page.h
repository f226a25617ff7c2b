/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * Internal: the perf clock from the cycle counter, by what the kernel writes
 * into the first page of an event's mmap.
 */
#ifndef PERFCLOCK_CLOCK_PERF_PAGE_H
#define PERFCLOCK_CLOCK_PERF_PAGE_H

#include <stdbool.h>
#include <stdint.h>

struct perf_event_mmap_page;

/* How cycles become ns: what the page says, taken as one. */
struct page_time {
	uint64_t zero;		/* ns at cycle 0 */
	uint32_t mult;
	uint16_t shift;
	bool is_short;		/* the counter has fewer than 64 bits */
	uint64_t cycles;	/* is_short: a full count to extend by */
	uint64_t mask;		/* is_short: the counter's bits */
};

/* Without 128-bit products, and without overflow while the sum fits. */
static inline uint64_t page_time_ns(const struct page_time *pt, uint64_t cyc)
{
	uint64_t quot, rem;

	if (pt->is_short)
		cyc = pt->cycles + ((cyc - pt->cycles) & pt->mask);
	quot = cyc >> pt->shift;
	rem = cyc & ((1ULL << pt->shift) - 1);
	return pt->zero + quot * pt->mult + ((rem * pt->mult) >> pt->shift);
}

/* false: the clock can't be told by cycles, now or ever. */
bool page_time_get(const struct perf_event_mmap_page *page,
		   struct page_time *pt);
/* The same with a cycle count that was taken meanwhile: ns. */
bool page_time_now(const struct perf_event_mmap_page *page, uint64_t *ns);

#endif /* PERFCLOCK_CLOCK_PERF_PAGE_H */
