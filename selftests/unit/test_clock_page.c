// SPDX-License-Identifier: GPL-2.0
/* The perf clock from cycles: the arithmetic, and when a page is believed. */
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdint.h>
#include <time.h>

#include "clock/perf_page.h"
#include "tap.h"

static uint64_t exact_ns(const struct page_time *pt, uint64_t cyc)
{
	return pt->zero +
	       (uint64_t)((unsigned __int128)cyc * pt->mult >> pt->shift);
}

/* A 2.1 GHz counter, as the kernel scales it. */
static const struct page_time ghz_2_1 = {
	.zero = 123456789, .mult = 1022611261, .shift = 31,
};

static void cycles_become_ns_exactly(void)
{
	static const uint64_t cycles[] = {
		0, 1, 2, 0x7fffffff, 0x80000000, 0x80000001, 1ull << 40,
		(1ull << 52) + 12345, 0x7fffffffffffull,
	};
	unsigned int i, shift;
	struct page_time pt = ghz_2_1;

	for (shift = 10; shift < 32; shift += 7)
		for (i = 0; i < sizeof(cycles) / sizeof(cycles[0]); i++) {
			pt.shift = shift;
			EXPECT_EQ(page_time_ns(&pt, cycles[i]),
				  exact_ns(&pt, cycles[i]));
		}
}

static void time_does_not_step_back_between_cycles(void)
{
	uint64_t cyc, last = 0, ns;

	for (cyc = 0x7ffffff0; cyc < 0x80000010; cyc++) {
		ns = page_time_ns(&ghz_2_1, cyc);
		EXPECT_OP(ns, >=, last);
		last = ns;
	}
}

/* A counter of 56 bits that has wrapped since the page was written. */
static void a_short_counter_is_extended(void)
{
	struct page_time pt = ghz_2_1;
	uint64_t full = (5ull << 56) - 1000;

	pt.is_short = true;
	pt.mask = (1ull << 56) - 1;
	pt.cycles = full;
	pt.shift = 31;
	EXPECT_EQ(page_time_ns(&pt, full & pt.mask), exact_ns(&pt, full));
	EXPECT_EQ(page_time_ns(&pt, (full + 5000) & pt.mask),
		  exact_ns(&pt, full + 5000));
}

static struct perf_event_mmap_page page(void)
{
	struct perf_event_mmap_page p = {
		.lock = 6, .time_zero = 10, .time_mult = 3, .time_shift = 1,
		.time_cycles = 77, .time_mask = 255,
	};

	p.cap_user_time = 1;
	p.cap_user_time_zero = 1;
	return p;
}

static void a_page_is_read_as_it_says(void)
{
	struct perf_event_mmap_page p = page();
	struct page_time pt;

	EXPECT(page_time_get(&p, &pt));
	EXPECT_EQ(pt.zero, 10);
	EXPECT_EQ(pt.mult, 3);
	EXPECT_EQ(pt.shift, 1);
	EXPECT(!pt.is_short);
	p.cap_user_time_short = 1;
	EXPECT(page_time_get(&p, &pt));
	EXPECT(pt.is_short);
	EXPECT_EQ(pt.cycles, 77);
	EXPECT_EQ(pt.mask, 255);
}

static void time_is_told_by_the_cycles_of_now(void)
{
	struct perf_event_mmap_page p = page();
	const struct timespec ms = { 0, 1000000 };
	uint64_t first = 0, then = 0;

	p.time_mult = 1;
	p.time_shift = 0;
	EXPECT(page_time_now(&p, &first));
	nanosleep(&ms, NULL);
	EXPECT(page_time_now(&p, &then));
	EXPECT_OP(first, >, 10);
	EXPECT_OP(then, >, first);
	/* A counter of 8 bits that was at 77: 77 to 332 now. */
	p.cap_user_time_short = 1;
	EXPECT(page_time_now(&p, &then));
	EXPECT_OP(then, >=, 10 + 77);
	EXPECT_OP(then, <=, 10 + 77 + 255);
}

static void a_page_without_the_capabilities_tells_no_time(void)
{
	struct perf_event_mmap_page p = page();
	struct page_time pt;
	uint64_t ns;

	p.cap_user_time_zero = 0;
	EXPECT(!page_time_get(&p, &pt));
	EXPECT(!page_time_now(&p, &ns));
	p = page();
	p.cap_user_time = 0;
	EXPECT(!page_time_get(&p, &pt));
}

static struct perf_event_mmap_page changing;

/* Zero and mult change together; the count says when they may be read. */
static void *change(void *arg)
{
	volatile int *stop = arg;
	uint64_t n = 0;

	while (!__atomic_load_n(stop, __ATOMIC_RELAXED)) {
		n++;
		__atomic_fetch_add(&changing.lock, 1, __ATOMIC_SEQ_CST);
		__atomic_store_n(&changing.time_zero, n, __ATOMIC_SEQ_CST);
		__atomic_store_n(&changing.time_mult, n, __ATOMIC_SEQ_CST);
		__atomic_fetch_add(&changing.lock, 1, __ATOMIC_SEQ_CST);
	}
	return NULL;
}

static void a_page_that_changes_is_read_as_one(void)
{
	volatile int stop = 0;
	struct page_time pt;
	pthread_t t;
	uint64_t last = 0;
	int reads = 0, changes = 0, torn = 0;

	changing = page();
	changing.time_zero = changing.time_mult;
	ASSERT_EQ(pthread_create(&t, NULL, change, (void *)&stop), 0);
	while (reads++ < 200000 || changes < 10) {
		page_time_get(&changing, &pt);
		torn += (uint32_t)pt.zero != pt.mult;
		changes += pt.zero != last;
		last = pt.zero;
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	pthread_join(t, NULL);
	EXPECT_EQ(torn, 0);
}

static const struct tap_test tests[] = {
	{ "cycles_become_ns_exactly", cycles_become_ns_exactly },
	{ "time_does_not_step_back_between_cycles",
	  time_does_not_step_back_between_cycles },
	{ "a_short_counter_is_extended", a_short_counter_is_extended },
	{ "a_page_is_read_as_it_says", a_page_is_read_as_it_says },
	{ "time_is_told_by_the_cycles_of_now",
	  time_is_told_by_the_cycles_of_now },
	{ "a_page_without_the_capabilities_tells_no_time",
	  a_page_without_the_capabilities_tells_no_time },
	{ "a_page_that_changes_is_read_as_one",
	  a_page_that_changes_is_read_as_one },
};

TAP_MAIN(tests)
