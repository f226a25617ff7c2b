// SPDX-License-Identifier: GPL-2.0
/*
 * Recordings, read and sorted with every allocation failing in turn: -ENOMEM,
 * nothing leaks, neither memory nor descriptors.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef HAVE_LIBZSTD
#include <zstd.h>
#endif

#include <perfclock/perfdata.h>

#include "alloc_faults.h"
#include "fuzz/gen.h"

#define STAMP		1000000000ull
#define SMALL		200
#define LARGE		60000	/* more than a window of the least memory */

static struct gen recording;

/* The number that the next one would get. */
static int next_fd(void)
{
	int fd = dup(STDERR_FILENO);

	ASSERT(fd >= 0);
	close(fd);
	return fd;
}

static int memory_file(const char *name)
{
	int fd = memfd_create(name, MFD_CLOEXEC);

	ASSERT(fd >= 0);
	return fd;
}

static int recording_file(void)
{
	int fd = memory_file("recording");

	ASSERT_EQ(write(fd, recording.buf, recording.used), recording.used);
	ASSERT_EQ(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

/* The same bytes as a stream; they fit into a pipe. */
static int recording_pipe(void)
{
	int fds[2];

	ASSERT_EQ(pipe(fds), 0);
	ASSERT_EQ(write(fds[1], recording.buf, recording.used), recording.used);
	close(fds[1]);
	return fds[0];
}

static int read_all(int fd)
{
	struct perfclock_perfdata_record r;
	struct perfclock_perfdata *d;
	int err = perfclock_perfdata_open_fd(&d, fd, NULL);

	if (!err) {
		while ((err = perfclock_perfdata_next(d, &r)) > 0)
			;
		perfclock_perfdata_close(d);
	}
	close(fd);
	return err;
}

static int sort_all(int in)
{
	struct perfclock_perfdata_sort_opts o = {
		.sz = sizeof(o), .memory_max = 4 << 20
	};
	int out = memory_file("sorted");
	struct perfclock_perfdata *d;
	int err = perfclock_perfdata_open_fd(&d, in, NULL);

	if (!err) {
		err = perfclock_perfdata_sort(d, out, &o, NULL);
		perfclock_perfdata_close(d);
	}
	close(in);
	close(out);
	return err;
}

static int read_file(void)
{
	return read_all(recording_file());
}

static int read_stream(void)
{
	return read_all(recording_pipe());
}

static int sort_file(void)
{
	return sort_all(recording_file());
}

static int sort_stream(void)
{
	return sort_all(recording_pipe());
}

static void add_compressed(struct gen *g)
{
#ifdef HAVE_LIBZSTD
	uint8_t inner[512], out[4096];
	size_t n = g->used;

	gen_sample(g, 0, STAMP + 7, 1, NULL, 0);
	n = g->used - n;
	memcpy(inner, g->buf + g->used - n, n);
	g->used -= n;
	n = ZSTD_compress(out, sizeof(out), inner, n, 1);
	gen_raw(g, PERFCLOCK_PERFDATA_COMPRESSED, out, n);
#endif
}

/* Some of everything that a reader keeps in memory. */
static void make_small(void)
{
	int i;

	gen_begin(&recording, &(struct gen_opts){
		.nr_attrs = 2, .nr_cpus = 40
	});
	for (i = 0; i < SMALL; i++)
		gen_sample(&recording, i % 2, STAMP + i * 7 % 50, i % 40, NULL,
			   0);
	gen_auxtrace(&recording, "payload", 8);
	gen_round(&recording);
	add_compressed(&recording);
	gen_feature(&recording, 3, "\x04\0\0\0abc", 8);
	gen_end(&recording);
}

static void make_large(void)
{
	unsigned int i, rnd = 1;

	gen_begin(&recording, &(struct gen_opts){ .nr_cpus = 4 });
	for (i = 0; i < LARGE; i++) {
		rnd = rnd * 1103515245 + 12345;
		gen_sample(&recording, 0, STAMP + (rnd >> 8), i % 4, NULL, 0);
		if (i % 1000 == 0)
			gen_auxtrace(&recording, "payload", 8);
	}
	gen_end(&recording);
}

static void each_failure_is_survived(int (*use)(void))
{
	const int fd = next_fd();

	fail_each(use);
	EXPECT_EQ(next_fd(), fd);
}

static void a_reader_survives_each_failure(void)
{
	make_small();
	each_failure_is_survived(read_file);
	each_failure_is_survived(read_stream);
	gen_free(&recording);
}

static void a_sort_in_memory_survives_each_failure(void)
{
	make_small();
	each_failure_is_survived(sort_file);
	each_failure_is_survived(sort_stream);
	gen_free(&recording);
}

static void a_sort_through_a_file_survives_each_failure(void)
{
	make_large();
	each_failure_is_survived(sort_file);
	gen_free(&recording);
}

static const struct tap_test tests[] = {
	{ "a_reader_survives_each_failure", a_reader_survives_each_failure },
	{ "a_sort_in_memory_survives_each_failure",
	  a_sort_in_memory_survives_each_failure },
	{ "a_sort_through_a_file_survives_each_failure",
	  a_sort_through_a_file_survives_each_failure },
};

TAP_MAIN(tests)
