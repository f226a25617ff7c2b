// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * What stands around the records of a sorted file: header, attributes and ids
 * before them, features behind. All of it is copied as it is; if the records
 * take another number of bytes now (they were compressed, or the end of the
 * input was cut off), sizes and offsets that depend on it are put right.
 */
#include <errno.h>
#include <stdlib.h>

#include "perfdata/sort.h"

#define AT_DATA_SIZE	48
#define AT_EVENT_TYPES	56	/* section of perf before 3.0 */
#define AT_FEATURES	72
#define HEADER_MAX	104
#define CHUNK		(64u << 10)

/* A number of the tail that changes. */
struct patch {
	uint64_t at;		/* from the start of the tail */
	uint64_t value;
};

struct tail {
	int fd;
	uint64_t start, size;	/* in fd */
	uint64_t shift;		/* of everything behind the data, mod 2^64 */
	struct patch *patches;	/* by place */
	size_t nr, room;
};

static bool has_tail(const struct perfclock_perfdata *p)
{
	return !p->info.pipe && !p->data_cut;
}

static void patch_header(const struct sorter *s, uint8_t *h, size_t size,
			 uint64_t data_size)
{
	const struct perfclock_perfdata *p = s->p;
	const bool big = p->info.big_endian;
	uint64_t where;

	put_u64(h + AT_DATA_SIZE, data_size, big);
	where = get_u64(h + AT_EVENT_TYPES, big);
	if (where >= p->data_end)
		put_u64(h + AT_EVENT_TYPES,
			where + data_size - p->info.data_size, big);
	/* Features can't be found behind data whose end is missing. */
	if (!has_tail(p) && size >= HEADER_MAX)
		memset(h + AT_FEATURES, 0, HEADER_MAX - AT_FEATURES);
}

static int pipe_head(struct sorter *s)
{
	const struct perfclock_perfdata *p = s->p;
	uint8_t h[16];

	/* Eight bytes, no string. NOLINTNEXTLINE(*-not-null-terminated-result) */
	memcpy(h, p->info.old_magic ? "PERFFILE" :
	       p->info.big_endian ? "2ELIFREP" : "PERFILE2", 8);
	put_u64(h + 8, sizeof(h), p->info.big_endian);
	pd_output_bytes(&s->out, h, sizeof(h));
	return s->out.error;
}

int frame_write_head(struct sorter *s, uint64_t data_size)
{
	struct pd_input *in = &s->p->in;
	uint64_t left = s->p->info.data_offset, at = 0;
	uint8_t chunk[4096];
	size_t n;
	int err;

	if (s->p->info.pipe)
		return pipe_head(s);
	if (data_size != s->p->info.data_size && has_tail(s->p) &&
	    s->p->behind_data)
		return -EOPNOTSUPP;
	for (; left; left -= n, at += n) {
		n = left < sizeof(chunk) ? left : sizeof(chunk);
		err = pd_input_at(in, at, chunk, n);
		if (err)
			return err == -ENODATA ? -EIO : err;
		if (!at && n >= AT_FEATURES)
			patch_header(s, chunk, n, data_size);
		pd_output_bytes(&s->out, chunk, n);
	}
	return s->out.error;
}

int frame_patch_head(struct sorter *s, uint64_t data_size)
{
	uint8_t h[HEADER_MAX];
	size_t n = s->p->info.data_offset < sizeof(h) ?
		   s->p->info.data_offset : sizeof(h);
	int err;

	if (s->p->info.pipe || n < AT_FEATURES)
		return 0;
	err = pd_input_at(&s->p->in, 0, h, n);
	if (err)
		return err == -ENODATA ? -EIO : err;
	patch_header(s, h, n, data_size);
	return pd_pwrite_all(s->out.fd, h, n, 0);
}

static int patch_add(struct tail *t, uint64_t at, uint64_t value)
{
	struct patch *more;

	if (t->nr == t->room) {
		t->room = t->room ? t->room * 2 : 64;
		more = realloc(t->patches, t->room * sizeof(*more));
		if (!more)
			return -ENOMEM;
		t->patches = more;
	}
	t->patches[t->nr++] = (struct patch){ at, value };
	return 0;
}

/* Where the tail is: in the input, or put aside if that can't be seeked. */
static int find_tail(struct sorter *s, struct tail *t)
{
	struct perfclock_perfdata *p = s->p;
	uint8_t chunk[4096];
	long n;
	int err;

	if (p->in.seekable) {
		t->fd = p->in.fd;
		t->start = p->data_end;
		t->size = p->in.size - p->data_end;
		return 0;
	}
	err = sort_need_aside(s);
	if (err)
		return err;
	t->fd = s->aside;
	t->start = s->aside_used;
	if (p->in.pos < p->data_end)
		pd_input_skip(&p->in, p->data_end - p->in.pos);
	while ((n = pd_input_read(&p->in, chunk, sizeof(chunk))) > 0) {
		err = pd_pwrite_all(t->fd, chunk, n, t->start + t->size);
		if (err)
			return err;
		t->size += n;
	}
	return n;
}

static int tail_u64(const struct sorter *s, const struct tail *t,
		    uint64_t at, uint64_t *v)
{
	uint8_t bytes[8];
	int err;

	if (at > t->size || t->size - at < sizeof(bytes))
		return -ENODATA;
	err = pd_pread_all(t->fd, bytes, sizeof(bytes), t->start + at);
	*v = get_u64(bytes, s->p->info.big_endian);
	return err;
}

static int by_from(const void *a, const void *b)
{
	uint64_t x = ((const struct sort_moved *)a)->from;
	uint64_t y = ((const struct sort_moved *)b)->from;

	return (x > y) - (x < y);
}

/* The index of AUXTRACE records: a count, then offset and size of each. */
static int patch_auxtrace(struct sorter *s, struct tail *t, uint64_t at)
{
	struct sort_moved wanted = { 0 }, *found;
	uint64_t nr, i;
	int err = tail_u64(s, t, at, &nr);

	qsort(s->moved, s->nr_moved, sizeof(*s->moved), by_from);
	for (i = 0, at += 8; !err && i < nr; i++, at += 16) {
		err = tail_u64(s, t, at, &wanted.from);
		if (err)
			break;
		found = bsearch(&wanted, s->moved, s->nr_moved, sizeof(wanted),
				by_from);
		if (found && found->to != found->from)
			err = patch_add(t, at, found->to);
	}
	/* An index that runs out of the file was told of at the opening. */
	return err == -ENODATA ? 0 : err;
}

static int patch_features(struct sorter *s, struct tail *t)
{
	const struct perfclock_perfdata *p = s->p;
	uint64_t at = 0, where;
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < PD_FEATURES; i++) {
		if (!(p->info.features[i / 64] >> i % 64 & 1))
			continue;
		err = tail_u64(s, t, at, &where);
		if (!err && where >= p->data_end && t->shift)
			err = patch_add(t, at, where + t->shift);
		if (!err && where >= p->data_end && s->nr_moved &&
		    i == PD_FEATURE_AUXTRACE)
			err = patch_auxtrace(s, t, where - p->data_end);
		at += 16;
	}
	return err == -ENODATA ? 0 : err;
}

/* Those that overlap a chunk of the tail, which begins at 'at'. */
static void apply(const struct tail *t, size_t *first, uint8_t *chunk,
		  uint64_t at, size_t n, bool big)
{
	uint8_t bytes[8];
	size_t i;
	unsigned int k;

	while (*first < t->nr && t->patches[*first].at + 8 <= at)
		(*first)++;
	for (i = *first; i < t->nr && t->patches[i].at < at + n; i++) {
		put_u64(bytes, t->patches[i].value, big);
		for (k = 0; k < 8; k++)
			if (t->patches[i].at + k >= at &&
			    t->patches[i].at + k < at + n)
				chunk[t->patches[i].at + k - at] = bytes[k];
	}
}

static int by_place(const void *a, const void *b)
{
	uint64_t x = ((const struct patch *)a)->at;
	uint64_t y = ((const struct patch *)b)->at;

	return (x > y) - (x < y);
}

static int copy_tail(struct sorter *s, struct tail *t)
{
	uint8_t *chunk = malloc(CHUNK);
	uint64_t at = 0;
	size_t first = 0, n;
	int err = chunk ? 0 : -ENOMEM;

	if (t->nr)
		qsort(t->patches, t->nr, sizeof(*t->patches), by_place);
	for (; !err && at < t->size; at += n) {
		n = t->size - at < CHUNK ? t->size - at : CHUNK;
		err = pd_pread_all(t->fd, chunk, n, t->start + at);
		if (err)
			break;
		apply(t, &first, chunk, at, n, s->p->info.big_endian);
		pd_output_bytes(&s->out, chunk, n);
		err = s->out.error;
	}
	free(chunk);
	return err;
}

int frame_write_tail(struct sorter *s, uint64_t data_size)
{
	struct tail t = { .shift = data_size - s->p->info.data_size };
	int err;

	if (!has_tail(s->p))
		return 0;
	err = find_tail(s, &t);
	if (!err && (t.shift || s->nr_moved))
		err = patch_features(s, &t);
	if (!err)
		err = copy_tail(s, &t);
	free(t.patches);
	return err;
}
