// SPDX-License-Identifier: GPL-2.0
/*
 * The order core's memory: what empty rings keep for their next records, that
 * others get it where the bound is near, and that idle rings give it back.
 */
#include <errno.h>
#include <stdint.h>

#include <perfclock/order.h>

#include "tap.h"

#define KIB		1024u
#define MANY		512u		/* rings */
#define SOME_FLUSHES	300

static uint64_t stamp;
static char bytes[512];

static int count(const struct perfclock_record *rec, void *ctx)
{
	uint64_t *n = ctx;

	++*n;
	return 0;
}

static struct perfclock_order *new(unsigned int rings, size_t memory_max)
{
	struct perfclock_order_opts opts = { .sz = sizeof(opts),
					     .memory_max = memory_max };
	struct perfclock_order *o = NULL;

	ASSERT_EQ(perfclock_order_new(&o, rings, &opts), 0);
	stamp = 1;
	return o;
}

static struct perfclock_order_stats stats(const struct perfclock_order *o)
{
	struct perfclock_order_stats st = { .sz = sizeof(st) };

	EXPECT_EQ(perfclock_order_get_stats(o, &st), 0);
	return st;
}

static int push(struct perfclock_order *o, unsigned int ring)
{
	return perfclock_order_push(o, ring, stamp++, bytes, sizeof(bytes), 0,
				    0);
}

/* One record to each ring, and all of them out again. */
static void round_of_all(struct perfclock_order *o, unsigned int rings)
{
	uint64_t n = 0;
	unsigned int i;

	for (i = 0; i < rings; i++)
		EXPECT_EQ(push(o, i), 0);
	EXPECT_EQ(perfclock_order_flush(o, UINT64_MAX, count, &n), rings);
	EXPECT_EQ(n, rings);
}

static unsigned int fill(struct perfclock_order *o, unsigned int ring)
{
	unsigned int n = 0;
	int err;

	while (!(err = push(o, ring)))
		n++;
	EXPECT_EQ(err, -ENOBUFS);
	return n;
}

/* What an empty ring keeps holds no record, and is not counted as if. */
static void nothing_held_is_nothing_queued(void)
{
	struct perfclock_order *o = new(MANY, 0);

	round_of_all(o, MANY);
	EXPECT_EQ(stats(o).memory_queued, 0);
	EXPECT_EQ(push(o, 3), 0);
	EXPECT_OP(stats(o).memory_queued, >, sizeof(bytes));
	EXPECT_OP(stats(o).memory_queued, <, 16 * KIB);
	perfclock_order_free(o);
}

/* One ring may have all that others kept, up to the bound. */
static void a_full_ring_gets_what_empty_rings_keep(void)
{
	struct perfclock_order *o = new(MANY, 2 * MANY * KIB);
	unsigned int alone, after;

	alone = fill(o, 0);
	perfclock_order_free(o);
	o = new(MANY, 2 * MANY * KIB);
	round_of_all(o, MANY / 2);
	after = fill(o, MANY - 1);
	printf("# %u records alone, %u where other rings were in use\n", alone,
	       after);
	EXPECT_OP(after, >=, alone - alone / 16);
	EXPECT_OP(stats(o).memory_max_seen, <=, 2 * MANY * KIB);
	perfclock_order_free(o);
}

/* Rings that fell silent give their memory back while another goes on. */
static void idle_rings_own_nothing_after_a_while(void)
{
	struct perfclock_order *o = new(MANY, 0);
	uint64_t n = 0;
	int i;

	round_of_all(o, MANY);
	EXPECT_OP(stats(o).memory, >=, MANY * KIB);
	for (i = 0; i < SOME_FLUSHES; i++) {
		EXPECT_EQ(push(o, 0), 0);
		EXPECT_EQ(perfclock_order_flush(o, UINT64_MAX, count, &n), 1);
	}
	EXPECT_OP(stats(o).memory, <=, 96 * KIB);
	round_of_all(o, MANY);
	perfclock_order_free(o);
}

/* Rings in use keep what they need: round after round of the same size. */
static void busy_rings_keep_their_memory(void)
{
	struct perfclock_order *o = new(MANY, 0);
	uint64_t most;
	int i;

	round_of_all(o, MANY);
	most = stats(o).memory_max_seen;
	for (i = 0; i < SOME_FLUSHES; i++)
		round_of_all(o, MANY);
	EXPECT_EQ(stats(o).memory_max_seen, most);
	perfclock_order_free(o);
}

/* The chunk that an empty ring keeps must not let records in when it ended. */
static void a_ring_that_ended_empty_takes_nothing(void)
{
	struct perfclock_order *o = new(2, 0);
	uint64_t n = 0;

	round_of_all(o, 2);
	EXPECT_EQ(perfclock_order_ring_end(o, 1), 0);
	EXPECT_EQ(push(o, 1), -EINVAL);
	EXPECT_EQ(push(o, 0), 0);
	EXPECT_EQ(perfclock_order_ring_add(o), 1);
	EXPECT_EQ(push(o, 1), 0);
	/* The same, ended while something waits in it. */
	EXPECT_EQ(perfclock_order_ring_end(o, 1), 0);
	EXPECT_EQ(perfclock_order_flush(o, UINT64_MAX, count, &n), 2);
	EXPECT_EQ(push(o, 1), -EINVAL);
	EXPECT_EQ(perfclock_order_ring_add(o), 1);
	EXPECT_EQ(push(o, 1), 0);
	perfclock_order_free(o);
}

#define T(name) { #name, name }
static const struct tap_test tests[] = {
	T(nothing_held_is_nothing_queued),
	T(a_full_ring_gets_what_empty_rings_keep),
	T(idle_rings_own_nothing_after_a_while),
	T(busy_rings_keep_their_memory),
	T(a_ring_that_ended_empty_takes_nothing),
};

TAP_MAIN(tests)
