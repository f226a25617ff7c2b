// SPDX-License-Identifier: GPL-2.0
/*
 * The least stamp that a ring still holds is what a look at each record says,
 * wherever tail and head have gone since it was last asked for.
 */
#include "session/internal.h"
#include "sim_ring.h"
#include "tap.h"

static struct perfclock_session session;
static struct pc_event event;
static struct pc_session_ring r;
static struct sim_ring sim;
static uint64_t seed;

static uint32_t rnd(uint32_t below)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (seed >> 33) % below;
}

static void set_up(unsigned int pages, uint64_t at)
{
	struct perf_event_attr attr = sim_attr();

	memset(&r, 0, sizeof(r));
	pc_layout_init(&event.layout, &attr);
	session.events = &event;
	session.nr_events = 1;
	sim_ring_init(&sim, pages);
	sim_ring_start_at(&sim, at);
	ASSERT_EQ(pc_ring_init(&r.ring, sim.page, sim.bytes), 0);
	ASSERT_EQ(pc_minima_init(&r.minima, &r.ring), 0);
	r.head = at;
}

static void tear_down(void)
{
	pc_minima_fini(&r.minima);
	pc_ring_fini(&r.ring);
	sim_ring_free(&sim);
}

/* What a drain up to the head would come upon; *whole: nothing malformed. */
static uint64_t look_at_all(bool *whole)
{
	uint64_t tail = r.ring.tail, malformed = r.ring.malformed;
	uint64_t least = UINT64_MAX, stamp;
	const struct perf_event_header *h;
	int err;

	while ((h = pc_ring_peek(&r.ring, r.head, &err))) {
		stamp = pc_layout_stamp(&event.layout, h);
		if (!pc_record_placed(h->type, stamp) && stamp < least)
			least = stamp;
		pc_ring_consume(&r.ring, h);
	}
	*whole = r.ring.malformed == malformed;
	r.ring.tail = tail;
	r.ring.malformed = malformed;
	return least;
}

static void ask(void)
{
	uint64_t tail = r.ring.tail, malformed = r.ring.malformed, all, got;
	bool whole;

	all = look_at_all(&whole);
	got = pc_least_of_ring(&session, &r);
	if (whole)
		EXPECT_EQ(got, all);
	else	/* what was entered before may be less: that only waits */
		EXPECT(got <= all);
	EXPECT_EQ(r.ring.tail, tail);
	EXPECT_EQ(r.ring.malformed, malformed);
}

static void drain_one(void)
{
	const struct perf_event_header *h;
	int err;

	h = pc_ring_peek(&r.ring, r.head, &err);
	if (h)
		pc_ring_consume(&r.ring, h);
	pc_ring_release(&r.ring);
}

static void write_some(unsigned int largest)
{
	unsigned int n = 1 + rnd(40);

	while (n--) {
		unsigned int words = rnd(8) ? rnd(30) : rnd(largest);

		if (sim_room(&sim) < sizeof(struct sim_sample) + words * 4 + 64)
			return;
		if (!rnd(10))
			sim_lost(&sim, rnd(1000000), 1);
		else
			sim_sample(&sim, rnd(20) ? rnd(1000000) : 0, 1, words);
		sim_publish(&sim);
	}
}

static void any_course(unsigned int pages, uint64_t at, unsigned int largest,
		       bool broken)
{
	unsigned int i, n;

	seed = at + pages;
	set_up(pages, at);
	for (i = 0; i < 3000; i++) {
		if (rnd(3))
			write_some(largest);
		if (broken && !rnd(50) && sim_room(&sim) > 64) {
			sim_header(&sim, PERF_RECORD_SAMPLE, 3);
			sim_publish(&sim);
		}
		if (rnd(2))
			r.head = pc_ring_head(&r.ring);
		if (rnd(3))
			ask();
		for (n = rnd(4) ? rnd(30) : rnd(3000); n; n--)
			drain_one();
		if (rnd(2))
			ask();
	}
	tear_down();
}

static void rings_of_any_size(void)
{
	any_course(1, 0, 100, false);
	any_course(2, 4096, 1000, false);
	any_course(16, 64, 16000, false);
	any_course(1024, 8, 16000, false);
}

static void positions_that_wrap(void)
{
	any_course(1, -(uint64_t)65536, 100, false);
	any_course(64, -(uint64_t)1000000, 16000, false);
	any_course(1024, -(uint64_t)8, 16000, false);
}

static void rings_with_malformed_records(void)
{
	any_course(1, 0, 100, true);
	any_course(16, 640, 16000, true);
	any_course(256, -(uint64_t)100000, 16000, true);
}

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* The least stamp always comes last, and is asked for before each record. */
static void work_does_not_grow_with_the_square_of_the_ring(void)
{
	uint64_t stamp = 1 << 30, asked = 0;
	double one, all;
	bool whole;
	int i;

	set_up(1024, 0);
	while (sim_room(&sim) > 64)
		sim_sample(&sim, stamp--, 1, 1);
	sim_publish(&sim);
	r.head = pc_ring_head(&r.ring);
	one = cpu_seconds();
	for (i = 0; i < 20; i++)
		EXPECT_EQ(look_at_all(&whole), stamp + 1);
	one = (cpu_seconds() - one) / 20;
	all = cpu_seconds();
	for (; r.ring.tail != r.head; asked++) {
		EXPECT_EQ(pc_least_of_ring(&session, &r), stamp + 1);
		drain_one();
	}
	all = cpu_seconds() - all;
	printf("# %llu records, all: %.0f times a look at all of them\n",
	       (unsigned long long)asked, all / one);
	EXPECT(asked > 80000);
	EXPECT(all < one * asked / 10);		/* asked / 2 if each is new */
	tear_down();
}

static const struct tap_test tests[] = {
	{ "rings_of_any_size", rings_of_any_size },
	{ "positions_that_wrap", positions_that_wrap },
	{ "rings_with_malformed_records", rings_with_malformed_records },
	{ "work_does_not_grow_with_the_square_of_the_ring",
	  work_does_not_grow_with_the_square_of_the_ring },
};

TAP_MAIN(tests)
