// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * The head of a recording. File mode:
 *
 *	0	magic, header size, size of an attribute's entry
 *	24	sections (offset, size): attributes, data, event types
 *	72	bitmap of features
 *	...	ids of attributes, attributes, data
 *	end of the data: a section per feature, in the order of their bits
 *
 * An attribute's entry is a perf_event_attr, of the size that its writer knew,
 * and the section of its ids. Pipe mode has magic and header size only; the
 * rest comes as records.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "perfdata/internal.h"

#define FATAL	PERFCLOCK_FAULT_FATAL
#define DAMAGE	PERFCLOCK_FAULT_DAMAGE
#define NOTE	PERFCLOCK_FAULT_NOTE

typedef unsigned long long ull;

enum {
	PIPE_HEADER_SIZE	= 16,
	OLD_HEADER_SIZE		= 72,	/* before there were features */
	FILE_HEADER_SIZE	= 104,

	AT_HEADER_SIZE		= 8,
	AT_ATTR_SIZE		= 16,
	AT_ATTRS		= 24,
	AT_DATA			= 40,
	AT_FEATURES		= 72
};

static const struct {
	const char *bytes;
	uint8_t len;
	const char *name;
} packers[] = {
	{ "\x1f\x8b", 2, "gzip" },
	{ "\x28\xb5\x2f\xfd", 4, "zstd" },
	{ "\xfd" "7zXZ", 5, "xz" },
	{ "BZh", 3, "bzip2" },
	{ "\x04\x22\x4d\x18", 4, "lz4" },
};

static int not_perfdata(struct perfclock_perfdata *p, const uint8_t *head,
			size_t have)
{
	unsigned int i;

	for (i = 0; i < sizeof(packers) / sizeof(packers[0]); i++) {
		if (have < packers[i].len ||
		    memcmp(head, packers[i].bytes, packers[i].len))
			continue;
		pd_fault(p, FATAL, 0, "packed",
			 "compressed with %s as a whole: unpack it first",
			 packers[i].name);
		return -EOPNOTSUPP;
	}
	if (!have)
		pd_fault(p, FATAL, 0, "magic", "not a perf.data file: empty");
	else if (have < PIPE_HEADER_SIZE)
		pd_fault(p, FATAL, 0, "magic", "not a perf.data file: %zu "
			 "byte%s, need %d", have, have == 1 ? "" : "s",
			 PIPE_HEADER_SIZE);
	else
		pd_fault(p, FATAL, 0, "magic", "not a perf.data file: it does "
			 "not begin with PERFILE2");
	return -EBADMSG;
}

static bool known_header_size(uint64_t size)
{
	return size == PIPE_HEADER_SIZE || size == OLD_HEADER_SIZE ||
	       size == FILE_HEADER_SIZE;
}

/*
 * PERFILE2 is a number in the writer's byte order. PERFFILE was a string: the
 * header's size tells.
 */
static bool read_magic(struct perfclock_perfdata *p, const uint8_t *head)
{
	if (!memcmp(head, "PERFILE2", 8))
		return true;
	if (!memcmp(head, "2ELIFREP", 8)) {
		p->info.big_endian = true;
		return true;
	}
	if (memcmp(head, "PERFFILE", 8))
		return false;
	p->info.old_magic = true;
	return true;
}

static int read_start(struct perfclock_perfdata *p, uint64_t *size)
{
	uint8_t head[PIPE_HEADER_SIZE] = { 0 };
	const uint8_t *at = pd_input_peek(&p->in, sizeof(head));
	size_t have = at ? sizeof(head) : pd_input_left(&p->in);

	if (p->in.error)
		return p->in.error;
	memcpy(head, p->in.buf + p->in.at, have);
	if (have < 8 || !read_magic(p, head))
		return not_perfdata(p, head, have);
	if (have < sizeof(head)) {
		pd_fault(p, FATAL, have, "header",
			 "truncated header: %zu of %d bytes", have,
			 PIPE_HEADER_SIZE);
		return -EBADMSG;
	}
	if (p->info.old_magic)
		p->info.big_endian =
			!known_header_size(get_u64(head + 8, false)) &&
			known_header_size(get_u64(head + 8, true));
	*size = get_u64(head + AT_HEADER_SIZE, p->info.big_endian);
	if (!known_header_size(*size)) {
		pd_fault(p, FATAL, AT_HEADER_SIZE, "header",
			 "unknown header size %llu, neither %d (pipe mode) nor "
			 "%d (file mode)", (ull)*size, PIPE_HEADER_SIZE,
			 FILE_HEADER_SIZE);
		return -EBADMSG;
	}
	return 0;
}

static struct pd_section section_at(const struct perfclock_perfdata *p,
				    const uint8_t *bytes)
{
	return (struct pd_section){
		get_u64(bytes, p->info.big_endian),
		get_u64(bytes + 8, p->info.big_endian)
	};
}

/* Bytes of a section that the file has; size 0: unknown file size. */
static uint64_t section_have(const struct perfclock_perfdata *p,
			     struct pd_section s)
{
	if (!p->in.seekable)
		return s.size;
	if (s.offset >= p->in.size)
		return 0;
	return s.size < p->in.size - s.offset ? s.size :
					       p->in.size - s.offset;
}

static void check_data(struct perfclock_perfdata *p)
{
	uint64_t have = section_have(p, p->data), end;

	if (!p->data.size && p->in.seekable && p->data.offset < p->in.size &&
	    !(p->info.features[0] | p->info.features[1] |
	      p->info.features[2] | p->info.features[3])) {
		pd_fault(p, DAMAGE, AT_DATA + 8, "data",
			 "data section of size 0: the recorder did not end "
			 "properly; taken up to the end of the file");
		have = p->in.size - p->data.offset;
		p->data_cut = true;
	} else if (__builtin_add_overflow(p->data.offset, p->data.size, &end)) {
		pd_fault(p, DAMAGE, AT_DATA, "data",
			 "data section: offset %llu + size %llu overflow; "
			 "taken up to the end of the file",
			 (ull)p->data.offset, (ull)p->data.size);
		p->data_cut = true;
		if (!p->in.seekable)
			have = UINT64_MAX - p->data.offset;
	} else if (have < p->data.size) {
		pd_fault(p, DAMAGE, AT_DATA + 8, "data",
			 "data section truncated: says %llu bytes, has %llu",
			 (ull)p->data.size, (ull)have);
		p->data_cut = true;
	}
	p->data_end = p->data.offset + have;
	p->info.data_offset = p->data.offset;
	p->info.data_size = have;
}

static int read_ids(struct perfclock_perfdata *p, struct pd_section s,
		    uint64_t where)
{
	struct pd_attr *a = &p->attr[p->nr_attrs - 1];
	uint64_t have = section_have(p, s), done = 0, n;
	uint8_t chunk[4096];
	uint32_t i;
	int err;

	if (s.size && s.offset >= p->data_end)
		p->behind_data = true;
	if (have < s.size)
		pd_fault(p, DAMAGE, where, "ids", have ?
			 "id section too large: %llu bytes at %llu reach "
			 "beyond the end of the file" :
			 "id section of %llu bytes at %llu lies beyond the end "
			 "of the file", (ull)s.size, (ull)s.offset);
	else if (s.size % 8)
		pd_fault(p, DAMAGE, where + 8, "ids", "id section of %llu "
			 "bytes: not a multiple of 8", (ull)s.size);
	while (have - done >= 8 && p->ids_seen < PD_MAX_IDS) {
		n = have - done < sizeof(chunk) ? have - done : sizeof(chunk);
		n &= ~7ull;
		err = pd_input_at(&p->in, s.offset + done, chunk, n);
		if (err == -ENODATA) {
			pd_fault(p, DAMAGE, where, "ids", "id section of %llu "
				 "bytes at %llu is not before the data, and "
				 "the input can't be seeked", (ull)s.size,
				 (ull)s.offset);
			return 0;
		}
		for (i = 0; !err && i < n / 8; i++)
			err = pd_id_add(p, get_u64(chunk + i * 8,
						   p->info.big_endian),
					p->nr_attrs - 1, done / 8 + i,
					s.offset + done + i * 8);
		if (err)
			return err;
		done += n;
		a->nr_ids += n / 8;
	}
	return 0;
}

/* One entry: what its writer knew of perf_event_attr, then the ids' section. */
static int read_attr(struct perfclock_perfdata *p, uint64_t at)
{
	const uint32_t room = p->attr_size - 16;
	uint8_t bytes[256] = { 0 };
	uint32_t size = room < sizeof(bytes) ? room : sizeof(bytes);
	uint32_t says;
	uint8_t ids[16];
	int err;

	err = pd_input_at(&p->in, at, bytes, size);
	if (!err)
		err = pd_input_at(&p->in, at + room, ids, sizeof(ids));
	if (err)
		return err;
	says = get_u32(bytes + 4, p->info.big_endian);
	if (!says)
		says = PD_ATTR_SIZE_0;
	if (says > room)
		pd_fault(p, DAMAGE, at + 4, "attr",
			 "attr.size %u is larger than its entry of %u bytes; "
			 "taken as %u", says, room, room);
	err = pd_attr_add(p, bytes, says < size ? says : size);
	return err ? err : read_ids(p, section_at(p, ids), at + room);
}

static int read_attrs(struct perfclock_perfdata *p)
{
	uint64_t have = section_have(p, p->attrs), i, nr;
	int err;

	if (have < p->attrs.size)
		pd_fault(p, DAMAGE, AT_ATTRS, "attr", "attribute section "
			 "truncated: says %llu bytes, has %llu",
			 (ull)p->attrs.size, (ull)have);
	else if (p->attrs.size % p->attr_size)
		pd_fault(p, DAMAGE, AT_ATTRS + 8, "attr", "attribute section "
			 "of %llu bytes: not a multiple of %u",
			 (ull)p->attrs.size, p->attr_size);
	if (p->attrs.offset >= p->data_end)
		p->behind_data = true;
	nr = have / p->attr_size;
	if (nr > PD_MAX_ATTRS) {
		pd_fault(p, DAMAGE, AT_ATTRS + 8, "attr", "%llu attributes: "
			 "only %u are read", (ull)nr, PD_MAX_ATTRS);
		nr = PD_MAX_ATTRS;
	}
	for (i = 0; i < nr; i++) {
		err = read_attr(p, p->attrs.offset + i * p->attr_size);
		if (err == -ENODATA) {
			pd_fault(p, FATAL, AT_ATTRS, "attr", p->in.seekable ?
				 "attributes can't be read" :
				 "attributes are not before the data, and the "
				 "input can't be seeked");
			return -EBADMSG;
		}
		if (err)
			return err;
	}
	if (p->ambiguous)
		pd_fault(p, DAMAGE, p->attrs.offset, "ambiguous",
			 "ambiguous: sample types differ and the id is not at "
			 "one position; stamps can't be read");
	return 0;
}

/* "HOSTNAME" and its like: a length, then so many bytes. */
static bool check_string(struct perfclock_perfdata *p, unsigned int feature,
			 const uint8_t *bytes, size_t have, uint64_t size,
			 uint64_t offset)
{
	const char *name = perfclock_perfdata_feature_name(feature);
	uint32_t len;

	if (size < 4 || have < 4) {
		pd_fault(p, DAMAGE, offset, "feature", "feature %s truncated: "
			 "%llu bytes", name, (ull)size);
		return false;
	}
	len = get_u32(bytes, p->info.big_endian);
	if (len > size - 4) {
		pd_fault(p, DAMAGE, offset, "feature", "feature %s: string "
			 "length %u exceeds its section of %llu bytes", name,
			 len, (ull)size);
		return false;
	}
	if (len > have - 4)
		len = have - 4;
	free(p->strings[feature]);
	p->strings[feature] = strndup((const char *)bytes + 4, len);
	return true;
}

bool pd_feature_check(struct perfclock_perfdata *p, unsigned int feature,
		      const uint8_t *bytes, size_t have, uint64_t size,
		      uint64_t offset)
{
	/* Least size, for those that have one. */
	static const uint8_t least[] = {
		[PD_FEATURE_NRCPUS] = 8, [10 /* TOTAL_MEM */] = 8,
		[11 /* CMDLINE */] = 4, [12 /* EVENT_DESC */] = 8,
		[13 /* CPU_TOPOLOGY */] = 4, [14 /* NUMA_TOPOLOGY */] = 4,
		[16 /* PMU_MAPPINGS */] = 4, [17 /* GROUP_DESC */] = 4,
		[PD_FEATURE_AUXTRACE] = 8, [20 /* CACHE */] = 8,
		[21 /* SAMPLE_TIME */] = 16, [22 /* MEM_TOPOLOGY */] = 24,
		[23 /* CLOCKID */] = 8, [24 /* DIR_FORMAT */] = 8,
		[25 /* BPF_PROG_INFO */] = 4, [26 /* BPF_BTF */] = 4,
		[PD_FEATURE_COMPRESSED] = 20, [28 /* CPU_PMU_CAPS */] = 4,
		[29 /* CLOCK_DATA */] = 24, [30 /* HYBRID */] = 4,
		[31 /* PMU_CAPS */] = 4,
	};
	const char *name = perfclock_perfdata_feature_name(feature);

	switch (feature) {
	case PD_FEATURE_HOSTNAME: case PD_FEATURE_OSRELEASE:
	case PD_FEATURE_VERSION: case PD_FEATURE_ARCH:
	case PD_FEATURE_CPUDESC: case PD_FEATURE_CPUID:
		return check_string(p, feature, bytes, have, size, offset);
	}
	if (feature < sizeof(least) && size < least[feature]) {
		pd_fault(p, DAMAGE, offset, "feature", "feature %s truncated: "
			 "%llu bytes, need %u", name, (ull)size,
			 least[feature]);
		return false;
	}
	return true;
}

static uint64_t end_of_table(const struct perfclock_perfdata *p)
{
	uint64_t nr = 0;
	unsigned int i;

	for (i = 0; i < PD_FEATURES / 64; i++)
		nr += __builtin_popcountll(p->info.features[i]);
	return p->data_end + nr * 16;
}

/* One feature's section. Damage here leaves the events as they are. */
static int read_feature(struct perfclock_perfdata *p, unsigned int feature,
			uint64_t at)
{
	const char *name = perfclock_perfdata_feature_name(feature);
	uint8_t bytes[PD_MAX_STRING];
	struct pd_section s;
	char number[16];
	uint64_t have;
	int err;

	if (!name) {
		snprintf(number, sizeof(number), "%u", feature);
		name = number;
	}
	err = pd_input_at(&p->in, at, bytes, 16);
	if (err == -ENODATA) {
		pd_fault(p, DAMAGE, at, "feature", "feature %s truncated: the "
			 "file ends before its section's place", name);
		return 0;
	}
	if (err)
		return err;
	s = section_at(p, bytes);
	have = section_have(p, s);
	if (have < s.size) {
		pd_fault(p, DAMAGE, at, "feature", have ?
			 "feature %s truncated: %llu bytes at %llu reach "
			 "beyond the end of the file" :
			 "feature %s: %llu bytes at %llu lie beyond the end of "
			 "the file", name, (ull)s.size, (ull)s.offset);
		return 0;
	}
	/* Among the records or in the table itself it would change with them. */
	if (s.size && s.offset < end_of_table(p)) {
		pd_fault(p, DAMAGE, at, "feature", "feature %s: its section at "
			 "%llu is not behind the table of features", name,
			 (ull)s.offset);
		return 0;
	}
	if (have > sizeof(bytes))
		have = sizeof(bytes);
	if (have)	/* an empty one may be said to be anywhere */
		err = pd_input_at(&p->in, s.offset, bytes, have);
	if (!err)
		pd_feature_check(p, feature, bytes, have, s.size, s.offset);
	return err;
}

static int read_features(struct perfclock_perfdata *p)
{
	uint64_t at = p->data_end;
	unsigned int i;
	int err;

	/* Without an end of the data there is no place to look at. */
	if (p->data_cut || !p->in.seekable)
		return 0;
	for (i = 0; i < PD_FEATURES; i++) {
		if (!(p->info.features[i / 64] >> i % 64 & 1))
			continue;
		err = read_feature(p, i, at);
		if (err)
			return err;
		at += 16;
	}
	return 0;
}

static int check_attr_size(struct perfclock_perfdata *p, uint64_t size)
{
	if (size >= PD_ATTR_SIZE_0 + 16 && size <= UINT16_MAX) {
		p->attr_size = size;
		return 0;
	}
	pd_fault(p, FATAL, AT_ATTR_SIZE, "attr", "attr entry size %llu%s",
		 (ull)size, !size ? "" : size <= UINT16_MAX ?
		 " too small: at least 80" : " too large");
	return -EBADMSG;
}

static int read_file_header(struct perfclock_perfdata *p, uint64_t size)
{
	const uint8_t *h = pd_input_peek(&p->in, size);
	const bool big = p->info.big_endian;
	unsigned int i;
	int err;

	if (!h) {
		if (p->in.error)
			return p->in.error;
		pd_fault(p, FATAL, pd_input_left(&p->in), "header",
			 "truncated header: %zu of %llu bytes",
			 pd_input_left(&p->in), (ull)size);
		return -EBADMSG;
	}
	p->attrs = section_at(p, h + AT_ATTRS);
	p->data = section_at(p, h + AT_DATA);
	/* 64-bit words, as all writers of today do. */
	for (i = 0; size == FILE_HEADER_SIZE && i < 4; i++)
		p->info.features[i] = get_u64(h + AT_FEATURES + i * 8, big);
	err = check_attr_size(p, get_u64(h + AT_ATTR_SIZE, big));
	if (err)
		return err;
	if ((p->data.offset < size && p->data.size) ||
	    (p->in.seekable && p->data.offset > p->in.size)) {
		pd_fault(p, FATAL, AT_DATA, "data", "data section at %llu: %s",
			 (ull)p->data.offset, p->data.offset < size ?
			 "inside the header" : "beyond the end of the file");
		return -EBADMSG;
	}
	check_data(p);
	err = pd_input_keep(&p->in, p->data.offset);
	if (err == -ENODATA || err == -EFBIG) {
		pd_fault(p, FATAL, AT_DATA, "data", "data section at %llu: %s",
			 (ull)p->data.offset, err == -ENODATA ?
			 "beyond the end of the stream" : "too far off for an "
			 "input that can't be seeked");
		return -EBADMSG;
	}
	if (!err)
		err = read_attrs(p);
	return err ? err : read_features(p);
}

int pd_read_header(struct perfclock_perfdata *p)
{
	uint64_t size;
	int err = read_start(p, &size);

	if (err)
		return err;
	p->info.size = p->in.seekable ? p->in.size : 0;
	if (size != PIPE_HEADER_SIZE)
		return read_file_header(p, size);
	p->info.pipe = true;
	p->info.data_offset = PIPE_HEADER_SIZE;
	p->info.data_size = UINT64_MAX;
	pd_input_take(&p->in, PIPE_HEADER_SIZE);
	return 0;
}
