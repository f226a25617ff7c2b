// SPDX-License-Identifier: GPL-2.0
/* "perfclock compare": every policy, held against the same records. */
#include "commands.h"
#include "common.h"
#include "compare_script.h"
#include "options.h"

static const struct command_help help = {
	.name = "compare",
	.synopsis = "--script FILE.order [--trace] [--policy LIST] [--json]",
	.about = "Tells, for every rule by which tools decide what to deliver, "
		 "how many records\nwould have come too late, and how many it "
		 "would have held back.",
	.examples =
	"  perfclock compare --script bug.order --trace   a reported bug, "
	"round by round",
};

int cmd_compare(int argc, char **argv)
{
	struct compare_script_opts script = { 0 };
	const char *path = NULL;
	const struct option_spec specs[] = {
		{ 0, "script", "FILE", "a pass table instead of live events",
		  OPT_STRING, &path, NULL },
		{ 0, "trace", NULL, "show what each policy did, round by round",
		  OPT_FLAG, &script.trace, NULL },
		{ 0, "policy", "LIST", "these policies only, by comma",
		  OPT_STRING, &script.policies, NULL },
		{ 0, "strict", NULL, "exit 3 if the watermark was late",
		  OPT_FLAG, &script.strict, NULL },
		JSON_OPTION(&script.json),
		{ 0 }
	};
	struct options_rest rest;

	if (options_parse(&help, specs, argc, argv, &rest))
		return rest.status;
	if (rest.argc)
		return tool_usage("'%s' is too much", rest.argv[0]);
	if (!path)
		return tool_usage("--script FILE is missing");
	return cmd_compare_script(path, &script);
}
