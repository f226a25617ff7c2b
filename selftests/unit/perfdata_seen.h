/* SPDX-License-Identifier: GPL-2.0 */
/* What a reading of a recording gave, for the tests of the reader. */
#ifndef SELFTESTS_PERFDATA_SEEN_H
#define SELFTESTS_PERFDATA_SEEN_H

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef HAVE_LIBZSTD
#include <zstd.h>
#endif

#include <perfclock/perfdata.h>

#include "fuzz/gen.h"
#include "tap.h"

#define STAMP	1000000000ull

/* What a reading gave. */
struct seen {
	int opened;			/* of _open_fd() */
	int ended;			/* of the last _next() */
	unsigned int records, samples, stamped, rounds, unknown, inner;
	uint64_t stamps[512];
	int cpus[512];
	uint32_t streams[512];
	unsigned int nr_streams;
	unsigned int faults, damages, fatals, damaged;
	char kind[32], text[256];	/* of the first fault */
	uint64_t offset;
	char error[256];
	struct perfclock_perfdata_info info;
	struct perfclock_perfdata_stream stream0;
	char hostname[64];
};

static inline void on_fault(const struct perfclock_fault *f, void *ctx)
{
	struct seen *s = ctx;

	if (!s->faults++) {
		snprintf(s->kind, sizeof(s->kind), "%s", f->kind);
		snprintf(s->text, sizeof(s->text), "%s", f->text);
		s->offset = f->offset;
	}
	s->damages += f->level != PERFCLOCK_FAULT_NOTE;
	s->fatals += f->level == PERFCLOCK_FAULT_FATAL;
}

static inline void note(struct seen *s, const struct perfclock_perfdata_record *r)
{
	s->records++;
	s->rounds += r->type == PERFCLOCK_PERFDATA_FINISHED_ROUND;
	s->unknown += !!(r->flags & PERFCLOCK_PERFDATA_UNKNOWN);
	s->inner += !!(r->flags & PERFCLOCK_PERFDATA_INNER);
	s->damaged += !!(r->flags & PERFCLOCK_PERFDATA_DAMAGED);
	if (r->flags & PERFCLOCK_PERFDATA_STAMPED)
		s->stamped++;
	if (r->type != PERF_RECORD_SAMPLE)
		return;
	if (s->samples < 512) {
		s->stamps[s->samples] = r->stamp;
		s->cpus[s->samples] = r->cpu;
		s->streams[s->samples] = r->stream;
	}
	s->samples++;
}

static inline void read_fd(struct seen *s, int fd)
{
	struct perfclock_perfdata_opts o = {
		.sz = sizeof(o), .fault = on_fault, .ctx = s,
		.error = s->error, .error_size = sizeof(s->error),
	};
	struct perfclock_perfdata_record r;
	struct perfclock_perfdata *p;
	const char *host;

	memset(s, 0, sizeof(*s));
	s->info.sz = sizeof(s->info);
	s->stream0.sz = sizeof(s->stream0);
	s->opened = perfclock_perfdata_open_fd(&p, fd, &o);
	if (s->opened)
		return;
	while ((s->ended = perfclock_perfdata_next(p, &r)) > 0)
		note(s, &r);
	perfclock_perfdata_get_info(p, &s->info);
	perfclock_perfdata_get_stream(p, 0, &s->stream0);
	host = perfclock_perfdata_feature_string(p, 3);
	snprintf(s->hostname, sizeof(s->hostname), "%s", host ? host : "");
	perfclock_perfdata_close(p);
}

/* From a file. */
static inline void read_bytes(struct seen *s, const void *bytes, size_t n)
{
	int fd = memfd_create("recording", MFD_CLOEXEC);

	ASSERT(fd >= 0);
	ASSERT_EQ(write(fd, bytes, n), n);
	ASSERT_EQ(lseek(fd, 0, SEEK_SET), 0);
	read_fd(s, fd);
	close(fd);
}

/* From a pipe (which must hold it all). */
static inline void read_piped(struct seen *s, const void *bytes, size_t n)
{
	int fds[2];

	ASSERT_EQ(pipe(fds), 0);
	ASSERT(n <= 65536);
	ASSERT_EQ(write(fds[1], bytes, n), n);
	close(fds[1]);
	read_fd(s, fds[0]);
	close(fds[0]);
}

/* Two rounds on two CPUs, four samples, a COMM with a stamp. */
static inline void make(struct gen *g, const struct gen_opts *o)
{
	gen_begin(g, o);
	gen_comm(g, 0, STAMP, 0, "app\0\0\0\0");
	gen_sample(g, 0, STAMP + 30, 1, NULL, 0);
	gen_sample(g, 0, STAMP + 10, 0, NULL, 0);
	gen_round(g);
	gen_sample(g, 0, STAMP + 40, 1, NULL, 0);
	gen_sample(g, 0, STAMP + 20, 0, NULL, 0);
	gen_round(g);
	gen_end(g);
}

static inline void expect_made(const struct seen *s, bool pipe)
{
	EXPECT_EQ(s->opened, 0);
	EXPECT_EQ(s->ended, 0);
	EXPECT_EQ(s->faults, 0);
	EXPECT_EQ(s->records, 7 + pipe);
	EXPECT_EQ(s->samples, 4);
	EXPECT_EQ(s->stamped, 5);
	EXPECT_EQ(s->rounds, 2);
	EXPECT_EQ(s->stamps[0], STAMP + 30);
	EXPECT_EQ(s->stamps[3], STAMP + 20);
	EXPECT_EQ(s->cpus[0], 1);
	EXPECT_EQ(s->cpus[3], 0);
	EXPECT_EQ(s->info.nr_streams, 2);
	EXPECT(s->streams[0] == s->streams[2] && s->streams[0] != s->streams[1]);
}

#ifdef HAVE_LIBZSTD
/* Pack what is after 'data' into COMPRESSED records of so many bytes each. */
static inline void compress_data(struct gen *g, size_t piece)
{
	size_t room = ZSTD_compressBound(g->used - g->data), n, at, step;
	uint8_t *packed = malloc(room);

	n = ZSTD_compress(packed, room, g->buf + g->data, g->used - g->data, 1);
	g->used = g->data;
	for (at = 0; at < n; at += step) {
		step = n - at < piece ? n - at : piece;
		gen_raw(g, PERFCLOCK_PERFDATA_COMPRESSED, packed + at, step);
	}
	free(packed);
}
#endif

#endif /* SELFTESTS_PERFDATA_SEEN_H */
