// SPDX-License-Identifier: GPL-2.0
/*
 * "perfclock compare" on live events: one capture, delivered by the watermark,
 * and beside it every policy in shadow on the same records in the same rounds.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <perfclock/policy.h>

#include "common.h"
#include "compare_live.h"
#include "json.h"
#include "live.h"
#include "plot.h"
#include "text.h"

struct contender {
	struct compare_result result;
	struct perfclock_shadow *shadow;
};

struct compare {
	const struct compare_live_opts *opts;
	struct live live;
	struct contender *contenders;
	unsigned int nr;
};

/* ---- the observer: each record, each round, for each policy ---- */

static void on_late(unsigned int ring, uint64_t stamp, uint32_t tag,
		    uint64_t late_ns, void *ctx)
{
	struct contender *c = ctx;

	hist_add(&c->result.lateness, late_ns);
}

static void round_begin(uint64_t now, uint64_t watermark, void *ctx)
{
	struct compare *cmp = ctx;
	unsigned int i;

	for (i = 0; i < cmp->nr; i++)
		if (!cmp->contenders[i].result.broken)
			perfclock_shadow_round_begin(cmp->contenders[i].shadow,
						     now, watermark);
}

static void on_read(uint32_t ring, uint64_t stamp, uint32_t type, void *ctx)
{
	struct compare *cmp = ctx;
	unsigned int flags = 0, i;

	if (type == PERF_RECORD_LOST || type == PERF_RECORD_LOST_SAMPLES)
		flags = PERFCLOCK_RECORD_PLACED;
	for (i = 0; i < cmp->nr; i++) {
		struct contender *c = &cmp->contenders[i];

		/* A policy that an idle ring makes hold everything. */
		if (!c->result.broken &&
		    perfclock_shadow_read(c->shadow, ring, stamp, 0, flags))
			c->result.broken = true;
	}
}

static void round_end(void *ctx)
{
	struct perfclock_shadow_stats st = { .sz = sizeof(st) };
	struct compare *cmp = ctx;
	unsigned int i;
	uint64_t now;

	if (perfclock_now(perfclock_session_clock(cmp->live.session), &now))
		now = 0;
	for (i = 0; i < cmp->nr; i++) {
		struct contender *c = &cmp->contenders[i];

		if (c->result.broken)
			continue;
		perfclock_shadow_round_end(c->shadow);
		perfclock_shadow_get_stats(c->shadow, &st);
		if (st.limit && st.limit != UINT64_MAX && now)
			hist_add(&c->result.lag,
				 now > st.limit ? now - st.limit : 0);
	}
}

static int on_event(const struct perfclock_event *ev, void *ctx)
{
	return 0;
}

/*
 * Readers make a system call between rounds, to wait or to write. Without it a
 * busy reader would keep its own CPU's ring silent, and with few CPUs hide
 * the very races that this is about.
 */
static int after_round(void *ctx)
{
	poll(NULL, 0, 0);
	return 0;
}

/* ---- setting up ---- */

static int add_contender(struct contender *c, const char *name)
{
	struct perfclock_shadow_opts so = {
		.sz = sizeof(so), .late = on_late, .ctx = c,
	};
	int err = perfclock_shadow_new(&c->shadow, name, 0, &so);

	if (err)
		return tool_policy_failed(name, err);
	c->result.name = perfclock_shadow_name(c->shadow);
	return TOOL_DONE;
}

static int make_contenders(struct compare *cmp)
{
	char *names = NULL, *rest, *name;
	unsigned int max = 1, i;
	int status = TOOL_DONE;

	if (cmp->opts->policies) {
		rest = names = tool_strdup(cmp->opts->policies);
		for (i = 0; names[i]; i++)
			max += names[i] == ',';
	} else {
		for (max = 0; perfclock_policy_list(max); max++)
			;
	}
	/* Not moved once made: shadows point at them. */
	cmp->contenders = tool_alloc(max, sizeof(*cmp->contenders));
	while (cmp->nr < max && status == TOOL_DONE) {
		name = names ? strsep(&rest, ",") :
			       (char *)perfclock_policy_list(cmp->nr);
		status = add_contender(&cmp->contenders[cmp->nr++], name);
	}
	free(names);
	return status;
}

static void free_contenders(struct compare *cmp)
{
	unsigned int i;

	for (i = 0; i < cmp->nr; i++) {
		perfclock_shadow_free(cmp->contenders[i].shadow);
		hist_free(&cmp->contenders[i].result.lateness);
		hist_free(&cmp->contenders[i].result.lag);
	}
	free(cmp->contenders);
}

/* ---- reporting ---- */

/* The input is over: what is left leaves, and is late if it is. */
static void finish_contenders(struct compare *cmp)
{
	struct perfclock_shadow_stats st = { .sz = sizeof(st) };
	unsigned int i;

	for (i = 0; i < cmp->nr; i++) {
		struct contender *c = &cmp->contenders[i];

		if (!c->result.broken)
			perfclock_shadow_end(c->shadow);
		perfclock_shadow_get_stats(c->shadow, &st);
		c->result.read = st.read;
		c->result.late = st.late;
		c->result.max_late_ns = st.max_late_ns;
		c->result.held_max = st.held_max;
	}
}

static void result_json(const struct compare_result *r, struct json *j)
{
	json_object_begin(j, r->name);
	json_u64(j, "late", r->late);
	json_u64(j, "max_late_ns", r->max_late_ns);
	json_object_begin(j, "late_ns");
	json_u64(j, "p50", hist_quantile(&r->lateness, 0.5));
	json_u64(j, "p99", hist_quantile(&r->lateness, 0.99));
	json_object_end(j);
	json_u64(j, "held_max", r->held_max);
	json_object_begin(j, "lag_ns");
	json_u64(j, "p50", hist_quantile(&r->lag, 0.5));
	json_u64(j, "p99", hist_quantile(&r->lag, 0.99));
	json_u64(j, "max", r->lag.max);
	json_object_end(j);
	if (r->broken)
		json_bool(j, "gave_up", true);
	json_object_end(j);
}

static int write_json(struct compare *cmp, const struct live_summary *s)
{
	struct json j;
	unsigned int i;
	int err;

	json_init(&j, false);
	json_object_begin(&j, NULL);
	json_object_begin(&j, "policies");
	for (i = 0; i < cmp->nr; i++)
		result_json(&cmp->contenders[i].result, &j);
	json_object_end(&j);
	live_summary_json(s, &j);
	json_object_end(&j);
	err = json_write(&j, cmp->opts->live.json.path);
	json_free(&j);
	return err;
}

static void cell(struct text *t, const char *s, unsigned int width)
{
	text_column(t, s, strlen(s), width, false);
}

static void cell_u64(struct text *t, uint64_t v, unsigned int width)
{
	char digits[24];

	digits[put_decimal(digits, v)] = '\0';
	cell(t, digits, width);
}

static void cell_ns(struct text *t, uint64_t ns, bool known,
		    unsigned int width)
{
	char buf[32];

	cell(t, known ? format_ns(buf, sizeof(buf), ns) : "-", width);
}

static void print_row(struct text *t, const struct compare_result *r)
{
	text_column(t, r->name, strlen(r->name), 17, true);
	cell_u64(t, r->late, 10);
	cell_ns(t, r->max_late_ns, r->late, 10);
	cell_u64(t, r->held_max, 10);
	cell_ns(t, hist_quantile(&r->lag, 0.5), r->lag.count, 10);
	cell_ns(t, hist_quantile(&r->lag, 0.99), r->lag.count, 10);
	if (r->broken)
		text_string(t, "  gave up: held too much");
	text_char(t, '\n');
}

static void print_table(struct compare *cmp, const struct live_summary *s)
{
	struct text t = { 0 };
	char time[32];
	unsigned int i;

	text_printf(&t, "%llu records of %u rings in %s, %llu rounds; %llu "
		    "lost. How each policy would have\ndelivered them:\n\n",
		    (unsigned long long)s->stats.read, s->stats.rings_max,
		    format_ns(time, sizeof(time), s->duration_ns),
		    (unsigned long long)s->stats.rounds,
		    (unsigned long long)s->stats.lost);
	text_string(&t, "policy                 late   late by   at most       "
		    "lag       lag\n"
		    "                              at most      held    median  "
		    "     99%\n");
	for (i = 0; i < cmp->nr; i++)
		print_row(&t, &cmp->contenders[i].result);
	fwrite(t.buf, 1, t.used, stdout);
	text_free(&t);
}

static int draw(struct compare *cmp, const struct live_summary *s)
{
	const struct compare_result **results;
	unsigned int i;
	char title[160];
	int err;

	results = tool_alloc(cmp->nr, sizeof(*results));
	for (i = 0; i < cmp->nr; i++)
		results[i] = &cmp->contenders[i].result;
	snprintf(title, sizeof(title), "%llu records, %u CPUs, %llu rounds",
		 (unsigned long long)s->stats.read, s->stats.rings_max,
		 (unsigned long long)s->stats.rounds);
	err = plot_policies(cmp->opts->plot, title, results, cmp->nr);
	free(results);
	return err;
}

static int report(struct compare *cmp, int status)
{
	const struct json_option *json = &cmp->opts->live.json;
	struct live_summary summary;

	finish_contenders(cmp);
	live_summary(&cmp->live, &summary);
	if (!json->on || json->path)
		print_table(cmp, &summary);
	if (json->on && write_json(cmp, &summary))
		status = TOOL_FAILED;
	if (cmp->opts->plot && draw(cmp, &summary))
		status = TOOL_FAILED;
	return live_strict(&cmp->live, &summary, status);
}

static int run(struct compare *cmp)
{
	const struct perfclock_session_observer observer = {
		.sz = sizeof(observer),
		.round_begin = round_begin, .read = on_read,
		.round_end = round_end, .ctx = cmp,
	};
	const struct live_hooks hooks = { .round = after_round };
	int status = live_add_events(&cmp->live);

	if (status)
		return status;
	perfclock_session_observe(cmp->live.session, &observer);
	status = live_run(&cmp->live, on_event, &hooks, cmp);
	return cmp->live.started ? report(cmp, status) : status;
}

int cmd_compare_live(const struct compare_live_opts *opts)
{
	struct compare cmp = { .opts = opts };
	int status;

	if (opts->plot) {
		status = plot_check(opts->plot);
		if (status)
			return status;
	}
	status = make_contenders(&cmp);
	if (!status)
		status = live_open(&cmp.live, &opts->live);
	if (!status) {
		status = run(&cmp);
		live_close(&cmp.live);
	}
	free_contenders(&cmp);
	return status;
}
