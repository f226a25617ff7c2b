// SPDX-License-Identifier: GPL-2.0
/* The reader of recordings: what it says of broken ones. */
#include "unit/perfdata_seen.h"

/* A fault by changing one number of a good file. */
struct broken {
	const char *what;
	size_t at;		/* from the start; DATA: from the first record */
	unsigned int width;
	uint64_t value;
	const char *kind;
	uint64_t offset;	/* the same */
	int opened;
	unsigned int samples;
};

#define DATA	(1ull << 40)

static const struct broken broken[] = {
	{ "magic", 0, 8, 0x1122334455667788, "magic", 0, -EBADMSG, 0 },
	{ "header size", 8, 8, 17, "header", 8, -EBADMSG, 0 },
	{ "attr size 0", 16, 8, 0, "attr", 16, -EBADMSG, 0 },
	{ "attr size small", 16, 8, 79, "attr", 16, -EBADMSG, 0 },
	{ "attr size huge", 16, 8, 1ull << 40, "attr", 16, -EBADMSG, 0 },
	{ "attrs beyond the end", 24, 8, 1ull << 40, "attr", 24, 0, 4 },
	{ "attrs size huge", 32, 8, UINT64_MAX, "attr", 24, 0, 4 },
	{ "data offset in the header", 40, 8, 8, "data", 40, -EBADMSG, 0 },
	{ "data beyond the end", 40, 8, 1ull << 40, "data", 40, -EBADMSG, 0 },
	{ "data size huge", 48, 8, 1ull << 40, "data", 48, 0, 4 },
	{ "data size wraps", 48, 8, UINT64_MAX - 8, "data", 40, 0, 4 },
	{ "data size 0", 48, 8, 0, "data", 48, 0, 4 },
	{ "attr.size lies", 124, 2, 4096, "attr", 124, 0, 4 },
	{ "ids beyond the end", 232, 8, 1ull << 40, "ids", 232, 0, 4 },
	{ "ids size huge", 240, 8, UINT64_MAX - 7, "ids", 232, 0, 4 },
	{ "ids size odd", 240, 8, 13, "ids", 240, 0, 4 },
	{ "record size 0", DATA + 56 + 6, 2, 0, "size", DATA + 56, 0, 0 },
	{ "record size 7", DATA + 56 + 6, 2, 7, "size", DATA + 56, 0, 0 },
	{ "record overruns", DATA + 56 + 6, 2, 65528, "size", DATA + 56, 0,
	  0 },
	{ "sample too short", DATA + 56 + 6, 2, 16, "short", DATA + 56, 0,
	  1 },
};

static void each_fault_is_told_with_its_offset(void)
{
	const struct broken *b;
	struct seen s;
	struct gen g;
	uint64_t at, offset;

	for (b = broken; b < broken + sizeof(broken) / sizeof(*b); b++) {
		make(&g, &(struct gen_opts){ 0 });
		ASSERT_EQ(g.data, 248);
		at = b->at & DATA ? b->at - DATA + g.data : b->at;
		offset = b->offset & DATA ? b->offset - DATA + g.data :
					    b->offset;
		memcpy(g.buf + at, &b->value, b->width);
		read_bytes(&s, g.buf, g.used);
		if (s.opened != b->opened || strcmp(s.kind, b->kind) ||
		    s.offset != offset || s.samples < b->samples)
			tap_fail(__FILE__, __LINE__, "%s: opened %d, fault "
				 "'%s' at %llu (%s), %u samples", b->what,
				 s.opened, s.kind,
				 (unsigned long long)s.offset, s.text,
				 s.samples);
		if (s.opened)
			EXPECT(strlen(s.error) > 0);
		gen_free(&g);
	}
}

static void a_good_file_of_the_fault_table_has_none(void)
{
	struct seen s;
	struct gen g;

	make(&g, &(struct gen_opts){ 0 });
	read_bytes(&s, g.buf, g.used);
	expect_made(&s, false);
	gen_free(&g);
}

/* Members whose size is in the record, one too large each. */
static void members_longer_than_their_sample_are_damage(void)
{
	static const struct {
		uint64_t bit, read_format;
	} members[] = {
		{ PERF_SAMPLE_READ, PERF_FORMAT_GROUP },
		{ PERF_SAMPLE_CALLCHAIN, 0 },
		{ PERF_SAMPLE_RAW, 0 },
		{ PERF_SAMPLE_BRANCH_STACK, 0 },
		{ PERF_SAMPLE_STACK_USER, 0 },
		{ PERF_SAMPLE_AUX, 0 },
	};
	static const uint64_t sizes[] = { 2, 1ull << 29, 1ull << 61,
					  UINT64_MAX };
	struct seen s;
	struct gen g;
	unsigned int i;
	uint64_t extra;

	for (i = 0; i < 6 * 4; i++) {
		struct gen_opts o = {
			.sample_type = { GEN_SAMPLE_TYPE |
					 members[i / 4].bit },
			.read_format = members[i / 4].read_format,
		};

		extra = sizes[i % 4];
		if (members[i / 4].bit == PERF_SAMPLE_RAW)
			extra = 0xfffffff0u - i;
		gen_begin(&g, &o);
		gen_sample(&g, 0, STAMP, 1, &extra, 8);
		gen_sample(&g, 0, STAMP + 1, 1, "\0\0\0\0\0\0\0", 8);
		gen_end(&g);
		read_bytes(&s, g.buf, g.used);
		EXPECT_STREQ(s.kind, "sample");
		EXPECT_EQ(s.offset, g.data);
		EXPECT_EQ(s.faults, 1);
		EXPECT_EQ(s.damaged, 1);
		EXPECT_EQ(s.stamped, 2);	/* the stamp comes before */
		EXPECT_EQ(s.cpus[0], 1);
		gen_free(&g);
	}
}

static void counts_larger_than_their_record_are_damage(void)
{
	static const uint32_t types[] = {
		PERFCLOCK_PERFDATA_ID_INDEX, PERFCLOCK_PERFDATA_THREAD_MAP,
		PERFCLOCK_PERFDATA_STAT_CONFIG,
	};
	static const uint64_t counts[] = { 2, 1ull << 40, 1ull << 59,
					   UINT64_MAX };
	struct seen s;
	struct gen g;
	unsigned int i;

	for (i = 0; i < 3 * 4 * 2; i++) {
		gen_begin(&g, &(struct gen_opts){ .pipe = true,
						  .big = i % 2 });
		gen_record(&g, types[i / 2 / 4]);
		gen_u64(&g, counts[i / 2 % 4]);
		gen_bytes(&g, NULL, 8);
		gen_record_end(&g);
		gen_sample(&g, 0, STAMP, 0, NULL, 0);
		gen_end(&g);
		read_bytes(&s, g.buf, g.used);
		EXPECT_STREQ(s.kind, "count");
		EXPECT_EQ(s.offset, g.data);
		EXPECT_EQ(s.stamped, 1);
		gen_free(&g);
	}
}

static void payload_beyond_the_end_is_damage(void)
{
	static const uint64_t sizes[] = { 1000, 1ull << 62, UINT64_MAX };
	struct seen s;
	struct gen g;
	unsigned int i;

	for (i = 0; i < 6; i++) {
		gen_begin(&g, &(struct gen_opts){ .pipe = i % 2 });
		gen_sample(&g, 0, STAMP, 0, NULL, 0);
		gen_auxtrace(&g, NULL, 8);
		gen_set_u64(&g, g.record + 8, sizes[i / 2]);
		gen_end(&g);
		read_bytes(&s, g.buf, g.used);
		EXPECT_STREQ(s.kind, "payload");
		EXPECT_EQ(s.stamped, 1);
		read_piped(&s, g.buf, g.used);
		EXPECT_STREQ(s.kind, "payload");
		gen_free(&g);
	}
}

static void packed_files_are_named(void)
{
	static const char gz[32] = "\x1f\x8b\x08";
	struct seen s;

	read_bytes(&s, gz, sizeof(gz));
	EXPECT_EQ(s.opened, -EOPNOTSUPP);
	EXPECT(strstr(s.text, "gzip") != NULL);
}

/* Wherever the file ends: told of, what is whole is read, nothing more. */
static void every_truncation_is_told_of(void)
{
	struct seen s, before;
	struct gen g;
	size_t n, i;
	int mode;

	for (mode = 0; mode < 2; mode++) {
		make(&g, &(struct gen_opts){ .pipe = mode });
		memset(&before, 0, sizeof(before));
		n = g.used;
		for (i = 0; i < n; i++) {
			read_bytes(&s, g.buf, i);
			if (!mode || i < 16)
				EXPECT(s.damages > 0);
			EXPECT(s.records >= before.records);
			before = s;
			read_piped(&s, g.buf, i);
			if (!mode || i < 16)
				EXPECT(s.damages > 0);
			if (!before.opened && !s.opened)
				EXPECT_EQ(s.records, before.records);
		}
		gen_free(&g);
	}
}

/* No byte can make the reader fail to end. Sanitizers see the rest. */
static void every_changed_byte_is_survived(void)
{
	static const uint8_t values[] = { 0, 1, 0x7f, 0x80, 0xff };
	struct seen s;
	struct gen g;
	size_t i, k;
	uint8_t was;

	make(&g, &(struct gen_opts){ .nr_attrs = 2 });
	for (i = 0; i < g.used; i++) {
		was = g.buf[i];
		for (k = 0; k < sizeof(values); k++) {
			g.buf[i] = values[k];
			read_bytes(&s, g.buf, g.used);
			EXPECT(s.opened || s.ended == 0);
			EXPECT(s.records <= g.used / 8);
		}
		g.buf[i] = was;
	}
	gen_free(&g);
}

static void compressed_data_that_is_cut_is_damage(void)
{
#ifdef HAVE_LIBZSTD
	struct seen s;
	struct gen g;
	int k;

	gen_begin(&g, &(struct gen_opts){ 0 });
	for (k = 0; k < 500; k++)
		gen_sample(&g, 0, STAMP + k, k % 2, NULL, 0);
	g.used -= 8;			/* of the last sample */
	compress_data(&g, 60000);
	gen_end(&g);
	read_bytes(&s, g.buf, g.used);
	EXPECT_EQ(s.samples, 499);
	EXPECT_STREQ(s.kind, "truncated");
	EXPECT_EQ(s.offset, g.data);
	gen_free(&g);
#else
	SKIP("built without libzstd");
#endif
}

static void a_decompression_bomb_is_refused(void)
{
#ifdef HAVE_LIBZSTD
	const size_t big = 80 << 20;
	struct seen s;
	struct gen g;
	size_t at;

	gen_begin(&g, &(struct gen_opts){ 0 });
	gen_bytes(&g, NULL, big);
	for (at = g.data; at < g.used; at += 65528) {
		memset(g.buf + at, 0xff, 4);	/* an unknown type */
		gen_set_u16(&g, at + 6, 65528);
	}
	compress_data(&g, 60000);
	gen_end(&g);
	ASSERT(g.used < 60000);
	read_bytes(&s, g.buf, g.used);
	EXPECT_STREQ(s.kind, "zstd");
	EXPECT_EQ(s.fatals, 1);
	EXPECT(s.records > 100 && s.records < 1100);
	gen_free(&g);
#else
	SKIP("built without libzstd");
#endif
}

#define T(name)	{ #name, name }
static const struct tap_test tests[] = {
	T(compressed_data_that_is_cut_is_damage),
	T(a_decompression_bomb_is_refused),
	T(each_fault_is_told_with_its_offset),
	T(a_good_file_of_the_fault_table_has_none),
	T(members_longer_than_their_sample_are_damage),
	T(counts_larger_than_their_record_are_damage),
	T(payload_beyond_the_end_is_damage),
	T(packed_files_are_named),
	T(every_truncation_is_told_of),
	T(every_changed_byte_is_survived),
};

TAP_MAIN(tests)
