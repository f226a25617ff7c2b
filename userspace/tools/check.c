// SPDX-License-Identifier: GPL-2.0
/*
 * perfclock check: how much out of order a recording is, what each policy
 * would make of it, and what is broken in it. One pass, bounded memory.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <linux/perf_event.h>

#include "bytes.h"
#include "check.h"
#include "commands.h"
#include "common.h"
#include "options.h"
#include "ring/layout.h"

#define SHADOW_MEMORY_MAX	((size_t)192 << 20)	/* of all policies */
#define EVERYTHING_ELSE		(CHECK_TYPES - 1)

typedef unsigned long long ull;

struct check_options {
	struct json_option json;
	const char *plot;
	bool strict;
};

static const struct command_help check_help = {
	.name = "check",
	.synopsis = "[--json[=FILE]] [--plot FILE.svg] [--strict] FILE",
	.about =
"Tells how much out of order a perf.data file is (FILE '-': standard input),\n"
"how many records each flush policy would have found too late, and what is\n"
"broken in it, with byte offsets.",
	.examples =
"  perfclock check perf.data\n"
"  perf record -o - ... | perfclock check -",
};

static void behind_add(struct behind *b, uint64_t ns)
{
	b->count++;
	if (ns > b->max_ns)
		b->max_ns = ns;
}

/* Types beyond the table's room share its last entry. */
static unsigned int type_index(struct check *c,
			       const struct perfclock_perfdata_record *r)
{
	unsigned int i;

	for (i = 0; i < c->nr_types; i++)
		if (c->types[i].type == r->type)
			return i;
	if (i == EVERYTHING_ELSE)
		return i;
	c->types[i].type = r->type;
	c->types[i].unknown = r->flags & PERFCLOCK_PERFDATA_UNKNOWN;
	c->types[i].first_offset = r->offset;
	return c->nr_types++;
}

static struct check_stream *stream_of(struct check *c, unsigned int i)
{
	unsigned int was = c->nr_streams;

	if (i >= was) {
		c->nr_streams = i + 1;
		c->streams = tool_realloc(c->streams, c->nr_streams,
					  sizeof(*c->streams));
		memset(c->streams + was, 0,
		       (c->nr_streams - was) * sizeof(*c->streams));
	}
	return &c->streams[i];
}

/* Two columns become one when all are full. */
static void picture_add(struct check_picture *p, uint64_t behind_ns)
{
	uint64_t column = p->at++ / p->per_column;
	unsigned int i;

	if (column == CHECK_COLUMNS) {
		for (i = 0; i < CHECK_COLUMNS / 2; i++) {
			uint64_t a = p->behind[2 * i];
			uint64_t b = p->behind[2 * i + 1];

			p->behind[i] = a > b ? a : b;
		}
		memset(p->behind + i, 0, sizeof(p->behind) / 2);
		p->per_column *= 2;
		column = i;
	}
	if (behind_ns > p->behind[column])
		p->behind[column] = behind_ns;
}

static void policy_late(unsigned int ring, uint64_t stamp, uint32_t tag,
			uint64_t late_ns, void *ctx)
{
	struct check_policy *p = ctx;

	behind_add(&p->by_type[tag], late_ns);
}

static int start_policies(struct check *c)
{
	struct perfclock_shadow_opts opts = {
		.sz = sizeof(opts), .late = policy_late,
	};
	struct perfclock_policy *rule;
	struct check_policy *p;
	const char *name;
	unsigned int i;
	int err;

	for (i = 0; (name = perfclock_policy_list(i)); i++) {
		p = &c->policies[c->nr_policies++];
		p->name = name;
		err = perfclock_policy_new(&rule, name, 0);
		if (err)
			return err;
		p->applies = !perfclock_policy_needs_clock(rule);
		p->by_any_stamp = !strcmp(name, "pass-max");
		perfclock_policy_free(rule);
		if (!p->applies)
			continue;
		opts.ctx = p;
		opts.memory_max = SHADOW_MEMORY_MAX / 8;
		err = perfclock_shadow_new(&p->shadow, name, 0, &opts);
		if (err)
			return err;
		p->complete = true;
		perfclock_shadow_round_begin(p->shadow, 0, 0);
	}
	return 0;
}

static void give_up(struct check_policy *p, uint64_t offset)
{
	p->complete = false;
	p->gave_up_at = offset;
	p->stats.sz = sizeof(p->stats);
	perfclock_shadow_get_stats(p->shadow, &p->stats);
	perfclock_shadow_free(p->shadow);
	p->shadow = NULL;
}

static int feed_policies(struct check *c,
			 const struct perfclock_perfdata_record *r,
			 unsigned int type, bool placed)
{
	struct check_policy *p;
	int err;

	for (p = c->policies; p < c->policies + c->nr_policies; p++) {
		if (!p->shadow)
			continue;
		err = perfclock_shadow_read(p->shadow, r->stream, r->stamp,
					    type, placed && !p->by_any_stamp ?
					    PERFCLOCK_RECORD_PLACED : 0);
		if (err == -ENOBUFS)
			give_up(p, r->offset);
		else if (err)
			return err;
	}
	return 0;
}

static void finish_round(struct check *c)
{
	struct check_policy *p;

	c->rounds++;
	for (p = c->policies; p < c->policies + c->nr_policies; p++) {
		if (!p->shadow)
			continue;
		perfclock_shadow_round_end(p->shadow);
		perfclock_shadow_round_begin(p->shadow, 0, 0);
	}
}

static void finish_policies(struct check *c)
{
	struct check_policy *p;

	for (p = c->policies; p < c->policies + c->nr_policies; p++) {
		if (p->shadow) {
			perfclock_shadow_end(p->shadow);
			p->stats.sz = sizeof(p->stats);
			perfclock_shadow_get_stats(p->shadow, &p->stats);
		}
		/* What waited for the end was held as well. */
		if (p->stats.left > p->stats.held_max)
			p->stats.held_max = p->stats.left;
		/*
		 * Without rounds nothing is delivered before the end, so that
		 * the outcome is known though it was not followed.
		 */
		if (p->applies && !p->complete && !c->rounds) {
			p->complete = true;
			p->stats.held_max = p->stats.left = c->stamped;
		}
	}
}

static void count_lost(struct check *c,
		       const struct perfclock_perfdata_record *r, bool big)
{
	const uint8_t *data = r->data;

	if (r->type == PERF_RECORD_LOST && r->size >= 24)
		c->lost_records += get_u64(data + 16, big);
	else if (r->type == PC_RECORD_LOST_SAMPLES && r->size >= 16)
		c->lost_samples += get_u64(data + 8, big);
}

/* One whose stamp says when: how far is it behind, in the file and its ring? */
static void note_stamp(struct check *c, struct check_stream *s,
		       uint64_t stamp, unsigned int type)
{
	const uint64_t behind = stamp < c->last ? c->last - stamp : 0;

	if (behind) {
		behind_add(&c->disorder, behind);
		behind_add(&c->types[type].disorder, behind);
	}
	picture_add(&c->picture, behind);
	if (stamp < s->newest) {
		behind_add(&s->inversions, s->newest - stamp);
		behind_add(&c->inversions, s->newest - stamp);
	} else {
		s->newest = stamp;
	}
	if (!c->last || stamp < c->first)
		c->first = stamp;
	if (stamp > c->last)
		c->last = stamp;
}

/*
 * A LOST is stamped when room was found again, not when it happened: it
 * belongs where it stands in its ring, and its stamp moves nothing.
 */
static int stamped_record(struct check *c,
			  const struct perfclock_perfdata_record *r,
			  unsigned int type)
{
	struct check_stream *s = stream_of(c, r->stream);
	const bool placed = pc_record_placed(r->type, r->stamp);

	s->records++;
	c->stamped++;
	if (!placed)
		note_stamp(c, s, r->stamp, type);
	return feed_policies(c, r, type, placed);
}

static int read_all(struct check *c)
{
	struct perfclock_perfdata_info info = { .sz = sizeof(info) };
	struct perfclock_perfdata_record r;
	unsigned int type;
	int got;

	perfclock_perfdata_get_info(c->data, &info);
	while ((got = perfclock_perfdata_next(c->data, &r)) > 0) {
		type = type_index(c, &r);
		c->records++;
		c->bytes += r.size;
		count_lost(c, &r, info.big_endian);
		if (r.type == PERFCLOCK_PERFDATA_FINISHED_ROUND)
			finish_round(c);
		if (r.flags & PERFCLOCK_PERFDATA_STAMPED) {
			c->types[type].stamped++;
			got = stamped_record(c, &r, type);
			if (got)
				break;
		} else {
			c->types[type].unstamped++;
		}
	}
	return got;
}

/* Things that are no fault, and that a reader of the report should know. */
static void tell_notes(const struct check *c)
{
	const struct check_type *t;
	bool samples = false;
	unsigned int i;

	for (i = 0; i < c->nr_types; i++) {
		t = &c->types[i];
		if (t->type == PERF_RECORD_SAMPLE)
			samples = true;
		if (t->unknown)
			tool_note("%s: byte %llu: unknown record type %u: %llu "
				  "skipped", c->faults.file,
				  (ull)t->first_offset, t->type,
				  (ull)(t->stamped + t->unstamped));
	}
	if (samples && !c->stamped && !c->faults.damages)
		tool_note("%s: no timestamps recorded: cannot order",
			  c->faults.file);
}

static void check_free(struct check *c)
{
	unsigned int i;

	for (i = 0; i < c->nr_policies; i++)
		perfclock_shadow_free(c->policies[i].shadow);
	perfclock_perfdata_close(c->data);
	faults_free(&c->faults);
	free(c->streams);
}

static bool anything_late_or_lost(const struct check *c)
{
	unsigned int i;

	for (i = 0; i < c->nr_policies; i++)
		if (!strcmp(c->policies[i].name, "pass-max") &&
		    c->policies[i].stats.late)
			return true;
	return c->lost_records || c->lost_samples;
}

static int show(const struct check *c, const struct check_options *o)
{
	struct json j;
	int err = 0;

	if (!o->json.on || (o->json.path && strcmp(o->json.path, "-")))
		check_print(c);
	if (o->json.on) {
		json_init(&j, false);
		check_json(c, &j);
		err = json_write(&j, o->json.path);
		json_free(&j);
	}
	if (!err && o->plot)
		err = check_plot(c, o->plot);
	return err ? TOOL_FAILED : TOOL_DONE;
}

/* What reads JSON wants to know why there is nothing, too. */
static int nothing_read(const struct check *c, const struct check_options *o)
{
	struct json j;

	if (!o->json.on)
		return TOOL_FAILED;
	json_init(&j, false);
	json_object_begin(&j, NULL);
	json_string(&j, "file", c->path);
	json_bool(&j, "ended_early", true);
	faults_json(&c->faults, &j);
	json_object_end(&j);
	json_write(&j, o->json.path);
	json_free(&j);
	return TOOL_FAILED;
}

static int run(struct check *c, const struct check_options *o)
{
	struct perfclock_perfdata_info info = { .sz = sizeof(info) };
	int err;

	if (faults_open(&c->faults, &c->data, c->path))
		return nothing_read(c, o);
	err = start_policies(c);
	if (!err)
		err = read_all(c);
	if (err < 0) {
		tool_error("%s: %s", c->faults.file, strerror(-err));
		return TOOL_FAILED;
	}
	finish_policies(c);
	faults_finish(&c->faults);
	tell_notes(c);
	if (show(c, o))
		return TOOL_FAILED;
	perfclock_perfdata_get_info(c->data, &info);
	err = faults_status(&c->faults, info.records);
	if (!err && o->strict && anything_late_or_lost(c))
		err = TOOL_PARTIAL;
	return err;
}

int cmd_check(int argc, char **argv)
{
	struct check_options o = { 0 };
	const struct option_spec specs[] = {
		JSON_OPTION(&o.json),
		{ 0, "plot", "FILE", "draw the disorder as an SVG picture",
		  OPT_STRING, &o.plot, NULL },
		{ 0, "strict", NULL, "exit 3 if something was late by "
		  "perf's own policy, or lost", OPT_FLAG, &o.strict, NULL },
		{ 0 }
	};
	struct options_rest rest;
	struct check *c;
	int status;

	if (options_parse(&check_help, specs, argc, argv, &rest))
		return rest.status;
	if (rest.argc != 1)
		return tool_usage(rest.argc ? "one file at a time" :
				  "which file?");
	c = tool_alloc(1, sizeof(*c));
	c->path = rest.argv[0];
	c->picture.per_column = 1;
	faults_init(&c->faults, c->path);
	status = run(c, &o);
	check_free(c);
	free(c);
	return status;
}
