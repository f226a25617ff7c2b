// SPDX-License-Identifier: GPL-2.0
/*
 * What ordering costs: 64-byte records pushed ring by ring, as a round reads
 * them, and delivered in order; copies included. bench.mk tells how to run it.
 *
 *	bench_order [--quick] [--rings K] [--json FILE]
 */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <perfclock/order.h>

#include "bench_refs.h"

#define LEN		64
#define RUNS		9		/* medians of so many */
#define RUNS_QUICK	3
#define CACHE_EVENTS	8192u		/* with sources and copies: 1.2 MB */
#define MEMORY_EVENTS	(1u << 20)	/* 144 MB */
#define BURST_MAX	63

/* A round's worth of input: each ring's records, one behind the other. */
struct input {
	unsigned int rings;
	size_t nr;
	size_t *first;		/* of ring i's; [rings] is nr */
	uint64_t *stamps;
	unsigned char *bytes;
};

struct result {
	unsigned int k;
	bool bursty, memory;
	const char *algo;
	double ns;
	size_t events;
};

static struct result results[256];
static unsigned int nr_results;
static uint64_t sum;			/* of what was delivered */

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static uint64_t random_next(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return *state = x;
}

static void *xmalloc(size_t size)
{
	void *p = malloc(size);

	if (!p) {
		perror("bench_order");
		exit(1);
	}
	return p;
}

/* Which ring each of nr stamps falls to: at random, or in bursts. */
static void deal(unsigned int *ring_of, size_t nr, unsigned int k, bool bursty)
{
	uint64_t seed = 0x9e3779b97f4a7c15ull + k;
	unsigned int left = 0, ring = 0;
	size_t i;

	for (i = 0; i < nr; i++) {
		if (!left) {
			ring = random_next(&seed) % k;
			left = bursty ? 1 + random_next(&seed) % BURST_MAX : 1;
		}
		ring_of[i] = ring;
		left--;
	}
}

static void make_input(struct input *in, unsigned int k, size_t nr, bool bursty)
{
	unsigned int *ring_of = xmalloc(nr * sizeof(*ring_of));
	size_t *at = calloc(k + 1, sizeof(*at)), i;

	deal(ring_of, nr, k, bursty);
	in->rings = k;
	in->nr = nr;
	in->first = calloc(k + 1, sizeof(*in->first));
	in->stamps = xmalloc(nr * sizeof(*in->stamps));
	in->bytes = xmalloc(nr * LEN);
	memset(in->bytes, 0x5a, nr * LEN);
	for (i = 0; i < nr; i++)
		in->first[ring_of[i] + 1]++;
	for (i = 0; i < k; i++)
		in->first[i + 1] += in->first[i];
	memcpy(at, in->first, (k + 1) * sizeof(*at));
	for (i = 0; i < nr; i++)
		in->stamps[at[ring_of[i]]++] = 1000 + i * 50;
	free(ring_of);
	free(at);
}

static void free_input(struct input *in)
{
	free(in->first);
	free(in->stamps);
	free(in->bytes);
}

static void sink(uint64_t stamp, const void *data, size_t len, void *ctx)
{
	uint64_t word;

	memcpy(&word, data, sizeof(word));
	sum += stamp ^ word;
}

/* The order core, as the others. */

static void *core_new(unsigned int rings)
{
	struct perfclock_order_opts opts = { .sz = sizeof(opts),
					     .memory_max = (size_t)4 << 30 };
	struct perfclock_order *o;

	if (perfclock_order_new(&o, rings, &opts))
		abort();
	return o;
}

static void core_push(void *self, unsigned int ring, uint64_t stamp,
		      const void *data, size_t len)
{
	if (perfclock_order_push(self, ring, stamp, data, len, 0, 0))
		abort();
}

static int core_sink(const struct perfclock_record *rec, void *ctx)
{
	uint64_t word;

	memcpy(&word, rec->data, sizeof(word));
	sum += rec->stamp ^ word;
	return 0;
}

static void core_drain(void *self, bench_sink fn, void *ctx)
{
	perfclock_order_flush(self, UINT64_MAX, core_sink, NULL);
}

static void core_free(void *self)
{
	perfclock_order_free(self);
}

static const struct bench_algo loser_tree = {
	"loser-tree", core_new, core_push, core_drain, core_free,
};

static const struct bench_algo *const algos[] = {
	&loser_tree, &bench_binary_heap, &bench_linear_scan, &bench_sorted_list,
};
#define NR_ALGOS	(sizeof(algos) / sizeof(algos[0]))

/* Times rounds over the same input; base keeps stamps rising. ns per event. */
static double time_rounds(const struct bench_algo *algo, void *self,
			  const struct input *in, unsigned int rounds,
			  uint64_t *base)
{
	uint64_t begin = now_ns();
	unsigned int ring, round;
	size_t i;

	for (round = 0; round < rounds; round++) {
		for (ring = 0; ring < in->rings; ring++)
			for (i = in->first[ring]; i < in->first[ring + 1]; i++)
				algo->push(self, ring, *base + in->stamps[i],
					   in->bytes + i * LEN, LEN);
		algo->drain(self, sink, NULL);
		*base += in->nr * 50;
	}
	return (double)(now_ns() - begin) / rounds / in->nr;
}

static int compare_doubles(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *v, unsigned int n)
{
	qsort(v, n, sizeof(*v), compare_doubles);
	return v[n / 2];
}

static void add_result(unsigned int k, bool bursty, bool memory,
		       const char *algo, double ns, size_t events)
{
	results[nr_results++] = (struct result){ k, bursty, memory, algo, ns,
						 events };
}

/* How many records a slow algorithm is given: it shall not take a minute. */
static size_t events_for(const struct bench_algo *algo, unsigned int k,
			 bool memory)
{
	if (!memory)
		return CACHE_EVENTS;
	if (algo == &bench_sorted_list && k > 2)
		return MEMORY_EVENTS / (k > 64 ? 64 : k);
	return MEMORY_EVENTS;
}

static void bench_case(unsigned int k, bool bursty, bool memory,
		       unsigned int runs)
{
	double ns[NR_ALGOS][RUNS], first;
	unsigned int rounds[NR_ALGOS], run;
	uint64_t base[NR_ALGOS] = { 0 };
	struct input in[NR_ALGOS];
	void *self[NR_ALGOS];
	size_t a;

	for (a = 0; a < NR_ALGOS; a++) {
		make_input(&in[a], k, events_for(algos[a], k, memory), bursty);
		self[a] = algos[a]->new(k);
		/* Warm up, and see how many rounds make 20 ms. */
		time_rounds(algos[a], self[a], &in[a], 1, &base[a]);
		first = time_rounds(algos[a], self[a], &in[a], 1, &base[a]);
		rounds[a] = memory ? 1 : 1 + 2e7 / (first * in[a].nr + 1);
	}
	for (run = 0; run < runs; run++)
		for (a = 0; a < NR_ALGOS; a++)
			ns[a][run] = time_rounds(algos[a], self[a], &in[a],
						 rounds[a], &base[a]);
	for (a = 0; a < NR_ALGOS; a++) {
		add_result(k, bursty, memory, algos[a]->name,
			   median(ns[a], runs), in[a].nr);
		algos[a]->free(self[a]);
		free_input(&in[a]);
	}
}

/* The floor: the same bytes copied twice, ns per 64 bytes. */
static double bench_memcpy(unsigned int runs)
{
	const size_t size = (size_t)MEMORY_EVENTS * LEN;
	unsigned char *a = xmalloc(size), *b = xmalloc(size), *c = xmalloc(size);
	double ns[RUNS];
	unsigned int run;
	uint64_t begin;

	memset(a, 1, size);
	memset(b, 2, size);
	memset(c, 3, size);
	for (run = 0; run < runs; run++) {
		begin = now_ns();
		memcpy(b, a, size);
		__asm__ volatile("" : : "r"(b) : "memory");
		memcpy(c, b, size);
		__asm__ volatile("" : : "r"(c) : "memory");
		ns[run] = (double)(now_ns() - begin) / MEMORY_EVENTS;
		sum += c[size / 2];
	}
	free(a);
	free(b);
	free(c);
	return median(ns, runs);
}

static void print_case(const struct result *r)
{
	size_t a;

	printf("%5u  %-11s %-7s", r->k, r->bursty ? "bursty" : "interleaved",
	       r->memory ? "memory" : "cache");
	for (a = 0; a < NR_ALGOS; a++)
		printf(" %12.1f", r[a].ns);
	putchar('\n');
	fflush(stdout);
}

static void write_json(const char *path, double memcpy_ns)
{
	FILE *f = fopen(path, "w");
	unsigned int i;

	if (!f) {
		perror(path);
		exit(1);
	}
	fprintf(f, "{\n \"record_bytes\": %d,\n \"memcpy_twice_ns\": %.2f,\n"
		" \"order\": [\n", LEN, memcpy_ns);
	for (i = 0; i < nr_results; i++) {
		const struct result *r = &results[i];

		fprintf(f, "  {\"k\": %u, \"pattern\": \"%s\", \"resident\": "
			"\"%s\", \"algo\": \"%s\", \"ns_per_event\": %.2f, "
			"\"events\": %zu}%s\n", r->k,
			r->bursty ? "bursty" : "interleaved",
			r->memory ? "memory" : "cache", r->algo, r->ns,
			r->events, i + 1 < nr_results ? "," : "");
	}
	fprintf(f, " ]\n}\n");
	if (fclose(f)) {
		perror(path);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	static const struct option longopts[] = {
		{ "quick", no_argument, NULL, 'q' },
		{ "rings", required_argument, NULL, 'r' },
		{ "json", required_argument, NULL, 'j' },
		{ NULL, 0, NULL, 0 }
	};
	static const unsigned int ks[] = { 2, 8, 64, 256, 1024 };
	unsigned int runs = RUNS, only = 0, i, memory, bursty;
	const char *json = NULL;
	double memcpy_ns;
	size_t a;
	int opt;

	while ((opt = getopt_long(argc, argv, "", longopts, NULL)) != -1) {
		if (opt == 'q')
			runs = RUNS_QUICK;
		else if (opt == 'r')
			only = atoi(optarg);
		else if (opt == 'j')
			json = optarg;
		else
			return 2;
	}
	printf("ns per event, push through delivery, %d-byte records, median "
	       "of %u\n\n    k  pattern     in     ", LEN, runs);
	for (a = 0; a < NR_ALGOS; a++)
		printf(" %12s", algos[a]->name);
	putchar('\n');
	for (memory = 0; memory < 2; memory++)
		for (bursty = 0; bursty < 2; bursty++)
			for (i = 0; i < sizeof(ks) / sizeof(ks[0]); i++) {
				if (only && ks[i] != only)
					continue;
				bench_case(ks[i], bursty, memory, runs);
				print_case(&results[nr_results - NR_ALGOS]);
			}
	memcpy_ns = bench_memcpy(runs);
	printf("\nthe same bytes copied twice by memcpy, in memory: %.1f\n",
	       memcpy_ns);
	if (json)
		write_json(json, memcpy_ns);
	return sum == 42 ? 1 : 0;	/* the sum must be computed */
}
