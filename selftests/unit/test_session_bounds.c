// SPDX-License-Identifier: GPL-2.0
/*
 * Bounds: of memory (the rings are left to the kernel, order holds, and it
 * gets on again), of work in one call, and the kernel's own, the ring's size.
 */
#include "sim_session.h"

#define MIB (1u << 20)

/* Fill a ring with samples; stamps from *stamp on, step apart. */
static int fill(struct sim_ring *r, uint64_t *stamp, uint64_t step,
		unsigned int words)
{
	int n = 0;

	for (; sim_room(r) >= 64 + words * 4; n++, *stamp += step)
		sim_sample(r, *stamp, 1, words);
	sim_publish(r);
	return n;
}

static void check_sorted(void)
{
	int i, bad = 0;

	for (i = 1; i < nr_got; i++)
		bad += got[i].stamp < got[i - 1].stamp;
	EXPECT_EQ(bad, 0);
}

static void at_the_memory_bound_rings_are_left_alone(void)
{
	struct perfclock_session_opts o = { .memory_max = MIB };
	uint64_t stamp = 1;
	int i, written = 0;

	set_up_opts(1, 64, &o);
	/* No watermark: all is held. */
	for (i = 0; i < 100; i++) {
		written += fill(&rings[0], &stamp, 1, 21);
		EXPECT_EQ(poll_now(), 0);
	}
	EXPECT_OP(stats().memory, <=, MIB);
	EXPECT_OP(stats().stalls, >, 0);
	/* The ring is full: the kernel would count what it loses from now. */
	EXPECT_OP(sim_room(&rings[0]), <, 256);
	EXPECT_EQ(stats().read, stats().held);
	/* The watermark moves on: all of it comes, in order. */
	sim_watermark = stamp;
	for (i = 0; i < 100 && stats().held + sim_room(&rings[0]) !=
		    rings[0].size; i++)
		EXPECT_OP(poll_now(), >=, 0);
	EXPECT_EQ(nr_got, written);
	EXPECT_EQ(stats().late, 0);
	check_sorted();
	tear_down(1);
}

/*
 * All that is held is younger than what waits in the other ring, and memory
 * is full: the oldest is let in, or this would stand for ever.
 */
static void oldest_in_a_ring_gets_past_a_full_queue(void)
{
	struct perfclock_session_opts o = { .memory_max = MIB };
	uint64_t young = 1000000, old = 1;
	int i, written = 0;

	set_up_opts(2, 64, &o);
	for (i = 0; i < 20; i++) {
		written += fill(&rings[0], &young, 1, 21);
		poll_now();
	}
	EXPECT_OP(stats().stalls, >, 0);
	written += fill(&rings[1], &old, 1, 21);
	sim_watermark = young;
	for (i = 0; i < 1000 && nr_got < written; i++)
		ASSERT_OP(poll_now(), >=, 0);
	EXPECT_EQ(nr_got, written);
	EXPECT_EQ(got[0].stamp, 1);
	EXPECT_EQ(stats().late, 0);
	EXPECT_OP(stats().memory, <=, MIB);
	check_sorted();
	tear_down(2);
}

/* Equal stamps in a full queue and in the rings: no reason to stand. */
static void ties_do_not_hold_up_a_full_queue(void)
{
	struct perfclock_session_opts o = { .memory_max = MIB };
	uint64_t same = 5;
	int i, k, written = 0;

	set_up_opts(2, 64, &o);
	for (i = 0; i < 20; i++)
		for (k = 0; k < 2; k++) {
			written += fill(&rings[k], &same, 0, 21);
			poll_now();
		}
	sim_watermark = 6;
	for (i = 0; i < 1000 && nr_got < written; i++)
		ASSERT_OP(poll_now(), >=, 0);
	EXPECT_EQ(nr_got, written);
	EXPECT_EQ(stats().late, 0);
	tear_down(2);
}

static void finish_delivers_all_past_the_memory_bound(void)
{
	struct perfclock_session_opts o = { .memory_max = MIB };
	uint64_t stamp[4] = { 1, 2, 3, 4 };
	int i, k, written = 0;

	set_up_opts(4, 256, &o);
	for (i = 0; i < 3; i++) {
		for (k = 0; k < 4; k++)
			written += fill(&rings[k], &stamp[k], 4, 21);
		poll_now();
	}
	EXPECT_OP(stats().stalls, >, 0);
	EXPECT_EQ(perfclock_session_finish(s, collect, NULL), written);
	EXPECT_EQ(nr_got, written);
	EXPECT_EQ(stats().held, 0);
	EXPECT_EQ(stats().late, 0);
	check_sorted();
	tear_down(4);
}

/* More than one call copies: the round goes on, with the W it began with. */
static void watermark_waits_until_a_cut_round_is_over(void)
{
	struct perfclock_session_opts o = { 0 };
	uint64_t stamp[4] = { 1, 2, 3, 4 }, left;
	int k, written = 0, calls = 0;

	set_up_opts(4, 1024, &o);
	for (k = 0; k < 4; k++)
		written += fill(&rings[k], &stamp[k], 4, 101);
	sim_watermark = 100;
	do {
		EXPECT_OP(poll_now(), >=, 0);
		calls++;
		for (left = 0, k = 0; k < 4; k++)
			left += rings[k].size - sim_room(&rings[k]);
		if (left)
			EXPECT_EQ(nr_got, 0);
		/* Nobody asks for it before the round is over. */
		sim_watermark = stamp[0] + 100;
	} while (!nr_got && calls < 100);
	EXPECT_OP(calls, >, 1);
	EXPECT_EQ(nr_got, 99);
	EXPECT_EQ(poll_now(), written - 99);
	check_sorted();
	tear_down(4);
}

/* However full the first ring is, the others get their turn in each call. */
static void rings_take_turns(void)
{
	struct perfclock_session_opts o = { 0 };
	uint64_t stamp = 1;
	int k;

	set_up_opts(4, 4096, &o);
	fill(&rings[0], &stamp, 1, 101);
	for (k = 1; k < 4; k++) {
		sim_sample(&rings[k], 1, 1, 1);
		sim_publish(&rings[k]);
	}
	poll_now();
	EXPECT_OP(rings[0].size - sim_room(&rings[0]), >, 0);
	for (k = 1; k < 4; k++)
		EXPECT_EQ(sim_room(&rings[k]), rings[k].size);
	tear_down(4);
}

static void ring_of_one_page_full_to_the_brim(void)
{
	uint64_t stamp = 1;
	int i, written = 0;

	set_up(1);
	for (i = 0; i < 50; i++) {
		written += fill(&rings[0], &stamp, 1, 3);
		sim_watermark = stamp;
		EXPECT_OP(poll_now(), >=, 0);
	}
	EXPECT_EQ(nr_got, written);
	check_sorted();
	tear_down(1);
}

static void too_small_a_bound_is_refused(void)
{
	char error[256];
	struct perfclock_session_opts o = {
		.sz = sizeof(o), .memory_max = MIB - 1,
		.error = error, .error_size = sizeof(error),
	};

	EXPECT_EQ(perfclock_session_new(&s, &o), -EINVAL);
	EXPECT(strstr(error, "memory bound"));
	o.memory_max = 0;
	o.mmap_pages = 3;
	EXPECT_EQ(perfclock_session_new(&s, &o), -EINVAL);
	EXPECT(strstr(error, "power of two"));
}

static const struct tap_test tests[] = {
	{ "at_the_memory_bound_rings_are_left_alone",
	  at_the_memory_bound_rings_are_left_alone },
	{ "oldest_in_a_ring_gets_past_a_full_queue",
	  oldest_in_a_ring_gets_past_a_full_queue },
	{ "ties_do_not_hold_up_a_full_queue",
	  ties_do_not_hold_up_a_full_queue },
	{ "finish_delivers_all_past_the_memory_bound",
	  finish_delivers_all_past_the_memory_bound },
	{ "watermark_waits_until_a_cut_round_is_over",
	  watermark_waits_until_a_cut_round_is_over },
	{ "rings_take_turns", rings_take_turns },
	{ "ring_of_one_page_full_to_the_brim",
	  ring_of_one_page_full_to_the_brim },
	{ "too_small_a_bound_is_refused", too_small_a_bound_is_refused },
};

TAP_MAIN(tests)
