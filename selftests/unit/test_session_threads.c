// SPDX-License-Identifier: GPL-2.0
/*
 * Reader threads, and other threads that look on: writers fill simulated
 * rings, a clock thread proves watermarks, readers read, one thread delivers,
 * one asks for counters and stops. Worth most with SANITIZE=thread.
 */
#include <pthread.h>
#include <sched.h>

#include "sim_session.h"

#define NR_RINGS	4
#define PER_RING	20000

/* A stamp is taken and published under this, as in an RCU section. */
static pthread_mutex_t section[NR_RINGS];
static _Atomic uint64_t ticks;
static atomic_bool stop_all, stall_first;
static _Atomic uint64_t counted, disorder, last_stamp;
static uint64_t memory_max;

static void *writer(void *arg)
{
	int ring = (int)(intptr_t)arg, i = 0;

	while (i < PER_RING) {
		pthread_mutex_lock(&section[ring]);
		if (sim_room(&rings[ring]) >= 128) {
			sim_sample(&rings[ring], ++ticks, i, 1 + i % 9);
			sim_publish(&rings[ring]);
			i++;
			pthread_mutex_unlock(&section[ring]);
		} else {
			pthread_mutex_unlock(&section[ring]);
			sched_yield();
		}
	}
	return NULL;
}

/* A watermark: a time, then wait for all sections that began before it. */
static void *prover(void *arg)
{
	int i;

	(void)arg;
	while (stall_first && !stats().stalls &&
	       stats().read < NR_RINGS * PER_RING)
		sched_yield();
	while (!stop_all) {
		uint64_t t = ++ticks;

		for (i = 0; i < NR_RINGS; i++) {
			pthread_mutex_lock(&section[i]);
			pthread_mutex_unlock(&section[i]);
		}
		sim_watermark = t;
		sim_now = ticks;
		sched_yield();
	}
	return NULL;
}

static void *onlooker(void *arg)
{
	struct perfclock_ring_stats rs = { .sz = sizeof(rs) };
	unsigned int i;

	(void)arg;
	while (!stop_all) {
		EXPECT_OP(stats().memory, <=, memory_max);
		for (i = 0; i < NR_RINGS; i++)
			perfclock_session_get_ring_stats(s, i, &rs);
		sched_yield();
	}
	return NULL;
}

static int count(const struct perfclock_event *ev, void *ctx)
{
	(void)ctx;
	disorder += ev->stamp < last_stamp || ev->flags;
	last_stamp = ev->stamp;
	counted++;
	return 0;
}

static void run(struct perfclock_session_opts *o)
{
	pthread_t w[NR_RINGS], p, l;
	struct perfclock_ring_stats rs = { .sz = sizeof(rs) };
	uint64_t sum = 0;
	long n;
	int i;

	set_up_opts(NR_RINGS, 4, o);
	ticks = 1;
	counted = disorder = last_stamp = 0;
	stop_all = false;
	memory_max = o->memory_max ? o->memory_max : 256 << 20;
	for (i = 0; i < NR_RINGS; i++) {
		pthread_mutex_init(&section[i], NULL);
		pthread_create(&w[i], NULL, writer, (void *)(intptr_t)i);
	}
	pthread_create(&p, NULL, prover, NULL);
	pthread_create(&l, NULL, onlooker, NULL);
	do
		n = perfclock_session_poll(s, 1, count, NULL);
	while (n >= 0 && counted < NR_RINGS * PER_RING / 2);
	for (i = 0; n >= 0 && i < 10; i++)
		n = perfclock_session_poll(s, 1, count, NULL);
	EXPECT_OP(n, >=, 0);
	while (stats().read < NR_RINGS * PER_RING && n >= 0)
		n = perfclock_session_poll(s, 1, count, NULL);
	if (n < 0) {
		/* The writers would wait for room for ever. */
		printf("Bail out! poll: %ld %s\n", n,
		       perfclock_session_error(s));
		exit(1);
	}
	for (i = 0; i < NR_RINGS; i++)
		pthread_join(w[i], NULL);
	stop_all = true;
	pthread_join(p, NULL);
	pthread_join(l, NULL);
	EXPECT_OP(perfclock_session_finish(s, count, NULL), >=, 0);
	EXPECT_EQ(counted, NR_RINGS * PER_RING);
	EXPECT_EQ(disorder, 0);
	EXPECT_EQ(stats().late, 0);
	EXPECT_EQ(stats().held, 0);
	if (stall_first)
		EXPECT_OP(stats().stalls, >, 0);
	for (i = 0; i < NR_RINGS; i++) {
		perfclock_session_get_ring_stats(s, i, &rs);
		sum += rs.read;
	}
	EXPECT_EQ(sum, NR_RINGS * PER_RING);
	tear_down(NR_RINGS);
}

static void polling_thread_reads_all(void)
{
	struct perfclock_session_opts o = { 0 };

	run(&o);
}

static void two_readers(void)
{
	struct perfclock_session_opts o = {
		.readers = 2, .interval_ns = 100000,
	};

	run(&o);
}

static void more_readers_than_rings(void)
{
	struct perfclock_session_opts o = {
		.readers = NR_RINGS + 2, .interval_ns = 100000,
		.wait = PERFCLOCK_WAIT_POLL,
	};

	run(&o);
}

static void busy_readers(void)
{
	struct perfclock_session_opts o = { .readers = 2 };

	run(&o);
}

static void small_memory_for_two_readers(void)
{
	struct perfclock_session_opts o = {
		.readers = 2, .memory_max = 8 << 20, .interval_ns = 100000,
	};

	/* No watermark before it is full. */
	stall_first = true;
	run(&o);
	stall_first = false;
}

#define WORDS		21		/* of payload: 200 bytes a record */
#define MANY		15000

static void fill_ring(int ring, uint64_t stamp)
{
	int i;

	for (i = 0; i < MANY; i++)
		sim_sample(&rings[ring], stamp + i, i, WORDS);
	sim_publish(&rings[ring]);
}

/*
 * Memory is full of one ring's records, all younger than those that wait in
 * the other. These are let in, by as much as there is reserve for: were it one
 * record at a time, each after a look through the whole ring, it would take
 * minutes.
 */
static void an_old_ring_passes_a_full_memory_in_large_pieces(void)
{
	struct perfclock_session_opts o = {
		.readers = 1, .memory_max = 4 << 20, .interval_ns = 100000,
	};
	struct timespec ms = { 0, 1000000 };

	counted = disorder = last_stamp = 0;
	set_up_opts(2, 1024, &o);
	fill_ring(1, 1000000);
	while (!stats().stalls) {
		ASSERT_OP(perfclock_session_poll(s, 0, count, NULL), >=, 0);
		nanosleep(&ms, NULL);
	}
	fill_ring(0, 1000);
	sim_watermark = sim_now = 2000000;
	EXPECT_OP(perfclock_session_finish(s, count, NULL), >=, 0);
	EXPECT_EQ(counted, 2 * MANY);
	EXPECT_EQ(disorder, 0);
	EXPECT_EQ(stats().late, 0);
	EXPECT_OP(stats().stalls, <, 1000);
	printf("# stalls: %llu\n", (unsigned long long)stats().stalls);
	tear_down(2);
}

/* As on a machine with very many CPUs. */
static void few_readers_for_hundreds_of_rings(void)
{
	struct perfclock_session_opts o = {
		.readers = 4, .interval_ns = 1000000,
	};
	int i, k, n = 0;

	set_up_opts(SIM_RINGS, 1, &o);
	last_stamp = counted = disorder = 0;
	for (k = 0; k < 20; k++)
		for (i = 0; i < SIM_RINGS; i++) {
			n++;
			sim_sample(&rings[(i * 7) % SIM_RINGS], n, n, 1);
			sim_publish(&rings[(i * 7) % SIM_RINGS]);
			if (i % 100)
				continue;
			sim_watermark = n;
			ASSERT_OP(perfclock_session_poll(s, 0, count, NULL),
				  >=, 0);
		}
	EXPECT_OP(perfclock_session_finish(s, count, NULL), >=, 0);
	EXPECT_EQ(counted, n);
	EXPECT_EQ(disorder, 0);
	EXPECT_EQ(stats().rings, SIM_RINGS);
	tear_down(SIM_RINGS);
}

static atomic_bool is_stuck, let_go;

/* The first reader to come stays in its round until it is let go. */
static void one_reader_is_stuck(void)
{
	struct timespec ms = { 0, 1000000 };

	if (atomic_exchange(&is_stuck, true))
		return;
	while (!let_go)
		nanosleep(&ms, NULL);
}

/* What a reader has not completed nobody may deliver past. */
static void the_slowest_reader_holds_the_limit(void)
{
	struct perfclock_session_opts o = {
		.readers = 2, .interval_ns = 1000000,
	};
	int i;

	set_up_opts(2, 1, &o);
	is_stuck = let_go = false;
	sim_on_watermark = one_reader_is_stuck;
	while (!is_stuck)
		sched_yield();
	for (i = 0; i < 2; i++) {
		sim_sample(&rings[i], 10 + i, 1, 1);
		sim_publish(&rings[i]);
	}
	sim_watermark = 20;
	/* The other one has read its ring, and gone on for many rounds. */
	while (!stats().held)
		ASSERT_EQ(perfclock_session_poll(s, 1, collect, NULL), 0);
	for (i = 0; i < 20; i++)
		ASSERT_EQ(perfclock_session_poll(s, 1, collect, NULL), 0);
	EXPECT_EQ(stats().held, 1);
	let_go = true;
	for (i = 0; i < 5000 && nr_got < 2; i++)
		ASSERT_OP(perfclock_session_poll(s, 1, collect, NULL), >=, 0);
	EXPECT_EQ(nr_got, 2);
	EXPECT_EQ(got[0].stamp, 10);
	EXPECT_EQ(perfclock_session_finish(s, collect, NULL), 0);
	tear_down(2);
}

static void free_without_finish(void)
{
	struct perfclock_session_opts o = {
		.readers = 2, .interval_ns = 1000000,
	};

	set_up_opts(2, 1, &o);
	sim_sample(&rings[0], 10, 1, 1);
	sim_publish(&rings[0]);
	while (!stats().held)
		ASSERT_EQ(perfclock_session_poll(s, 1, collect, NULL), 0);
	tear_down(2);
}

static void late_records_are_dropped_by_readers_too(void)
{
	struct perfclock_session_opts o = {
		.readers = 1, .interval_ns = 1000000,
		.late = PERFCLOCK_LATE_DISCARD,
	};

	set_up_opts(1, 1, &o);
	sim_sample(&rings[0], 50, 1, 1);
	sim_publish(&rings[0]);
	sim_watermark = 60;
	while (!nr_got)
		ASSERT_OP(perfclock_session_poll(s, 1, collect, NULL), >=, 0);
	sim_sample(&rings[0], 20, 2, 1);
	sim_publish(&rings[0]);
	while (!stats().dropped)
		ASSERT_OP(perfclock_session_poll(s, 1, collect, NULL), >=, 0);
	EXPECT_EQ(nr_got, 1);
	EXPECT_EQ(perfclock_session_finish(s, collect, NULL), 0);
	tear_down(1);
}

static void *stop_soon(void *arg)
{
	struct timespec ts = { 0, 10000000 };

	(void)arg;
	nanosleep(&ts, NULL);
	perfclock_session_stop(s);
	return NULL;
}

/* All of them asleep, for long: it is the stop, and the finish, that wakes. */
static void another_thread_stops_readers(void)
{
	struct perfclock_session_opts o = {
		.readers = 2, .interval_ns = 20000000000,
	};
	uint64_t begin = now_ns();
	pthread_t t;
	long n;

	set_up_opts(2, 1, &o);
	pthread_create(&t, NULL, stop_soon, NULL);
	do
		n = perfclock_session_poll(s, -1, collect, NULL);
	while (n >= 0);
	EXPECT_EQ(n, -ESHUTDOWN);
	pthread_join(t, NULL);
	sim_sample(&rings[0], 10, 1, 1);
	sim_publish(&rings[0]);
	EXPECT_EQ(perfclock_session_finish(s, collect, NULL), 1);
	tear_down(2);
	EXPECT_OP(now_ns() - begin, <, 10000000000);
}

static const struct tap_test tests[] = {
	{ "polling_thread_reads_all", polling_thread_reads_all },
	{ "two_readers", two_readers },
	{ "more_readers_than_rings", more_readers_than_rings },
	{ "busy_readers", busy_readers },
	{ "small_memory_for_two_readers", small_memory_for_two_readers },
	{ "an_old_ring_passes_a_full_memory_in_large_pieces",
	  an_old_ring_passes_a_full_memory_in_large_pieces },
	{ "few_readers_for_hundreds_of_rings",
	  few_readers_for_hundreds_of_rings },
	{ "the_slowest_reader_holds_the_limit",
	  the_slowest_reader_holds_the_limit },
	{ "free_without_finish", free_without_finish },
	{ "late_records_are_dropped_by_readers_too",
	  late_records_are_dropped_by_readers_too },
	{ "another_thread_stops_readers", another_thread_stops_readers },
};

TAP_MAIN(tests)
