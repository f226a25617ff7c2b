// SPDX-License-Identifier: GPL-2.0
/* Records are taken from a ring whole, once, in order, whatever it holds. */
#include <errno.h>

#include "ring/backward.h"
#include "sim_ring.h"
#include "tap.h"

static struct sim_ring sim;
static struct pc_ring ring;

static void set_up(unsigned int pages, uint64_t at)
{
	sim_ring_init(&sim, pages);
	sim_ring_start_at(&sim, at);
	ASSERT_EQ(pc_ring_init(&ring, sim.page, sim.bytes), 0);
}

static void tear_down(void)
{
	pc_ring_fini(&ring);
	sim_ring_free(&sim);
}

/* The raw number of the next sample; -1 at the head. */
static long next_raw(uint64_t head)
{
	const struct perf_event_header *h;
	long n;
	int err;

	h = pc_ring_peek(&ring, head, &err);
	if (!h)
		return -1;
	n = ((const struct sim_sample *)h)->raw[0];
	pc_ring_consume(&ring, h);
	return n;
}

static void reads_up_to_the_loaded_head_only(void)
{
	uint64_t head;

	set_up(1, 0);
	sim_sample(&sim, 10, 1, 1);
	sim_publish(&sim);
	head = pc_ring_head(&ring);
	sim_sample(&sim, 20, 2, 1);
	sim_publish(&sim);
	EXPECT_EQ(next_raw(head), 1);
	EXPECT_EQ(next_raw(head), -1);
	head = pc_ring_head(&ring);
	EXPECT_EQ(next_raw(head), 2);
	EXPECT_EQ(next_raw(head), -1);
	tear_down();
}

static void unpublished_records_are_not_seen(void)
{
	set_up(1, 0);
	sim_sample(&sim, 10, 1, 1);
	EXPECT_EQ(next_raw(pc_ring_head(&ring)), -1);
	tear_down();
}

static void tail_moves_only_on_release(void)
{
	set_up(1, 4096 * 5);
	sim_sample(&sim, 10, 1, 1);
	sim_publish(&sim);
	EXPECT_EQ(next_raw(pc_ring_head(&ring)), 1);
	EXPECT_EQ(sim.page->data_tail, 4096 * 5);
	pc_ring_release(&ring);
	EXPECT_EQ(sim.page->data_tail, sim.head);
	tear_down();
}

/* Each possible place of a record around the ring's end, long and short. */
static void records_that_wrap_are_whole(void)
{
	unsigned int words, back;

	for (words = 1; words < 40; words += 2)
		for (back = 8; back <= 200; back += 8) {
			const struct perf_event_header *h;
			const struct sim_sample *s;
			unsigned int i;
			int err;

			set_up(1, (1ull << 32) - back);
			sim_sample(&sim, 77, words, words);
			sim_publish(&sim);
			h = pc_ring_peek(&ring, pc_ring_head(&ring), &err);
			ASSERT(h);
			s = (const struct sim_sample *)h;
			EXPECT_EQ(s->time, 77);
			EXPECT_EQ(s->raw_size, words * 4);
			for (i = 0; i < words; i++)
				EXPECT_EQ(s->raw[i], words);
			pc_ring_consume(&ring, h);
			EXPECT_EQ(ring.tail, sim.head);
			tear_down();
		}
}

static void positions_past_32_bits_work(void)
{
	set_up(1, UINT64_MAX - 8191 + 8);
	sim_sample(&sim, 1, 5, 1);
	sim_publish(&sim);
	EXPECT_EQ(next_raw(pc_ring_head(&ring)), 5);
	tear_down();
}

/* The position itself may pass 2^64. */
static void position_overflow_works(void)
{
	set_up(1, UINT64_MAX - 15);
	sim_sample(&sim, 1, 6, 5);
	sim_publish(&sim);
	EXPECT(sim.head < 4096);
	EXPECT_EQ(next_raw(pc_ring_head(&ring)), 6);
	EXPECT_EQ(ring.tail, sim.head);
	tear_down();
}

static void bad_size(uint16_t size)
{
	uint64_t head;

	set_up(1, 0);
	sim_sample(&sim, 1, 1, 1);
	sim_header(&sim, PERF_RECORD_SAMPLE, size);
	sim_sample(&sim, 2, 2, 1);
	sim_publish(&sim);
	head = pc_ring_head(&ring);
	EXPECT_EQ(next_raw(head), 1);
	EXPECT_EQ(next_raw(head), -1);
	EXPECT_EQ(ring.malformed, 1);
	EXPECT_EQ(ring.tail, head);
	/* And on it goes. */
	sim_sample(&sim, 3, 3, 1);
	sim_publish(&sim);
	EXPECT_EQ(next_raw(pc_ring_head(&ring)), 3);
	EXPECT_EQ(ring.malformed, 1);
	tear_down();
}

static void size_zero_skips_to_the_head(void)
{
	bad_size(0);
}

static void size_below_the_header_skips_to_the_head(void)
{
	bad_size(7);
}

static void size_not_of_whole_words_skips_to_the_head(void)
{
	bad_size(13);
}

static void size_past_the_head_skips_to_the_head(void)
{
	bad_size(4096);
}

static void head_further_than_the_ring_is_long_is_not_believed(void)
{
	set_up(1, 0);
	sim.page->data_head = 4096 + 8;
	EXPECT_EQ(pc_ring_head(&ring), 4096 + 8);
	EXPECT_EQ(ring.tail, 4096 + 8);
	EXPECT_EQ(ring.malformed, 1);
	tear_down();
}

static void head_that_went_back_is_not_believed(void)
{
	set_up(1, 4096);
	sim.page->data_head = 1024;
	EXPECT_EQ(pc_ring_head(&ring), 1024);
	EXPECT_EQ(ring.tail, 1024);
	EXPECT_EQ(ring.malformed, 1);
	tear_down();
}

static void full_ring_is_read_whole(void)
{
	uint64_t head;
	long n = 0;

	set_up(2, 8192 * 3 + 40);
	for (; sim_room(&sim) >= 40; n++)
		sim_sample(&sim, n, n, 1);
	sim_publish(&sim);
	head = pc_ring_head(&ring);
	for (; n; n--)
		ASSERT_OP(next_raw(head), >=, 0);
	EXPECT_EQ(next_raw(head), -1);
	EXPECT_EQ(ring.malformed, 0);
	tear_down();
}

/* To the last byte, which the kernel leaves free: more is not believed. */
static void ring_filled_to_the_last_byte_is_read_whole(void)
{
	uint64_t head;
	long n;

	set_up(1, 4096 * 7);
	for (n = 0; n < 64; n++)
		sim_sample(&sim, n, n, 7);
	ASSERT_EQ(sim_room(&sim), 0);
	sim_publish(&sim);
	head = pc_ring_head(&ring);
	for (n = 0; n < 64; n++)
		ASSERT_EQ(next_raw(head), n);
	EXPECT_EQ(next_raw(head), -1);
	EXPECT_EQ(ring.malformed, 0);
	tear_down();
}

/* What lies behind the ring is not read, even if it would make sense. */
static void header_that_does_not_fit_at_the_end_skips_to_the_head(void)
{
	sim_ring_init(&sim, 2);
	sim.size = sim.page->data_size = 4096;
	sim_ring_start_at(&sim, 4096 - 4);
	sim.data[4096 - 4 + 6] = 16;		/* the size of one there */
	ASSERT_EQ(pc_ring_init(&ring, sim.page, sim.bytes), 0);
	sim.page->data_head += 16;
	EXPECT_EQ(next_raw(pc_ring_head(&ring)), -1);
	EXPECT_EQ(ring.malformed, 1);
	EXPECT_EQ(ring.tail, sim.page->data_head);
	tear_down();
}

static void maps_of_odd_sizes_are_refused(void)
{
	size_t page = sysconf(_SC_PAGESIZE);

	sim_ring_init(&sim, 4);
	EXPECT_EQ(pc_ring_init(&ring, NULL, sim.bytes), -EINVAL);
	EXPECT_EQ(pc_ring_init(&ring, sim.page, page), -EINVAL);
	EXPECT_EQ(pc_ring_init(&ring, sim.page, sim.bytes - page), -EINVAL);
	sim.page->data_size = 3 * page;
	EXPECT_EQ(pc_ring_init(&ring, sim.page, sim.bytes), -EINVAL);
	sim.page->data_size = page;
	sim.page->data_offset = page + 4;
	EXPECT_EQ(pc_ring_init(&ring, sim.page, sim.bytes), -EINVAL);
	sim.page->data_offset = sim.bytes;
	EXPECT_EQ(pc_ring_init(&ring, sim.page, sim.bytes), -EINVAL);
	sim.page->data_offset = sim.bytes + page;
	EXPECT_EQ(pc_ring_init(&ring, sim.page, sim.bytes), -EINVAL);
	sim.page->data_offset = 2 * page;
	EXPECT_EQ(pc_ring_init(&ring, sim.page, sim.bytes), 0);
	EXPECT(ring.data == (unsigned char *)sim.page + 2 * page);
	EXPECT_EQ(ring.size, page);
	sim.page->data_size = 0;
	sim.page->data_offset = 0;
	EXPECT_EQ(pc_ring_init(&ring, (char *)sim.page + 4, 2 * page), -EINVAL);
	EXPECT_EQ(pc_ring_init(&ring, sim.page, sim.bytes), 0);
	EXPECT_EQ(ring.size, 4 * page);
	sim_ring_free(&sim);
}

/* The kernel's side of a backward ring. */
static void write_backward(uint32_t n, unsigned int words)
{
	size_t size = offsetof(struct sim_sample, raw) + (words | 1) * 4;

	sim.head -= size;
	sim_sample(&sim, n, n, words);
	sim.head -= size;
	sim_publish(&sim);
}

static uint32_t taken[4096];
static int nr_taken, refuse_at;

static int take(const struct perf_event_header *h, void *ctx)
{
	(void)ctx;
	if (nr_taken == refuse_at)
		return -ECANCELED;
	taken[nr_taken++] = ((const struct sim_sample *)h)->raw[0];
	return 0;
}

static void backward_ring_is_read_oldest_first_once(void)
{
	uint64_t prev = 0;
	uint32_t n;

	set_up(1, 0);
	nr_taken = 0;
	refuse_at = -1;
	for (n = 1; n <= 10; n++)
		write_backward(n, n);
	EXPECT_EQ(pc_backward_read(&ring, &prev, take, NULL), 0);
	ASSERT_EQ(nr_taken, 10);
	for (n = 1; n <= 10; n++)
		EXPECT_EQ(taken[n - 1], n);
	EXPECT_EQ(pc_backward_read(&ring, &prev, take, NULL), 0);
	EXPECT_EQ(nr_taken, 10);
	write_backward(11, 1);
	EXPECT_EQ(pc_backward_read(&ring, &prev, take, NULL), 0);
	EXPECT_EQ(nr_taken, 11);
	EXPECT_EQ(taken[10], 11);
	tear_down();
}

/* After many turns: the newest are there, the half overwritten is not. */
static void backward_ring_keeps_the_newest(void)
{
	unsigned int most;
	uint64_t prev;
	uint32_t n;
	int i;

	for (most = 50; most < 400; most += 7) {
		set_up(1, 0);
		prev = nr_taken = 0;
		refuse_at = -1;
		for (n = 1; n <= most; n++)
			write_backward(n, 1 + n % 13);
		EXPECT_EQ(pc_backward_read(&ring, &prev, take, NULL), 0);
		EXPECT_OP(nr_taken, >=, 40);
		for (i = 0; i < nr_taken; i++)
			EXPECT_EQ(taken[i], most - nr_taken + 1 + i);
		EXPECT_EQ(ring.malformed, 0);
		tear_down();
	}
}

static void backward_ring_not_taken_is_there_next_time(void)
{
	uint64_t prev = 0;

	set_up(1, 0);
	nr_taken = 0;
	refuse_at = 1;
	write_backward(1, 1);
	write_backward(2, 1);
	EXPECT_EQ(pc_backward_read(&ring, &prev, take, NULL), -ECANCELED);
	nr_taken = 0;
	refuse_at = -1;
	EXPECT_EQ(pc_backward_read(&ring, &prev, take, NULL), 0);
	EXPECT_EQ(nr_taken, 2);
	tear_down();
}

static const struct tap_test tests[] = {
	{ "backward_ring_is_read_oldest_first_once",
	  backward_ring_is_read_oldest_first_once },
	{ "backward_ring_keeps_the_newest", backward_ring_keeps_the_newest },
	{ "backward_ring_not_taken_is_there_next_time",
	  backward_ring_not_taken_is_there_next_time },
	{ "reads_up_to_the_loaded_head_only",
	  reads_up_to_the_loaded_head_only },
	{ "unpublished_records_are_not_seen",
	  unpublished_records_are_not_seen },
	{ "tail_moves_only_on_release", tail_moves_only_on_release },
	{ "records_that_wrap_are_whole", records_that_wrap_are_whole },
	{ "positions_past_32_bits_work", positions_past_32_bits_work },
	{ "position_overflow_works", position_overflow_works },
	{ "size_zero_skips_to_the_head", size_zero_skips_to_the_head },
	{ "size_below_the_header_skips_to_the_head",
	  size_below_the_header_skips_to_the_head },
	{ "size_not_of_whole_words_skips_to_the_head",
	  size_not_of_whole_words_skips_to_the_head },
	{ "size_past_the_head_skips_to_the_head",
	  size_past_the_head_skips_to_the_head },
	{ "head_further_than_the_ring_is_long_is_not_believed",
	  head_further_than_the_ring_is_long_is_not_believed },
	{ "head_that_went_back_is_not_believed",
	  head_that_went_back_is_not_believed },
	{ "full_ring_is_read_whole", full_ring_is_read_whole },
	{ "ring_filled_to_the_last_byte_is_read_whole",
	  ring_filled_to_the_last_byte_is_read_whole },
	{ "header_that_does_not_fit_at_the_end_skips_to_the_head",
	  header_that_does_not_fit_at_the_end_skips_to_the_head },
	{ "maps_of_odd_sizes_are_refused", maps_of_odd_sizes_are_refused },
};

TAP_MAIN(tests)
