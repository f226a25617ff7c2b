// SPDX-License-Identifier: GPL-2.0
/* Sorted recordings: in order, stable, all else kept, by whichever way. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef HAVE_LIBZSTD
#include <zstd.h>
#endif

#include <perfclock/perfdata.h>

#include "fuzz/gen.h"
#include "tap.h"

#define STAMP	1000000000ull

struct bytes {
	uint8_t *p;
	size_t n;
};

static int file_of(const void *p, size_t n)
{
	int fd = memfd_create("recording", MFD_CLOEXEC);

	ASSERT(fd >= 0);
	ASSERT_EQ(write(fd, p, n), n);
	ASSERT_EQ(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

static struct bytes content(int fd)
{
	struct bytes b = { NULL, lseek(fd, 0, SEEK_END) };

	b.p = malloc(b.n + 1);
	ASSERT_EQ(pread(fd, b.p, b.n, 0), b.n);
	return b;
}

static struct perfclock_perfdata_sort_stats st;

/* Sort bytes; what came out. The error in *err. */
static struct bytes sorted(const void *p, size_t n, size_t memory, int *err)
{
	struct perfclock_perfdata_sort_opts o = {
		.sz = sizeof(o), .memory_max = memory
	};
	int in = file_of(p, n), out = memfd_create("sorted", MFD_CLOEXEC);
	struct perfclock_perfdata *d;
	struct bytes b;

	st.sz = sizeof(st);
	ASSERT_EQ(perfclock_perfdata_open_fd(&d, in, NULL), 0);
	*err = perfclock_perfdata_sort(d, out, &o, &st);
	perfclock_perfdata_close(d);
	b = content(out);
	close(in);
	close(out);
	return b;
}

static struct bytes sorted_well(const struct gen *g)
{
	struct bytes b;
	int err;

	b = sorted(g->buf, g->used, 0, &err);
	EXPECT_EQ(err, 0);
	return b;
}

/* The stamps (0: none) and types of all records. */
struct list {
	unsigned int nr;
	uint64_t stamp[512];
	uint32_t type[512];
	uint32_t size[512];
};

static void read_list(struct list *l, const struct bytes *b)
{
	struct perfclock_perfdata_record r;
	struct perfclock_perfdata *d;
	int fd = file_of(b->p, b->n);

	l->nr = 0;
	ASSERT_EQ(perfclock_perfdata_open_fd(&d, fd, NULL), 0);
	while (l->nr < 512 && perfclock_perfdata_next(d, &r) > 0) {
		l->stamp[l->nr] = r.stamp;
		l->type[l->nr] = r.type;
		l->size[l->nr++] = r.size;
	}
	perfclock_perfdata_close(d);
	close(fd);
}

static void expect_same(const struct bytes *a, const struct bytes *b)
{
	EXPECT_EQ(a->n, b->n);
	EXPECT(a->n == b->n && !memcmp(a->p, b->p, a->n));
}

static void stamps_ascend(void)
{
	static const uint64_t want[] = { 1, 2, 3, 4, 5 };
	struct bytes b;
	struct list l;
	struct gen g;
	int i, mode;

	for (mode = 0; mode < 4; mode++) {
		gen_begin(&g, &(struct gen_opts){ .pipe = mode & 1,
						  .big = mode & 2 });
		for (i = 0; i < 5; i++)
			gen_sample(&g, 0, STAMP + (i * 3 + 2) % 5 + 1, i % 2,
				   NULL, 0);
		gen_end(&g);
		b = sorted_well(&g);
		read_list(&l, &b);
		ASSERT_EQ(l.nr, 5 + (mode & 1));
		for (i = 0; i < 5; i++)
			EXPECT_EQ(l.stamp[i + (mode & 1)], STAMP + want[i]);
		EXPECT_EQ(b.n, g.used);
		EXPECT_EQ(st.stamped, 5);
		free(b.p);
		gen_free(&g);
	}
}

static void equal_stamps_keep_their_order(void)
{
	struct bytes b;
	struct list l;
	struct gen g;
	int i;

	gen_begin(&g, &(struct gen_opts){
		.sample_type = { GEN_SAMPLE_TYPE | PERF_SAMPLE_RAW } });
	for (i = 0; i < 40; i++) {
		uint32_t raw[16] = { 4 + 8 * (i % 5) };

		gen_sample(&g, 0, STAMP - i / 20, 0, raw, raw[0] + 4);
	}
	gen_end(&g);
	b = sorted_well(&g);
	read_list(&l, &b);
	ASSERT_EQ(l.nr, 40);
	for (i = 0; i < 40; i++)
		EXPECT_EQ(l.size[i], 56 + 8 + 8 * (i % 5));
	free(b.p);
	gen_free(&g);
}

static void records_without_stamp_stay_with_their_neighbour(void)
{
	static const uint64_t want[] = { 0, 1, 0, 2, 3, 0, 0 };
	static const uint32_t types[] = { 79, 9, 3000, 9, 9, 68, 3001 };
	struct bytes b;
	struct list l;
	struct gen g;
	int i;

	gen_begin(&g, &(struct gen_opts){ 0 });
	gen_raw(&g, 79, "0123456789012345678901234", 24);	/* before all */
	gen_sample(&g, 0, STAMP + 3, 0, NULL, 0);
	gen_round(&g);
	gen_raw(&g, 3001, NULL, 8);
	gen_sample(&g, 0, STAMP + 1, 1, NULL, 0);
	gen_raw(&g, 3000, NULL, 8);
	gen_sample(&g, 0, STAMP + 2, 1, NULL, 0);
	gen_end(&g);
	b = sorted_well(&g);
	read_list(&l, &b);
	ASSERT_EQ(l.nr, 7);
	for (i = 0; i < 7; i++) {
		EXPECT_EQ(l.stamp[i], want[i] ? STAMP + want[i] : 0);
		EXPECT_EQ(l.type[i], types[i]);
	}
	free(b.p);
	gen_free(&g);
}

static void attributes_of_a_pipe_go_to_the_front(void)
{
	struct bytes b;
	struct list l;
	struct gen g;

	gen_begin(&g, &(struct gen_opts){ .pipe = true, .nr_attrs = 1 });
	gen_sample(&g, 0, STAMP + 5, 0, NULL, 0);
	g.o.nr_attrs = 2;
	gen_pipe_attr(&g, 1);
	gen_sample(&g, 1, STAMP + 1, 0, NULL, 0);
	gen_end(&g);
	b = sorted_well(&g);
	read_list(&l, &b);
	ASSERT_EQ(l.nr, 4);
	EXPECT_EQ(l.type[1], PERFCLOCK_PERFDATA_HEADER_ATTR);
	EXPECT_EQ(l.stamp[2], STAMP + 1);
	EXPECT_EQ(l.stamp[3], STAMP + 5);
	free(b.p);
	gen_free(&g);
}

/* A file of some size; shuffle: disorder beyond any window. */
static void make_large(struct gen *g, unsigned int nr, bool shuffle)
{
	unsigned int i, rnd = 1;

	gen_begin(g, &(struct gen_opts){ .nr_cpus = 4 });
	for (i = 0; i < nr; i++) {
		rnd = rnd * 1103515245 + 12345;
		gen_sample(g, 0, STAMP + (shuffle ? rnd >> 8 : i * 4 +
			   (rnd >> 16) % 256), i % 4, NULL, 0);
		if (i % 100 == 99)
			gen_round(g);
	}
	gen_feature(g, 3, "\x04\0\0\0abc", 8);
	gen_end(g);
}

static void expect_ascending(const struct bytes *b, unsigned int nr)
{
	struct perfclock_perfdata_record r;
	struct perfclock_perfdata *d;
	int fd = file_of(b->p, b->n);
	unsigned int seen = 0, wrong = 0;
	uint64_t last = 0;

	ASSERT_EQ(perfclock_perfdata_open_fd(&d, fd, NULL), 0);
	while (perfclock_perfdata_next(d, &r) > 0) {
		if (!r.stamp)
			continue;
		seen++;
		wrong += r.stamp < last;
		last = r.stamp;
	}
	EXPECT_EQ(seen, nr);
	EXPECT_EQ(wrong, 0);
	perfclock_perfdata_close(d);
	close(fd);
}

static void near_order_needs_no_temporary_file(void)
{
	struct bytes b;
	struct gen g;
	int err;

	make_large(&g, 100000, false);
	b = sorted(g.buf, g.used, 4 << 20, &err);
	EXPECT_EQ(err, 0);
	EXPECT_EQ(st.runs, 0);
	EXPECT_EQ(st.spilled, 0);
	EXPECT(st.behind > 1000);
	EXPECT_EQ(b.n, g.used);
	expect_ascending(&b, 100000);
	free(b.p);
	gen_free(&g);
}

static void little_memory_gives_the_same_bytes_as_much(void)
{
	struct bytes much, little;
	struct gen g;
	int err;

	make_large(&g, 200000, true);
	much = sorted(g.buf, g.used, 0, &err);
	EXPECT_EQ(err, 0);
	EXPECT_EQ(st.runs, 0);
	little = sorted(g.buf, g.used, 4 << 20, &err);
	EXPECT_EQ(err, 0);
	EXPECT(st.runs > 10);
	EXPECT(st.spilled > g.used);
	expect_ascending(&little, 200000);
	expect_same(&much, &little);
	free(much.p);
	free(little.p);
	gen_free(&g);
}

static void sorting_twice_changes_nothing(void)
{
	struct bytes once, twice;
	struct gen g;
	int err, i;

	for (i = 0; i < 2; i++) {
		make_large(&g, 30000, i);
		once = sorted(g.buf, g.used, 4 << 20, &err);
		EXPECT_EQ(err, 0);
		twice = sorted(once.p, once.n, 4 << 20, &err);
		EXPECT_EQ(err, 0);
		EXPECT_EQ(st.behind, 0);
		expect_same(&once, &twice);
		free(once.p);
		free(twice.p);
		gen_free(&g);
	}
}

/* Feeds a pipe, or drains one. */
struct stream {
	int fd;
	struct bytes b;
};

static void *feed(void *arg)
{
	struct stream *s = arg;
	size_t at = 0;
	ssize_t n;

	while (at < s->b.n) {
		n = write(s->fd, s->b.p + at, s->b.n - at);
		if (n <= 0)
			break;
		at += n;
	}
	close(s->fd);
	return NULL;
}

static void *drain(void *arg)
{
	struct stream *s = arg;
	size_t room = 64 << 20;
	ssize_t n;

	s->b.p = malloc(room);
	while ((n = read(s->fd, s->b.p + s->b.n, room - s->b.n)) > 0)
		s->b.n += n;
	close(s->fd);
	return NULL;
}

static struct bytes sorted_through_pipes(const struct gen *g, size_t memory)
{
	struct perfclock_perfdata_sort_opts o = {
		.sz = sizeof(o), .memory_max = memory
	};
	struct perfclock_perfdata *d;
	struct stream in, out = { 0 };
	pthread_t feeder, drainer;
	int a[2], b[2];

	ASSERT_EQ(pipe(a), 0);
	ASSERT_EQ(pipe(b), 0);
	in = (struct stream){ a[1], { g->buf, g->used } };
	out.fd = b[0];
	ASSERT_EQ(pthread_create(&feeder, NULL, feed, &in), 0);
	ASSERT_EQ(pthread_create(&drainer, NULL, drain, &out), 0);
	ASSERT_EQ(perfclock_perfdata_open_fd(&d, a[0], NULL), 0);
	EXPECT_EQ(perfclock_perfdata_sort(d, b[1], &o, NULL), 0);
	perfclock_perfdata_close(d);
	close(a[0]);
	close(b[1]);
	pthread_join(feeder, NULL);
	pthread_join(drainer, NULL);
	return out.b;
}

static void pipe_to_pipe_gives_the_same_bytes(void)
{
	struct bytes file, piped;
	struct gen g;
	int err, i;

	for (i = 0; i < 4; i++) {
		make_large(&g, i & 1 ? 100000 : 1000, i & 2);
		file = sorted(g.buf, g.used, 4 << 20, &err);
		EXPECT_EQ(err, 0);
		piped = sorted_through_pipes(&g, 4 << 20);
		expect_same(&file, &piped);
		free(file.p);
		free(piped.p);
		gen_free(&g);
	}
}

static void a_cut_file_comes_out_whole(void)
{
	struct bytes b, again;
	struct list l;
	struct gen g;
	int err;

	gen_begin(&g, &(struct gen_opts){ 0 });
	gen_sample(&g, 0, STAMP + 2, 0, NULL, 0);
	gen_sample(&g, 0, STAMP + 1, 1, NULL, 0);
	gen_sample(&g, 0, STAMP, 1, NULL, 0);
	gen_feature(&g, 3, "\x04\0\0\0abc", 8);
	gen_end(&g);
	b = sorted(g.buf, g.data + 2 * 56 + 20, 0, &err);
	EXPECT_EQ(err, 0);
	read_list(&l, &b);
	EXPECT_EQ(l.nr, 2);
	EXPECT_EQ(b.n, g.data + 2 * 56);
	EXPECT_EQ(get_u64(b.p + 48, false), 2 * 56);	/* data.size */
	EXPECT_EQ(get_u64(b.p + 72, false), 0);		/* no features */
	again = sorted(b.p, b.n, 0, &err);
	expect_same(&b, &again);
	free(b.p);
	free(again.p);
	gen_free(&g);
}

static void index_of_auxtrace_follows_its_records(void)
{
	uint64_t index[] = { 2, 0, 48, 0, 48 }, at;
	struct bytes b, again;
	struct gen g;
	int err;

	gen_begin(&g, &(struct gen_opts){ 0 });
	gen_sample(&g, 0, STAMP + 2, 0, NULL, 0);
	index[1] = g.used;
	gen_auxtrace(&g, "first...", 8);
	gen_sample(&g, 0, STAMP + 1, 0, NULL, 0);
	index[3] = g.used;
	gen_auxtrace(&g, "second..", 8);
	gen_feature(&g, 18, index, sizeof(index));
	gen_end(&g);
	b = sorted(g.buf, g.used, 0, &err);
	EXPECT_EQ(err, 0);
	EXPECT_EQ(b.n, g.used);
	at = get_u64(b.p + b.n - 32, false);
	EXPECT_EQ(get_u32(b.p + at, false), PERFCLOCK_PERFDATA_AUXTRACE);
	EXPECT(!memcmp(b.p + at + 48, "first...", 8));
	at = get_u64(b.p + b.n - 16, false);
	EXPECT_EQ(get_u32(b.p + at, false), PERFCLOCK_PERFDATA_AUXTRACE);
	EXPECT(!memcmp(b.p + at + 48, "second..", 8));
	again = sorted(b.p, b.n, 0, &err);
	expect_same(&b, &again);
	free(b.p);
	free(again.p);
	gen_free(&g);
}

static void unpacking_moves_the_features_along(void)
{
#ifdef HAVE_LIBZSTD
	struct bytes plain, packed;
	uint8_t out[65536];
	struct gen g;
	size_t n;
	int err, i, pass;

	for (pass = 0; pass < 2; pass++) {
		gen_begin(&g, &(struct gen_opts){ 0 });
		for (i = 0; i < 300; i++)
			gen_sample(&g, 0, STAMP + i % 7, 0, NULL, 0);
		if (pass) {
			n = ZSTD_compress(out, sizeof(out), g.buf + g.data,
					  g.used - g.data, 1);
			g.used = g.data;
			gen_raw(&g, PERFCLOCK_PERFDATA_COMPRESSED, out, n);
		}
		gen_feature(&g, 3, "\x04\0\0\0abc", 8);
		gen_feature(&g, 6, "\x04\0\0\0def", 8);
		gen_end(&g);
		if (!pass)
			plain = sorted(g.buf, g.used, 0, &err);
		else
			packed = sorted(g.buf, g.used, 0, &err);
		EXPECT_EQ(err, 0);
		gen_free(&g);
	}
	expect_same(&plain, &packed);
	free(plain.p);
	free(packed.p);
#else
	SKIP("built without libzstd");
#endif
}

static int stop_at_once(enum perfclock_sort_phase phase, uint64_t done,
			uint64_t total, void *ctx)
{
	++*(int *)ctx;
	return 1;
}

static void progress_can_stop_it(void)
{
	int calls = 0;
	struct perfclock_perfdata_sort_opts o = {
		.sz = sizeof(o), .progress = stop_at_once, .ctx = &calls
	};
	int out = memfd_create("sorted", MFD_CLOEXEC), in;
	struct perfclock_perfdata *d;
	struct gen g;

	make_large(&g, 200000, false);
	in = file_of(g.buf, g.used);
	ASSERT_EQ(perfclock_perfdata_open_fd(&d, in, NULL), 0);
	EXPECT_EQ(perfclock_perfdata_sort(d, out, &o, NULL), -ECANCELED);
	EXPECT_EQ(calls, 1);
	perfclock_perfdata_close(d);
	close(in);
	close(out);
	gen_free(&g);
}

static void a_full_disk_is_told_of(void)
{
	struct perfclock_perfdata *d;
	struct gen g;
	int in, out = open("/dev/full", O_WRONLY);

	if (out < 0)
		SKIP("no /dev/full here");
	make_large(&g, 100000, false);
	in = file_of(g.buf, g.used);
	ASSERT_EQ(perfclock_perfdata_open_fd(&d, in, NULL), 0);
	EXPECT_EQ(perfclock_perfdata_sort(d, out, NULL, NULL), -ENOSPC);
	perfclock_perfdata_close(d);
	close(in);
	close(out);
	gen_free(&g);
}

/* Every number of the statistics; a stamp is behind if it is not the newest. */
static void statistics_are_of_the_output(void)
{
	struct bytes b;
	struct gen g;
	int err;

	gen_begin(&g, &(struct gen_opts){ 0 });
	gen_sample(&g, 0, STAMP + 3, 0, NULL, 0);
	gen_sample(&g, 0, STAMP + 1, 1, NULL, 0);
	gen_sample(&g, 0, STAMP + 2, 1, NULL, 0);
	gen_sample(&g, 0, STAMP + 4, 1, NULL, 0);
	gen_raw(&g, PERF_RECORD_COMM, NULL, 8);		/* too short */
	gen_auxtrace(&g, NULL, 8);
	gen_set_u64(&g, g.record + 8, 1000);		/* more than there is */
	gen_end(&g);
	b = sorted(g.buf, g.used, 0, &err);
	EXPECT_EQ(err, 0);
	EXPECT_EQ(st.records, 5);
	EXPECT_EQ(st.good_records, 5);	/* not COMM, but what was cut off */
	EXPECT_EQ(st.stamped, 4);
	EXPECT_EQ(st.behind, 2);
	EXPECT_EQ(st.dropped, 1);
	EXPECT_EQ(st.bytes, b.n);
	EXPECT_EQ(st.runs, 0);
	free(b.p);
	gen_free(&g);
}

/* What stands before the output's position is not ours. */
static void the_output_begins_where_it_stands(void)
{
	int out, in, append;
	struct perfclock_perfdata *d;
	struct bytes b, alone;
	struct gen g;
	int err;

	make_large(&g, 200000, true);
	alone = sorted(g.buf, g.used, 4 << 20, &err);
	for (append = 0; append < 2; append++) {
		struct perfclock_perfdata_sort_opts o = {
			.sz = sizeof(o), .memory_max = 4 << 20
		};

		out = memfd_create("sorted", MFD_CLOEXEC);
		ASSERT_EQ(write(out, "precious", 8), 8);
		if (append)
			ASSERT_EQ(fcntl(out, F_SETFL, O_APPEND), 0);
		in = file_of(g.buf, g.used);
		ASSERT_EQ(perfclock_perfdata_open_fd(&d, in, NULL), 0);
		EXPECT_EQ(perfclock_perfdata_sort(d, out, &o, NULL), 0);
		perfclock_perfdata_close(d);
		b = content(out);
		EXPECT_EQ(b.n, 8 + alone.n);
		EXPECT(!memcmp(b.p, "precious", 8));
		EXPECT(b.n == 8 + alone.n && !memcmp(b.p + 8, alone.p, alone.n));
		free(b.p);
		close(in);
		close(out);
	}
	free(alone.p);
	gen_free(&g);
}

static void temporary_files_are_where_they_should_be(void)
{
	struct perfclock_perfdata_sort_opts o = {
		.sz = sizeof(o), .memory_max = 4 << 20,
		.tmp_dir = "/no/such/folder",
	};
	int out = memfd_create("sorted", MFD_CLOEXEC), in;
	struct perfclock_perfdata *d;
	struct gen g;

	make_large(&g, 200000, true);
	in = file_of(g.buf, g.used);
	ASSERT_EQ(perfclock_perfdata_open_fd(&d, in, NULL), 0);
	EXPECT_EQ(perfclock_perfdata_sort(d, out, &o, NULL), -ENOENT);
	perfclock_perfdata_close(d);
	close(in);
	close(out);
	gen_free(&g);
}

static void what_was_read_from_is_not_sorted(void)
{
	int out = memfd_create("sorted", MFD_CLOEXEC), in;
	struct perfclock_perfdata_record r;
	struct perfclock_perfdata *d;
	struct gen g;

	make_large(&g, 10, false);
	in = file_of(g.buf, g.used);
	ASSERT_EQ(perfclock_perfdata_open_fd(&d, in, NULL), 0);
	ASSERT_EQ(perfclock_perfdata_next(d, &r), 1);
	EXPECT_EQ(perfclock_perfdata_sort(d, out, NULL, NULL), -EINVAL);
	while (perfclock_perfdata_next(d, &r) > 0)
		;
	EXPECT_EQ(perfclock_perfdata_sort(d, out, NULL, NULL), -EINVAL);
	EXPECT_EQ(lseek(out, 0, SEEK_END), 0);
	perfclock_perfdata_close(d);
	close(in);
	close(out);
	gen_free(&g);
}

static void bad_arguments_are_refused(void)
{
	struct perfclock_perfdata_sort_opts o = {
		.sz = sizeof(o), .memory_max = (4 << 20) - 1
	};
	struct perfclock_perfdata *d;
	struct gen g;
	int in;

	make_large(&g, 10, false);
	in = file_of(g.buf, g.used);
	ASSERT_EQ(perfclock_perfdata_open_fd(&d, in, NULL), 0);
	EXPECT_EQ(perfclock_perfdata_sort(d, in, &o, NULL), -EINVAL);
	EXPECT_EQ(perfclock_perfdata_sort(d, -1, NULL, NULL), -EINVAL);
	perfclock_perfdata_close(d);
	close(in);
	gen_free(&g);
}

#define T(name)	{ #name, name }
static const struct tap_test tests[] = {
	T(stamps_ascend),
	T(equal_stamps_keep_their_order),
	T(records_without_stamp_stay_with_their_neighbour),
	T(attributes_of_a_pipe_go_to_the_front),
	T(near_order_needs_no_temporary_file),
	T(little_memory_gives_the_same_bytes_as_much),
	T(sorting_twice_changes_nothing),
	T(pipe_to_pipe_gives_the_same_bytes),
	T(a_cut_file_comes_out_whole),
	T(index_of_auxtrace_follows_its_records),
	T(unpacking_moves_the_features_along),
	T(progress_can_stop_it),
	T(a_full_disk_is_told_of),
	T(statistics_are_of_the_output),
	T(the_output_begins_where_it_stands),
	T(temporary_files_are_where_they_should_be),
	T(what_was_read_from_is_not_sorted),
	T(bad_arguments_are_refused),
};

TAP_MAIN(tests)
