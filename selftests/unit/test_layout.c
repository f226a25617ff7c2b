// SPDX-License-Identifier: GPL-2.0
/*
 * What records keep is found where the kernel puts it: every sample type and
 * read format, against a writer that goes by the words of perf_event_open(2).
 */
#include <stdint.h>
#include <stdlib.h>

#include "ring/layout.h"
#include "tap.h"

#define FORMAT_LOST	(1u << 4)	/* PERF_FORMAT_LOST, since 6.0 */
#define NR_FORMATS	(1u << 5)

#define ID	0x1dull
#define TIME	777ull
#define PID	11
#define TID	12
#define CPU	5
#define ELSE	0xbad0bad0bad0bad0ull
#define CALLS	3
#define RAW	12		/* bytes; with the size word two of 8 */

static struct {
	struct perf_event_header h;
	uint64_t word[64];
} rec;

static unsigned int words;		/* written behind the header */
static const void *raw_at;

static void put(uint64_t v)
{
	rec.word[words++] = v;
}

static void put_if(uint64_t set, uint64_t v)
{
	if (set)
		put(v);
}

static uint64_t pair(uint32_t first, uint32_t second)
{
	uint32_t both[2] = { first, second };
	uint64_t v;

	memcpy(&v, both, sizeof(v));
	return v;
}

static void begin(uint32_t type)
{
	memset(&rec, 0, sizeof(rec));
	rec.h.type = type;
	words = 0;
	raw_at = NULL;
}

static void end(void)
{
	rec.h.size = sizeof(rec.h) + words * 8;
}

static void put_read(uint64_t format)
{
	unsigned int values = format & PERF_FORMAT_GROUP ? 2 : 1, i;

	if (format & PERF_FORMAT_GROUP)
		put(values);
	else
		put(ELSE);
	put_if(format & PERF_FORMAT_TOTAL_TIME_ENABLED, ELSE);
	put_if(format & PERF_FORMAT_TOTAL_TIME_RUNNING, ELSE);
	for (i = 0; i < values; i++) {
		put_if(format & PERF_FORMAT_GROUP, ELSE);
		put_if(format & PERF_FORMAT_ID, ELSE);
		put_if(format & FORMAT_LOST, ELSE);
	}
}

static void put_raw(void)
{
	raw_at = (const char *)&rec.word[words] + 4;
	put(pair(RAW, 0x01020304));
	put(pair(0x05060708, 0x090a0b0c));
}

static void write_sample(uint64_t type, uint64_t format)
{
	unsigned int i;

	begin(PERF_RECORD_SAMPLE);
	put_if(type & PERF_SAMPLE_IDENTIFIER, ID);
	put_if(type & PERF_SAMPLE_IP, ELSE);
	put_if(type & PERF_SAMPLE_TID, pair(PID, TID));
	put_if(type & PERF_SAMPLE_TIME, TIME);
	put_if(type & PERF_SAMPLE_ADDR, ELSE);
	put_if(type & PERF_SAMPLE_ID, ID);
	put_if(type & PERF_SAMPLE_STREAM_ID, ELSE);
	put_if(type & PERF_SAMPLE_CPU, pair(CPU, 0xbad));
	put_if(type & PERF_SAMPLE_PERIOD, ELSE);
	if (type & PERF_SAMPLE_READ)
		put_read(format);
	put_if(type & PERF_SAMPLE_CALLCHAIN, CALLS);
	for (i = 0; type & PERF_SAMPLE_CALLCHAIN && i < CALLS; i++)
		put(ELSE);
	if (type & PERF_SAMPLE_RAW)
		put_raw();
	end();
}

static void put_trailer(uint64_t type)
{
	put_if(type & PERF_SAMPLE_TID, pair(PID, TID));
	put_if(type & PERF_SAMPLE_TIME, TIME);
	put_if(type & PERF_SAMPLE_ID, ID);
	put_if(type & PERF_SAMPLE_STREAM_ID, ELSE);
	put_if(type & PERF_SAMPLE_CPU, pair(CPU, 0xbad));
	put_if(type & PERF_SAMPLE_IDENTIFIER, ID);
}

static struct pc_layout layout(uint64_t type, uint64_t format, bool id_all)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .sample_type = type,
		.read_format = format, .sample_id_all = id_all,
	};
	struct pc_layout l;

	pc_layout_init(&l, &attr);
	return l;
}

static void expect_common(const struct pc_fields *f, uint64_t type)
{
	ASSERT_EQ(f->stamp, type & PERF_SAMPLE_TIME ? TIME : 0);
	ASSERT_EQ(f->id, type & (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ID) ?
		  ID : 0);
	ASSERT_EQ(f->pid, type & PERF_SAMPLE_TID ? PID : -1);
	ASSERT_EQ(f->tid, type & PERF_SAMPLE_TID ? TID : -1);
	ASSERT_EQ(f->cpu, type & PERF_SAMPLE_CPU ? CPU : -1);
}

#define FIRST_BITS	(1u << 12)	/* IP to RAW, but for bits 10, 11 */

/* The n-th sample type that is told apart here. */
static uint64_t nth_type(unsigned int n)
{
	uint64_t type = n & 0x3ff;	/* IP to STREAM_ID */

	if (n & 1u << 10)
		type |= PERF_SAMPLE_RAW;
	if (n & 1u << 11)
		type |= PERF_SAMPLE_IDENTIFIER;
	return type;
}

static void samples_of_every_type_are_understood(void)
{
	unsigned int n, format;
	struct pc_fields f;
	struct pc_layout l;
	uint64_t type;

	for (n = 0; n < FIRST_BITS; n++) {
		type = nth_type(n);
		for (format = 0; format < NR_FORMATS; format++) {
			if (format && !(type & PERF_SAMPLE_READ))
				break;
			l = layout(type, format, n & 1);
			write_sample(type, format);
			pc_layout_parse(&l, &rec.h, &f);
			expect_common(&f, type);
			ASSERT_EQ(f.lost, 0);
			ASSERT(f.raw == raw_at);
			ASSERT_EQ(f.raw_size, raw_at ? RAW : 0);
		}
	}
}

static void trailers_of_every_type_are_understood(void)
{
	struct pc_fields f;
	struct pc_layout l;
	unsigned int n;
	uint64_t type;

	for (n = 0; n < FIRST_BITS; n++) {
		type = nth_type(n);
		begin(PERF_RECORD_LOST);
		put(ELSE);
		put(4321);
		put_trailer(type);
		end();
		l = layout(type, 0, true);
		pc_layout_parse(&l, &rec.h, &f);
		expect_common(&f, type);
		ASSERT_EQ(f.lost, 4321);
		ASSERT(!f.raw);
		begin(PC_RECORD_LOST_SAMPLES);
		put(87);
		put_trailer(type);
		end();
		pc_layout_parse(&l, &rec.h, &f);
		expect_common(&f, type);
		ASSERT_EQ(f.lost, 87);
		/* Without sample_id_all none is there. */
		l = layout(type, 0, false);
		begin(PERF_RECORD_LOST);
		put(ELSE);
		put(4321);
		end();
		pc_layout_parse(&l, &rec.h, &f);
		expect_common(&f, 0);
		ASSERT_EQ(f.lost, 4321);
	}
}

/* In memory of its own, so that a sanitizer sees a read past its end. */
static struct pc_fields parse_exactly(const struct pc_layout *l)
{
	struct perf_event_header *copy = malloc(rec.h.size);
	struct pc_fields f;

	ASSERT(copy);
	memcpy(copy, &rec, rec.h.size);
	pc_layout_parse(l, copy, &f);
	if (f.raw)
		EXPECT((const char *)f.raw + f.raw_size <=
		       (const char *)copy + rec.h.size);
	free(copy);
	return f;
}

#define ALL_TYPES	(nth_type(FIRST_BITS - 1))
#define FIXED		9		/* words before what READ puts */

/* Cut off anywhere: what isn't there is unknown, what is, is right. */
static void short_samples_are_not_read_past_their_end(void)
{
	const struct pc_layout l = layout(ALL_TYPES, PERF_FORMAT_GROUP, true);
	struct pc_fields f;
	unsigned int all, n;

	write_sample(ALL_TYPES, PERF_FORMAT_GROUP);
	all = words;
	for (n = 0; n < all; n++) {
		words = n;
		end();
		f = parse_exactly(&l);
		EXPECT_EQ(f.stamp, n >= 4 ? TIME : 0);
		EXPECT(!f.raw);
		EXPECT_EQ(f.raw_size, 0);
		/* The fixed part is there or it is not. */
		EXPECT_EQ(f.id, n >= FIXED ? ID : 0);
		EXPECT_EQ(f.cpu, n >= FIXED ? CPU : -1);
		EXPECT_EQ(f.tid, n >= FIXED ? TID : -1);
	}
	words = all;
	end();
	EXPECT(parse_exactly(&l).raw);
}

static void short_side_band_records_have_no_trailer(void)
{
	const struct pc_layout l = layout(ALL_TYPES, 0, true);
	struct pc_fields f;
	unsigned int all, n;

	begin(PERF_RECORD_COMM);
	put_trailer(ALL_TYPES);
	all = words;
	for (n = 0; n <= all; n++) {
		words = n;
		end();
		f = parse_exactly(&l);
		expect_common(&f, n == all ? ALL_TYPES : 0);
	}
	/* A count that is cut off is none. */
	for (n = 0; n <= 2; n++) {
		begin(PERF_RECORD_LOST);
		put_if(n > 0, 1);
		put_if(n > 1, 99);
		put_trailer(ALL_TYPES);
		end();
		EXPECT_EQ(parse_exactly(&l).lost, n == 2 ? 99 : 0);
	}
	begin(PC_RECORD_LOST_SAMPLES);
	put_trailer(ALL_TYPES);
	end();
	EXPECT_EQ(parse_exactly(&l).lost, 0);
}

/* Numbers in a record that lead out of it. */
static void counts_in_samples_are_not_believed(void)
{
	static const uint64_t lies[] = {
		16, 1ull << 32, 1ull << 60, 1ull << 61, UINT64_MAX / 16 + 1,
		UINT64_MAX / 8, UINT64_MAX,
	};
	const uint64_t read = PERF_SAMPLE_READ | PERF_SAMPLE_RAW;
	const uint64_t calls = PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW;
	const uint64_t format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	struct pc_layout l;
	size_t i;

	for (i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		l = layout(read, format, false);
		write_sample(read, format);
		EXPECT(parse_exactly(&l).raw);
		rec.word[0] = lies[i];
		EXPECT(!parse_exactly(&l).raw);
		l = layout(calls, 0, false);
		write_sample(calls, 0);
		EXPECT(parse_exactly(&l).raw);
		rec.word[0] = lies[i];
		rec.word[1] = pair(4, 0);	/* as if raw bytes came here */
		EXPECT(!parse_exactly(&l).raw);
	}
	l = layout(PERF_SAMPLE_RAW, 0, false);
	write_sample(PERF_SAMPLE_RAW, 0);
	rec.word[0] = pair(RAW + 1, 0);
	EXPECT(!parse_exactly(&l).raw);
	rec.word[0] = pair(UINT32_MAX, 0);
	EXPECT(!parse_exactly(&l).raw);
	rec.word[0] = pair(RAW - 1, 0);
	EXPECT_EQ(parse_exactly(&l).raw_size, RAW - 1);
}

static void identifiers_are_found_without_a_layout(void)
{
	write_sample(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME, 0);
	EXPECT_EQ(pc_record_identifier(&rec.h), ID);
	begin(PERF_RECORD_COMM);
	put(ELSE);
	put_trailer(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME);
	end();
	EXPECT_EQ(pc_record_identifier(&rec.h), ID);
	rec.h.size = sizeof(rec.h);
	EXPECT_EQ(pc_record_identifier(&rec.h), 0);
}

static void layouts_are_the_same_if_all_lies_where_it_did(void)
{
	const uint64_t type = PERF_SAMPLE_TIME | PERF_SAMPLE_READ;
	const struct pc_layout a = layout(type, 0, true);
	struct pc_layout b = layout(type, 0, true);

	EXPECT(pc_layout_same(&a, &b));
	b = layout(type | PERF_SAMPLE_IP, 0, true);
	EXPECT(!pc_layout_same(&a, &b));
	b = layout(type, PERF_FORMAT_ID, true);
	EXPECT(!pc_layout_same(&a, &b));
	b = layout(type, 0, false);
	EXPECT(!pc_layout_same(&a, &b));
}

static void stamps_that_say_nothing_only_keep_their_place(void)
{
	EXPECT(!pc_record_placed(PERF_RECORD_SAMPLE, TIME));
	EXPECT(!pc_record_placed(PERF_RECORD_COMM, UINT64_MAX - 1));
	EXPECT(!pc_record_placed(PERF_RECORD_THROTTLE, 1));
	EXPECT(pc_record_placed(PERF_RECORD_SAMPLE, 0));
	EXPECT(pc_record_placed(PERF_RECORD_SAMPLE, UINT64_MAX));
	EXPECT(pc_record_placed(PERF_RECORD_LOST, TIME));
	EXPECT(pc_record_placed(PC_RECORD_LOST_SAMPLES, TIME));
	EXPECT(pc_record_placed(PERF_RECORD_READ, TIME));
}

#define T(name) { #name, name }
static const struct tap_test tests[] = {
	T(samples_of_every_type_are_understood),
	T(trailers_of_every_type_are_understood),
	T(short_samples_are_not_read_past_their_end),
	T(short_side_band_records_have_no_trailer),
	T(counts_in_samples_are_not_believed),
	T(identifiers_are_found_without_a_layout),
	T(layouts_are_the_same_if_all_lies_where_it_did),
	T(stamps_that_say_nothing_only_keep_their_place),
};

TAP_MAIN(tests)
