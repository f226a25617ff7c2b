// SPDX-License-Identifier: GPL-2.0
/*
 * A recorder that says FINISHED_ROUND only when it is true.
 *
 *	recorder FILE [SECONDS]
 *
 * In a perf.data file the record FINISHED_ROUND tells the reader that it may
 * deliver what it has read up to the round before. perf record writes it
 * after each pass over the rings, which is a guess. Here it is written after
 * a delivery of the session, and only as long as the watermark is proven:
 * whatever follows in the file has a stamp at least as great.
 *
 * The file has a single event, so that it needs no table of event ids.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <linux/perf_event.h>
#include <perfclock.h>

#define FINISHED_ROUND	68	/* PERF_RECORD_FINISHED_ROUND of perf */

struct section {
	uint64_t offset, size;
};

struct file_attr {
	struct perf_event_attr attr;
	struct section ids;
};

struct file_header {
	char magic[8];
	uint64_t size, attr_size;
	struct section attrs, data, event_types;
	uint64_t features[4];
};

/* All that the session would add, so that the file tells what was opened. */
static const struct perf_event_attr event = {
	.size = sizeof(event),
	.type = PERF_TYPE_SOFTWARE,
	.config = PERF_COUNT_SW_CONTEXT_SWITCHES,
	.sample_period = 1,
	.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
		       PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
		       PERF_SAMPLE_PERIOD,
	.sample_id_all = 1,
	.disabled = 1,
	.comm = 1,
	.task = 1,
	.mmap = 1,
	.mmap2 = 1,
	.use_clockid = 1,
	.clockid = CLOCK_MONOTONIC,
};

static int put(FILE *f, const void *data, size_t size)
{
	return fwrite(data, 1, size, f) == size ? 0 : -EIO;
}

static int put_header(FILE *f, uint64_t data_size)
{
	struct file_header h = {
		.magic = "PERFILE2",
		.size = sizeof(h),
		.attr_size = sizeof(struct file_attr),
		.attrs = { sizeof(h), sizeof(struct file_attr) },
		.data = { sizeof(h) + sizeof(struct file_attr), data_size },
	};
	struct file_attr a = { .attr = event };

	rewind(f);
	return put(f, &h, sizeof(h)) ? -EIO : put(f, &a, sizeof(a));
}

static int keep(const struct perfclock_event *ev, void *ctx)
{
	return put(ctx, ev->header, ev->header->size);
}

/* After a delivery: what was delivered is complete, if that is proven. */
static int finish_round(struct perfclock_session *s, FILE *f, uint64_t *rounds)
{
	struct perf_event_header mark = {
		.type = FINISHED_ROUND, .size = sizeof(mark),
	};
	struct perfclock_session_stats st = { .sz = sizeof(st) };
	int err = perfclock_session_get_stats(s, &st);

	if (err || !st.proven || st.late)
		return err;
	++*rounds;
	return put(f, &mark, sizeof(mark));
}

static long record(struct perfclock_session *s, FILE *f, int seconds,
		   uint64_t *rounds)
{
	time_t end = time(NULL) + seconds;
	long n = put_header(f, 0);

	while (!n && time(NULL) < end) {
		n = perfclock_session_poll(s, 100, keep, f);
		if (n > 0)
			n = finish_round(s, f, rounds);
		else if (n == -EINTR)
			n = 0;
	}
	if (n)
		return n;
	n = perfclock_session_finish(s, keep, f);
	if (n < 0)
		return n;
	return put_header(f, ftell(f) - sizeof(struct file_header) -
			  sizeof(struct file_attr));
}

int main(int argc, char **argv)
{
	char why[256] = "";
	struct perfclock_session_opts opts = {
		.sz = sizeof(opts), .clock = PERFCLOCK_MONOTONIC,
		.interval_ns = 10000000, .error = why,
		.error_size = sizeof(why),
	};
	struct perfclock_event_opts ev = { .sz = sizeof(ev), .attr = &event };
	struct perfclock_session_stats st = { .sz = sizeof(st) };
	struct perfclock_session *s;
	uint64_t rounds = 0;
	FILE *f;
	long n;

	if (argc < 2) {
		fprintf(stderr, "usage: recorder FILE [SECONDS]\n");
		return 2;
	}
	if (perfclock_session_new(&s, &opts)) {
		fprintf(stderr, "%s\n", why);
		return 1;
	}
	f = fopen(argv[1], "we");
	if (!f) {
		fprintf(stderr, "%s: %s\n", argv[1], strerror(errno));
		perfclock_session_free(s);
		return 1;
	}
	n = perfclock_session_add(s, "context-switches", &ev);
	if (n >= 0)
		n = perfclock_session_start(s);
	if (n >= 0)
		n = record(s, f, argc > 2 ? atoi(argv[2]) : 3, &rounds);
	if (n < 0)
		fprintf(stderr, "%s (%s)\n", perfclock_session_error(s),
			strerror((int)-n));
	perfclock_session_get_stats(s, &st);
	printf("%" PRIu64 " records, %" PRIu64 " lost, %" PRIu64 " rounds\n",
	       st.delivered, st.lost, rounds);
	perfclock_session_free(s);
	if (fclose(f)) {
		fprintf(stderr, "%s: %s\n", argv[1], strerror(errno));
		return 1;
	}
	return n < 0;
}
