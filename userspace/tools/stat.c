// SPDX-License-Identifier: GPL-2.0
/* perfclock stat: how long it took from a begin to its end, live. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "common.h"
#include "live.h"
#include "output.h"
#include "screen.h"
#include "stat_run.h"
#include "stat_table.h"

static const struct command_help help = {
	.name = "stat",
	.synopsis = "PRESET [OPTIONS] [-- COMMAND [ARGS]]\n"
		    "--begin EVENT --end EVENT --key FIELDS [OPTIONS]",
	.about =
"Pair the records that begin something with those that end it, in true order\n"
"across all CPUs, and show how long each kind took. Presets: syscalls, kvm,\n"
"irq, softirq, sched (wakeup to run), block (issue to completion). On a\n"
"terminal the table is live: q ends, s sorts by another column, the arrows\n"
"choose a row, h shows its histogram, r begins anew.",
	.examples =
"  perfclock stat syscalls --duration 10\n"
"  perfclock stat syscalls --per task -p 4711\n"
"  perfclock stat sched --sort p99 --json\n"
"  perfclock stat block --histogram -- dd if=/dev/vda of=/dev/null count=1000\n"
"  perfclock stat --begin irq:softirq_raise --end irq:softirq_entry \\\n"
"                 --key cpu,vec --by vec",
};

struct stat {
	struct live_options options;
	struct live live;
	struct stat_def *def;
	struct stat_run run;
	struct stat_view view;
	struct output out;
	struct comms *comms;
	const char *begin, *end, *key, *by, *per, *sort;
	uint64_t refresh_ns;
	bool histograms, interactive, show_histogram, quit;
	unsigned int rows, columns;	/* of the screen as drawn */
	uint64_t next_draw, next_look;
};

static bool parse(struct stat *s, int argc, char **argv,
		  struct options_rest *rest)
{
	const struct option_spec specs[] = {
		TITLE_OPTION("Own pairs"),
		{ 0, "begin", "EVENT", "tracepoint that begins", OPT_STRING,
		  &s->begin, NULL },
		{ 0, "end", "EVENT", "tracepoint that ends", OPT_STRING,
		  &s->end, NULL },
		{ 0, "key", "FIELDS", "what both have in common: fields, tid, "
		  "cpu; A=B if named B in the end", OPT_STRING, &s->key,
		  NULL },
		{ 0, "by", "FIELDS", "a row for each value, of the begin",
		  OPT_STRING, &s->by, NULL },
		LIVE_TARGET_OPTIONS(&s->options),
		TITLE_OPTION("What to show"),
		{ 0, "per", "WHAT", "a row for each task, comm, cpu or vcpu "
		  "too", OPT_STRING, &s->per, NULL },
		{ 0, "sort", "COLUMN", "total, count, max, mean, p99 or name",
		  OPT_STRING, &s->sort, NULL },
		{ 0, "histogram", NULL, "histograms at the end, and in --json",
		  OPT_FLAG, &s->histograms, NULL },
		{ 0, "refresh", "SECONDS", "a table so often (terminal: 1; "
		  "else only at the end)", OPT_SECONDS, &s->refresh_ns,
		  NULL },
		JSON_OPTION(&s->options.json),
		LIVE_CLOCK_OPTIONS(&s->options),
		{ 0 }
	};

	return !options_parse(&help, specs, argc, argv, rest);
}

/* The preset's name is a word before "--": live_options_check() wants none. */
static const char *take_preset(struct options_rest *rest, int before_dashes)
{
	const char *name;

	if (!before_dashes)
		return NULL;
	name = rest->argv[0];
	rest->argv++;
	rest->argc--;
	return name;
}

static int make_def(struct stat *s, const char *preset)
{
	bool own = s->begin || s->end || s->key || s->by;

	if (preset && own)
		return tool_usage("a preset, or --begin, --end, --key: not "
				  "both");
	if (preset)
		s->def = stat_def_preset(preset);
	else if (!own)
		return tool_usage("which preset? %s; or --begin, --end, --key",
				  stat_preset_names);
	else if (!s->begin || !s->end || !s->key)
		return tool_usage("an own pair wants --begin, --end and "
				  "--key");
	else
		s->def = stat_def_own(s->begin, s->end, s->key, s->by);
	if (!s->def)
		return TOOL_USAGE;
	return s->per ? stat_def_per(s->def, s->per) : TOOL_DONE;
}

static int check_options(struct stat *s, struct options_rest *rest,
			 const char *preset)
{
	int status = live_options_check(&s->options, rest);
	int sort = s->sort ? stat_sort_from_name(s->sort) : 0;

	if (!status && sort < 0)
		status = tool_usage("--sort: total, count, max, mean, p99 or "
				    "name, not '%s'", s->sort);
	if (!status)
		status = make_def(s, preset);
	s->view.sort = sort < 0 ? 0 : sort;
	s->view.selected = ~0U;
	return status;
}

/* ---- showing ---- */

static void draw_screen(struct stat *s)
{
	const struct pairs *p = &s->run.pairs;
	struct perfclock_session_stats st = { .sz = sizeof(st) };
	struct text t = { 0 };
	unsigned int nr, hist_rows = 0;
	unsigned int *order;
	char line[256], lag[32];
	int n;

	screen_size(&s->rows, &s->columns);
	perfclock_session_get_stats(s->live.session, &st);
	n = snprintf(line, sizeof(line), "%s: %llu events, %llu lost, %llu "
		     "late, lag %s%s", s->def->title,
		     (unsigned long long)st.samples,
		     (unsigned long long)st.lost, (unsigned long long)st.late,
		     format_ns(lag, sizeof(lag), st.lag_p50_ns),
		     st.proven ? "" : ", NOT proven");
	text_bytes(&t, line, n < (int)s->columns ? n : (int)s->columns);
	text_char(&t, '\n');
	stat_table_notes(&t, &s->run, s->columns);
	n = snprintf(line, sizeof(line), "q quit, s sort (%s), arrows and h "
		     "histogram, r reset", stat_sort_name(s->view.sort));
	text_bytes(&t, line, n < (int)s->columns ? n : (int)s->columns);
	text_string(&t, "\n\n");
	order = stat_table_order(&s->run, s->view.sort, &nr);
	if (s->view.selected != ~0U && s->view.selected >= nr)
		s->view.selected = nr ? nr - 1 : ~0U;
	if (s->show_histogram && nr && s->rows > 16)
		hist_rows = s->rows / 3;
	s->view.columns = s->columns;
	s->view.highlight = true;
	s->view.rows = s->rows > 9 + hist_rows ? s->rows - 8 - hist_rows : 1;
	stat_table(&t, &s->run, &s->view);
	if (hist_rows) {
		text_char(&t, '\n');
		stat_histogram(&t, &p->groups[order[s->view.selected == ~0U ?
						    0 : s->view.selected]],
			       s->columns, hist_rows - 2);
	}
	free(order);
	screen_draw(&t);
	text_free(&t);
}

/* As lines, for pipes, files and the end of it. */
static void print_block(struct stat *s, bool last)
{
	struct text *t = &s->out.text;
	unsigned int nr, i;
	unsigned int *order;

	s->view.highlight = false;
	s->view.rows = 0;
	s->view.selected = ~0U;
	s->view.columns = 0;
	if (s->out.terminal)
		screen_size(&s->rows, &s->view.columns);
	stat_table(t, &s->run, &s->view);
	if (last && s->histograms) {
		order = stat_table_order(&s->run, s->view.sort, &nr);
		for (i = 0; i < nr; i++) {
			text_char(t, '\n');
			stat_histogram(t, &s->run.pairs.groups[order[i]],
				       s->view.columns, 0);
		}
		free(order);
	}
	text_char(t, '\n');
	stat_table_notes(t, &s->run, s->view.columns);
	if (!last)
		text_char(t, '\n');
	output_flush(&s->out);
}

static void on_key(struct stat *s, int key)
{
	switch (key) {
	case 'q':
	case 'Q':
		s->quit = true;
		break;
	case 's':
		s->view.sort = (s->view.sort + 1) % STAT_SORTS;
		break;
	case 'S':
		s->view.sort = (s->view.sort + STAT_SORTS - 1) % STAT_SORTS;
		break;
	case 'h':
		s->show_histogram = !s->show_histogram;
		break;
	case 'r':
		pairs_reset_times(&s->run.pairs);
		break;
	case KEY_DOWN:
	case 'j':
		s->view.selected = s->view.selected == ~0U ? 0 :
				   s->view.selected + 1;
		break;
	case KEY_UP:
	case 'k':
		if (s->view.selected && s->view.selected != ~0U)
			s->view.selected--;
		break;
	}
}

static bool size_changed(const struct stat *s)
{
	unsigned int rows, columns;

	screen_size(&rows, &columns);
	return rows != s->rows || columns != s->columns;
}

static void show_live(struct stat *s, uint64_t now)
{
	bool hit = false;
	int key;

	if (s->interactive) {
		while ((key = screen_key()) != KEY_NONE) {
			on_key(s, key);
			hit = true;
		}
		if (hit || size_changed(s))
			s->next_draw = now;
	}
	if (!s->refresh_ns || now < s->next_draw)
		return;
	s->next_draw = now + s->refresh_ns;
	if (s->interactive)
		draw_screen(s);
	else
		print_block(s, false);
}

static int on_round(void *ctx)
{
	struct stat *s = ctx;
	uint64_t now = monotonic_ns();

	if (now >= s->next_look) {
		s->next_look = now + NSEC_PER_SEC / 20;
		show_live(s, now);
		if (!s->out.error && output_reader_gone(&s->out))
			s->out.error = EPIPE;
	}
	if (s->out.error)
		return -s->out.error;
	/* The rest is still read: q is no other end than Ctrl-C. */
	if (s->quit)
		perfclock_session_stop(s->live.session);
	return 0;
}

static int on_event(const struct perfclock_event *ev, void *ctx)
{
	struct stat *s = ctx;

	stat_run_take(&s->run, ev);
	return 0;
}

static void on_read(uint32_t ring, uint64_t stamp, uint32_t type, void *ctx)
{
	struct stat *s = ctx;

	read_order_read(&s->run.order, ring, stamp);
}

/* ---- the run ---- */

static int add_event(struct stat *s, unsigned int n, const char *name,
		     int role)
{
	struct live_tracepoint *tp = live_add(&s->live, name, NULL);

	return tp ? stat_run_event(&s->run, n, tp, role) : TOOL_FAILED;
}

static int add_events(struct stat *s)
{
	const struct stat_def *def = s->def;
	int status;

	if (!strcmp(def->begin[0], def->end))
		return add_event(s, 0, def->end, STAT_BEGIN | STAT_END);
	status = add_event(s, 0, def->begin[0], STAT_BEGIN);
	if (!status)
		status = add_event(s, 1, def->end, STAT_END);
	if (!status && def->begin[1])
		status = add_event(s, 2, def->begin[1], STAT_BEGIN);
	return status;
}

static int report(struct stat *s, int status)
{
	struct live_summary summary;
	struct json j;

	live_summary(&s->live, &summary);
	if (!s->options.json.on || s->options.json.path)
		print_block(s, true);
	if (s->out.error) {
		output_tell_error(&s->out);
		return TOOL_FAILED;
	}
	live_summary_line(&summary);
	if (s->options.json.on) {
		json_init(&j, false);
		json_object_begin(&j, NULL);
		stat_json(&j, &s->run, s->view.sort, s->histograms);
		live_summary_json(&summary, &j);
		json_object_end(&j);
		if (json_write(&j, s->options.json.path))
			status = TOOL_FAILED;
		json_free(&j);
	}
	return live_strict(&s->live, &summary, status);
}

static int run(struct stat *s)
{
	const struct live_hooks hooks = { .round = on_round };
	const struct perfclock_session_observer observer = {
		.sz = sizeof(observer), .read = on_read, .ctx = s,
	};
	int status = add_events(s);

	if (status)
		return status;
	perfclock_session_track_tasks(s->live.session);
	perfclock_session_observe(s->live.session, &observer);
	comms_load_all(s->comms);
	s->interactive = screen_usable() &&
			 !(s->options.json.on && !s->options.json.path);
	if (s->interactive && !s->refresh_ns)
		s->refresh_ns = NSEC_PER_SEC;
	s->next_draw = monotonic_ns() +
		       (s->interactive ? NSEC_PER_SEC / 4 : s->refresh_ns);
	if (s->interactive)
		screen_begin();
	status = live_run(&s->live, on_event, &hooks, s);
	screen_end();
	if (s->out.error) {
		output_tell_error(&s->out);
		return TOOL_FAILED;
	}
	return s->live.started ? report(s, status) : status;
}

int cmd_stat(int argc, char **argv)
{
	struct stat s = { .options = LIVE_OPTIONS_INIT };
	struct options_rest rest;
	const char *preset;
	int status;

	output_init(&s.out, STDOUT_FILENO);
	if (!parse(&s, argc, argv, &rest))
		return rest.status;
	preset = take_preset(&rest, rest.argc - rest.nr_dashed);
	status = check_options(&s, &rest, preset);
	if (!status) {
		s.comms = comms_new();
		stat_run_init(&s.run, s.def, s.comms);
		status = live_open(&s.live, &s.options);
		if (!status) {
			status = run(&s);
			live_close(&s.live);
		}
		stat_run_free(&s.run);
		comms_free(s.comms);
	}
	stat_def_free(s.def);
	output_free(&s.out);
	live_options_free(&s.options);
	return status;
}
