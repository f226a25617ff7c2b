// SPDX-License-Identifier: GPL-2.0
/*
 * Every allocation of the order core fails in turn: each time the call says
 * -ENOMEM, nothing is lost or leaked, and once there is memory again, it goes
 * on. Linked with --wrap for the allocators.
 */
#include <errno.h>
#include <stdint.h>

#include <perfclock/order.h>
#include <perfclock/policy.h>

#include "tap.h"

static long fail_in;		/* allocations until one fails; 0: none does */

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__real_aligned_alloc(size_t align, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_aligned_alloc(size_t align, size_t size);

static int fails(void)
{
	return fail_in && !--fail_in;
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
	return fails() ? NULL : __real_realloc(p, size);
}

void *__wrap_aligned_alloc(size_t align, size_t size)
{
	return fails() ? NULL : __real_aligned_alloc(align, size);
}

static uint64_t last;
static long nr_out, nr_disordered;

static int take(const struct perfclock_record *rec, void *ctx)
{
	nr_disordered += rec->stamp < last;
	last = rec->stamp;
	nr_out++;
	return 0;
}

/* Push until it goes in; how often memory was out. */
static int push(struct perfclock_order *o, unsigned int ring, uint64_t stamp)
{
	static char bytes[3000];
	int err, n = 0;

	while ((err = perfclock_order_push(o, ring, stamp, bytes,
					   stamp % sizeof(bytes), 0, 0))) {
		ASSERT_EQ(err, -ENOMEM);
		fail_in = 0;
		n++;
	}
	return n;
}

/* Work that needs every kind of allocation, the nth of which fails. */
static int work(long nth)
{
	struct perfclock_order *o = NULL;
	int failed = 0, err, i;

	last = nr_out = nr_disordered = 0;
	fail_in = nth;
	while ((err = perfclock_order_new(&o, 2, NULL))) {
		ASSERT_EQ(err, -ENOMEM);
		failed++;
	}
	for (i = 2; i < 20; i++)
		while ((err = perfclock_order_ring_add(o)) < 0) {
			ASSERT_EQ(err, -ENOMEM);
			failed++;
		}
	for (i = 0; i < 100; i++)
		failed += push(o, i % 20, 1000 + i);
	for (i = 0; i < 40; i++)	/* side runs, many of them */
		failed += push(o, 3, 900 - i);
	EXPECT_EQ(perfclock_order_end(o, take, NULL), 140);
	EXPECT_EQ(nr_out, 140);
	EXPECT_EQ(nr_disordered, 0);
	perfclock_order_free(o);
	return failed;
}

static void every_allocation_of_the_core_may_fail(void)
{
	long nth = 1;

	while (work(nth)) {
		EXPECT(nth < 1000);
		nth++;
	}
	fail_in = 0;
	printf("# %ld allocations\n", nth - 1);
	EXPECT_OP(nth, >, 20);
}

static void every_allocation_of_a_shadow_may_fail(void)
{
	struct perfclock_shadow *s;
	long nth, err;
	int i;

	for (nth = 1; ; nth++) {
		s = NULL;
		fail_in = nth;
		err = perfclock_shadow_new(&s, "min-max", 4, NULL);
		if (!err) {
			perfclock_shadow_round_begin(s, 1, 1);
			for (i = 0; i < 100 && !err; i++)
				err = perfclock_shadow_read(s, i, 10 + i, 0, 0);
			perfclock_shadow_free(s);
		}
		if (!err)
			break;
		ASSERT_EQ(err, -ENOMEM);
		ASSERT(nth < 1000);
	}
	fail_in = 0;
	EXPECT_OP(nth, >, 10);
}

static const struct tap_test tests[] = {
	{ "every_allocation_of_the_core_may_fail",
	  every_allocation_of_the_core_may_fail },
	{ "every_allocation_of_a_shadow_may_fail",
	  every_allocation_of_a_shadow_may_fail },
};

TAP_MAIN(tests)
