// SPDX-License-Identifier: GPL-2.0
/* The order core, seen from outside: what each call promises. */
#include <errno.h>
#include <stdint.h>

#include <perfclock/order.h>

#include "tap.h"

#define MAX 64

/* What came out: rings, stamps, flags and tags, in order. */
struct out {
	int n;
	int stop_after;		/* > 0: the callback fails at that record */
	struct perfclock_record rec[MAX];
	char data[MAX][16];
};

static struct out got;

static int take(const struct perfclock_record *rec, void *ctx)
{
	struct out *out = ctx;
	size_t len = rec->len < 15 ? rec->len : 15;

	if (out->n < MAX) {
		out->rec[out->n] = *rec;
		memcpy(out->data[out->n], rec->data, len);
		out->data[out->n][len] = '\0';
	}
	out->n++;
	return out->stop_after && out->n >= out->stop_after ? -ECANCELED : 0;
}

/* Of records whose bytes aren't there. */
static int see_length(const struct perfclock_record *rec, void *ctx)
{
	struct out *out = ctx;

	out->rec[rec->stamp & 1 ? 0 : 1] = *rec;
	return 0;
}

static long flush(struct perfclock_order *o, uint64_t limit)
{
	memset(&got, 0, sizeof(got));
	return perfclock_order_flush(o, limit, take, &got);
}

static long end(struct perfclock_order *o)
{
	memset(&got, 0, sizeof(got));
	return perfclock_order_end(o, take, &got);
}

static int push(struct perfclock_order *o, unsigned int ring, uint64_t stamp)
{
	char text[16];
	int n = snprintf(text, sizeof(text), "%u:%u", ring,
			 (unsigned int)stamp);

	return perfclock_order_push(o, ring, stamp, text, n, stamp, 0);
}

static struct perfclock_order *new(unsigned int rings)
{
	struct perfclock_order *o = NULL;

	ASSERT_EQ(perfclock_order_new(&o, rings, NULL), 0);
	return o;
}

static struct perfclock_order_stats stats(struct perfclock_order *o)
{
	struct perfclock_order_stats st = { .sz = sizeof(st) };

	EXPECT_EQ(perfclock_order_get_stats(o, &st), 0);
	return st;
}

/* "0:1 1:2": ring:stamp in order, as delivered. */
static const char *order(void)
{
	static char text[1024];
	int i, n = 0;

	text[0] = '\0';
	for (i = 0; i < got.n && i < MAX; i++)
		n += snprintf(text + n, sizeof(text) - n, "%s%u:%llu%s%s",
			      i ? " " : "", got.rec[i].ring,
			      (unsigned long long)got.rec[i].stamp,
			      got.rec[i].flags & PERFCLOCK_RECORD_LATE ?
			      "!" : "",
			      got.rec[i].flags & PERFCLOCK_RECORD_PLACED ?
			      "p" : "");
	return text;
}

static void delivers_strictly_below_the_limit_in_order(void)
{
	struct perfclock_order *o = new(3);

	push(o, 0, 10);
	push(o, 0, 40);
	push(o, 1, 20);
	push(o, 1, 30);
	push(o, 2, 30);
	EXPECT_EQ(flush(o, 30), 2);
	EXPECT_STREQ(order(), "0:10 1:20");
	EXPECT_EQ(flush(o, 31), 2);
	EXPECT_STREQ(order(), "1:30 2:30");
	EXPECT_EQ(end(o), 1);
	EXPECT_STREQ(order(), "0:40");
	perfclock_order_free(o);
}

static void bytes_tag_and_stamp_come_back(void)
{
	struct perfclock_order *o = new(1);

	EXPECT_EQ(perfclock_order_push(o, 0, 77, "hello", 5, 0xdeadbeef, 0), 0);
	EXPECT_EQ(perfclock_order_push(o, 0, 78, NULL, 0, 0, 0), 0);
	EXPECT_EQ(flush(o, 100), 2);
	EXPECT_STREQ(got.data[0], "hello");
	EXPECT_EQ(got.rec[0].len, 5);
	EXPECT_EQ(got.rec[0].tag, 0xdeadbeef);
	EXPECT_EQ(got.rec[0].stamp, 77);
	EXPECT_EQ(got.rec[1].len, 0);
	perfclock_order_free(o);
}

static void adopted_bytes_stay_the_callers(void)
{
	struct perfclock_order *o = new(1);
	static char bytes[] = "mine";

	EXPECT_EQ(perfclock_order_push_ref(o, 0, 5, bytes, 4, 9, 0), 0);
	EXPECT_EQ(flush(o, 6), 1);
	EXPECT(got.rec[0].data == bytes);
	EXPECT_EQ(got.rec[0].tag, 9);
	perfclock_order_free(o);
}

static void equal_stamps_keep_ring_then_place(void)
{
	struct perfclock_order *o = new(3);

	perfclock_order_push(o, 2, 5, "a", 1, 0, 0);
	perfclock_order_push(o, 0, 5, "b", 1, 0, 0);
	perfclock_order_push(o, 1, 5, "c", 1, 0, 0);
	perfclock_order_push(o, 0, 5, "d", 1, 0, 0);
	perfclock_order_push(o, 2, 5, "e", 1, 0, 0);
	EXPECT_EQ(flush(o, 5), 0);
	EXPECT_EQ(flush(o, 6), 5);
	EXPECT_STREQ(got.data[0], "b");
	EXPECT_STREQ(got.data[1], "d");
	EXPECT_STREQ(got.data[2], "c");
	EXPECT_STREQ(got.data[3], "a");
	EXPECT_STREQ(got.data[4], "e");
	perfclock_order_free(o);
}

static void inversions_inside_a_ring_are_repaired_and_counted(void)
{
	struct perfclock_order *o = new(2);
	struct perfclock_order_ring_stats rs = { .sz = sizeof(rs) };

	push(o, 0, 10);
	push(o, 0, 12);
	push(o, 0, 11);
	push(o, 0, 13);
	push(o, 0, 9);
	push(o, 1, 11);
	EXPECT_EQ(flush(o, 100), 6);
	EXPECT_STREQ(order(), "0:9 0:10 0:11 1:11 0:12 0:13");
	EXPECT_EQ(stats(o).inversions, 2);
	EXPECT_EQ(stats(o).late, 0);
	EXPECT_EQ(perfclock_order_get_ring_stats(o, 0, &rs), 0);
	EXPECT_EQ(rs.inversions, 2);
	EXPECT_EQ(rs.newest, 13);
	EXPECT_EQ(rs.held, 0);
	EXPECT_EQ(rs.pushed, 5);
	perfclock_order_free(o);
}

static void a_ring_in_reverse_comes_out_sorted_and_stable(void)
{
	struct perfclock_order *o = new(1);
	int i;

	for (i = 0; i < 40; i++)
		perfclock_order_push(o, 0, 100 - i / 2, "x", 1, i, 0);
	EXPECT_EQ(flush(o, 1000), 40);
	for (i = 1; i < 40; i++) {
		EXPECT_OP(got.rec[i - 1].stamp, <=, got.rec[i].stamp);
		if (got.rec[i - 1].stamp == got.rec[i].stamp)
			EXPECT_OP(got.rec[i - 1].tag, <, got.rec[i].tag);
	}
	perfclock_order_free(o);
}

static void late_records_leave_next_flagged_and_counted(void)
{
	struct perfclock_order *o = new(2);
	struct perfclock_order_ring_stats rs = { .sz = sizeof(rs) };

	push(o, 0, 100);
	EXPECT_EQ(flush(o, 200), 1);
	push(o, 1, 40);
	push(o, 1, 100);	/* equal is not late */
	push(o, 0, 250);
	EXPECT_EQ(flush(o, 200), 2);
	EXPECT_STREQ(order(), "1:40! 1:100");
	EXPECT_EQ(stats(o).late, 1);
	EXPECT_EQ(stats(o).max_late_ns, 60);
	EXPECT_EQ(stats(o).greatest_delivered, 100);
	EXPECT_EQ(perfclock_order_get_ring_stats(o, 1, &rs), 0);
	EXPECT_EQ(rs.late, 1);
	EXPECT_EQ(rs.max_late_ns, 60);
	perfclock_order_free(o);
}

static void late_records_leave_even_when_the_limit_went_back(void)
{
	struct perfclock_order *o = new(2);

	push(o, 0, 100);
	EXPECT_EQ(flush(o, 200), 1);
	push(o, 1, 40);
	push(o, 1, 300);
	EXPECT_EQ(flush(o, 10), 1);
	EXPECT_STREQ(order(), "1:40!");
	EXPECT_EQ(stats(o).bad_limits, 1);
	perfclock_order_free(o);
}

static void late_can_be_discarded(void)
{
	struct perfclock_order_opts opts = { .sz = sizeof(opts),
					     .late = PERFCLOCK_LATE_DISCARD };
	struct perfclock_order *o;

	ASSERT_EQ(perfclock_order_new(&o, 1, &opts), 0);
	push(o, 0, 100);
	EXPECT_EQ(flush(o, 200), 1);
	EXPECT_EQ(push(o, 0, 99), 0);
	EXPECT_EQ(push(o, 0, 101), 0);
	EXPECT_EQ(flush(o, 200), 1);
	EXPECT_STREQ(order(), "0:101");
	EXPECT_EQ(stats(o).late, 1);
	EXPECT_EQ(stats(o).discarded, 1);
	EXPECT_EQ(stats(o).pushed, 2);
	EXPECT_EQ(stats(o).delivered, 2);
	perfclock_order_free(o);
}

static void late_can_fail_the_push(void)
{
	struct perfclock_order_opts opts = { .sz = sizeof(opts),
					     .late = PERFCLOCK_LATE_FAIL };
	struct perfclock_order_ring_stats rs = { .sz = sizeof(rs) };
	struct perfclock_order *o;

	ASSERT_EQ(perfclock_order_new(&o, 1, &opts), 0);
	push(o, 0, 100);
	EXPECT_EQ(flush(o, 200), 1);
	EXPECT_EQ(push(o, 0, 99), -EILSEQ);
	EXPECT_EQ(push(o, 0, 100), 0);
	EXPECT_EQ(end(o), 1);
	EXPECT_EQ(stats(o).late, 1);
	EXPECT_EQ(stats(o).discarded, 1);
	EXPECT_EQ(stats(o).pushed, 2);
	EXPECT_EQ(perfclock_order_get_ring_stats(o, 0, &rs), 0);
	EXPECT_EQ(rs.late, 1);
	EXPECT_EQ(rs.max_late_ns, 1);
	EXPECT_EQ(rs.pushed, 2);
	EXPECT_EQ(rs.inversions, 0);
	perfclock_order_free(o);
}

/* Of an empty ring, too: what was late is not the newest of it. */
static void late_records_do_not_make_a_ring_forget_its_newest(void)
{
	struct perfclock_order *o = new(1);
	struct perfclock_order_ring_stats rs = { .sz = sizeof(rs) };

	push(o, 0, 100);
	EXPECT_EQ(flush(o, 200), 1);
	push(o, 0, 40);
	EXPECT_EQ(perfclock_order_get_ring_stats(o, 0, &rs), 0);
	EXPECT_EQ(rs.newest, 100);
	push(o, 0, 50);
	EXPECT_EQ(perfclock_order_get_ring_stats(o, 0, &rs), 0);
	EXPECT_EQ(rs.newest, 100);
	EXPECT_EQ(rs.inversions, 2);
	perfclock_order_free(o);
}

/* As when a ring begins with LOST, or with records that have no time. */
static void records_placed_before_any_stamp_all_come_out(void)
{
	struct perfclock_order *o = new(2);
	unsigned int i;

	for (i = 0; i < 3; i++)
		EXPECT_EQ(perfclock_order_push(o, 0, 99, "", 0, i,
					       PERFCLOCK_RECORD_PLACED), 0);
	push(o, 1, 5);
	EXPECT_EQ(flush(o, 8), 4);
	for (i = 0; i < 3 && i < (unsigned int)got.n; i++)
		EXPECT_EQ(got.rec[i].tag, i);
	EXPECT_EQ(stats(o).held, 0);
	EXPECT_EQ(end(o), 0);
	perfclock_order_free(o);
}

static void placed_records_stay_behind_their_neighbour(void)
{
	struct perfclock_order *o = new(2);
	const unsigned int placed = PERFCLOCK_RECORD_PLACED;

	perfclock_order_push(o, 0, 99, "", 0, 0, placed); /* nothing before */
	push(o, 0, 10);
	perfclock_order_push(o, 0, 5323, "", 0, 0, placed);
	push(o, 0, 11);
	push(o, 1, 10);
	push(o, 1, 11);
	EXPECT_EQ(flush(o, 11), 4);
	EXPECT_STREQ(order(), "0:99p 0:10 0:5323p 1:10");
	EXPECT_EQ(stats(o).greatest_delivered, 10);
	/* Its neighbour has left: it leaves next, and is not late. */
	perfclock_order_push(o, 1, 1, "", 0, 0, placed);
	EXPECT_EQ(flush(o, 12), 3);
	EXPECT_STREQ(order(), "0:11 1:11 1:1p");
	perfclock_order_push(o, 0, 1, "", 0, 0, placed);
	EXPECT_EQ(flush(o, 12), 1);
	EXPECT_EQ(stats(o).placed, 4);
	EXPECT_EQ(stats(o).late, 0);
	EXPECT_EQ(stats(o).inversions, 0);
	perfclock_order_free(o);
}

static void stamps_zero_and_all_ones_move_nothing(void)
{
	struct perfclock_order *o = new(2);

	push(o, 0, 10);
	push(o, 0, 0);
	push(o, 0, UINT64_MAX);
	push(o, 1, 20);
	EXPECT_EQ(flush(o, 20), 3);
	EXPECT_STREQ(order(), "0:10 0:0p 0:18446744073709551615p");
	EXPECT_EQ(stats(o).greatest_delivered, 10);
	EXPECT_EQ(push(o, 0, 15), 0);
	EXPECT_EQ(flush(o, 21), 2);
	EXPECT_STREQ(order(), "0:15 1:20");
	EXPECT_EQ(stats(o).late, 0);
	EXPECT_EQ(stats(o).placed, 2);
	perfclock_order_free(o);
}

static void a_stamp_days_ahead_waits_and_holds_up_nobody(void)
{
	const uint64_t day = 86400ull * 1000000000;
	struct perfclock_order *o = new(2);
	uint64_t i;

	push(o, 0, 10);
	push(o, 0, 7 * day);
	push(o, 0, 200 * day);
	for (i = 11; i < 30; i++) {
		push(o, i & 1, i);
		EXPECT_EQ(flush(o, i + 1), i == 11 ? 2 : 1);
		EXPECT_EQ(got.rec[got.n - 1].stamp, i);
	}
	EXPECT_EQ(stats(o).late, 0);
	EXPECT_EQ(stats(o).held, 2);
	EXPECT_EQ(flush(o, 7 * day + 1), 1);
	EXPECT_EQ(end(o), 1);
	EXPECT_EQ(got.rec[0].stamp, 200 * day);
	perfclock_order_free(o);
}

static void the_whole_range_of_stamps_is_ordered(void)
{
	struct perfclock_order *o = new(3);

	push(o, 0, UINT64_MAX - 1);
	push(o, 1, 1);
	push(o, 1, UINT64_MAX - 1);
	push(o, 2, 1ull << 63);
	push(o, 0, 1ull << 40);
	EXPECT_EQ(end(o), 5);
	EXPECT_STREQ(order(), "1:1 0:1099511627776 2:9223372036854775808 "
		     "0:18446744073709551614 1:18446744073709551614");
	perfclock_order_free(o);
}

static void a_failing_callback_stops_and_loses_nothing(void)
{
	struct perfclock_order *o = new(2);

	push(o, 0, 1);
	push(o, 1, 2);
	push(o, 0, 3);
	push(o, 1, 4);
	memset(&got, 0, sizeof(got));
	got.stop_after = 2;
	EXPECT_EQ(perfclock_order_flush(o, 4, take, &got), -ECANCELED);
	EXPECT_STREQ(order(), "0:1 1:2");
	EXPECT_EQ(stats(o).delivered, 2);
	EXPECT_EQ(stats(o).held, 2);
	EXPECT_EQ(flush(o, 5), 2);
	EXPECT_STREQ(order(), "0:3 1:4");
	perfclock_order_free(o);
}

/* Many in a row of one ring, which need no look at the others. */
static void a_failing_callback_stops_a_burst(void)
{
	struct perfclock_order *o = new(2);
	int i;

	for (i = 1; i <= 10; i++)
		push(o, 0, i);
	push(o, 1, 20);
	/* 1 to 4, then 5 to 9: both stop where the ring has more. */
	for (i = 4; i <= 5; i++) {
		memset(&got, 0, sizeof(got));
		got.stop_after = i;
		EXPECT_EQ(perfclock_order_flush(o, 15, take, &got), -ECANCELED);
		EXPECT_EQ(got.n, i);
	}
	EXPECT_EQ(stats(o).delivered, 9);
	EXPECT_EQ(stats(o).held, 2);
	perfclock_order_free(o);
}

static void an_end_that_was_stopped_goes_on(void)
{
	struct perfclock_order *o = new(2);
	struct perfclock_record rec;
	int i;

	for (i = 1; i <= 6; i++)
		push(o, i & 1, i);
	memset(&got, 0, sizeof(got));
	got.stop_after = 2;
	EXPECT_EQ(perfclock_order_end(o, take, &got), -ECANCELED);
	EXPECT_STREQ(order(), "1:1 0:2");
	EXPECT_EQ(stats(o).held, 4);
	EXPECT_EQ(push(o, 0, 9), -EPIPE);
	EXPECT_EQ(perfclock_order_ring_add(o), -EPIPE);
	EXPECT_EQ(perfclock_order_next(o, UINT64_MAX, &rec), 1);
	EXPECT_EQ(rec.stamp, 3);
	EXPECT_EQ(push(o, 0, 9), -EPIPE);
	EXPECT_EQ(end(o), 3);
	EXPECT_STREQ(order(), "0:4 1:5 0:6");
	EXPECT_EQ(stats(o).delivered, 6);
	EXPECT_EQ(stats(o).memory, 0);
	perfclock_order_free(o);
}

/* Stamps too far apart for one merge of them. */
static void pulling_reaches_the_whole_range_of_stamps(void)
{
	static const uint64_t stamps[] = {
		1, 1ull << 40, 1ull << 62, 1ull << 63, UINT64_MAX - 1,
	};
	struct perfclock_order *o = new(3);
	struct perfclock_record rec;
	unsigned int i;

	for (i = 0; i < 5; i++)
		push(o, i % 3, stamps[i]);
	for (i = 0; i < 5; i++) {
		ASSERT_EQ(perfclock_order_next(o, UINT64_MAX, &rec), 1);
		EXPECT_EQ(rec.stamp, stamps[i]);
		EXPECT_EQ(rec.ring, i % 3);
	}
	EXPECT_EQ(perfclock_order_next(o, UINT64_MAX, &rec), 0);
	perfclock_order_free(o);
}

static void pulling_gives_the_same_order(void)
{
	struct perfclock_order *o = new(2);
	struct perfclock_record rec;

	push(o, 0, 1);
	push(o, 1, 2);
	push(o, 0, 3);
	EXPECT_EQ(perfclock_order_next(o, 3, &rec), 1);
	EXPECT_EQ(rec.stamp, 1);
	EXPECT(!memcmp(rec.data, "0:1", 3));
	push(o, 1, 1);	/* not late: 1 is what was delivered */
	EXPECT_EQ(perfclock_order_next(o, 3, &rec), 1);
	EXPECT_EQ(rec.stamp, 1);
	EXPECT_EQ(rec.ring, 1);
	EXPECT_EQ(perfclock_order_next(o, 3, &rec), 1);
	EXPECT_EQ(rec.stamp, 2);
	EXPECT_EQ(perfclock_order_next(o, 3, &rec), 0);
	EXPECT_EQ(perfclock_order_next(o, 4, &rec), 1);
	EXPECT_EQ(rec.stamp, 3);
	EXPECT_EQ(perfclock_order_next(o, 100, &rec), 0);
	perfclock_order_free(o);
}

static void rings_come_and_go(void)
{
	struct perfclock_order *o = new(1);
	struct perfclock_order_ring_stats rs = { .sz = sizeof(rs) };

	EXPECT_EQ(perfclock_order_ring_add(o), 1);
	push(o, 1, 5);
	EXPECT_EQ(perfclock_order_ring_end(o, 1), 0);
	EXPECT_EQ(push(o, 1, 6), -EINVAL);
	EXPECT_EQ(perfclock_order_ring_end(o, 1), -EINVAL);
	/* Still queued: the number is not free yet. */
	EXPECT_EQ(perfclock_order_ring_add(o), 2);
	EXPECT_EQ(flush(o, 6), 1);
	EXPECT_STREQ(order(), "1:5");
	EXPECT_EQ(perfclock_order_get_ring_stats(o, 1, &rs), -EINVAL);
	EXPECT_EQ(perfclock_order_ring_add(o), 1);
	EXPECT_EQ(push(o, 1, 7), 0);
	EXPECT_EQ(perfclock_order_get_ring_stats(o, 1, &rs), 0);
	EXPECT_EQ(rs.pushed, 1);
	EXPECT_EQ(perfclock_order_ring_end(o, 2), 0);
	EXPECT_EQ(perfclock_order_ring_end(o, 9), -EINVAL);
	EXPECT_EQ(end(o), 1);
	EXPECT_EQ(perfclock_order_ring_add(o), -EPIPE);
	perfclock_order_free(o);
}

static void rings_come_and_go_between_two_pulls(void)
{
	struct perfclock_order *o = new(2);
	struct perfclock_order_ring_stats rs = { .sz = sizeof(rs) };
	struct perfclock_record rec;

	push(o, 0, 1);
	push(o, 1, 2);
	push(o, 1, 3);
	EXPECT_EQ(perfclock_order_next(o, 10, &rec), 1);
	EXPECT_EQ(rec.ring, 0);
	EXPECT_EQ(stats(o).held, 2);
	/* What was pulled of it has left: nothing is queued. */
	EXPECT_EQ(perfclock_order_ring_end(o, 0), 0);
	EXPECT_EQ(perfclock_order_get_ring_stats(o, 0, &rs), -EINVAL);
	EXPECT_EQ(perfclock_order_next(o, 10, &rec), 1);
	EXPECT_EQ(rec.stamp, 2);
	EXPECT_EQ(perfclock_order_ring_end(o, 1), 0);
	EXPECT_EQ(perfclock_order_get_ring_stats(o, 1, &rs), 0);
	EXPECT_EQ(rs.held, 1);
	EXPECT_EQ(perfclock_order_ring_add(o), 0);
	EXPECT_EQ(push(o, 0, 4), 0);
	EXPECT_EQ(perfclock_order_next(o, 10, &rec), 1);
	EXPECT_EQ(rec.stamp, 3);
	EXPECT_EQ(perfclock_order_next(o, 10, &rec), 1);
	EXPECT_EQ(rec.stamp, 4);
	EXPECT_EQ(perfclock_order_next(o, 10, &rec), 0);
	EXPECT_EQ(perfclock_order_ring_add(o), 1);
	EXPECT_EQ(stats(o).delivered, 4);
	perfclock_order_free(o);
}

/* The bytes of what stays the caller's are not looked at, so none is needed. */
static void records_may_be_just_below_128_mib(void)
{
	const size_t max = (size_t)128 << 20;
	struct perfclock_order *o = new(1);

	EXPECT_EQ(perfclock_order_push_ref(o, 0, 5, "", max, 0, 0), -EINVAL);
	EXPECT_EQ(perfclock_order_push(o, 0, 5, "", max, 0, 0), -EINVAL);
	EXPECT_EQ(perfclock_order_push_ref(o, 0, 5, "", max, 0,
					   PERFCLOCK_RECORD_PLACED), -EINVAL);
	EXPECT_EQ(stats(o).pushed, 0);
	EXPECT_EQ(perfclock_order_push_ref(o, 0, 5, "", max - 1, 0, 0), 0);
	EXPECT_EQ(perfclock_order_push_ref(o, 0, 6, "", max - 1, 0, 0), 0);
	EXPECT_EQ(perfclock_order_push_ref(o, 0, 6, "", max, 0, 0), -EINVAL);
	EXPECT_EQ(perfclock_order_flush(o, 9, see_length, &got), 2);
	EXPECT_EQ(got.rec[0].len, max - 1);
	EXPECT_EQ(got.rec[1].len, max - 1);
	perfclock_order_free(o);
}

static void there_is_room_for_4096_rings_and_no_more(void)
{
	struct perfclock_order *o;
	int i;

	EXPECT_EQ(perfclock_order_new(&o, PERFCLOCK_ORDER_MAX_RINGS + 1, NULL),
		  -EINVAL);
	o = new(0);
	for (i = 0; i < PERFCLOCK_ORDER_MAX_RINGS; i++)
		ASSERT_EQ(perfclock_order_ring_add(o), i);
	EXPECT_EQ(perfclock_order_ring_add(o), -ENOSPC);
	for (i = PERFCLOCK_ORDER_MAX_RINGS - 1; i >= 0; i--)
		ASSERT_EQ(push(o, i, 7), 0);
	EXPECT_EQ(flush(o, 8), PERFCLOCK_ORDER_MAX_RINGS);
	for (i = 0; i < MAX; i++)
		EXPECT_EQ(got.rec[i].ring, i);
	perfclock_order_free(o);
}

static void bad_calls_are_refused_by_errno(void)
{
	struct perfclock_order_opts opts = { .sz = sizeof(opts), .flags = 1 };
	struct perfclock_order_stats st = { .sz = 0 };
	struct perfclock_order *o;

	EXPECT_EQ(perfclock_order_new(&o, 1, &opts), -EINVAL);
	opts.flags = 0;
	opts.late = 3;
	EXPECT_EQ(perfclock_order_new(&o, 1, &opts), -EINVAL);
	opts.sz = 1;
	EXPECT_EQ(perfclock_order_new(&o, 1, &opts), -EINVAL);
	o = new(2);
	EXPECT_EQ(push(o, 2, 5), -EINVAL);
	EXPECT_EQ(push(o, ~0u, 5), -EINVAL);
	EXPECT_EQ(perfclock_order_push(o, 0, 5, "", 0, 0, 1u << 7), -EINVAL);
	EXPECT_EQ(perfclock_order_push(o, 0, 5, "", 0, 0,
				       PERFCLOCK_RECORD_LATE), -EINVAL);
	EXPECT_EQ(perfclock_order_push(o, 0, 5, "", SIZE_MAX, 0, 0), -EINVAL);
	EXPECT_EQ(perfclock_order_get_stats(o, &st), -EINVAL);
	EXPECT_EQ(stats(o).pushed, 0);
	EXPECT_EQ(end(o), 0);
	EXPECT_EQ(push(o, 0, 5), -EPIPE);
	EXPECT_EQ(end(o), 0);
	perfclock_order_free(o);
	perfclock_order_free(NULL);
}

static int reenter(const struct perfclock_record *rec, void *ctx)
{
	struct perfclock_order_ring_stats rs = { .sz = sizeof(rs) };
	struct perfclock_order *o = ctx;
	struct perfclock_record other;

	/* These two work: one has left, or none. */
	EXPECT_EQ(stats(o).pushed, 2);
	EXPECT_EQ(stats(o).delivered, rec->stamp - 1);
	EXPECT_EQ(stats(o).held, 3 - rec->stamp);
	EXPECT_EQ(perfclock_order_get_ring_stats(o, 0, &rs), 0);
	EXPECT_EQ(rs.held, 3 - rec->stamp);
	EXPECT_EQ(push(o, 0, 99), -EBUSY);
	EXPECT_EQ(perfclock_order_push_ref(o, 0, 99, "", 0, 0, 0), -EBUSY);
	EXPECT_EQ(perfclock_order_flush(o, 100, take, &got), -EBUSY);
	EXPECT_EQ(perfclock_order_next(o, 100, &other), -EBUSY);
	EXPECT_EQ(perfclock_order_end(o, take, &got), -EBUSY);
	EXPECT_EQ(perfclock_order_ring_add(o), -EBUSY);
	EXPECT_EQ(perfclock_order_ring_end(o, 0), -EBUSY);
	return 0;
}

static void calls_from_inside_a_callback_are_refused(void)
{
	struct perfclock_order *o = new(1);

	push(o, 0, 1);
	push(o, 0, 2);
	EXPECT_EQ(perfclock_order_flush(o, 10, reenter, o), 2);
	EXPECT_EQ(push(o, 0, 99), 0);
	EXPECT_EQ(end(o), 1);
	perfclock_order_free(o);
}

static void the_memory_bound_holds_and_lets_go(void)
{
	struct perfclock_order_opts opts = { .sz = sizeof(opts),
					     .memory_max = 64 << 10 };
	static char bytes[512];
	struct perfclock_order *o;
	int i, n, err;

	ASSERT_EQ(perfclock_order_new(&o, 2, &opts), 0);
	for (n = 0; n < 1000; n++) {
		err = perfclock_order_push(o, n & 1, n + 1, bytes,
					   sizeof(bytes), 0, 0);
		if (err)
			break;
		EXPECT_OP(stats(o).memory, <=, 64 << 10);
	}
	EXPECT_EQ(err, -ENOBUFS);
	/* Of 128 that would fit if nothing but their bytes took room. */
	EXPECT_OP(n, >=, 96);
	EXPECT_EQ(stats(o).held, n);
	EXPECT_EQ(flush(o, n / 2 + 1), n / 2);
	for (i = 0; i < n / 4; i++)
		EXPECT_EQ(perfclock_order_push(o, i & 1, n + 1 + i, bytes,
					       sizeof(bytes), 0, 0), 0);
	EXPECT_EQ(end(o), n - n / 2 + n / 4);
	EXPECT_OP(stats(o).memory_max_seen, <=, 64 << 10);
	perfclock_order_free(o);
}

#define T(name) { #name, name }
static const struct tap_test tests[] = {
	T(delivers_strictly_below_the_limit_in_order),
	T(bytes_tag_and_stamp_come_back),
	T(adopted_bytes_stay_the_callers),
	T(equal_stamps_keep_ring_then_place),
	T(inversions_inside_a_ring_are_repaired_and_counted),
	T(a_ring_in_reverse_comes_out_sorted_and_stable),
	T(late_records_leave_next_flagged_and_counted),
	T(late_records_leave_even_when_the_limit_went_back),
	T(late_can_be_discarded),
	T(late_can_fail_the_push),
	T(late_records_do_not_make_a_ring_forget_its_newest),
	T(records_placed_before_any_stamp_all_come_out),
	T(placed_records_stay_behind_their_neighbour),
	T(stamps_zero_and_all_ones_move_nothing),
	T(a_stamp_days_ahead_waits_and_holds_up_nobody),
	T(the_whole_range_of_stamps_is_ordered),
	T(a_failing_callback_stops_and_loses_nothing),
	T(a_failing_callback_stops_a_burst),
	T(an_end_that_was_stopped_goes_on),
	T(pulling_gives_the_same_order),
	T(pulling_reaches_the_whole_range_of_stamps),
	T(rings_come_and_go),
	T(rings_come_and_go_between_two_pulls),
	T(records_may_be_just_below_128_mib),
	T(there_is_room_for_4096_rings_and_no_more),
	T(bad_calls_are_refused_by_errno),
	T(calls_from_inside_a_callback_are_refused),
	T(the_memory_bound_holds_and_lets_go),
};

TAP_MAIN(tests)
