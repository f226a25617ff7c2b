// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Sorting a recording with bounded memory.
 *
 * Records pass through a window (window.h). If the disorder is smaller than
 * half of it, which is what recorders produce, they leave it in order and go
 * straight into the output: one pass, no temporary file. That is tried first
 * if input and output are files. A record that comes later than the window
 * can mend ends the trial: the output is emptied and the input read again,
 * now with runs that go to a temporary file (spill.h) and are merged at the
 * end. Pipes, which can't be read or written twice, take this way at once.
 *
 * The key of a record is its stamp, or else the key of the stamped record
 * before it, and equal keys keep their order: so a sorted file is a fixed
 * point.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "opts.h"
#include "perfdata/sort.h"

#define MEMORY_DEFAULT	((size_t)256 << 20)
#define MEMORY_MIN	((size_t)4 << 20)
#define MEMORY_OTHER	((size_t)3 << 19)	/* buffers of input, output */
#define PROGRESS_BYTES	(4u << 20)
#define MOVED_MAX	(1u << 20)

static int tell(struct sorter *s, enum perfclock_sort_phase phase,
		uint64_t done, uint64_t total)
{
	if (!s->opts.progress || done - s->told < PROGRESS_BYTES)
		return 0;
	s->told = done;
	return s->opts.progress(phase, done, total, s->opts.ctx) ?
	       -ECANCELED : 0;
}

int sort_need_aside(struct sorter *s)
{
	if (s->aside < 0)
		s->aside = pd_temporary_file(s->opts.tmp_dir);
	return s->aside < 0 ? s->aside : 0;
}

/* ---- leaving ---- */

static int note_moved(struct sorter *s, uint64_t from)
{
	struct sort_moved *more;

	if (s->nr_moved == MOVED_MAX)
		return -E2BIG;
	if (s->nr_moved == s->moved_room) {
		s->moved_room = s->moved_room ? s->moved_room * 2 : 64;
		more = realloc(s->moved, s->moved_room * sizeof(*more));
		if (!more)
			return -ENOMEM;
		s->moved = more;
	}
	s->moved[s->nr_moved++] = (struct sort_moved){ from, s->out.pos };
	return 0;
}

static int write_payload(struct sorter *s, const struct sort_payload *payload)
{
	uint8_t chunk[16384];
	uint64_t at = 0;
	size_t n;
	int err = 0;

	for (; !err && at < payload->size; at += n) {
		n = payload->size - at < sizeof(chunk) ? payload->size - at :
							sizeof(chunk);
		err = pd_pread_all(s->aside, chunk, n, payload->aside + at);
		if (!err)
			pd_output_bytes(&s->out, chunk, n);
	}
	return err ? err : s->out.error;
}

/* To the output, for good. */
static int write_record(const struct sort_record *r, void *ctx)
{
	struct sorter *s = ctx;
	uint32_t type = get_u32(r->data, s->p->info.big_endian);
	int err = 0;

	if (r->payload.size && type == PERFCLOCK_PERFDATA_AUXTRACE)
		err = note_moved(s, r->payload.offset);
	pd_output_bytes(&s->out, r->data, r->size);
	if (!err && r->payload.size)
		err = write_payload(s, &r->payload);
	s->st.records++;
	s->emitted = r->key;
	if (!err && !s->direct)
		err = tell(s, PERFCLOCK_SORT_MERGE, s->out.pos,
			   s->data_bytes);
	return err ? err : s->out.error;
}

static int spill_record(const struct sort_record *r, void *ctx)
{
	struct sorter *s = ctx;

	s->emitted = r->key;
	return spill_add(&s->spill, r);
}

/* Half of the window (or all of it) into the current run, or a new one. */
static int emit(struct sorter *s, bool all)
{
	uint64_t least;
	int err = window_least(&s->window, &least);
	const bool fits = least >= s->emitted;

	if (err)
		return err;
	if (s->direct) {
		if (fits)
			return window_emit(&s->window, all, write_record, s);
		s->out_of_window = true;
		return 0;
	}
	if (!s->spilling) {
		err = spill_init(&s->spill, s->opts.tmp_dir);
		if (err)
			return err;
		s->spill_ready = s->spilling = true;
	}
	if (!fits || !s->spill.nr_runs)
		err = spill_begin_run(&s->spill);
	return err ? err : window_emit(&s->window, all, spill_record, s);
}

/* ---- coming in ---- */

/* 1: all of it is in the file of payloads, 0: the input has less, -errno */
static int put_aside(struct sorter *s, struct sort_payload *payload)
{
	uint8_t chunk[16384];
	uint64_t done = 0;
	long n;
	int err = sort_need_aside(s);

	if (err)
		return err;
	payload->aside = s->aside_used;
	while (done < payload->size) {
		n = perfclock_perfdata_read_payload(s->p, chunk, sizeof(chunk));
		if (n <= 0)
			return n;
		err = pd_pwrite_all(s->aside, chunk, n, s->aside_used);
		if (err)
			return err;
		s->aside_used += n;
		done += n;
	}
	return 1;
}

static uint64_t key_of(struct sorter *s,
		       const struct perfclock_perfdata_record *rec)
{
	if (rec->type == PERFCLOCK_PERFDATA_HEADER_ATTR)
		return 0;
	if (!(rec->flags & PERFCLOCK_PERFDATA_STAMPED))
		return s->key;
	s->st.stamped++;
	if (rec->stamp < s->newest)
		s->st.behind++;
	else
		s->newest = rec->stamp;
	s->key = rec->stamp;
	return s->key;
}

static int add(struct sorter *s, const struct perfclock_perfdata_record *rec)
{
	struct sort_record r = {
		.key = key_of(s, rec), .data = rec->data, .size = rec->size,
		.payload = { .size = rec->payload, .offset = rec->offset },
	};
	uint8_t copy[UINT16_MAX];
	int got;

	if (rec->payload) {
		memcpy(copy, rec->data, rec->size);
		r.data = copy;
		got = put_aside(s, &r.payload);
		if (got < 0)
			return got;
		if (!got) {
			s->st.dropped++;
			return 0;
		}
	}
	s->data_bytes += r.size + r.payload.size;
	return window_add(&s->window, &r);
}

static int read_all(struct sorter *s)
{
	struct perfclock_perfdata_record rec;
	int got, err = 0;

	while (!err && !s->out_of_window) {
		got = perfclock_perfdata_next(s->p, &rec);
		if (got <= 0)
			return got;
		/* Before a stamp, so that its followers stay with their own. */
		if ((window_nearly_full(&s->window) &&
		     rec.flags & PERFCLOCK_PERFDATA_STAMPED) ||
		    window_full(&s->window))
			err = emit(s, false);
		if (!err && !s->out_of_window)
			err = add(s, &rec);
		if (!err)
			err = tell(s, PERFCLOCK_SORT_READ, s->p->in.pos,
				   s->p->info.size);
	}
	return err;
}

/* ---- the two ways ---- */

/* Straight into the output, which must be a file. 1: it can't be done so. */
static int sort_direct(struct sorter *s)
{
	int err = frame_write_head(s, s->p->info.data_size);
	uint64_t size;

	if (!err)
		err = read_all(s);
	if (!err && !s->out_of_window)
		err = emit(s, true);
	if (err || s->out_of_window)
		return err ? err : 1;
	size = s->data_bytes;
	if (size != s->p->info.data_size && s->p->behind_data)
		return -EOPNOTSUPP;
	err = frame_write_tail(s, size);
	if (!err)
		err = pd_output_flush(&s->out);
	return err ? err : frame_patch_head(s, size);
}

/* All in the window, or through runs: the output is written at the end. */
static int sort_spilling(struct sorter *s, size_t memory)
{
	int err = read_all(s);

	if (!err && s->spilling)
		err = emit(s, true);
	s->told = 0;
	if (!err)
		err = frame_write_head(s, s->data_bytes);
	if (!err && s->spilling) {
		window_free(&s->window);
		s->st.runs = s->spill.nr_runs;
		err = spill_merge(&s->spill, memory, write_record, s);
		s->st.spilled = s->spill.bytes;
	} else if (!err) {
		err = window_emit(&s->window, true, write_record, s);
	}
	if (!err)
		err = frame_write_tail(s, s->data_bytes);
	return err ? err : pd_output_flush(&s->out);
}

/* Can the output be emptied and begun again, and the input read again? */
static bool can_restart(const struct sorter *s)
{
	struct stat st;
	int flags = fcntl(s->out.fd, F_GETFL);

	return s->p->in.seekable && !fstat(s->out.fd, &st) &&
	       S_ISREG(st.st_mode) && flags >= 0 && !(flags & O_APPEND) &&
	       lseek(s->out.fd, 0, SEEK_CUR) == 0;
}

/* Faults of the second reading that the first has told already. */
struct muted {
	struct perfclock_perfdata_opts opts;
	uint64_t left;
};

static void tell_the_rest(const struct perfclock_fault *f, void *ctx)
{
	struct muted *m = ctx;

	if (m->left)
		m->left--;
	else if (m->opts.fault)
		m->opts.fault(f, m->opts.ctx);
}

static int restart(struct sorter *s, struct muted *m,
		   struct perfclock_perfdata **second)
{
	struct perfclock_perfdata_opts opts = {
		.sz = sizeof(opts), .fault = tell_the_rest, .ctx = m
	};
	int err;

	m->opts = s->p->opts;
	m->left = s->p->info.notes + s->p->info.damages;
	err = perfclock_perfdata_open_fd(second, s->p->in.fd, &opts);
	if (!err)
		err = pd_output_flush(&s->out);
	if (err)
		return err;
	if (ftruncate(s->out.fd, 0) || lseek(s->out.fd, 0, SEEK_SET))
		return -errno;
	s->p = *second;
	s->out.pos = 0;
	window_clear(&s->window);
	memset(&s->st, 0, sizeof(s->st));
	s->aside_used = s->nr_moved = 0;
	s->key = s->newest = s->emitted = s->data_bytes = s->told = 0;
	s->direct = s->out_of_window = false;
	return 0;
}

static int run(struct sorter *s, size_t memory)
{
	struct perfclock_perfdata *second = NULL;
	struct muted muted;
	int err = 1;

	s->direct = can_restart(s);
	if (s->direct) {
		err = sort_direct(s);
		if (err == 1) {
			err = restart(s, &muted, &second);
			err = err ? err : 1;
		}
	}
	if (err == 1)
		err = sort_spilling(s, memory);
	s->st.good_records = s->p->info.records;
	s->st.bytes = s->out.pos;
	perfclock_perfdata_close(second);
	return err;
}

int perfclock_perfdata_sort(struct perfclock_perfdata *p, int out_fd,
			    const struct perfclock_perfdata_sort_opts *opts,
			    struct perfclock_perfdata_sort_stats *stats)
{
	struct sorter s = { .p = p, .aside = -1 };
	int err = opts_copy(&s.opts, sizeof(s.opts), opts);
	size_t memory = s.opts.memory_max;

	if (err)
		return err;
	if (!memory)
		memory = MEMORY_DEFAULT;
	if (memory < MEMORY_MIN || p->begun || out_fd < 0)
		return -EINVAL;
	if (!s.opts.tmp_dir)
		s.opts.tmp_dir = "/tmp";
	memory -= MEMORY_OTHER;
	err = pd_output_init(&s.out, out_fd);
	window_init(&s.window, memory);
	if (!err)
		err = run(&s, memory);
	if (stats && !err)
		err = opts_return(stats, &s.st, sizeof(s.st));
	window_free(&s.window);
	if (s.spill_ready)
		spill_free(&s.spill);
	if (s.aside >= 0)
		close(s.aside);
	free(s.moved);
	pd_output_free(&s.out);
	return err;
}
