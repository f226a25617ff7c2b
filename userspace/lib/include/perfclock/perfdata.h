/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * Recorded perf.data files: read record by record, without trust.
 *
 * File and pipe mode, either byte order, the formats PERFILE2 and PERFFILE,
 * zstd-compressed or not. Memory is bounded whatever the file says: records
 * are at most 64 KiB, ids and attributes have a limit each, and no allocation
 * has a size that was read from the file. What can be read is read: a fault
 * is told of, with its byte offset, and reading goes on where that is
 * possible.
 *
 * One handle is used by one thread at a time.
 */
#ifndef PERFCLOCK_PERFDATA_H
#define PERFCLOCK_PERFDATA_H

#include <perfclock/types.h>

PERFCLOCK_BEGIN_DECLS

struct perfclock_perfdata;

enum perfclock_fault_level {
	PERFCLOCK_FAULT_NOTE,	/* odd but harmless */
	PERFCLOCK_FAULT_DAMAGE,	/* something in the file can't be trusted */
	PERFCLOCK_FAULT_FATAL	/* reading ends here */
};

/* Valid during the callback; kind is a static string. */
struct perfclock_fault {
	uint64_t offset;	/* in the file, bytes */
	enum perfclock_fault_level level;
	const char *kind;	/* one word, the same for faults of a kind */
	const char *text;	/* one line, without the offset */
};

struct perfclock_perfdata_opts {
	size_t sz;
	void (*fault)(const struct perfclock_fault *f, void *ctx);
	void *ctx;
	char *error;		/* one line, on failure of _open(); or NULL */
	size_t error_size;
};

/*
 * perfclock_perfdata_open() - open a recording; path "-": standard input
 *
 * Reads the header and, in file mode, attributes, ids and features. Sets *pp,
 * to NULL on failure. 0, or -EINVAL, -E2BIG (bad opts), -EBADMSG (not a
 * perf.data file, or its header is beyond use), -EOPNOTSUPP (known, but not
 * readable as it is: packed with gzip), -EISDIR (a directory: open a file in
 * it), -ENOMEM, or -errno of open or read.
 */
int perfclock_perfdata_open(struct perfclock_perfdata **pp, const char *path,
			    const struct perfclock_perfdata_opts *opts);
/* The same from a descriptor, which stays the caller's. */
int perfclock_perfdata_open_fd(struct perfclock_perfdata **pp, int fd,
			       const struct perfclock_perfdata_opts *opts);
void perfclock_perfdata_close(struct perfclock_perfdata *p);

/* perfclock_perfdata_record.flags */
#define PERFCLOCK_PERFDATA_STAMPED	(1u << 0) /* stamp says when */
#define PERFCLOCK_PERFDATA_INNER	(1u << 1) /* out of a COMPRESSED record */
#define PERFCLOCK_PERFDATA_DAMAGED	(1u << 2) /* a fault was told of it */
#define PERFCLOCK_PERFDATA_UNKNOWN	(1u << 3) /* unknown type */

/* Record types of perf itself; those below 64 are the kernel's. */
enum {
	PERFCLOCK_PERFDATA_HEADER_ATTR		= 64,
	PERFCLOCK_PERFDATA_EVENT_TYPE		= 65,
	PERFCLOCK_PERFDATA_TRACING_DATA		= 66,
	PERFCLOCK_PERFDATA_BUILD_ID		= 67,
	PERFCLOCK_PERFDATA_FINISHED_ROUND	= 68,
	PERFCLOCK_PERFDATA_ID_INDEX		= 69,
	PERFCLOCK_PERFDATA_AUXTRACE_INFO	= 70,
	PERFCLOCK_PERFDATA_AUXTRACE		= 71,
	PERFCLOCK_PERFDATA_AUXTRACE_ERROR	= 72,
	PERFCLOCK_PERFDATA_THREAD_MAP		= 73,
	PERFCLOCK_PERFDATA_CPU_MAP		= 74,
	PERFCLOCK_PERFDATA_STAT_CONFIG		= 75,
	PERFCLOCK_PERFDATA_STAT			= 76,
	PERFCLOCK_PERFDATA_STAT_ROUND		= 77,
	PERFCLOCK_PERFDATA_EVENT_UPDATE		= 78,
	PERFCLOCK_PERFDATA_TIME_CONV		= 79,
	PERFCLOCK_PERFDATA_HEADER_FEATURE	= 80,
	PERFCLOCK_PERFDATA_COMPRESSED		= 81,
	PERFCLOCK_PERFDATA_FINISHED_INIT	= 82,
	PERFCLOCK_PERFDATA_COMPRESSED2		= 83,
	/* simpleperf's begin here */
	PERFCLOCK_PERFDATA_SIMPLEPERF		= 32768
};

/* Pointers are valid until the next call with the same handle. */
struct perfclock_perfdata_record {
	uint64_t offset;	/* in the file; of the COMPRESSED one if INNER */
	uint64_t payload;	/* bytes that follow outside of size */
	uint64_t stamp;		/* ns; 0: none */
	uint64_t id;		/* of the event; 0: unknown */
	const void *data;	/* the record with its header, as in the file */
	uint32_t size;
	uint32_t type;
	uint32_t stream;	/* see perfclock_perfdata_get_stream() */
	uint32_t flags;		/* PERFCLOCK_PERFDATA_* */
	int32_t cpu;		/* -1: unknown */
	int32_t pid;
	int32_t tid;
	int32_t attr;		/* index; -1: unknown */
};

/*
 * The next record. COMPRESSED ones are opened, not shown. 1, 0 at the end (or
 * where damage ends the reading: see perfclock_perfdata_get_info), -errno of
 * read or of memory.
 */
int perfclock_perfdata_next(struct perfclock_perfdata *p,
			    struct perfclock_perfdata_record *rec);

/*
 * Payload of the newest record, piece by piece: bytes read, 0 at its end (or
 * the file's, which is then told of as damage). What is not read is skipped.
 */
long perfclock_perfdata_read_payload(struct perfclock_perfdata *p, void *buf,
				     size_t len);

struct perfclock_perfdata_info {
	size_t sz;			/* in */
	bool pipe;			/* pipe mode */
	bool big_endian;
	bool old_magic;			/* PERFFILE */
	bool compressed;		/* COMPRESSED records were seen */
	bool identifiable;		/* samples can be told apart */
	bool ended_early;		/* damage ended the reading */
	uint64_t size;			/* of the file; 0: not seekable */
	uint64_t data_offset;
	uint64_t data_size;		/* as far as the file has it; ~0: up
					 * to the end of the stream */
	uint64_t position;		/* bytes of the file read so far */
	uint64_t features[4];		/* bitmap; pipe mode: as seen */
	uint32_t nr_attrs;
	uint32_t nr_streams;
	uint64_t nr_ids;
	uint64_t records;		/* read without damage */
	uint64_t notes;			/* faults, by level */
	uint64_t damages;
};

/* 0, or -EINVAL (info->sz). */
int perfclock_perfdata_get_info(const struct perfclock_perfdata *p,
				struct perfclock_perfdata_info *info);

/*
 * The text of a feature, by perf's number of it: 3 HOSTNAME, 4 OSRELEASE,
 * 5 VERSION, 6 ARCH, 8 CPUDESC, 9 CPUID. NULL: not there, or another. Valid
 * until the next perfclock_perfdata_next().
 */
const char *perfclock_perfdata_feature_string(
		const struct perfclock_perfdata *p, unsigned int feature);

struct perfclock_perfdata_attr {
	size_t sz;			/* in */
	uint32_t type;
	uint64_t config;
	uint64_t sample_type;
	uint64_t read_format;
	bool sample_id_all;
	bool use_clockid;
	int32_t clockid;
	uint32_t nr_ids;
};

/* 0, or -EINVAL (no such attribute, or attr->sz). */
int perfclock_perfdata_get_attr(const struct perfclock_perfdata *p,
				unsigned int i,
				struct perfclock_perfdata_attr *attr);

/* What makes a stream: one ring of the recorder, as well as can be told. */
enum perfclock_stream_kind {
	PERFCLOCK_STREAM_CPU,		/* key: the CPU */
	PERFCLOCK_STREAM_NO_CPU,	/* the record says CPU -1 */
	PERFCLOCK_STREAM_POSITION,	/* key: the id's place in its list */
	PERFCLOCK_STREAM_ONE		/* nothing is known */
};

struct perfclock_perfdata_stream {
	size_t sz;			/* in */
	enum perfclock_stream_kind kind;
	int64_t key;
};

/*
 * Streams are numbered as they appear. 0, or -EINVAL (no such stream, or
 * stream->sz).
 */
int perfclock_perfdata_get_stream(const struct perfclock_perfdata *p,
				  unsigned int i,
				  struct perfclock_perfdata_stream *stream);

/*
 * Sorting. The output holds the same records in stamp order, equal stamps in
 * the order of the input; everything else (header, attributes, features) byte
 * for byte, but for the sizes and offsets that change with it. Records
 * without a stamp stay behind the stamped record that they followed;
 * HEADER_ATTR, without which others can't be read, goes to the front. What
 * was compressed comes out unpacked. Memory is bounded: what does not fit is
 * sorted through temporary files.
 */
enum perfclock_sort_phase {
	PERFCLOCK_SORT_READ,	/* done, total: bytes of the input */
	PERFCLOCK_SORT_MERGE	/* done, total: bytes of the output */
};

struct perfclock_perfdata_sort_opts {
	size_t sz;
	size_t memory_max;	/* 0: 256 MiB; at least 4 MiB */
	const char *tmp_dir;	/* of temporary files; NULL: /tmp */
	/* From time to time; total 0: unknown. Not 0: stop (-ECANCELED). */
	int (*progress)(enum perfclock_sort_phase phase, uint64_t done,
			uint64_t total, void *ctx);
	void *ctx;
};

struct perfclock_perfdata_sort_stats {
	size_t sz;		/* in */
	uint64_t records;	/* in the output */
	uint64_t good_records;	/* read without damage */
	uint64_t stamped;
	uint64_t behind;	/* stamped below one before them in the input */
	uint64_t dropped;	/* cut off inside their payload */
	uint64_t bytes;		/* of the output */
	uint64_t spilled;	/* bytes through temporary files */
	uint64_t runs;		/* that were merged; 0: none had to be */
};

/*
 * Sort what was just opened (nothing read from it yet) to out_fd, a file or a
 * pipe, from its position on. Faults go to the handle's callback; after the
 * call the handle can only be closed. stats may be NULL. 0, or -EINVAL, -E2BIG
 * (bad opts; less than 4 MiB of memory; something was read before),
 * -EOPNOTSUPP (attributes behind compressed data), -E2BIG (more than a million
 * pieces of AUX data), -ECANCELED (progress stopped it), -ENOMEM, -errno of
 * reading or writing: the output is then of no use.
 */
int perfclock_perfdata_sort(struct perfclock_perfdata *p, int out_fd,
			    const struct perfclock_perfdata_sort_opts *opts,
			    struct perfclock_perfdata_sort_stats *stats);

/* "SAMPLE", "FINISHED_ROUND", ... (static strings); NULL: unknown. */
const char *perfclock_perfdata_record_name(uint32_t type);
/* 3: "HOSTNAME", ... (static strings); NULL: unknown. */
const char *perfclock_perfdata_feature_name(unsigned int feature);

PERFCLOCK_END_DECLS

#endif /* PERFCLOCK_PERFDATA_H */
