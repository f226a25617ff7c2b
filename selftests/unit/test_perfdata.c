// SPDX-License-Identifier: GPL-2.0
/* The reader of recordings: what it reads. */
#include "unit/perfdata_seen.h"

static void modes_and_byte_orders_read_alike(void)
{
	struct seen s;
	struct gen g;
	int i;

	for (i = 0; i < 4; i++) {
		struct gen_opts o = { .pipe = i & 1, .big = i & 2 };

		make(&g, &o);
		read_bytes(&s, g.buf, g.used);
		expect_made(&s, o.pipe);
		EXPECT_EQ(s.info.pipe, o.pipe);
		EXPECT_EQ(s.info.big_endian, o.big);
		read_piped(&s, g.buf, g.used);
		expect_made(&s, o.pipe);
		gen_free(&g);
	}
}

static void old_magic_is_read_in_both_byte_orders(void)
{
	struct seen s;
	struct gen g;
	int big;

	for (big = 0; big < 2; big++) {
		make(&g, &(struct gen_opts){ .old_magic = true, .big = big });
		read_bytes(&s, g.buf, g.used);
		expect_made(&s, false);
		EXPECT(s.info.old_magic);
		gen_free(&g);
	}
}

static void attributes_of_any_age_are_read(void)
{
	static const unsigned int sizes[] = { 64, 72, 80, 96, 112, 136, 400 };
	struct seen s;
	struct gen g;
	unsigned int i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]) * 2; i++) {
		make(&g, &(struct gen_opts){ .attr_size = sizes[i / 2],
					     .pipe = i % 2 });
		read_bytes(&s, g.buf, g.used);
		expect_made(&s, i % 2);
		EXPECT_EQ(s.info.nr_ids, 2);
		gen_free(&g);
	}
}

static void attribute_size_zero_means_the_first_abi(void)
{
	struct seen s;
	struct gen g;
	int pipe;

	for (pipe = 0; pipe < 2; pipe++) {
		make(&g, &(struct gen_opts){ .attr_size = 64, .pipe = pipe,
					     .zero_size = true });
		read_bytes(&s, g.buf, g.used);
		expect_made(&s, pipe);
		EXPECT_EQ(s.info.nr_ids, 2);
		gen_free(&g);
	}
}

static void clock_of_an_event_is_told(void)
{
	struct perfclock_perfdata_attr a = { .sz = sizeof(a) };
	struct perfclock_perfdata *p;
	struct gen g;
	int big, fd;

	for (big = 0; big < 2; big++) {
		make(&g, &(struct gen_opts){ .use_clockid = true, .clockid = 4,
					     .big = big });
		fd = memfd_create("recording", 0);
		ASSERT_EQ(write(fd, g.buf, g.used), g.used);
		lseek(fd, 0, SEEK_SET);
		ASSERT_EQ(perfclock_perfdata_open_fd(&p, fd, NULL), 0);
		ASSERT_EQ(perfclock_perfdata_get_attr(p, 0, &a), 0);
		EXPECT(a.use_clockid);
		EXPECT(a.sample_id_all);
		EXPECT_EQ(a.clockid, 4);
		EXPECT_EQ(a.sample_type, GEN_SAMPLE_TYPE);
		EXPECT_EQ(perfclock_perfdata_get_attr(p, 1, &a), -EINVAL);
		perfclock_perfdata_close(p);
		close(fd);
		gen_free(&g);
	}
}

/* Samples of two layouts, each with an identifier in front. */
static const struct gen_opts two_layouts = {
	.nr_attrs = 2,
	.sample_type = { GEN_SAMPLE_TYPE, GEN_SAMPLE_TYPE | PERF_SAMPLE_ADDR },
};

static void identifier_tells_layouts_apart(void)
{
	struct seen s;
	struct gen g;

	gen_begin(&g, &two_layouts);
	gen_sample(&g, 0, STAMP + 1, 0, NULL, 0);
	gen_sample(&g, 1, STAMP + 2, 1, NULL, 0);
	gen_comm(&g, 1, STAMP + 3, 1, "app\0\0\0\0");
	gen_end(&g);
	read_bytes(&s, g.buf, g.used);
	EXPECT_EQ(s.faults, 0);
	EXPECT_EQ(s.stamped, 3);
	EXPECT_EQ(s.stamps[1], STAMP + 2);
	EXPECT_EQ(s.cpus[1], 1);
	gen_free(&g);
}

static void ambiguous_layouts_give_no_stamps(void)
{
	struct gen_opts o = {
		.nr_attrs = 2,
		.sample_type = { PERF_SAMPLE_TIME | PERF_SAMPLE_ID,
				 PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |
				 PERF_SAMPLE_ID },
	};
	struct seen s;
	struct gen g;
	int pipe;

	for (pipe = 0; pipe < 2; pipe++) {
		o.pipe = pipe;
		gen_begin(&g, &o);
		gen_sample(&g, 0, STAMP, 0, NULL, 0);
		gen_end(&g);
		read_bytes(&s, g.buf, g.used);
		EXPECT_STREQ(s.kind, "ambiguous");
		EXPECT_EQ(s.samples, 1);
		EXPECT_EQ(s.stamped, 0);
		EXPECT(!s.info.identifiable);
		gen_free(&g);
	}
}

static void unknown_id_among_several_layouts_is_damage(void)
{
	struct seen s;
	struct gen g;

	gen_begin(&g, &two_layouts);
	gen_sample(&g, 0, STAMP, 77, NULL, 0);
	gen_end(&g);
	read_bytes(&s, g.buf, g.used);
	EXPECT_STREQ(s.kind, "id");
	EXPECT_EQ(s.offset, g.data);
	EXPECT_EQ(s.stamped, 0);
	gen_free(&g);
}

/* A stream is the CPU, else by ID_INDEX, else by the id's place. */
static void streams_without_cpu_come_from_ids(void)
{
	struct gen_opts o = {
		.sample_type = { PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME },
	};
	struct seen s;
	struct gen g;
	int index;

	for (index = 0; index < 2; index++) {
		gen_begin(&g, &o);
		if (index) {
			gen_record(&g, PERFCLOCK_PERFDATA_ID_INDEX);
			gen_u64(&g, 1);
			gen_u64(&g, gen_id(0, 0));
			gen_u64(&g, 0);
			gen_u64(&g, 5);		/* CPU */
			gen_u64(&g, -1);
			gen_record_end(&g);
		}
		gen_sample(&g, 0, STAMP, 0, NULL, 0);
		gen_sample(&g, 0, STAMP, 1, NULL, 0);
		gen_end(&g);
		read_bytes(&s, g.buf, g.used);
		EXPECT_EQ(s.faults, 0);
		EXPECT_EQ(s.info.nr_streams, 2);
		EXPECT_EQ(s.stream0.kind, index ? PERFCLOCK_STREAM_CPU :
			  PERFCLOCK_STREAM_POSITION);
		EXPECT_EQ(s.stream0.key, index ? 5 : 0);
		EXPECT_EQ(s.cpus[0], index ? 5 : -1);
		gen_free(&g);
	}
}

static void unknown_cpu_is_a_stream_of_its_own(void)
{
	struct seen s;
	struct gen g;

	gen_begin(&g, &(struct gen_opts){ 0 });
	gen_sample(&g, 0, STAMP, -1, NULL, 0);
	gen_sample(&g, 0, STAMP, 0, NULL, 0);
	gen_sample(&g, 0, STAMP, -1, NULL, 0);
	gen_end(&g);
	read_bytes(&s, g.buf, g.used);
	EXPECT_EQ(s.info.nr_streams, 2);
	EXPECT_EQ(s.stream0.kind, PERFCLOCK_STREAM_NO_CPU);
	EXPECT_EQ(s.streams[0], s.streams[2]);
	gen_free(&g);
}

static void stamps_zero_and_all_ones_say_nothing(void)
{
	struct seen s;
	struct gen g;

	gen_begin(&g, &(struct gen_opts){ 0 });
	gen_sample(&g, 0, 0, 0, NULL, 0);
	gen_sample(&g, 0, UINT64_MAX, 0, NULL, 0);
	gen_sample(&g, 0, 1, 0, NULL, 0);
	gen_end(&g);
	read_bytes(&s, g.buf, g.used);
	EXPECT_EQ(s.samples, 3);
	EXPECT_EQ(s.stamped, 1);
	gen_free(&g);
}

static void no_trailers_mean_no_stamps_beside_samples(void)
{
	struct seen s;
	struct gen g;

	make(&g, &(struct gen_opts){ .no_sample_id = true });
	read_bytes(&s, g.buf, g.used);
	EXPECT_EQ(s.faults, 0);
	EXPECT_EQ(s.stamped, 4);
	gen_free(&g);
}

static void unknown_records_are_skipped(void)
{
	static const uint32_t types[] = { 63, 3000, 32769, 40000, UINT32_MAX };
	struct seen s;
	struct gen g;
	unsigned int i;

	gen_begin(&g, &(struct gen_opts){ 0 });
	for (i = 0; i < 5; i++)
		gen_raw(&g, types[i], "abcd", 4);	/* not of 8 bytes */
	gen_sample(&g, 0, STAMP, 0, NULL, 0);
	gen_end(&g);
	read_bytes(&s, g.buf, g.used);
	EXPECT_EQ(s.faults, 0);
	EXPECT_EQ(s.unknown, 4);	/* simpleperf's have names */
	EXPECT_EQ(s.stamped, 1);
	gen_free(&g);
}

static void payload_is_skipped_or_read(void)
{
	struct perfclock_perfdata_record r;
	struct perfclock_perfdata *p;
	char got[64] = "";
	struct gen g;
	int fd, piped, fds[2];

	for (piped = 0; piped < 2; piped++) {
		gen_begin(&g, &(struct gen_opts){ .pipe = piped });
		gen_auxtrace(&g, "first payload...", 16);
		gen_auxtrace(&g, "second payload..", 16);
		gen_sample(&g, 0, STAMP, 0, NULL, 0);
		gen_end(&g);
		ASSERT_EQ(pipe(fds), 0);
		ASSERT_EQ(write(fds[1], g.buf, g.used), g.used);
		close(fds[1]);
		fd = fds[0];
		ASSERT_EQ(perfclock_perfdata_open_fd(&p, fd, NULL), 0);
		while (perfclock_perfdata_next(p, &r) > 0) {
			if (r.type != PERFCLOCK_PERFDATA_AUXTRACE)
				continue;
			EXPECT_EQ(r.payload, 16);
			if (!got[0])	/* only the start of the first one */
				EXPECT_EQ(perfclock_perfdata_read_payload(p,
						got, 5), 5);
		}
		EXPECT_EQ(r.type, PERF_RECORD_SAMPLE);
		EXPECT_EQ(r.stamp, STAMP);
		EXPECT_STREQ(got, "first");
		perfclock_perfdata_close(p);
		close(fd);
		gen_free(&g);
	}
}

static void feature_strings_are_read(void)
{
	static const char host[] = "\x08\0\0\0machine\0";
	struct seen s;
	struct gen g;

	gen_begin(&g, &(struct gen_opts){ 0 });
	gen_feature(&g, 3, host, 12);
	gen_end(&g);
	read_bytes(&s, g.buf, g.used);
	EXPECT_EQ(s.faults, 0);
	EXPECT_STREQ(s.hostname, "machine");
	gen_free(&g);

	gen_begin(&g, &(struct gen_opts){ .pipe = true });
	gen_record(&g, PERFCLOCK_PERFDATA_HEADER_FEATURE);
	gen_u64(&g, 3);
	gen_bytes(&g, host, 12);
	gen_record_end(&g);
	gen_end(&g);
	read_bytes(&s, g.buf, g.used);
	EXPECT_EQ(s.faults, 0);
	EXPECT_STREQ(s.hostname, "machine");
	gen_free(&g);
}

static void compressed_records_come_out_whole(void)
{
#ifdef HAVE_LIBZSTD
	static const size_t pieces[] = { 10, 33, 60000 };
	struct seen s;
	struct gen g;
	int i, k;

	for (i = 0; i < 3; i++) {
		gen_begin(&g, &(struct gen_opts){ .big = i == 1 });
		for (k = 0; k < 500; k++)
			gen_sample(&g, 0, STAMP + k * k, k % 2, NULL, 0);
		compress_data(&g, pieces[i]);
		gen_end(&g);
		read_bytes(&s, g.buf, g.used);
		EXPECT_EQ(s.faults, 0);
		EXPECT_EQ(s.samples, 500);
		EXPECT_EQ(s.inner, 500);
		EXPECT_EQ(s.stamps[499], STAMP + 499 * 499);
		EXPECT(s.info.compressed);
		gen_free(&g);
	}
#else
	SKIP("built without libzstd");
#endif
}

static void more_cpus_than_streams_share_the_last(void)
{
	struct seen s;
	struct gen g;
	int i;

	gen_begin(&g, &(struct gen_opts){ 0 });
	for (i = 0; i < 5000; i++)
		gen_sample(&g, 0, STAMP, i * 7, NULL, 0);
	gen_end(&g);
	read_bytes(&s, g.buf, g.used);
	EXPECT_EQ(s.info.nr_streams, 4096);
	EXPECT_EQ(s.damages, 1);
	EXPECT_STREQ(s.kind, "streams");
	gen_free(&g);
}

static struct perfclock_perfdata *open_gen(const struct gen *g, int *fd)
{
	struct perfclock_perfdata *p;

	*fd = memfd_create("recording", MFD_CLOEXEC);
	ASSERT_EQ(write(*fd, g->buf, g->used), g->used);
	ASSERT_EQ(lseek(*fd, 0, SEEK_SET), 0);
	ASSERT_EQ(perfclock_perfdata_open_fd(&p, *fd, NULL), 0);
	return p;
}

static void a_record_has_all_its_members(void)
{
	struct perfclock_perfdata_attr a = { .sz = sizeof(a) };
	struct perfclock_perfdata_stream st = { .sz = sizeof(st) };
	struct perfclock_perfdata_info info = { .sz = sizeof(info) };
	struct perfclock_perfdata_record r;
	struct perfclock_perfdata *p;
	struct gen g;
	int fd;

	gen_begin(&g, &two_layouts);
	gen_sample(&g, 1, STAMP, 1, NULL, 0);
	gen_raw(&g, PERF_RECORD_COMM, NULL, 8);		/* too short */
	gen_raw(&g, PERFCLOCK_PERFDATA_TIME_CONV, NULL, 8);	/* the same */
	gen_end(&g);
	p = open_gen(&g, &fd);
	ASSERT_EQ(perfclock_perfdata_get_attr(p, 1, &a), 0);
	EXPECT_EQ(a.type, PERF_TYPE_SOFTWARE);
	EXPECT_EQ(a.config, 1);
	EXPECT_EQ(a.nr_ids, 2);
	ASSERT_EQ(perfclock_perfdata_next(p, &r), 1);
	EXPECT_EQ(r.offset, g.data);
	EXPECT_EQ(r.id, gen_id(1, 1));
	EXPECT_EQ(r.attr, 1);
	EXPECT_EQ(r.pid, 10);
	EXPECT_EQ(r.tid, 11);
	EXPECT_EQ(r.cpu, 1);
	EXPECT_EQ(r.payload, 0);
	EXPECT_EQ(r.flags, PERFCLOCK_PERFDATA_STAMPED);
	EXPECT(!memcmp(r.data, g.buf + g.data, r.size));
	ASSERT_EQ(perfclock_perfdata_get_info(p, &info), 0);
	EXPECT_EQ(info.position, g.data + r.size);
	EXPECT_EQ(info.data_offset, g.data);
	EXPECT_EQ(info.data_size, g.used - g.data);
	EXPECT_EQ(info.size, g.used);
	EXPECT_EQ(info.records, 1);
	ASSERT_EQ(perfclock_perfdata_next(p, &r), 1);
	EXPECT_EQ(r.flags, PERFCLOCK_PERFDATA_DAMAGED);
	EXPECT(r.attr == -1 && r.cpu == -1 && r.pid == -1 && !r.stamp);
	ASSERT_EQ(perfclock_perfdata_next(p, &r), 1);
	EXPECT_EQ(r.flags, PERFCLOCK_PERFDATA_DAMAGED);
	EXPECT_EQ(perfclock_perfdata_next(p, &r), 0);
	ASSERT_EQ(perfclock_perfdata_get_info(p, &info), 0);
	EXPECT_EQ(info.records, 1);
	EXPECT_EQ(info.damages, 2);
	EXPECT(!info.ended_early);
	EXPECT_EQ(perfclock_perfdata_get_stream(p, info.nr_streams, &st),
		  -EINVAL);
	EXPECT(!perfclock_perfdata_feature_string(p, 3));
	EXPECT(!perfclock_perfdata_feature_string(p, 4000));
	info.sz = 0;
	EXPECT_EQ(perfclock_perfdata_get_info(p, &info), -EINVAL);
	perfclock_perfdata_close(p);
	/* It is still the caller's. */
	EXPECT_EQ(close(fd), 0);
	gen_free(&g);
}

/* Neither a CPU nor ids, of which there is but one: all is one stream. */
static void nothing_known_is_one_stream(void)
{
	struct gen_opts o = {
		.sample_type = { PERF_SAMPLE_TIME }, .nr_cpus = 1,
	};
	struct seen s;
	struct gen g;

	gen_begin(&g, &o);
	gen_sample(&g, 0, STAMP, 0, NULL, 0);
	gen_sample(&g, 0, STAMP + 1, 1, NULL, 0);
	gen_end(&g);
	read_bytes(&s, g.buf, g.used);
	EXPECT_EQ(s.info.nr_streams, 1);
	EXPECT_EQ(s.stream0.kind, PERFCLOCK_STREAM_ONE);
	gen_free(&g);
}

static void names_are_those_of_perf(void)
{
	EXPECT_STREQ(perfclock_perfdata_record_name(PERF_RECORD_SAMPLE),
		     "SAMPLE");
	EXPECT_STREQ(perfclock_perfdata_record_name(
			     PERFCLOCK_PERFDATA_HEADER_ATTR), "HEADER_ATTR");
	EXPECT_STREQ(perfclock_perfdata_record_name(
			     PERFCLOCK_PERFDATA_FINISHED_ROUND),
		     "FINISHED_ROUND");
	EXPECT_STREQ(perfclock_perfdata_record_name(
			     PERFCLOCK_PERFDATA_COMPRESSED2), "COMPRESSED2");
	EXPECT_STREQ(perfclock_perfdata_record_name(
			     PERFCLOCK_PERFDATA_SIMPLEPERF + 1),
		     "simpleperf:KERNEL_SYMBOL");
	EXPECT(!perfclock_perfdata_record_name(0));
	EXPECT(!perfclock_perfdata_record_name(63));
	EXPECT(!perfclock_perfdata_record_name(PERFCLOCK_PERFDATA_SIMPLEPERF));
	EXPECT(!perfclock_perfdata_record_name(UINT32_MAX));
	EXPECT_STREQ(perfclock_perfdata_feature_name(3), "HOSTNAME");
	EXPECT_STREQ(perfclock_perfdata_feature_name(18), "AUXTRACE");
	EXPECT(!perfclock_perfdata_feature_name(0));
	EXPECT(!perfclock_perfdata_feature_name(255));
}

static void bad_arguments_are_refused(void)
{
	struct perfclock_perfdata_opts o = { .sz = 4 };
	char error[128] = "";
	struct perfclock_perfdata *p;

	EXPECT_EQ(perfclock_perfdata_open(&p, NULL, NULL), -EINVAL);
	EXPECT_EQ(perfclock_perfdata_open(&p, "/", &o), -EINVAL);
	EXPECT_EQ(perfclock_perfdata_open_fd(&p, -1, NULL), -EINVAL);
	o = (struct perfclock_perfdata_opts){ .sz = sizeof(o), .error = error,
					      .error_size = sizeof(error) };
	EXPECT_EQ(perfclock_perfdata_open(&p, "/no/such/file", &o), -ENOENT);
	EXPECT(error[0]);
	EXPECT_EQ(perfclock_perfdata_open(&p, "/", &o), -EISDIR);
	EXPECT(strstr(error, "directory") != NULL);
	perfclock_perfdata_close(NULL);
}

#define T(name)	{ #name, name }
static const struct tap_test tests[] = {
	T(modes_and_byte_orders_read_alike),
	T(old_magic_is_read_in_both_byte_orders),
	T(attributes_of_any_age_are_read),
	T(attribute_size_zero_means_the_first_abi),
	T(clock_of_an_event_is_told),
	T(identifier_tells_layouts_apart),
	T(ambiguous_layouts_give_no_stamps),
	T(unknown_id_among_several_layouts_is_damage),
	T(streams_without_cpu_come_from_ids),
	T(unknown_cpu_is_a_stream_of_its_own),
	T(stamps_zero_and_all_ones_say_nothing),
	T(no_trailers_mean_no_stamps_beside_samples),
	T(unknown_records_are_skipped),
	T(payload_is_skipped_or_read),
	T(feature_strings_are_read),
	T(compressed_records_come_out_whole),
	T(more_cpus_than_streams_share_the_last),
	T(a_record_has_all_its_members),
	T(nothing_known_is_one_stream),
	T(names_are_those_of_perf),
	T(bad_arguments_are_refused),
};

TAP_MAIN(tests)
