// SPDX-License-Identifier: GPL-2.0
/*
 * Order without perf: threads write stamped records into rings of their own,
 * and the order core merges them by a watermark made here.
 *
 *	own_rings [THREADS [RECORDS]]
 *
 * The watermark is the same idea as the kernel's (Documentation/watermark.rst)
 * in thirty lines: a writer announces that it is inside, stamps, publishes,
 * and announces that it is out. The reader reads the clock and then looks at
 * every writer once: whoever is inside may hold a stamp as old as what it
 * announced. Everything stamped below the least of these is published.
 */
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <perfclock.h>

#define SLOTS	1024u		/* of a ring; a power of two */
#define OUTSIDE	UINT64_MAX

struct record {
	uint64_t stamp;
	uint32_t writer;
	uint32_t number;
};

struct ring {
	_Atomic uint64_t inside;	/* since when, or OUTSIDE */
	_Atomic uint64_t head;		/* stored by the writer */
	_Atomic uint64_t tail;		/* stored by the reader */
	struct record slot[SLOTS];
	uint32_t writer;
	uint32_t records;
	pthread_t thread;
};

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static void write_record(struct ring *r, uint32_t number)
{
	uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
	struct record *rec = &r->slot[head % SLOTS];

	while (head - atomic_load_explicit(&r->tail, memory_order_acquire) ==
	       SLOTS)
		sched_yield();
	/* Both seq_cst: either the reader sees us inside, or our stamp is
	 * read after the reader's clock.
	 */
	atomic_store(&r->inside, now());
	atomic_thread_fence(memory_order_seq_cst);
	rec->stamp = now();
	rec->writer = r->writer;
	rec->number = number;
	atomic_store_explicit(&r->head, head + 1, memory_order_release);
	atomic_store_explicit(&r->inside, OUTSIDE, memory_order_release);
}

static void *writer(void *arg)
{
	struct ring *r = arg;
	uint32_t i;

	for (i = 0; i < r->records; i++)
		write_record(r, i);
	return NULL;
}

/* A time below which every record is published. */
static uint64_t watermark(struct ring *rings, unsigned int n)
{
	uint64_t t = now(), inside;
	unsigned int i;

	atomic_thread_fence(memory_order_seq_cst);
	for (i = 0; i < n; i++) {
		inside = atomic_load(&rings[i].inside);
		if (inside < t)
			t = inside;
	}
	return t;
}

static int read_ring(struct perfclock_order *o, struct ring *r)
{
	uint64_t head = atomic_load_explicit(&r->head, memory_order_acquire);
	uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
	int err = 0;

	for (; tail != head && !err; tail++) {
		struct record *rec = &r->slot[tail % SLOTS];

		err = perfclock_order_push(o, r->writer, rec->stamp, rec,
					   sizeof(*rec), 0, 0);
	}
	atomic_store_explicit(&r->tail, tail, memory_order_release);
	return err;
}

static int check(const struct perfclock_record *rec, void *ctx)
{
	uint64_t *last = ctx;

	if (rec->stamp < *last)
		return -1;
	*last = rec->stamp;
	return 0;
}

/* Rounds until every record is out. */
static int merge(struct perfclock_order *o, struct ring *rings, unsigned int n,
		 uint64_t total)
{
	uint64_t w, last = 0, out = 0;
	unsigned int i;
	long got;

	while (out < total) {
		w = watermark(rings, n);	/* before any ring */
		for (i = 0; i < n; i++)
			if (read_ring(o, &rings[i]))
				return -1;
		got = perfclock_order_flush(o, w, check, &last);
		if (got < 0)
			return -1;
		out += got;
		if (!got)
			sched_yield();
	}
	return 0;
}

int main(int argc, char **argv)
{
	unsigned int i, n = argc > 1 ? atoi(argv[1]) : 4;
	uint32_t records = argc > 2 ? atoi(argv[2]) : 100000;
	struct perfclock_order_stats st = { .sz = sizeof(st) };
	struct perfclock_order *o;
	struct ring *rings;
	int err;

	if (perfclock_order_new(&o, n, NULL))
		return 1;
	rings = calloc(n, sizeof(*rings));
	if (!rings)
		return 1;
	for (i = 0; i < n; i++) {
		rings[i].writer = i;
		rings[i].records = records;
		atomic_init(&rings[i].inside, OUTSIDE);
		if (pthread_create(&rings[i].thread, NULL, writer, &rings[i]))
			abort();
	}
	err = merge(o, rings, n, (uint64_t)n * records);
	for (i = 0; i < n; i++)
		pthread_join(rings[i].thread, NULL);
	perfclock_order_get_stats(o, &st);
	printf("%" PRIu64 " records of %u writers in order, %" PRIu64
	       " late, %" PRIu64 " held at most\n", st.delivered, n, st.late,
	       st.held_max);
	perfclock_order_free(o);
	free(rings);
	return err || st.late ? 1 : 0;
}
