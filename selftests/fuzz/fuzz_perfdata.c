// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: the reader and the sort of recordings. Beside what the
 * sanitizers see it holds them to their promises:
 *
 *	a file and a stream of the same bytes read alike
 *	sorting loses no record, and its output is in order
 *	sorting what is sorted changes nothing
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <perfclock/perfdata.h>

#define PIPE_BYTES	65536

#define MUST(cond) do {							\
	if (!(cond)) {							\
		fprintf(stderr, "%s:%d: broken: %s\n", __FILE__,	\
			__LINE__, #cond);				\
		abort();						\
	}								\
} while (0)

/* What a reading came to. */
struct outcome {
	int opened, ended;
	uint64_t records, stamped, sum, behind, last;
	bool late_attr;		/* HEADER_ATTR behind a kernel record */
	struct perfclock_perfdata_info info;
};

static void on_fault(const struct perfclock_fault *f, void *ctx)
{
	*(uint64_t *)ctx += f->offset + strlen(f->text);
}

static void touch(struct outcome *o, const struct perfclock_perfdata_record *r)
{
	const uint8_t *p = r->data;
	uint32_t i;

	o->records++;
	/* Every byte must be there to be read. */
	for (i = 0; i < r->size; i++)
		o->sum = o->sum * 31 + p[i];
	if (r->type == PERFCLOCK_PERFDATA_HEADER_ATTR && o->records > 1)
		o->late_attr = true;
	if (!(r->flags & PERFCLOCK_PERFDATA_STAMPED))
		return;
	o->stamped++;
	o->behind += r->stamp < o->last;
	o->last = r->stamp > o->last ? r->stamp : o->last;
}

static void read_it(struct outcome *o, int fd)
{
	uint64_t sink = 0;
	struct perfclock_perfdata_opts opts = {
		.sz = sizeof(opts), .fault = on_fault, .ctx = &sink
	};
	struct perfclock_perfdata_record r;
	struct perfclock_perfdata *p;
	char buf[64];

	memset(o, 0, sizeof(*o));
	o->info.sz = sizeof(o->info);
	o->opened = perfclock_perfdata_open_fd(&p, fd, &opts);
	if (o->opened)
		return;
	while ((o->ended = perfclock_perfdata_next(p, &r)) > 0) {
		touch(o, &r);
		if (r.payload)
			perfclock_perfdata_read_payload(p, buf, sizeof(buf));
	}
	MUST(o->ended == 0);
	perfclock_perfdata_get_info(p, &o->info);
	perfclock_perfdata_close(p);
}

static int sort_it(int in, int out, size_t memory,
		   struct perfclock_perfdata_sort_stats *st)
{
	struct perfclock_perfdata_sort_opts opts = {
		.sz = sizeof(opts), .memory_max = memory
	};
	struct perfclock_perfdata *p;
	int err;

	MUST(!ftruncate(out, 0));
	MUST(lseek(in, 0, SEEK_SET) == 0);
	MUST(lseek(out, 0, SEEK_SET) == 0);
	st->sz = sizeof(*st);
	err = perfclock_perfdata_open_fd(&p, in, NULL);
	if (err)
		return err;
	err = perfclock_perfdata_sort(p, out, &opts, st);
	perfclock_perfdata_close(p);
	return err;
}

static bool same_content(int a, int b)
{
	off_t n = lseek(a, 0, SEEK_END);
	uint8_t *x, *y;
	bool same;

	if (n != lseek(b, 0, SEEK_END))
		return false;
	x = malloc(n + 1);
	y = malloc(n + 1);
	MUST(pread(a, x, n, 0) == n && pread(b, y, n, 0) == n);
	same = !memcmp(x, y, n);
	free(x);
	free(y);
	return same;
}

static void check_sort(int in, int out, int again,
		       const struct outcome *was)
{
	struct perfclock_perfdata_sort_stats st;
	struct outcome now;
	int err = sort_it(in, out, 0, &st);

	MUST(!err || err == -EOPNOTSUPP);
	if (err)
		return;
	MUST(st.records + st.dropped == was->records);
	/* An attribute that moves to the front changes what others mean. */
	if (was->late_attr || was->info.damages)
		return;
	lseek(out, 0, SEEK_SET);
	read_it(&now, out);
	MUST(!now.opened);
	MUST(now.records == was->records);
	MUST(now.stamped == was->stamped);
	MUST(now.behind == 0);
	MUST(!now.info.damages);
	MUST(!sort_it(out, again, 0, &st));
	MUST(same_content(out, again));
}

static void check_stream(const uint8_t *data, size_t size,
			 const struct outcome *file)
{
	struct outcome stream;
	int fds[2];

	if (size > PIPE_BYTES)
		return;
	MUST(!pipe(fds));
	MUST(write(fds[1], data, size) == (ssize_t)size);
	close(fds[1]);
	read_it(&stream, fds[0]);
	close(fds[0]);
	/* Damage may show elsewhere if one can't look ahead. */
	if (file->opened || file->info.damages || stream.opened ||
	    stream.info.damages)
		return;
	MUST(stream.records == file->records);
	MUST(stream.sum == file->sum);
	MUST(stream.stamped == file->stamped);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int in = -1, out, again;
	struct outcome was;

	if (in < 0) {
		in = memfd_create("in", 0);
		out = memfd_create("out", 0);
		again = memfd_create("again", 0);
	}
	MUST(!ftruncate(in, 0));
	MUST(pwrite(in, data, size, 0) == (ssize_t)size);
	lseek(in, 0, SEEK_SET);
	read_it(&was, in);
	if (!was.opened)
		check_sort(in, out, again, &was);
	check_stream(data, size, &was);
	return 0;
}
