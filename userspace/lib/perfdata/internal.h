/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * Internal to perfdata/: the parts of a reader.
 *
 *	input.c		bytes of a file or a stream, buffered
 *	open.c		the handle: open, close, faults, what is known
 *	header.c	file header, sections, features
 *	attrs.c		attributes, ids, streams
 *	record.c	the next record, and what it says
 *	check.c		is a record of perf's own long enough for what it says
 *	compressed.c	records inside COMPRESSED ones
 *	names.c		names of types and features
 *	sample.c	the shape of the kernel's records
 *
 * and of the sort: sort.c, window.c, spill.c, frame.c, output.c.
 *
 * Rule of the house: a number from the file is compared with what there is
 * (bytes left in the record, the section, the file) before it is used, by a
 * comparison that can't overflow; and memory grows with bytes that were read,
 * never with bytes that were announced.
 */
#ifndef PERFCLOCK_LIB_PERFDATA_INTERNAL_H
#define PERFCLOCK_LIB_PERFDATA_INTERNAL_H

#include <perfclock/perfdata.h>

#include "bytes.h"
#include "perfdata/sample.h"

#define PD_MAX_ATTRS	16384u
#define PD_MAX_IDS	(4u << 20)
#ifndef PD_MAX_STREAMS
#define PD_MAX_STREAMS	4096u		/* PERFCLOCK_ORDER_MAX_RINGS */
#endif
#define PD_MAX_PREFIX	(64u << 20)	/* before the data, from a stream */
#define PD_MAX_STRING	4096u		/* of a feature */
#ifndef PD_INPUT_BUFFER			/* the fuzzer wants it small */
#define PD_INPUT_BUFFER	(256u << 10)
#endif
#define PD_FEATURES	256u
#define PD_RECORD_HEADER 8u

enum pd_feature {
	PD_FEATURE_TRACING_DATA	= 1,
	PD_FEATURE_BUILD_ID	= 2,
	PD_FEATURE_HOSTNAME	= 3,
	PD_FEATURE_OSRELEASE	= 4,
	PD_FEATURE_VERSION	= 5,
	PD_FEATURE_ARCH		= 6,
	PD_FEATURE_NRCPUS	= 7,
	PD_FEATURE_CPUDESC	= 8,
	PD_FEATURE_CPUID	= 9,
	PD_FEATURE_AUXTRACE	= 18,
	PD_FEATURE_COMPRESSED	= 27
};

/* Bytes in sequence; of a seekable file also at any place. */
struct pd_input {
	int fd;
	bool seekable;
	bool eof;
	int error;		/* -errno of the read that failed */
	uint64_t size;		/* seekable: of the file */
	uint64_t pos;		/* of the next byte to take */
	uint8_t *buf;
	size_t at, used;	/* in buf */
	/* Not seekable: the bytes from 0 on that were kept for _at(). */
	uint8_t *prefix;
	size_t prefix_used;
};

int pd_input_init(struct pd_input *in, int fd);
void pd_input_free(struct pd_input *in);
/*
 * At least n bytes (n <= PD_INPUT_BUFFER) at the position, or NULL: there are
 * fewer (pd_input_left()), or in->error.
 */
const uint8_t *pd_input_peek(struct pd_input *in, size_t n);
/* Bytes that the last failed peek found. */
static inline size_t pd_input_left(const struct pd_input *in)
{
	return in->used - in->at;
}
void pd_input_take(struct pd_input *in, size_t n);
/* Skip n bytes; less at the end of the file: returns what was skipped. */
uint64_t pd_input_skip(struct pd_input *in, uint64_t n);
/* Copy up to n bytes; 0 at the end, -errno. */
long pd_input_read(struct pd_input *in, void *buf, size_t n);
/*
 * Make [0, end) available to _at() and move the position to end. 0, -errno,
 * or -ENODATA: the input is shorter.
 */
int pd_input_keep(struct pd_input *in, uint64_t end);
/* Exactly n bytes from a place. 0, -ENODATA (beyond the end), -errno. */
int pd_input_at(struct pd_input *in, uint64_t offset, void *buf, size_t n);

struct pd_section {
	uint64_t offset, size;
};

struct pd_attr {
	struct sample_layout layout;
	uint32_t type;
	bool use_clockid;
	int32_t clockid;
	uint32_t nr_ids;
	uint64_t config;
};

struct pd_id {
	uint64_t id;		/* 0: empty slot */
	int32_t attr;		/* -1: only ID_INDEX knows it */
	uint32_t position;	/* in the attribute's list */
	int32_t cpu;		/* by ID_INDEX; -1: unknown */
};

struct pd_stream {
	enum perfclock_stream_kind kind;
	int64_t key;
};

/* Records inside COMPRESSED ones. */
struct pd_inner {
	void *zstd;		/* ZSTD_DStream */
	uint8_t *buf;
	size_t at, used;	/* decompressed, not yet taken */
	const uint8_t *in;	/* of the COMPRESSED record, in the input's */
	size_t in_size, in_at;	/* buffer */
	uint64_t offset;	/* of the COMPRESSED record */
	uint64_t produced;	/* out of this COMPRESSED record */
	bool active;
};

struct perfclock_perfdata {
	struct perfclock_perfdata_opts opts;
	struct pd_input in;
	bool own_fd;
	bool failed;		/* a fault ended the reading */
	bool begun, ended;
	bool ambiguous;		/* samples can't be told apart */
	bool mixed;		/* layouts differ: ids decide */
	bool told_no_attr, told_streams, told_ids;
	uint64_t payload_left;
	uint64_t data_end;	/* in the file; ~0: not known */
	bool data_cut;		/* the file ends before its data section */
	bool behind_data;	/* attributes or ids stand behind it */
	struct perfclock_perfdata_info info;
	struct pd_section data, attrs;
	uint32_t attr_size;
	struct pd_attr *attr;
	uint32_t nr_attrs, attr_room;
	struct pd_id *ids;	/* open addressing, id_slots a power of two */
	uint32_t nr_ids, id_slots, ids_seen;
	/* Where the id stands if layouts differ: from the start of a sample,
	 * back from the end of other records; 0: nowhere. */
	uint16_t sample_id_place, trailer_id_place;
	struct pd_stream *streams;
	uint32_t nr_streams;
	uint32_t *stream_slots;	/* number + 1; 2 * PD_MAX_STREAMS slots */
	char *strings[PD_FEATURE_CPUID + 1];
	struct pd_inner inner;
};

/* open.c */
void pd_fault(struct perfclock_perfdata *p, enum perfclock_fault_level level,
	      uint64_t offset, const char *kind, const char *fmt, ...)
	      __attribute__((format(printf, 5, 6)));

/* header.c; -EBADMSG after a fatal fault, or -errno */
int pd_read_header(struct perfclock_perfdata *p);
/* A feature's bytes, from a section or a HEADER_FEATURE record. */
bool pd_feature_check(struct perfclock_perfdata *p, unsigned int feature,
		      const uint8_t *bytes, size_t have, uint64_t size,
		      uint64_t offset);

/* attrs.c */
#define PD_ATTR_SIZE_0	64u		/* PERF_ATTR_SIZE_VER0 */
int pd_attr_add(struct perfclock_perfdata *p, const uint8_t *bytes,
		size_t size);
int pd_id_add(struct perfclock_perfdata *p, uint64_t id, int32_t attr,
	      uint32_t position, uint64_t offset);
int pd_id_set_cpu(struct perfclock_perfdata *p, uint64_t id, int32_t cpu,
		  uint64_t offset);
const struct pd_id *pd_id_find(const struct perfclock_perfdata *p,
			       uint64_t id);
uint32_t pd_stream_of(struct perfclock_perfdata *p, uint64_t offset,
		      enum perfclock_stream_kind kind, int64_t key);

/*
 * A record as it stands in the file. Size and type, which are written one
 * after the other, are apart: compilers copy neighbours by one wide load, and
 * that would wait for both writes to reach the cache.
 */
struct pd_raw {
	const uint8_t *data;
	uint32_t size;
	bool inner;
	uint64_t offset;
	uint32_t type;
};

/* check.c: false after a fault was told */
bool pd_check_user_record(struct perfclock_perfdata *p,
			  const struct pd_raw *r);

/* compressed.c */
int pd_inner_begin(struct perfclock_perfdata *p, const struct pd_raw *r);
/* 1: a record, 0: this COMPRESSED one is used up, -errno */
int pd_inner_next(struct perfclock_perfdata *p, struct pd_raw *r);
void pd_inner_free(struct pd_inner *inner);

#endif /* PERFCLOCK_LIB_PERFDATA_INTERNAL_H */
