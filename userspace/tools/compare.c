// SPDX-License-Identifier: GPL-2.0
/* "perfclock compare": every policy, held against the same records. */
#include "commands.h"
#include "common.h"
#include "compare_live.h"
#include "compare_script.h"
#include "options.h"

static const struct command_help help = {
	.name = "compare",
	.synopsis = "-e EVENTS [OPTIONS] [-- COMMAND [ARGS]]\n"
		    "--script FILE.order [--trace] [--policy LIST] [--json]",
	.about =
"Tells, for every rule by which tools decide what to deliver, how many records\n"
"came too late, how many it held back, and for how long: live, all rules on\n"
"the same records in the same rounds, or on a pass table.",
	.examples =
"  perfclock compare -e raw_syscalls:sys_enter --interval 0 --duration 10\n"
"  perfclock compare -e sched:sched_switch --duration 5 --plot order.svg\n"
"  perfclock compare --script bug.order --trace",
};

int cmd_compare(int argc, char **argv)
{
	struct compare_live_opts live = { .live = LIVE_OPTIONS_INIT };
	struct compare_script_opts script = { 0 };
	const char *path = NULL, *policies = NULL;
	const struct option_spec specs[] = {
		LIVE_EVENT_OPTIONS(&live.live),
		LIVE_TARGET_OPTIONS(&live.live),
		TITLE_OPTION("What to compare"),
		{ 0, "script", "FILE", "a pass table instead of live events",
		  OPT_STRING, &path, NULL },
		{ 0, "trace", NULL, "with --script: round by round",
		  OPT_FLAG, &script.trace, NULL },
		{ 0, "policy", "LIST", "these policies only, by comma",
		  OPT_STRING, &policies, NULL },
		{ 0, "plot", "FILE.svg", "draw lateness and lag (gnuplot)",
		  OPT_STRING, &live.plot, NULL },
		JSON_OPTION(&live.live.json),
		LIVE_CLOCK_OPTIONS(&live.live),
		{ 0 }
	};
	struct options_rest rest;
	int status;

	if (options_parse(&help, specs, argc, argv, &rest))
		return rest.status;
	if (path) {
		if (live.live.nr_events || rest.argc || live.plot)
			return tool_usage("--script has its own records: no "
					  "-e, --plot or command with it");
		script.policies = policies;
		script.strict = live.live.strict;
		script.json = live.live.json;
		return cmd_compare_script(path, &script);
	}
	if (script.trace)
		return tool_usage("--trace goes with --script");
	live.policies = policies;
	status = live_options_check(&live.live, &rest);
	if (!status)
		status = cmd_compare_live(&live);
	live_options_free(&live.live);
	return status;
}
