// SPDX-License-Identifier: GPL-2.0
/*
 * "perfclock compare --script FILE.order": what every policy would have
 * delivered, and what it would have delivered too late, on a pass table.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <perfclock/policy.h>

#include "common.h"
#include "compare_script.h"
#include "json.h"
#include "pass_table.h"

/* One policy over the whole table. */
struct contender {
	struct perfclock_shadow *shadow;
	uint64_t *delivered_after;	/* by round */
	size_t nr_rounds;
	struct perfclock_shadow_stats st;
	struct trace *trace;		/* NULL: nobody listens */
};

/* What happened to one policy since the trace last spoke of it. */
struct trace {
	char *delivered, *late;		/* text, growing */
	size_t delivered_len, late_len;
	unsigned int nr_delivered, nr_late;
};

#define TRACE_LIST_MAX	12		/* records named in a line */

static void __attribute__((format(printf, 3, 4)))
append(char **text, size_t *len, const char *fmt, ...)
{
	char piece[96];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(piece, sizeof(piece), fmt, ap);
	va_end(ap);
	*text = tool_realloc(*text, *len + n + 1, 1);
	memcpy(*text + *len, piece, n + 1);
	*len += n;
}

static int trace_delivered(const struct perfclock_record *rec, void *ctx)
{
	struct contender *c = ctx;
	struct trace *t = c->trace;

	if (t && t->nr_delivered++ < TRACE_LIST_MAX)
		append(&t->delivered, &t->delivered_len, " %" PRIu64 "@%u%s",
		       rec->stamp, rec->ring,
		       rec->flags & PERFCLOCK_RECORD_LATE ? " (late)" :
		       rec->flags & PERFCLOCK_RECORD_PLACED ? " (lost)" : "");
	return 0;
}

static void trace_late(unsigned int ring, uint64_t stamp, uint32_t tag,
		       uint64_t late_ns, void *ctx)
{
	struct contender *c = ctx;
	struct trace *t = c->trace;

	if (t && t->nr_late++ < TRACE_LIST_MAX)
		append(&t->late, &t->late_len, "%s%" PRIu64 "@%u came %" PRIu64
		       " ns behind what was already delivered",
		       t->nr_late > 1 ? "; " : "", stamp, ring, late_ns);
}

static void trace_reset(struct trace *t)
{
	free(t->delivered);
	free(t->late);
	memset(t, 0, sizeof(*t));
}

/* "and 3 more", where a list was cut. */
static void print_list(const char *text, unsigned int nr)
{
	printf("%s", text);
	if (nr > TRACE_LIST_MAX)
		printf(" and %u more", nr - TRACE_LIST_MAX);
	putchar('\n');
}

static void print_limit(const struct contender *c)
{
	const uint64_t limit = c->st.limit;

	if (!limit)
		printf("up to nothing");
	else if (limit == UINT64_MAX)
		printf("at once");
	else if (!strcmp(perfclock_shadow_name(c->shadow), "watermark"))
		printf("below %" PRIu64, limit);
	else
		printf("up to %" PRIu64, limit - 1);
}

static void trace_policy(struct contender *c, bool at_end)
{
	struct trace *t = c->trace;

	printf("  %-16s ", perfclock_shadow_name(c->shadow));
	if (!at_end)
		print_limit(c);
	else
		printf("what is left");
	printf(", holds %" PRIu64 "; delivers%s", c->st.held,
	       t->nr_delivered ? "" : " nothing\n");
	if (t->nr_delivered)
		print_list(t->delivered, t->nr_delivered);
	if (t->nr_late) {
		printf("  %-16s LATE: ", "");
		print_list(t->late, t->nr_late);
	}
	trace_reset(t);
}

static void trace_round_begin(const struct pass_step *step, size_t nr)
{
	printf("round %zu: clock %" PRIu64 " at its start, watermark %" PRIu64
	       "\n", nr, step->start, step->safe);
}

static void trace_read(const struct pass_table *t, const struct pass_step *step)
{
	size_t i;

	printf("  reads ring %u:", step->ring);
	for (i = 0; i < step->nr && i < TRACE_LIST_MAX; i++)
		printf(" %s%" PRIu64, t->records[step->first + i].lost ?
		       "lost=" : "", t->records[step->first + i].stamp);
	if (step->nr > i)
		printf(" and %zu more", step->nr - i);
	printf(step->nr ? "\n" : " nothing\n");
}

static void update_stats(struct contender *c)
{
	c->st.sz = sizeof(c->st);
	perfclock_shadow_get_stats(c->shadow, &c->st);
}

static int read_step(struct contender *c, const struct pass_table *t,
		     const struct pass_step *step)
{
	size_t i;
	int err;

	for (i = step->first; i < step->first + step->nr; i++) {
		err = perfclock_shadow_read(c->shadow, step->ring,
					    t->records[i].stamp, 0,
					    t->records[i].lost ?
					    PERFCLOCK_RECORD_PLACED : 0);
		if (err)
			return err;
	}
	return 0;
}

static void end_round(struct contender *c)
{
	perfclock_shadow_round_end(c->shadow);
	update_stats(c);
	c->delivered_after[c->nr_rounds++] = c->st.delivered;
	if (c->trace)
		trace_policy(c, false);
}

/* All contenders through the table, side by side. 0 or -errno. */
static int run(struct contender *cs, size_t nr, const struct pass_table *t,
	       bool trace)
{
	const struct pass_step *step;
	size_t round = 0, i;
	int err;

	for (step = t->steps; step <= t->steps + t->nr_steps; step++) {
		const bool over = step == t->steps + t->nr_steps;

		if (round && (over || step->kind == PASS_ROUND))
			for (i = 0; i < nr; i++)
				end_round(&cs[i]);
		if (over)
			break;
		if (step->kind == PASS_ROUND) {
			round++;
			if (trace)
				trace_round_begin(step, round);
			for (i = 0; i < nr; i++)
				perfclock_shadow_round_begin(cs[i].shadow,
							     step->start,
							     step->safe);
			continue;
		}
		if (trace)
			trace_read(t, step);
		for (i = 0; i < nr; i++) {
			err = read_step(&cs[i], t, step);
			if (err)
				return err;
		}
	}
	if (trace)
		printf("end\n");
	for (i = 0; i < nr; i++) {
		perfclock_shadow_end(cs[i].shadow);
		update_stats(&cs[i]);
		if (trace)
			trace_policy(&cs[i], true);
	}
	return 0;
}

static void print_table(const struct contender *cs, size_t nr,
			const struct pass_table *t)
{
	size_t i;

	printf("%zu rounds, %u rings, %zu records\n\n"
	       "%-18s %8s %20s %8s %8s\n", t->nr_rounds, t->nr_rings,
	       t->nr_records, "policy", "late", "worst (ns)", "held", "left");
	for (i = 0; i < nr; i++)
		printf("%-18s %8" PRIu64 " %20" PRIu64 " %8" PRIu64 " %8"
		       PRIu64 "\n", perfclock_shadow_name(cs[i].shadow),
		       cs[i].st.late, cs[i].st.max_late_ns, cs[i].st.held_max,
		       cs[i].st.left);
}

static int write_json(const struct contender *cs, size_t nr,
		      const struct pass_table *t, const char *script,
		      const char *path)
{
	struct json j;
	size_t i, r;
	int err;

	json_init(&j, false);
	json_object_begin(&j, NULL);
	json_string(&j, "script", script);
	json_u64(&j, "rings", t->nr_rings);
	json_u64(&j, "rounds", t->nr_rounds);
	json_u64(&j, "events", t->nr_records);
	json_object_begin(&j, "policies");
	for (i = 0; i < nr; i++) {
		json_object_begin(&j, perfclock_shadow_name(cs[i].shadow));
		json_u64(&j, "late", cs[i].st.late);
		json_u64(&j, "max_late_ns", cs[i].st.max_late_ns);
		json_u64(&j, "held_max", cs[i].st.held_max);
		json_array_begin(&j, "delivered_after_round");
		for (r = 0; r < cs[i].nr_rounds; r++)
			json_u64(&j, NULL, cs[i].delivered_after[r]);
		json_array_end(&j);
		json_u64(&j, "left", cs[i].st.left);
		json_object_end(&j);
	}
	json_object_end(&j);
	json_object_end(&j);
	err = json_write(&j, path);
	json_free(&j);
	return err;
}

static void free_contenders(struct contender *cs, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		perfclock_shadow_free(cs[i].shadow);
		free(cs[i].delivered_after);
		if (cs[i].trace)
			trace_reset(cs[i].trace);
		free(cs[i].trace);
	}
	free(cs);
}

static int add_contender(struct contender *c, const char *policy,
			 const struct pass_table *t, bool trace)
{
	struct perfclock_shadow_opts opts = {
		.sz = sizeof(opts),
		.memory_max = SIZE_MAX / 2,	/* the table is in memory too */
		.delivered = trace_delivered,
		.late = trace_late,
		.ctx = c,
	};
	int err;

	err = perfclock_shadow_new(&c->shadow, policy, t->nr_rings, &opts);
	if (err)
		return tool_policy_failed(policy, err);
	c->delivered_after = tool_alloc(t->nr_rounds + 1,
					sizeof(*c->delivered_after));
	if (trace)
		c->trace = tool_alloc(1, sizeof(*c->trace));
	return 0;
}

/* Policies by name, or all of them. 0, or an exit status. */
static int make_contenders(const struct compare_script_opts *opts,
			   const struct pass_table *t,
			   struct contender **csp, size_t *nr)
{
	char *names = NULL, *rest, *name;
	size_t max = 0, i;
	int status = 0;

	if (opts->policies) {
		names = tool_strdup(opts->policies);
		for (max = 1, i = 0; names[i]; i++)
			max += names[i] == ',';
	} else {
		while (perfclock_policy_list(max))
			max++;
	}
	/* Not moved once made: shadows point at them. */
	*csp = tool_alloc(max, sizeof(**csp));
	rest = names;
	for (*nr = 0; *nr < max && !status; (*nr)++) {
		name = names ? strsep(&rest, ",") :
			       (char *)perfclock_policy_list(*nr);
		status = add_contender(&(*csp)[*nr], name, t, opts->trace);
	}
	free(names);
	return status;
}

static int report(const struct contender *cs, size_t nr,
		  const struct pass_table *t, const char *script,
		  const struct compare_script_opts *opts)
{
	size_t i;

	if (opts->json.on &&
	    write_json(cs, nr, t, script, opts->json.path))
		return TOOL_FAILED;
	if (!opts->json.on || opts->json.path) {
		if (opts->trace)
			putchar('\n');
		print_table(cs, nr, t);
	}
	for (i = 0; opts->strict && i < nr; i++)
		if (!strcmp(perfclock_shadow_name(cs[i].shadow), "watermark") &&
		    cs[i].st.late)
			return TOOL_PARTIAL;
	return TOOL_DONE;
}

static int load_table(struct pass_table *t, const char *path)
{
	const char *file = strcmp(path, "-") ? path : "/dev/stdin";
	struct pass_error err;
	size_t size;
	char *text;
	int bad;

	text = read_whole_file(file, &size);
	if (!text) {
		tool_error("%s: %s", path, strerror(errno));
		return TOOL_FAILED;
	}
	bad = pass_table_parse(t, text, size, &err);
	free(text);
	if (!bad)
		return 0;
	tool_error("%s:%u:%u: %s", path, err.line, err.column, err.text);
	return TOOL_FAILED;
}

int cmd_compare_script(const char *path, const struct compare_script_opts *opts)
{
	struct contender *cs;
	struct pass_table t;
	int status, err;
	size_t nr;

	if (opts->trace && opts->json.on && !opts->json.path)
		return tool_usage("--trace and --json both want stdout: "
				  "say --json=FILE");
	status = load_table(&t, path);
	if (status)
		return status;
	status = make_contenders(opts, &t, &cs, &nr);
	if (!status) {
		err = run(cs, nr, &t, opts->trace);
		if (err) {
			tool_error("%s: %s", path, strerror(-err));
			status = TOOL_FAILED;
		} else {
			status = report(cs, nr, &t, path, opts);
		}
	}
	free_contenders(cs, nr);
	pass_table_free(&t);
	return status;
}
