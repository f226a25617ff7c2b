// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Records inside COMPRESSED ones. All COMPRESSED records of a file are one
 * zstd stream: a record may begin in one and end in the next. The stream is
 * unpacked piece by piece into a buffer of constant size, so that a file of
 * zeros, packed well, costs time but no memory; and how much may come out of
 * one record is limited, by its size and since perf packs at most one ring at
 * a time, so that time stays linear in the size of the file.
 */
#include <errno.h>
#include <stdlib.h>
#ifdef HAVE_LIBZSTD
#include <zstd.h>
#endif

#include "perfdata/internal.h"

#define INNER_BUFFER	(256u << 10)
#define INNER_MAX	(64u << 20)	/* out of one COMPRESSED record */
#define INNER_RATIO	4096u		/* and, beyond a first bit, per byte */
#define INNER_FREE	(64u << 10)

typedef unsigned long long ull;

void pd_inner_free(struct pd_inner *inner)
{
#ifdef HAVE_LIBZSTD
	ZSTD_freeDStream(inner->zstd);
#endif
	free(inner->buf);
}

#ifdef HAVE_LIBZSTD
static int setup(struct pd_inner *inner)
{
	if (!inner->buf)
		inner->buf = malloc(INNER_BUFFER);
	if (!inner->zstd)
		inner->zstd = ZSTD_createDStream();
	return inner->buf && inner->zstd ? 0 : -ENOMEM;
}

/* More bytes into the buffer: 1, 0 if there are none, or -EBADMSG. */
static int unpack(struct perfclock_perfdata *p)
{
	struct pd_inner *i = &p->inner;
	ZSTD_inBuffer in = { i->in, i->in_size, i->in_at };
	ZSTD_outBuffer out = { i->buf, INNER_BUFFER, 0 };
	size_t ret;

	memmove(i->buf, i->buf + i->at, i->used - i->at);
	i->used -= i->at;
	i->at = 0;
	out.pos = i->used;
	ret = ZSTD_decompressStream(i->zstd, &out, &in);
	if (ZSTD_isError(ret)) {
		pd_fault(p, PERFCLOCK_FAULT_FATAL, i->offset, "zstd",
			 "cannot decompress: %s", ZSTD_getErrorName(ret));
		return -EBADMSG;
	}
	i->produced += out.pos - i->used;
	if (i->produced > INNER_MAX ||
	    i->produced > INNER_FREE + i->in_size * INNER_RATIO) {
		pd_fault(p, PERFCLOCK_FAULT_FATAL, i->offset, "zstd",
			 "a COMPRESSED record of %zu bytes that unpacks to "
			 "%llu or more", i->in_size, (ull)i->produced);
		return -EBADMSG;
	}
	ret = out.pos > i->used || in.pos > i->in_at;
	i->in_at = in.pos;
	i->used = out.pos;
	return ret;
}
#else
static int setup(struct pd_inner *inner)
{
	return -EOPNOTSUPP;
}

static int unpack(struct perfclock_perfdata *p)
{
	return 0;
}
#endif

int pd_inner_begin(struct perfclock_perfdata *p, const struct pd_raw *r)
{
	struct pd_inner *i = &p->inner;
	uint32_t at = PD_RECORD_HEADER;
	uint64_t size = r->size - at;
	int err;

	if (r->type == PERFCLOCK_PERFDATA_COMPRESSED2) {
		at += 8;
		size = get_u64(r->data + 8, p->info.big_endian);
		if (size > r->size - at) {
			pd_fault(p, PERFCLOCK_FAULT_FATAL, r->offset, "count",
				 "COMPRESSED2 data_size %llu larger than its "
				 "record of %u bytes", (ull)size, r->size);
			return 0;
		}
	}
	err = setup(i);
	if (err == -EOPNOTSUPP) {
		pd_fault(p, PERFCLOCK_FAULT_FATAL, r->offset, "zstd",
			 "compressed with zstd, and built without it");
		return 0;
	}
	if (err)
		return err;
	i->in = r->data + at;
	i->in_size = size;
	i->in_at = 0;
	i->offset = r->offset;
	i->produced = 0;
	i->active = true;
	p->info.compressed = true;
	return 0;
}

/* A whole record at the front of the buffer? 1, 0 not yet, -EBADMSG. */
static int front(struct perfclock_perfdata *p, struct pd_raw *r)
{
	struct pd_inner *i = &p->inner;
	const uint8_t *at = i->buf + i->at;
	const bool big = p->info.big_endian;
	uint32_t size;

	if (i->used - i->at < PD_RECORD_HEADER)
		return 0;
	size = get_u16(at + 6, big);
	if (size < PD_RECORD_HEADER) {
		pd_fault(p, PERFCLOCK_FAULT_FATAL, i->offset, "size",
			 "record size %u inside the COMPRESSED record", size);
		return -EBADMSG;
	}
	if (i->used - i->at < size)
		return 0;
	*r = (struct pd_raw){
		.data = at, .size = size, .type = get_u32(at, big),
		.offset = i->offset, .inner = true,
	};
	i->at += size;
	return 1;
}

int pd_inner_next(struct perfclock_perfdata *p, struct pd_raw *r)
{
	int got;

	for (;;) {
		got = front(p, r);
		if (!got) {
			got = unpack(p);
			if (got > 0)
				continue;
		}
		if (got == -EBADMSG)	/* told of: it ends the reading */
			got = 0;
		if (!got)
			p->inner.active = false;
		return got;
	}
}
