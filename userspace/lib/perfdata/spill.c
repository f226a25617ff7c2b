// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* Ascending runs in a temporary file, and their merge: see spill.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perfdata/spill.h"

/* In the file: this, the record, and its payload's place if it has one. */
struct spilled {
	uint64_t key;
	uint32_t size;
	uint32_t has_payload;
};

#define SPILLED_MAX	(sizeof(struct spilled) + UINT16_MAX + \
			 sizeof(struct sort_payload))
#define BUFFER_MIN	(128u << 10)	/* holds any record */
#define BUFFER_MAX	(4u << 20)

/* One run as it is read. */
struct reader {
	uint64_t at, end;	/* still in the file */
	uint8_t *buf;
	size_t pos, used;	/* in buf */
	struct sort_record r;	/* the next one */
	size_t run;		/* its number: ties */
};

struct merger {
	int fd;
	struct reader *readers;
	struct reader **heap;	/* least at the front */
	size_t nr;
	uint8_t *buffers;
	size_t buffer_size;
};

int spill_init(struct spill *s, const char *dir)
{
	int err;

	memset(s, 0, sizeof(*s));
	s->fd = pd_temporary_file(dir);
	if (s->fd < 0)
		return s->fd;
	err = pd_output_init(&s->out, s->fd);
	if (err)
		close(s->fd);
	return err;
}

void spill_free(struct spill *s)
{
	pd_output_free(&s->out);
	close(s->fd);
	free(s->runs);
}

static void end_run(struct spill *s)
{
	if (s->nr_runs)
		s->runs[s->nr_runs - 1].end = s->out.pos;
}

int spill_begin_run(struct spill *s)
{
	struct spill_run *runs;

	end_run(s);
	if (s->nr_runs == s->room) {
		s->room = s->room ? s->room * 2 : 64;
		runs = realloc(s->runs, s->room * sizeof(*runs));
		if (!runs)
			return -ENOMEM;
		s->runs = runs;
	}
	s->runs[s->nr_runs++] = (struct spill_run){ s->out.pos, s->out.pos };
	return 0;
}

int spill_add(struct spill *s, const struct sort_record *r)
{
	struct spilled head = { r->key, r->size, !!r->payload.size };

	pd_output_bytes(&s->out, &head, sizeof(head));
	pd_output_bytes(&s->out, r->data, r->size);
	if (head.has_payload)
		pd_output_bytes(&s->out, &r->payload, sizeof(r->payload));
	return s->out.error;
}

/* At least n bytes at pos, or what the run still has. */
static int refill(struct merger *m, struct reader *rd)
{
	size_t want;
	int err;

	memmove(rd->buf, rd->buf + rd->pos, rd->used - rd->pos);
	rd->used -= rd->pos;
	rd->pos = 0;
	want = m->buffer_size - rd->used;
	if (want > rd->end - rd->at)
		want = rd->end - rd->at;
	err = pd_pread_all(m->fd, rd->buf + rd->used, want, rd->at);
	rd->used += want;
	rd->at += want;
	return err;
}

/* 1: rd->r is the next, 0: the run is over, -errno */
static int next(struct merger *m, struct reader *rd)
{
	struct spilled head;
	const uint8_t *p;
	int err;

	if (rd->used - rd->pos < SPILLED_MAX && rd->at < rd->end) {
		err = refill(m, rd);
		if (err)
			return err;
	}
	if (rd->pos == rd->used)
		return 0;
	p = rd->buf + rd->pos;
	memcpy(&head, p, sizeof(head));
	p += sizeof(head);
	rd->r = (struct sort_record){
		.key = head.key, .data = p, .size = head.size
	};
	p += head.size;
	if (head.has_payload) {
		memcpy(&rd->r.payload, p, sizeof(rd->r.payload));
		p += sizeof(rd->r.payload);
	}
	rd->pos = p - rd->buf;
	return 1;
}

static bool before(const struct reader *a, const struct reader *b)
{
	return a->r.key < b->r.key || (a->r.key == b->r.key && a->run < b->run);
}

static void sift_down(struct merger *m, size_t i)
{
	struct reader *moving = m->heap[i];
	size_t child;

	for (;;) {
		child = 2 * i + 1;
		if (child >= m->nr)
			break;
		if (child + 1 < m->nr &&
		    before(m->heap[child + 1], m->heap[child]))
			child++;
		if (!before(m->heap[child], moving))
			break;
		m->heap[i] = m->heap[child];
		i = child;
	}
	m->heap[i] = moving;
}

static void merger_free(struct merger *m)
{
	free(m->readers);
	free(m->heap);
	free(m->buffers);
}

static int merger_init(struct merger *m, int fd, const struct spill_run *runs,
		       size_t nr, size_t memory)
{
	size_t i;
	int got;

	*m = (struct merger){ .fd = fd };
	m->buffer_size = memory / nr;
	if (m->buffer_size > BUFFER_MAX)
		m->buffer_size = BUFFER_MAX;
	m->readers = calloc(nr, sizeof(*m->readers));
	m->heap = calloc(nr, sizeof(*m->heap));
	m->buffers = malloc(nr * m->buffer_size);
	if (!m->readers || !m->heap || !m->buffers)
		return -ENOMEM;
	for (i = 0; i < nr; i++) {
		m->readers[i] = (struct reader){
			.at = runs[i].start, .end = runs[i].end,
			.buf = m->buffers + i * m->buffer_size, .run = i,
		};
		got = next(m, &m->readers[i]);
		if (got < 0)
			return got;
		if (got)
			m->heap[m->nr++] = &m->readers[i];
	}
	for (i = m->nr / 2; i-- > 0;)
		sift_down(m, i);
	return 0;
}

static int merge_runs(int fd, const struct spill_run *runs, size_t nr,
		      size_t memory, window_fn fn, void *ctx)
{
	struct merger m;
	int err = merger_init(&m, fd, runs, nr, memory);

	while (!err && m.nr) {
		err = fn(&m.heap[0]->r, ctx);
		if (err)
			break;
		err = next(&m, m.heap[0]);
		if (!err)
			m.heap[0] = m.heap[--m.nr];
		if (err >= 0 && m.nr) {
			sift_down(&m, 0);
			err = 0;
		}
	}
	merger_free(&m);
	return err;
}

static int add_to_spill(const struct sort_record *r, void *ctx)
{
	return spill_add(ctx, r);
}

/*
 * Too many runs for one merge: every 'fan' neighbours become one. The new
 * runs go behind the old ones, whose room is given back.
 */
static int merge_level(struct spill *s, size_t fan, size_t memory)
{
	const size_t nr = s->nr_runs;
	struct spill_run *old = s->runs;
	size_t i, n;
	int err = 0;

	s->runs = NULL;
	s->nr_runs = s->room = 0;
	for (i = 0; !err && i < nr; i += n) {
		n = nr - i < fan ? nr - i : fan;
		err = spill_begin_run(s);
		if (!err)
			err = merge_runs(s->fd, old + i, n, memory,
					 add_to_spill, s);
		if (!err)
			err = pd_output_flush(&s->out);
		if (!err)	/* to save room; fails on some file systems */
			(void)!fallocate(s->fd, FALLOC_FL_PUNCH_HOLE |
					 FALLOC_FL_KEEP_SIZE, old[i].start,
					 old[i + n - 1].end - old[i].start);
	}
	end_run(s);
	free(old);
	return err;
}

int spill_merge(struct spill *s, size_t memory, window_fn fn, void *ctx)
{
	size_t fan = memory / BUFFER_MIN;
	int err;

	end_run(s);
	err = pd_output_flush(&s->out);
	if (fan < 2)
		fan = 2;
	while (!err && s->nr_runs > fan)
		err = merge_level(s, fan, memory);
	s->bytes = s->out.pos;
	if (!err && s->nr_runs)
		err = merge_runs(s->fd, s->runs, s->nr_runs, memory, fn, ctx);
	return err;
}
