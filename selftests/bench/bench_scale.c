// SPDX-License-Identifier: GPL-2.0
/*
 * bench_scale [SECONDS [EVENTS_PER_SECOND]]: the order core under the load of
 * big machines, by simulation. 64 to 4096 rings share 10 million events of 64
 * bytes a second of simulated time: half of the rings idle in any second, a
 * tenth of them takes half of the load, and events come in bursts. Rounds are
 * 1 ms apart, the watermark is 10 ms behind, as with normal grace periods.
 *
 * For each number of rings: CPU time per event from push to delivery, copies
 * included (the simulation's own time is measured apart and taken off), and
 * the memory it took.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <perfclock/order.h>

#define ROUND_NS	1000000ULL
#define LAG_NS		10000000ULL
#define SECOND_NS	1000000000ULL
#define EVENT_BYTES	64

static uint64_t seed = 1;

static inline uint32_t rnd(void)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return seed >> 33;
}

static uint64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec * SECOND_NS + ts.tv_nsec;
}

/* In this second, ring r: 0 idle, 1 as others, 2 hot. */
static int temperature(unsigned int ring, uint64_t second)
{
	uint32_t h = (ring * 2654435761U) ^ (second * 40503U);

	h ^= h >> 15;
	h *= 2246822519U;
	h ^= h >> 13;
	return h % 20 < 2 ? 2 : h % 2;
}

static uint64_t last, disorder;
static volatile uint64_t sink;

static int deliver(const struct perfclock_record *rec, void *ctx)
{
	(void)ctx;
	disorder += rec->stamp < last;
	last = rec->stamp;
	sink += *(const uint64_t *)rec->data;
	return 0;
}

/* One ring's records of one round: in bursts, stamps growing. */
static uint64_t feed(struct perfclock_order *o, unsigned int ring,
		     uint64_t begin, unsigned int n)
{
	static const char bytes[EVENT_BYTES] = "record";
	uint64_t stamp = begin + rnd() % 1000;
	uint64_t step = n ? (ROUND_NS - 2000) / n : 0;
	unsigned int i;

	for (i = 0; i < n; i++) {
		/* Bursts of 8 a few ns apart, then a gap that makes up. */
		if (o && perfclock_order_push(o, ring, stamp, bytes,
					      sizeof(bytes), 0, 0)) {
			fprintf(stderr, "bench_scale: push failed\n");
			exit(1);
		}
		stamp += i % 8 == 7 ? step * 7 : step / 8;
		sink += stamp;
	}
	return n;
}

struct shares {
	unsigned int hot, warm;		/* rings of each kind */
};

static struct shares count_rings(unsigned int rings, uint64_t second)
{
	struct shares s = { 0, 0 };
	unsigned int r;

	for (r = 0; r < rings; r++) {
		s.hot += temperature(r, second) == 2;
		s.warm += temperature(r, second) == 1;
	}
	return s;
}

/* How many events of a round's 'total' this ring gets. */
static unsigned int part(int kind, const struct shares *s, unsigned int total)
{
	unsigned int half = total / 2, rings = kind == 2 ? s->hot : s->warm;

	if (!kind || !rings)
		return 0;
	return half / rings + (rnd() % rings < half % rings);
}

/* o NULL: the simulation alone. Returns the number of events. */
static uint64_t simulate(struct perfclock_order *o, unsigned int rings,
			 unsigned int seconds, unsigned int rate)
{
	uint64_t t, events = 0, end = seconds * SECOND_NS;
	struct shares s = { 0, 0 };
	unsigned int r;

	seed = 1;
	last = 0;
	for (t = SECOND_NS; t < SECOND_NS + end; t += ROUND_NS) {
		if (t % SECOND_NS == 0)
			s = count_rings(rings, t / SECOND_NS);
		for (r = 0; r < rings; r++)
			events += feed(o, r, t,
				       part(temperature(r, t / SECOND_NS), &s,
					    rate / 1000));
		if (o)
			perfclock_order_flush(o, t + ROUND_NS - LAG_NS,
					      deliver, NULL);
	}
	if (o)
		perfclock_order_end(o, deliver, NULL);
	return events;
}

static int run(unsigned int rings, unsigned int seconds, unsigned int rate)
{
	struct perfclock_order_opts opts = {
		.sz = sizeof(opts), .memory_max = (size_t)2 << 30,
	};
	struct perfclock_order_stats st = { .sz = sizeof(st) };
	uint64_t begin, alone, events;
	struct perfclock_order *o;

	if (perfclock_order_new(&o, rings, &opts))
		return 1;
	begin = cpu_ns();
	simulate(NULL, rings, seconds, rate);
	alone = cpu_ns() - begin;
	begin = cpu_ns();
	events = simulate(o, rings, seconds, rate);
	begin = cpu_ns() - begin - alone;
	perfclock_order_get_stats(o, &st);
	printf("%6u %12" PRIu64 " %10.1f %10.2f %12" PRIu64 " %9.1f %6" PRIu64
	       " %8" PRIu64 "\n", rings, events, (double)begin / events,
	       (double)begin / (seconds * 1e9), st.held_max,
	       st.memory_max_seen / 1048576.0, st.late, disorder);
	perfclock_order_free(o);
	return st.late || disorder || st.delivered != events;
}

int main(int argc, char **argv)
{
	static const unsigned int rings[] = { 64, 256, 1024, 4096 };
	unsigned int seconds = argc > 1 ? atoi(argv[1]) : 60;
	unsigned int rate = argc > 2 ? atoi(argv[2]) : 10000000;
	int bad = 0;
	size_t i;

	printf("%u simulated seconds, %u events a second, %d bytes each\n"
	       " rings       events   ns/event  CPUs used     held max  MiB used   late disorder\n",
	       seconds, rate, EVENT_BYTES);
	for (i = 0; i < sizeof(rings) / sizeof(rings[0]); i++)
		bad |= run(rings[i], seconds, rate);
	return bad;
}
