// SPDX-License-Identifier: GPL-2.0
/* perfclock check: what was found, as text and as JSON. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "common.h"

#define SHOWN_STREAMS	16	/* with inversions, in the text */
#define WIDTH		80	/* of the text, file names aside */
#define MARGIN		11	/* headings stand in it */

typedef unsigned long long ull;

static const struct {
	unsigned int feature;
	const char *key;
} header_strings[] = {
	{ 3, "hostname" }, { 4, "osrelease" }, { 5, "version" },
	{ 6, "arch" }, { 8, "cpudesc" }, { 9, "cpuid" },
};

const char *check_type_name(const struct check_type *t, char *buf,
			    unsigned int size)
{
	const char *name = perfclock_perfdata_record_name(t->type);

	if (name)
		return name;
	snprintf(buf, size, "type %u", t->type);
	return buf;
}

const char *check_clock_name(const struct perfclock_perfdata_attr *a)
{
	if (!a->use_clockid)
		return "perf";
	switch (a->clockid) {
	case 0: return "realtime";
	case 1: return "monotonic";
	case 4: return "monotonic_raw";
	case 7: return "boottime";
	case 11: return "tai";
	}
	return "another";
}

/* Calls fn once for each clock in use. */
static void each_clock(const struct check *c, unsigned int nr_attrs,
		       void (*fn)(const char *name, void *ctx), void *ctx)
{
	struct perfclock_perfdata_attr a = { .sz = sizeof(a) };
	const char *seen[8];
	unsigned int i, k, nr = 0;

	for (i = 0; i < nr_attrs; i++) {
		perfclock_perfdata_get_attr(c->data, i, &a);
		for (k = 0; k < nr; k++)
			if (!strcmp(seen[k], check_clock_name(&a)))
				break;
		if (k < nr || nr == ARRAY_SIZE(seen))
			continue;
		seen[nr++] = check_clock_name(&a);
		fn(seen[nr - 1], ctx);
	}
}

/* A list in the text, broken where its width ends. */
struct wrapped {
	unsigned int margin, column, nr;
};

static void wrapped_begin(struct wrapped *w, unsigned int margin)
{
	*w = (struct wrapped){ margin, margin, 0 };
}

static void __attribute__((format(printf, 2, 3)))
wrapped_add(struct wrapped *w, const char *fmt, ...)
{
	char item[256];
	unsigned int n;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(item, sizeof(item), fmt, ap);
	va_end(ap);
	n = strlen(item);
	/* With a comma and a blank before it, and a comma that may follow. */
	if (w->nr && w->column + 2 + n + 1 > WIDTH) {
		printf(",\n%*s", w->margin, "");
		w->column = w->margin;
	} else if (w->nr) {
		printf(", ");
		w->column += 2;
	}
	printf("%s", item);
	w->column += n;
	w->nr++;
}

#define NS_TEXT	32

static const char *show_ns(uint64_t ns, char *buf)
{
	if (ns < 10000)
		snprintf(buf, NS_TEXT, "%llu ns", (ull)ns);
	else if (ns < 10000000)
		snprintf(buf, NS_TEXT, "%.1f us", ns / 1e3);
	else if (ns < 10 * NSEC_PER_SEC)
		snprintf(buf, NS_TEXT, "%.1f ms", ns / 1e6);
	else
		snprintf(buf, NS_TEXT, "%.1f s", ns / 1e9);
	return buf;
}

static void print_clock(const char *name, void *ctx)
{
	printf(" %s", name);
}

static void print_head(const struct check *c,
		       const struct perfclock_perfdata_info *info)
{
	struct wrapped w;
	unsigned int i;
	const char *s;

	printf("file       %s\n%*s%s mode, %s, %s endian", c->faults.file,
	       MARGIN, "", info->pipe ? "pipe" : "file",
	       info->old_magic ? "PERFFILE" : "PERFILE2",
	       info->big_endian ? "big" : "little");
	if (info->size)
		printf(", %llu bytes", (ull)info->size);
	printf("%s\n", info->compressed ? ", zstd" : "");
	wrapped_begin(&w, MARGIN);
	for (i = 0; i < ARRAY_SIZE(header_strings); i++) {
		s = perfclock_perfdata_feature_string(c->data,
					header_strings[i].feature);
		if (!s || !s[0])
			continue;
		if (!w.nr)
			printf("recorded   ");
		wrapped_add(&w, "%s", s);
	}
	if (w.nr)
		putchar('\n');
	printf("events     %u, with %llu ids; clock:", info->nr_attrs,
	       (ull)info->nr_ids);
	each_clock(c, info->nr_attrs, print_clock, NULL);
	putchar('\n');
}

static void print_records(const struct check *c)
{
	const struct check_type *t;
	char name[32];

	printf("records    %llu (%llu bytes), %llu with a stamp\n",
	       (ull)c->records, (ull)c->bytes, (ull)c->stamped);
	if (!c->records)
		return;
	printf("           %-22s %10s %10s %10s\n", "TYPE", "STAMPED", "WITHOUT",
	       "BEHIND");
	for (t = c->types; t < c->types + c->nr_types; t++)
		printf("           %-22s %10llu %10llu %10llu\n",
		       check_type_name(t, name, sizeof(name)), (ull)t->stamped,
		       (ull)t->unstamped, (ull)t->disorder.count);
	if (c->types[CHECK_TYPES - 1].stamped ||
	    c->types[CHECK_TYPES - 1].unstamped)
		printf("           %-22s %10llu %10llu\n", "other types",
		       (ull)c->types[CHECK_TYPES - 1].stamped,
		       (ull)c->types[CHECK_TYPES - 1].unstamped);
}

static void print_rounds(const struct check *c)
{
	if (c->rounds)
		printf("rounds     %llu, of %.1f stamped records on average\n",
		       (ull)c->rounds, (double)c->stamped / c->rounds);
	else if (c->stamped)
		printf("rounds     none: to order it a reader must hold all "
		       "%llu records at once\n", (ull)c->stamped);
	if (!c->stamped)
		return;
	printf("time       %llu.%09llu to %llu.%09llu, %.6f s\n",
	       c->first / NSEC_PER_SEC, c->first % NSEC_PER_SEC,
	       c->last / NSEC_PER_SEC, c->last % NSEC_PER_SEC,
	       (c->last - c->first) / 1e9);
}

#define STREAM_TEXT	48

static const char *stream_name(const struct check *c, unsigned int i,
			       char *buf)
{
	struct perfclock_perfdata_stream s = { .sz = sizeof(s) };

	perfclock_perfdata_get_stream(c->data, i, &s);
	switch (s.kind) {
	case PERFCLOCK_STREAM_CPU:
		snprintf(buf, STREAM_TEXT, "CPU %lld", (long long)s.key);
		return buf;
	case PERFCLOCK_STREAM_NO_CPU:
		return "CPU unknown (-1)";
	case PERFCLOCK_STREAM_POSITION:
		snprintf(buf, STREAM_TEXT, "id %lld of each event",
			 (long long)s.key);
		return buf;
	case PERFCLOCK_STREAM_ONE:
		break;
	}
	return "unknown";
}

static void print_behind(const struct behind *b)
{
	char worst[NS_TEXT];

	if (b->count)
		printf(", at worst %s", show_ns(b->max_ns, worst));
	putchar('\n');
}

static void print_streams(const struct check *c)
{
	unsigned int i, shown = 0;
	char name[STREAM_TEXT];
	struct wrapped w;

	if (!c->nr_streams)
		return;
	wrapped_begin(&w, MARGIN);
	printf("rings      ");
	wrapped_add(&w, "%u: %s", c->nr_streams, stream_name(c, 0, name));
	for (i = 1; i < c->nr_streams && i < SHOWN_STREAMS; i++)
		wrapped_add(&w, "%s", stream_name(c, i, name));
	if (i < c->nr_streams)
		wrapped_add(&w, "...");
	printf("\ndisorder   %llu behind the record before them",
	       (ull)c->disorder.count);
	print_behind(&c->disorder);
	printf("inversions %llu inside a ring", (ull)c->inversions.count);
	print_behind(&c->inversions);
	for (i = 0; i < c->nr_streams && shown < SHOWN_STREAMS; i++) {
		if (!c->streams[i].inversions.count)
			continue;
		shown++;
		printf("           %s: %llu of %llu", stream_name(c, i, name),
		       (ull)c->streams[i].inversions.count,
		       (ull)c->streams[i].records);
		print_behind(&c->streams[i].inversions);
	}
}

/* Which types a policy's late records have, in lines of their own. */
static void print_late_types(const struct check *c,
			     const struct check_policy *p)
{
	char name[32], worst[NS_TEXT];
	struct wrapped w;
	unsigned int i;

	wrapped_begin(&w, MARGIN + 2);
	for (i = 0; i < CHECK_TYPES; i++) {
		if (!p->by_type[i].count)
			continue;
		if (!w.nr)
			printf("%*s", w.margin, "");
		wrapped_add(&w, "%s %llu (%s)",
			    check_type_name(&c->types[i], name, sizeof(name)),
			    (ull)p->by_type[i].count,
			    show_ns(p->by_type[i].max_ns, worst));
	}
	if (w.nr)
		putchar('\n');
}

static void print_policy(const struct check *c, const struct check_policy *p)
{
	char worst[NS_TEXT];

	printf("           %-18s ", p->name);
	if (!p->applies) {
		printf("does not apply: needs a clock read at each round\n");
		return;
	}
	printf("%12llu %12s %12llu\n", (ull)p->stats.late,
	       p->stats.late ? show_ns(p->stats.max_late_ns, worst) : "-",
	       (ull)p->stats.held_max);
	if (!p->complete)
		printf("%*sholds too much: followed up to byte %llu\n",
		       MARGIN + 2, "", (ull)p->gave_up_at);
	print_late_types(c, p);
}

void check_print(const struct check *c)
{
	struct perfclock_perfdata_info info = { .sz = sizeof(info) };
	unsigned int i;

	perfclock_perfdata_get_info(c->data, &info);
	print_head(c, &info);
	print_records(c);
	print_rounds(c);
	print_streams(c);
	printf("lost       %llu records, %llu samples, as the kernel said\n",
	       (ull)c->lost_records, (ull)c->lost_samples);
	printf("faults     %llu%s\n", (ull)c->faults.total,
	       info.ended_early ? "; the rest of the file was not readable" :
	       "");
	if (!c->stamped)
		return;
	printf("policies   %-18s %12s %12s %12s\n", "POLICY", "LATE", "WORST",
	       "HELD");
	for (i = 0; i < c->nr_policies; i++)
		print_policy(c, &c->policies[i]);
}

static void json_behind(struct json *j, const char *key,
			const struct behind *b)
{
	json_object_begin(j, key);
	json_u64(j, "count", b->count);
	json_u64(j, "max_ns", b->max_ns);
	json_object_end(j);
}

static void json_head(const struct check *c, struct json *j,
		      const struct perfclock_perfdata_info *info)
{
	const char *name;
	unsigned int i;

	json_string(j, "file", c->path);
	json_string(j, "mode", info->pipe ? "pipe" : "file");
	json_string(j, "magic", info->old_magic ? "PERFFILE" : "PERFILE2");
	json_string(j, "byte_order", info->big_endian ? "big" : "little");
	json_bool(j, "compressed", info->compressed);
	json_u64(j, "size", info->size ? info->size : info->position);
	json_u64(j, "data_offset", info->data_offset);
	json_u64(j, "data_size", info->data_size != UINT64_MAX ?
		 info->data_size : info->position - info->data_offset);
	json_object_begin(j, "header");
	for (i = 0; i < ARRAY_SIZE(header_strings); i++) {
		name = perfclock_perfdata_feature_string(c->data,
					header_strings[i].feature);
		if (name)
			json_string(j, header_strings[i].key, name);
	}
	json_object_end(j);
	json_array_begin(j, "features");
	for (i = 0; i < 256; i++) {
		if (!(info->features[i / 64] >> i % 64 & 1))
			continue;
		name = perfclock_perfdata_feature_name(i);
		if (name)
			json_string(j, NULL, name);
		else
			json_u64(j, NULL, i);
	}
	json_array_end(j);
}

static void json_clock(const char *name, void *ctx)
{
	json_string(ctx, NULL, name);
}

static void json_events(const struct check *c, struct json *j,
			unsigned int nr)
{
	struct perfclock_perfdata_attr a = { .sz = sizeof(a) };
	unsigned int i;

	json_array_begin(j, "clocks");
	each_clock(c, nr, json_clock, j);
	json_array_end(j);
	json_array_begin(j, "events");
	for (i = 0; i < nr; i++) {
		perfclock_perfdata_get_attr(c->data, i, &a);
		json_object_begin(j, NULL);
		json_u64(j, "type", a.type);
		json_u64(j, "config", a.config);
		json_u64(j, "sample_type", a.sample_type);
		json_string(j, "clock", check_clock_name(&a));
		json_u64(j, "ids", a.nr_ids);
		json_object_end(j);
	}
	json_array_end(j);
}

static void json_records(const struct check *c, struct json *j)
{
	const struct check_type *t;
	char name[32];

	json_object_begin(j, "records");
	json_u64(j, "total", c->records);
	json_u64(j, "stamped", c->stamped);
	json_u64(j, "unstamped", c->records - c->stamped);
	json_u64(j, "bytes", c->bytes);
	json_array_begin(j, "by_type");
	for (t = c->types; t < c->types + CHECK_TYPES; t++) {
		if (!t->stamped && !t->unstamped)
			continue;
		json_object_begin(j, NULL);
		json_string(j, "name", t < c->types + c->nr_types ?
			    check_type_name(t, name, sizeof(name)) : "other");
		json_u64(j, "type", t->type);
		json_bool(j, "unknown", t->unknown);
		json_u64(j, "stamped", t->stamped);
		json_u64(j, "unstamped", t->unstamped);
		json_u64(j, "behind", t->disorder.count);
		json_u64(j, "max_behind_ns", t->disorder.max_ns);
		json_object_end(j);
	}
	json_array_end(j);
	json_object_end(j);
}

static void json_streams(const struct check *c, struct json *j)
{
	static const char *const kinds[] = {
		[PERFCLOCK_STREAM_CPU] = "cpu",
		[PERFCLOCK_STREAM_NO_CPU] = "cpu unknown",
		[PERFCLOCK_STREAM_POSITION] = "position of the id",
		[PERFCLOCK_STREAM_ONE] = "unknown",
	};
	struct perfclock_perfdata_stream s = { .sz = sizeof(s) };
	unsigned int i;

	json_array_begin(j, "rings");
	for (i = 0; i < c->nr_streams; i++) {
		perfclock_perfdata_get_stream(c->data, i, &s);
		json_object_begin(j, NULL);
		json_string(j, "kind", kinds[s.kind]);
		json_s64(j, "key", s.key);
		json_u64(j, "records", c->streams[i].records);
		json_u64(j, "inversions", c->streams[i].inversions.count);
		json_u64(j, "max_inversion_ns",
			 c->streams[i].inversions.max_ns);
		json_object_end(j);
	}
	json_array_end(j);
}

static void json_policy(const struct check *c, const struct check_policy *p,
			struct json *j)
{
	unsigned int i;
	char name[32];

	json_object_begin(j, p->name);
	json_bool(j, "applies", p->applies);
	if (p->applies) {
		json_u64(j, "late", p->stats.late);
		json_u64(j, "max_late_ns", p->stats.max_late_ns);
		json_u64(j, "held_max", p->stats.held_max);
		json_bool(j, "complete", p->complete);
		json_object_begin(j, "by_type");
		for (i = 0; i < CHECK_TYPES; i++)
			if (p->by_type[i].count)
				json_behind(j, check_type_name(&c->types[i],
						name, sizeof(name)),
					    &p->by_type[i]);
		json_object_end(j);
	}
	json_object_end(j);
}

void check_json(const struct check *c, struct json *j)
{
	struct perfclock_perfdata_info info = { .sz = sizeof(info) };
	unsigned int i;

	perfclock_perfdata_get_info(c->data, &info);
	json_object_begin(j, NULL);
	json_head(c, j, &info);
	json_events(c, j, info.nr_attrs);
	json_records(c, j);
	json_u64(j, "rounds", c->rounds);
	json_u64(j, "first", c->first);
	json_u64(j, "last", c->last);
	json_streams(c, j);
	json_behind(j, "disorder", &c->disorder);
	json_behind(j, "inversions", &c->inversions);
	json_object_begin(j, "lost");
	json_u64(j, "records", c->lost_records);
	json_u64(j, "samples", c->lost_samples);
	json_object_end(j);
	json_object_begin(j, "policies");
	for (i = 0; i < c->nr_policies; i++)
		json_policy(c, &c->policies[i], j);
	json_object_end(j);
	json_bool(j, "ended_early", info.ended_early);
	faults_json(&c->faults, j);
	json_object_end(j);
}
