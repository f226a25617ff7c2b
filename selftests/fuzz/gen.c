// SPDX-License-Identifier: GPL-2.0
/*
 * gen DIR: write a corpus of small recordings into DIR: every mode, byte
 * order and attribute size with a record of every kind, so that the fuzzer
 * begins where files are deep. gen --large BYTES SPREAD >FILE: one file of
 * samples on 8 CPUs without rounds, each stamp up to SPREAD records away from
 * its place (0: a third of the file), for benchmarks.
 */
#include <stdio.h>
#include <unistd.h>
#ifdef HAVE_LIBZSTD
#include <zstd.h>
#endif

#include "fuzz/gen.h"

#define STAMP	1000000000000ull

static void put(const struct gen *g, const char *dir, const char *name)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s.data", dir, name);
	f = fopen(path, "w");
	if (!f || fwrite(g->buf, 1, g->used, f) != g->used || fclose(f)) {
		perror(path);
		exit(1);
	}
}

/* A record of perf's own: a first number, and zeros. */
static void user_record(struct gen *g, uint32_t type, uint64_t first,
			size_t size)
{
	gen_record(g, type);
	gen_u64(g, first);
	gen_bytes(g, NULL, size - 16);
	gen_record_end(g);
}

static void cpu_map(struct gen *g, const uint16_t *words, int nr)
{
	int i;

	gen_record(g, PERFCLOCK_PERFDATA_CPU_MAP);
	for (i = 0; i < nr; i++)
		gen_u16(g, words[i]);
	gen_record_end(g);
}

static void user_records(struct gen *g)
{
	user_record(g, PERFCLOCK_PERFDATA_EVENT_TYPE, 1, 80);
	user_record(g, PERFCLOCK_PERFDATA_BUILD_ID, 1, 64);
	user_record(g, PERFCLOCK_PERFDATA_ID_INDEX, 1, 48);
	user_record(g, PERFCLOCK_PERFDATA_AUXTRACE_INFO, 1, 24);
	user_record(g, PERFCLOCK_PERFDATA_AUXTRACE_ERROR, 1, 112);
	user_record(g, PERFCLOCK_PERFDATA_THREAD_MAP, 1, 40);
	user_record(g, PERFCLOCK_PERFDATA_STAT_CONFIG, 1, 32);
	user_record(g, PERFCLOCK_PERFDATA_STAT, 1, 48);
	user_record(g, PERFCLOCK_PERFDATA_STAT_ROUND, 1, 24);
	user_record(g, PERFCLOCK_PERFDATA_EVENT_UPDATE, 1, 32);
	user_record(g, PERFCLOCK_PERFDATA_TIME_CONV, 1, 56);
	user_record(g, PERFCLOCK_PERFDATA_HEADER_FEATURE, 10, 32);
	gen_raw(g, PERFCLOCK_PERFDATA_FINISHED_INIT, NULL, 0);
	/* CPUs 0 and 1, as numbers and as a mask of one long word. */
	cpu_map(g, (const uint16_t[]){ 0, 2, 0, 1 }, 4);
	cpu_map(g, (const uint16_t[]){ 1, 1, 8, 0, 3, 0, 0, 0 }, 8);
	gen_record(g, PERFCLOCK_PERFDATA_TRACING_DATA);
	gen_u32(g, 8);
	gen_record_end(g);
	gen_bytes(g, "tracing.", 8);
	gen_raw(g, 32769, "kern", 4);
	gen_raw(g, 63, NULL, 24);
}

static void kernel_records(struct gen *g, unsigned int attrs)
{
	static const uint8_t sizes[] = {
		[1] = 40, [4] = 32, [5] = 32, [6] = 32, [7] = 32, [8] = 24,
		[10] = 72, [11] = 32, [12] = 16, [13] = 16, [14] = 8,
		[15] = 16, [16] = 24, [17] = 24, [18] = 24, [19] = 16,
		[20] = 24, [21] = 16, [22] = 24,
	};
	unsigned int i;

	gen_comm(g, 0, STAMP, 0, "app\0\0\0\0");
	gen_lost(g, STAMP + 5, 0, 3);
	for (i = 0; i < sizeof(sizes); i++) {
		if (!sizes[i])
			continue;
		gen_record(g, i);
		gen_bytes(g, NULL, sizes[i] - 8);
		gen_trailer(g, i % attrs, STAMP + 50 - i, i % 2);
		gen_record_end(g);
	}
}

static void records(struct gen *g, const void *extra, size_t size)
{
	const unsigned int attrs = g->o.nr_attrs;
	int i;

	user_records(g);
	kernel_records(g, attrs);
	gen_round(g);
	for (i = 0; i < 6; i++)
		gen_sample(g, i % attrs, STAMP + 100 + i * 7 % 5, i % 3 - 1,
			   extra, size);
	gen_round(g);
	gen_auxtrace(g, "payload.", 8);
	gen_sample(g, 0, STAMP + 90, 0, extra, size);
}

static void features(struct gen *g)
{
	static const uint8_t zeros[64];

	gen_feature(g, 3, g->o.big ? "\0\0\0\x04" "abc" :
		    "\x04\0\0\0abc", 8);
	gen_feature(g, 7, zeros, 8);
	gen_feature(g, 18, zeros, 24);
	gen_feature(g, 21, zeros, 16);
}

static void one(const char *dir, const char *name, const struct gen_opts *o,
		const void *extra, size_t size)
{
	struct gen g;

	gen_begin(&g, o);
	records(&g, extra, size);
	features(&g);
	gen_end(&g);
	put(&g, dir, name);
	gen_free(&g);
}

static void modes(const char *dir)
{
	static const unsigned int sizes[] = { 64, 80, 112, 136 };
	char name[64];
	unsigned int i;

	for (i = 0; i < 32; i++) {
		struct gen_opts o = {
			.pipe = i & 1, .big = i & 2, .old_magic = i & 4,
			.attr_size = sizes[i >> 3], .zero_size = i < 8,
		};

		snprintf(name, sizeof(name), "mode-%02u", i);
		one(dir, name, &o, NULL, 0);
	}
}

/* Samples with a tail, and events that differ. */
static void layouts(const char *dir)
{
	static const uint64_t bits[] = {
		PERF_SAMPLE_READ, PERF_SAMPLE_CALLCHAIN, PERF_SAMPLE_RAW,
		PERF_SAMPLE_BRANCH_STACK, PERF_SAMPLE_REGS_USER,
		PERF_SAMPLE_STACK_USER, PERF_SAMPLE_REGS_INTR,
		PERF_SAMPLE_AUX, PERF_SAMPLE_ADDR, PERF_SAMPLE_ID,
	};
	static const uint8_t extra[64] = { 1 };
	char name[64];
	unsigned int i;

	for (i = 0; i < 2 * sizeof(bits) / sizeof(bits[0]); i++) {
		struct gen_opts o = {
			.pipe = i & 1, .nr_attrs = 2,
			.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID,
			.sample_type = { GEN_SAMPLE_TYPE | bits[i / 2],
					 i & 2 ? GEN_SAMPLE_TYPE : 0 },
		};

		snprintf(name, sizeof(name), "layout-%02u", i);
		one(dir, name, &o, extra, sizeof(extra));
	}
}

static void compressed(const char *dir)
{
#ifdef HAVE_LIBZSTD
	uint8_t out[65536];
	struct gen g;
	size_t n;
	int i;

	for (i = 0; i < 2; i++) {
		gen_begin(&g, &(struct gen_opts){ .pipe = i });
		kernel_records(&g, 1);
		gen_round(&g);
		gen_sample(&g, 0, STAMP, 0, NULL, 0);
		n = ZSTD_compress(out, sizeof(out), g.buf + g.data,
				  g.used - g.data, 1);
		g.used = g.data;
		gen_raw(&g, PERFCLOCK_PERFDATA_COMPRESSED, out, n / 2);
		gen_record(&g, PERFCLOCK_PERFDATA_COMPRESSED2);
		gen_u64(&g, n - n / 2);
		gen_bytes(&g, out + n / 2, n - n / 2);
		gen_bytes(&g, NULL, -(g.used - g.record) & 7);
		gen_record_end(&g);
		features(&g);
		gen_end(&g);
		put(&g, dir, i ? "compressed-pipe" : "compressed");
		gen_free(&g);
	}
#endif
}

/* Written as it is made: the file may be larger than memory. */
static int large(uint64_t bytes, uint64_t spread)
{
	const uint64_t nr = bytes / 64;
	uint64_t i, at, rnd = 88172645463325252ull;
	bool bad = false;
	struct gen g;

	gen_begin(&g, &(struct gen_opts){ .nr_cpus = 8,
		.sample_type = { GEN_SAMPLE_TYPE | PERF_SAMPLE_ADDR } });
	gen_set_u64(&g, 48, nr * 64);
	for (i = 0; i < nr && !bad; i++) {
		rnd ^= rnd << 13;
		rnd ^= rnd >> 7;
		rnd ^= rnd << 17;
		/* As if each CPU's ring were written in turn. */
		at = spread ? i + rnd % spread : i % (nr / 3 + 1) * 3 + i % 3;
		gen_sample(&g, 0, STAMP + at * 100, i % 8, NULL, 0);
		if (g.used < 1 << 20)
			continue;
		bad |= fwrite(g.buf, 1, g.used, stdout) != g.used;
		g.used = 0;
	}
	bad |= fwrite(g.buf, 1, g.used, stdout) != g.used || fflush(stdout);
	gen_free(&g);
	return bad;
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "--large"))
		return large(strtoull(argv[2], NULL, 0),
			     strtoull(argv[3], NULL, 0));
	if (argc != 2 || argv[1][0] == '-') {
		fprintf(stderr, "usage: gen DIR | gen --large BYTES SPREAD\n");
		return 2;
	}
	modes(argv[1]);
	layouts(argv[1]);
	compressed(argv[1]);
	return 0;
}
