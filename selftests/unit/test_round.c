// SPDX-License-Identifier: GPL-2.0
/*
 * The round, step by step: what is loaded when, and that an error, a cut or a
 * full memory delivers nothing too early and misses nothing. That its rule is
 * right at all is shown by test_explore.
 */
#include <errno.h>
#include <stdint.h>

#include "order/round.h"
#include "tap.h"

#define RINGS	3

static struct {
	uint64_t stamp[8];
	unsigned int nr, head, read;
	int answers[4];		/* of drain before it reads, in turn; 0: none */
	unsigned int asked;
} ring[RINGS];

static uint64_t watermark, least;
static int watermark_error, head_error, stalled_error;
static char steps[256];		/* "w h0 h1 d0 d1" */
static char delivered[256];
static struct perfclock_order *order;
static struct round r;

static void __attribute__((format(printf, 2, 3)))
append(char *to, const char *fmt, ...)
{
	size_t n = strlen(to);
	va_list ap;

	va_start(ap, fmt);
	if (n)
		to[n++] = ' ';
	vsnprintf(to + n, 256 - n, fmt, ap);
	va_end(ap);
}

static int load_watermark(void *ctx, uint64_t *w)
{
	EXPECT(ctx == &watermark);
	append(steps, "w");
	*w = watermark;
	return watermark_error;
}

static int load_head(void *ctx, unsigned int i)
{
	append(steps, "h%u", i);
	if (i && head_error)
		return head_error;
	ring[i].head = ring[i].nr;
	return 0;
}

static int drain(void *ctx, unsigned int i)
{
	int answer = ring[i].answers[ring[i].asked];

	append(steps, "d%u", i);
	if (answer) {
		ring[i].asked++;
		return answer;
	}
	for (; ring[i].read < ring[i].head; ring[i].read++)
		EXPECT_EQ(perfclock_order_push(order, i,
					       ring[i].stamp[ring[i].read],
					       "", 0, 0, 0), 0);
	return 0;
}

static int stalled(void *ctx, uint64_t w, uint64_t *at_least)
{
	append(steps, "s");
	EXPECT_EQ(w, watermark);
	*at_least = least;
	return stalled_error;
}

static const struct round_ops ops = { load_watermark, load_head, drain, NULL };
static const struct round_ops may_stall = { load_watermark, load_head, drain,
					    stalled };

static void set_up(const struct round_ops *with)
{
	memset(ring, 0, sizeof(ring));
	watermark = least = 0;
	watermark_error = head_error = stalled_error = 0;
	perfclock_order_free(order);
	order = NULL;
	ASSERT_EQ(perfclock_order_new(&order, RINGS, NULL), 0);
	round_init(&r, with, &watermark, order);
}

static void fill(unsigned int i, uint64_t stamp)
{
	ring[i].stamp[ring[i].nr++] = stamp;
}

static int take(const struct perfclock_record *rec, void *ctx)
{
	append(delivered, "%llu", (unsigned long long)rec->stamp);
	return 0;
}

static long run_rings(unsigned int nr)
{
	steps[0] = delivered[0] = '\0';
	return round_run(&r, nr, take, NULL);
}

static long run(void)
{
	return run_rings(2);
}

static void the_watermark_comes_first_and_the_rings_before_delivery(void)
{
	set_up(&ops);
	fill(0, 10);
	fill(1, 5);
	fill(1, 20);
	watermark = 20;
	EXPECT_EQ(run(), 2);
	EXPECT_STREQ(steps, "w h0 h1 d0 d1");
	EXPECT_STREQ(delivered, "5 10");
	EXPECT_EQ(r.completed, 1);
	watermark = 21;
	EXPECT_EQ(run(), 1);
	EXPECT_STREQ(delivered, "20");
	EXPECT_EQ(r.completed, 2);
	EXPECT_EQ(r.cut_short, 0);
	EXPECT_EQ(r.stalls, 0);
}

static void a_watermark_that_goes_back_takes_nothing_back(void)
{
	struct perfclock_order_stats st = { .sz = sizeof(st) };

	set_up(&ops);
	watermark = 50;
	EXPECT_EQ(run(), 0);
	watermark = 0;
	fill(0, 60);
	EXPECT_EQ(run(), 0);
	EXPECT_EQ(r.proven, 50);
	EXPECT_EQ(perfclock_order_get_stats(order, &st), 0);
	EXPECT_EQ(st.bad_limits, 0);
}

static void an_error_of_a_step_is_told_and_nothing_missed(void)
{
	set_up(&ops);
	fill(0, 10);
	fill(1, 5);
	watermark = 20;
	watermark_error = -ENODATA;
	EXPECT_EQ(run(), -ENODATA);
	EXPECT_STREQ(steps, "w");
	watermark_error = 0;
	head_error = -EIO;
	EXPECT_EQ(run(), -EIO);
	EXPECT_STREQ(steps, "w h0 h1");
	head_error = 0;
	/* The first ring is read; the round is not over. */
	ring[1].answers[0] = -EIO;
	EXPECT_EQ(run(), -EIO);
	EXPECT_STREQ(delivered, "");
	EXPECT_EQ(r.proven, 0);
	EXPECT_EQ(r.completed, 0);
	/* It goes on with what it had loaded. */
	watermark = 100;
	fill(0, 8);
	EXPECT_EQ(run(), 2);
	EXPECT_STREQ(steps, "d1");
	EXPECT_STREQ(delivered, "5 10");
	EXPECT_EQ(r.proven, 20);
	EXPECT_EQ(r.completed, 1);
	EXPECT_EQ(r.cut_short, 0);
}

static void a_round_cut_short_goes_on_with_what_it_had_loaded(void)
{
	set_up(&ops);
	fill(0, 10);
	fill(1, 5);
	watermark = 20;
	ring[0].answers[0] = ROUND_CUT;
	EXPECT_EQ(run(), 0);
	EXPECT_STREQ(steps, "w h0 h1 d0");
	EXPECT_EQ(r.cut_short, 1);
	EXPECT_EQ(r.completed, 0);
	watermark = 40;
	fill(1, 30);
	ring[1].answers[0] = ROUND_CUT;
	EXPECT_EQ(run(), 0);
	EXPECT_STREQ(steps, "d0 d1");
	EXPECT_EQ(r.cut_short, 2);
	EXPECT_EQ(run(), 2);
	EXPECT_STREQ(steps, "d1");
	EXPECT_STREQ(delivered, "5 10");
	EXPECT_EQ(run(), 1);
	EXPECT_STREQ(steps, "w h0 h1 d0 d1");
	EXPECT_STREQ(delivered, "30");
	EXPECT_EQ(r.completed, 2);
}

static void a_ring_whose_turn_is_over_is_come_back_to(void)
{
	set_up(&ops);
	fill(0, 10);
	fill(1, 5);
	watermark = 20;
	ring[0].answers[0] = ROUND_TURN;
	ring[0].answers[1] = ROUND_TURN;
	EXPECT_EQ(run(), 2);
	EXPECT_STREQ(steps, "w h0 h1 d0 d1 d0 d1 d0 d1");
	EXPECT_STREQ(delivered, "5 10");
	EXPECT_EQ(r.completed, 1);
}

static void a_ring_that_comes_meanwhile_is_of_the_next_round(void)
{
	set_up(&ops);
	fill(0, 10);
	watermark = 20;
	ring[0].answers[0] = ROUND_CUT;
	EXPECT_EQ(run_rings(2), 0);
	fill(2, 30);
	EXPECT_EQ(run_rings(3), 1);
	EXPECT_STREQ(steps, "d0 d1");
	EXPECT_EQ(run_rings(3), 0);
	EXPECT_STREQ(steps, "w h0 h1 h2 d0 d1 d2");
}

static void full_memory_is_an_error_where_nobody_knows_what_is_left(void)
{
	set_up(&ops);
	fill(0, 10);
	watermark = 20;
	ring[1].answers[0] = -ENOBUFS;
	EXPECT_EQ(run(), -ENOBUFS);
	EXPECT_STREQ(delivered, "");
	EXPECT_EQ(run(), 1);
	EXPECT_STREQ(steps, "d1");
	EXPECT_EQ(r.stalls, 0);
}

static void full_memory_delivers_what_is_below_all_that_is_left(void)
{
	set_up(&may_stall);
	fill(0, 5);
	fill(0, 10);
	fill(1, 7);
	watermark = 20;
	least = 7;
	ring[1].answers[0] = -ENOBUFS;
	EXPECT_EQ(run(), 1);
	EXPECT_STREQ(steps, "w h0 h1 d0 d1 s");
	EXPECT_STREQ(delivered, "5");
	EXPECT_EQ(r.stalls, 1);
	EXPECT_EQ(r.completed, 0);
	/* Given up: a new one, and the ring that had no room comes first. */
	watermark = 30;
	EXPECT_EQ(run(), 2);
	EXPECT_STREQ(steps, "w h0 h1 d1 d0");
	EXPECT_STREQ(delivered, "7 10");
	/* All that is left may be above the watermark, which holds then. */
	fill(0, 50);
	fill(1, 45);
	watermark = 40;
	least = 50;
	ring[0].answers[0] = -ENOBUFS;
	EXPECT_EQ(run(), 0);
	EXPECT_EQ(r.proven, 40);
	EXPECT_EQ(r.stalls, 2);
}

static void what_is_left_not_being_known_is_an_error(void)
{
	set_up(&may_stall);
	fill(0, 5);
	watermark = 20;
	least = 20;
	stalled_error = -ENOMEM;
	ring[1].answers[0] = ring[1].answers[1] = -ENOBUFS;
	EXPECT_EQ(run(), -ENOMEM);
	EXPECT_STREQ(delivered, "");
	EXPECT_EQ(r.stalls, 0);
	stalled_error = 0;
	EXPECT_EQ(run(), 1);
	EXPECT_STREQ(steps, "d1 s");
	EXPECT_EQ(r.stalls, 1);
	/* Where it was to go on there is no ring any more. */
	EXPECT_EQ(run_rings(1), 0);
	EXPECT_STREQ(steps, "w h0 d0");
	EXPECT_EQ(run_rings(0), 0);
	EXPECT_STREQ(steps, "w");
}

#define T(name) { #name, name }
static const struct tap_test tests[] = {
	T(the_watermark_comes_first_and_the_rings_before_delivery),
	T(a_watermark_that_goes_back_takes_nothing_back),
	T(an_error_of_a_step_is_told_and_nothing_missed),
	T(a_round_cut_short_goes_on_with_what_it_had_loaded),
	T(a_ring_whose_turn_is_over_is_come_back_to),
	T(a_ring_that_comes_meanwhile_is_of_the_next_round),
	T(full_memory_is_an_error_where_nobody_knows_what_is_left),
	T(full_memory_delivers_what_is_below_all_that_is_left),
	T(what_is_left_not_being_known_is_an_error),
};

TAP_MAIN(tests)
