// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* The perf clock from the cycle counter: see perf_page.h. */
#include <linux/perf_event.h>
#include <stddef.h>

#include "clock/perf_page.h"

#if defined(__x86_64__) || defined(__i386__)
#define HAVE_CYCLES	1
/*
 * The first fence keeps the count from being taken before what precedes has
 * been done (a clock that is read early is a clock that is wrong by that), the
 * second keeps what follows from being done before the count.
 */
static inline uint64_t read_cycles(void)
{
	uint32_t low, high;

	__asm__ __volatile__("lfence\n\trdtsc\n\tlfence"
			     : "=a" (low), "=d" (high) : : "memory");
	return (uint64_t)high << 32 | low;
}
#elif defined(__aarch64__)
#define HAVE_CYCLES	1
static inline uint64_t read_cycles(void)
{
	uint64_t count;

	__asm__ __volatile__("isb\n\tmrs %0, cntvct_el0\n\tisb"
			     : "=r" (count) : : "memory");
	return count;
}
#else
#define HAVE_CYCLES	0
static inline uint64_t read_cycles(void)
{
	return 0;
}
#endif

/* perf_event_mmap_page.capabilities, as one word: its bits can't be loaded. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define CAP(bit)		(1ULL << (bit))
#else
#define CAP(bit)		(1ULL << (63 - (bit)))
#endif
#define CAP_USER_TIME		CAP(3)
#define CAP_USER_TIME_ZERO	CAP(4)
#define CAP_USER_TIME_SHORT	CAP(5)
#define CAPS_NEEDED		(CAP_USER_TIME | CAP_USER_TIME_ZERO)

/* Acquire: done before what follows, the second look at the count included. */
#define load(field)		__atomic_load_n(&(field), __ATOMIC_ACQUIRE)

/* One try; false if the kernel was changing the page. */
static bool page_try(const struct perf_event_mmap_page *page,
		     struct page_time *pt, uint64_t *cyc, bool *can)
{
	uint32_t seq = load(page->lock);
	uint64_t caps = load(page->capabilities);

	*can = (caps & CAPS_NEEDED) == CAPS_NEEDED;
	pt->zero = load(page->time_zero);
	pt->mult = load(page->time_mult);
	pt->shift = load(page->time_shift);
	pt->is_short = caps & CAP_USER_TIME_SHORT;
	pt->cycles = pt->is_short ? load(page->time_cycles) : 0;
	pt->mask = pt->is_short ? load(page->time_mask) : 0;
	if (cyc)
		*cyc = read_cycles();
	return !(seq & 1) && seq == load(page->lock);
}

bool page_time_get(const struct perf_event_mmap_page *page,
		   struct page_time *pt)
{
	bool can;

	while (!page_try(page, pt, NULL, &can))
		;
	return can && HAVE_CYCLES;
}

bool page_time_now(const struct perf_event_mmap_page *page, uint64_t *ns)
{
	struct page_time pt;
	uint64_t cyc;
	bool can;

	while (!page_try(page, &pt, &cyc, &can))
		;
	if (!can || !HAVE_CYCLES)
		return false;
	*ns = page_time_ns(&pt, cyc);
	return true;
}
