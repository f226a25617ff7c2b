// SPDX-License-Identifier: GPL-2.0
/* perfclock trace: the records of all CPUs, in true order, as lines. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "common.h"
#include "line.h"
#include "live.h"
#include "output.h"
#include "perf_file.h"
#include "replay.h"
#include "status.h"

static const struct command_help help = {
	.name = "trace",
	.synopsis = "-e EVENTS [OPTIONS]\n-e EVENTS [OPTIONS] -- COMMAND [ARGS]\n"
		    "--replay RECORDING [OPTIONS]",
	.about =
"Print the records of all CPUs as one stream in true order, while they are\n"
"made. A record is printed once it is proven that no earlier one can follow.\n"
"At the end a line on stderr says how many there were, how many were lost or\n"
"late, and who proved the order.",
	.examples =
"  perfclock trace -e sched:sched_switch -a --duration 5\n"
"  perfclock trace -e 'sched:*wak*,irq:*' -C 0-1 --reltime\n"
"  perfclock trace -e syscalls:sys_enter_openat -- ls /tmp\n"
"  perfclock trace -e sched:sched_switch --filter 'next_prio < 100'\n"
"  perfclock trace -e raw_syscalls:sys_enter --jsonl | jq .syscall\n"
"  perfclock trace -e 'sched:*' -o sched.data --duration 10",
};

struct trace {
	struct live_options options;
	struct live live;
	struct line_printer line;
	struct output out;
	struct status_line status;
	struct comms *comms;
	const char *color;
	uint64_t max_events, printed;
	const char *output;	/* perf.data file, or NULL */
	struct perf_file file;
	bool silent;		/* no lines: only --json, or a file, is wanted */
	bool quiet;
	bool relative, delta, iso;
	uint64_t next_look;	/* at the reader of the output */
	const char *recording;	/* to be replayed, or NULL */
	struct replay *replay;
};

static int on_event(const struct perfclock_event *ev, void *ctx)
{
	struct trace *t = ctx;
	int err = t->output ? perf_file_record(&t->file, ev) : 0;

	if (err)
		return err;
	if (ev->type == PERF_RECORD_SAMPLE) {
		if (!t->silent)
			line_print(&t->line, &t->out.text, ev);
		if (++t->printed == t->max_events)
			return LIVE_STOP;
	} else if (ev->lost) {
		if (!t->silent)
			line_print_lost(&t->line, &t->out.text, ev);
	} else {
		comms_take_record(t->comms, ev);
		return 0;
	}
	return output_line_done(&t->out);
}

/*
 * After a round: a reader that waits gets what there is, at a terminal or
 * through a pipe; a file is written in full pieces.
 */
static int on_round(void *ctx)
{
	struct trace *t = ctx;
	uint64_t now = monotonic_ns();

	if (now >= t->next_look) {
		t->next_look = now + NSEC_PER_SEC / 10;
		output_flush(&t->out);
		if (!t->out.error && output_reader_gone(&t->out))
			t->out.error = EPIPE;
		status_line_update(&t->status, &t->live, now);
	} else if (t->out.terminal) {
		output_flush(&t->out);
	}
	if (t->out.error || !t->replay)
		return -t->out.error;
	return replay_feed(t->replay);
}

static int set_columns(const char *arg, void *value)
{
	return line_set_columns(value, arg);
}

static int check_options(struct trace *t)
{
	const char *color = t->color ? t->color : "auto";
	const char *no_color = getenv("NO_COLOR");

	if (t->relative + t->delta + t->iso > 1)
		return tool_usage("only one of --reltime, --deltatime and "
				  "--isotime");
	t->line.time = t->relative ? LINE_TIME_RELATIVE :
		       t->delta ? LINE_TIME_DELTA :
		       t->iso ? LINE_TIME_ISO : LINE_TIME_ABSOLUTE;
	if (!strcmp(color, "always"))
		t->line.color = true;
	else if (!strcmp(color, "auto"))
		t->line.color = t->out.terminal && !(no_color && *no_color);
	else if (strcmp(color, "never"))
		return tool_usage("--color: auto, always or never, not '%s'",
				  color);
	t->silent = t->output || (t->options.json.on && !t->options.json.path);
	if (t->line.json && t->output)
		return tool_usage("--jsonl prints, -o writes perf.data: not "
				  "both");
	if (t->silent && t->line.json)
		return tool_usage("--json and --jsonl both want stdout; "
				  "use --json=FILE");
	return TOOL_DONE;
}

static bool parse(struct trace *t, int argc, char **argv,
		  struct options_rest *rest)
{
	const struct option_spec specs[] = {
		LIVE_EVENT_OPTIONS(&t->options),
		LIVE_TARGET_OPTIONS(&t->options),
		{ 0, "max-events", "N", "end after so many", OPT_U64,
		  &t->max_events, NULL },
		TITLE_OPTION("What to show"),
		{ 'F', "fields", "LIST", "of comm, pid, tid, cpu, time, "
		  "event, trace, and names of fields", OPT_CALL, &t->line,
		  set_columns },
		{ 0, "reltime", NULL, "times since the first record",
		  OPT_FLAG, &t->relative, NULL },
		{ 0, "deltatime", NULL, "times since the record before",
		  OPT_FLAG, &t->delta, NULL },
		{ 0, "isotime", NULL, "wall clock times", OPT_FLAG, &t->iso,
		  NULL },
		{ 0, "jsonl", NULL, "a JSON object per record", OPT_FLAG,
		  &t->line.json, NULL },
		{ 0, "color", "WHEN", "auto (the default), always, never",
		  OPT_STRING, &t->color, NULL },
		{ 'o', "output", "FILE", "write a perf.data file, and print no "
		  "lines", OPT_STRING, &t->output, NULL },
		{ 0, "replay", "FILE", "no live events: a recording, pass by "
		  "pass", OPT_STRING, &t->recording, NULL },
		{ 'q', "quiet", NULL, "no summary, no status line", OPT_FLAG,
		  &t->quiet, NULL },
		JSON_OPTION(&t->options.json),
		LIVE_CLOCK_OPTIONS(&t->options),
		{ 0 }
	};

	if (options_parse(&help, specs, argc, argv, rest))
		return false;
	rest->status = live_options_check(&t->options, rest);
	if (!rest->status)
		rest->status = check_options(t);
	if (!rest->status && t->recording && (t->iso || t->output))
		rest->status = tool_usage("--replay: the wall clock of a "
			"recording is not known, and to write one there is "
			"perfclock sort: no --isotime, no -o");
	if (!rest->status && t->recording)
		rest->status = replay_options(&t->options);
	return !rest->status;
}

static int report(struct trace *t, int status)
{
	struct live_summary summary;
	struct json j;

	live_summary(&t->live, &summary);
	if (!t->quiet)
		live_summary_line(&summary);
	if (t->options.json.on) {
		json_init(&j, false);
		json_object_begin(&j, NULL);
		live_summary_json(&summary, &j);
		json_object_end(&j);
		if (json_write(&j, t->options.json.path))
			status = TOOL_FAILED;
		json_free(&j);
	}
	return live_strict(&t->live, &summary, status);
}

static int report_replay(struct trace *t, int status)
{
	struct live_summary summary;
	struct json j;

	live_summary(&t->live, &summary);
	if (!t->quiet)
		replay_report(t->replay, &t->live);
	if (t->options.json.on) {
		json_init(&j, false);
		json_object_begin(&j, NULL);
		replay_json(t->replay, &t->live, &j);
		json_object_end(&j);
		if (json_write(&j, t->options.json.path))
			status = TOOL_FAILED;
		json_free(&j);
	}
	status = replay_status(t->replay, status);
	return live_strict(&t->live, &summary, status);
}

/* The same rounds as live, on rings that a file fills. */
static int run_replay(struct trace *t)
{
	const struct live_hooks hooks = { .round = on_round };
	int status = replay_open(&t->replay, &t->live, t->recording);

	if (status)
		return status;
	if (replay_feed(t->replay) < 0)
		return TOOL_FAILED;
	status_line_init(&t->status, false);
	status = live_run(&t->live, on_event, &hooks, t);
	output_flush(&t->out);
	if (t->out.error) {
		output_tell_error(&t->out);
		return TOOL_FAILED;
	}
	return t->live.started ? report_replay(t, status) : status;
}

static int run(struct trace *t)
{
	const struct live_hooks hooks = { .round = on_round };
	int status;

	status = live_add_events(&t->live);
	if (status)
		return status;
	if (perfclock_session_track_tasks(t->live.session) < 0)
		tool_note("names of tasks are those of now: %s",
			  perfclock_session_error(t->live.session));
	comms_load_all(t->comms);
	if (t->output) {
		if (perf_file_open(&t->file, t->output))
			return TOOL_FAILED;
		perf_file_tasks(&t->file, t->comms);
	}
	line_set_wall(&t->line, perfclock_session_clock(t->live.session));
	status_line_init(&t->status,
			 !t->quiet && (t->silent || !t->out.terminal));
	status = live_run(&t->live, on_event, &hooks, t);
	status_line_end(&t->status);
	if (t->output && perf_file_close(&t->file, &t->live))
		return TOOL_FAILED;
	output_flush(&t->out);
	if (t->out.error) {
		output_tell_error(&t->out);
		return TOOL_FAILED;
	}
	return t->live.started ? report(t, status) : status;
}

int cmd_trace(int argc, char **argv)
{
	struct trace t = { .options = LIVE_OPTIONS_INIT };
	struct options_rest rest;
	int status;

	t.comms = comms_new();
	line_init(&t.line, t.comms);
	output_init(&t.out, STDOUT_FILENO);
	rest.status = TOOL_USAGE;
	if (parse(&t, argc, argv, &rest)) {
		status = live_open(&t.live, &t.options);
		if (!status) {
			status = t.recording ? run_replay(&t) : run(&t);
			live_close(&t.live);
			replay_close(t.replay);
		}
	} else {
		status = rest.status;
	}
	output_free(&t.out);
	line_free(&t.line);
	comms_free(t.comms);
	live_options_free(&t.options);
	return status;
}
