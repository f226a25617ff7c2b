// SPDX-License-Identifier: GPL-2.0
/* perfclock: the table of subcommands. */
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "common.h"

struct command {
	const char *name;
	int (*fn)(int argc, char **argv);
	const char *summary;
};

static const struct command commands[] = {
	{ "info", cmd_info, "which clocks and watermarks there are here, and why not" },
	{ "now", cmd_now, "the time of a clock, as perf would stamp a record now" },
	{ "trace", cmd_trace, "print the records of all CPUs in true order" },
	{ "stat", cmd_stat, "how long it took from begin to end, as a live table" },
	{ "compare", cmd_compare, "hold every policy against the same events" },
	{ "check", cmd_check, "how far out of order is a recording, and what is broken" },
	{ "sort", cmd_sort, "write a recording in stamp order" },
	{ NULL, NULL, NULL }
};

static const struct command *find_command(const char *name)
{
	const struct command *c;

	for (c = commands; c->name; c++)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

static int print_usage(void)
{
	const struct command *c;

	printf("Usage: perfclock COMMAND [ARGS]\n"
	       "\n"
	       "perf events of all CPUs in true order, live.\n"
	       "\n"
	       "Commands:\n");
	for (c = commands; c->name; c++)
		printf("  %-10s %s\n", c->name, c->summary);
	printf("\n"
	       "'perfclock COMMAND --help' tells more, with examples.\n"
	       "Exit status: 0 done, 1 failure, 2 usage, 3 done as far as "
	       "possible.\n");
	return TOOL_DONE;
}

static int run(const struct command *c, int argc, char **argv)
{
	tool_set_name(c->name);
	return c->fn(argc, argv);
}

static int dispatch(int argc, char **argv)
{
	const struct command *c;

	if (argc < 2)
		return tool_usage("which command?");
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return print_usage();
	if (!strcmp(argv[1], "--version")) {
		printf("perfclock %s\n", PERFCLOCK_VERSION);
		return TOOL_DONE;
	}
	if (!strcmp(argv[1], "help")) {
		char *help[] = { argv[2], (char *)"--help", NULL };

		if (argc < 3)
			return print_usage();
		c = find_command(argv[2]);
		if (c)
			return run(c, 2, help);
		return tool_usage("no command '%s'", argv[2]);
	}
	c = find_command(argv[1]);
	if (!c)
		return tool_usage("no command '%s'", argv[1]);
	return run(c, argc - 1, argv + 1);
}

static void nothing(int sig)
{
}

int main(int argc, char **argv)
{
	/*
	 * A reader that went away shows as EPIPE, and is told of. A handler,
	 * not SIG_IGN, since commands that are run would inherit that.
	 */
	signal(SIGPIPE, nothing);
	setlocale(LC_CTYPE, "");	/* numbers stay as in C */
	return tool_close_stdout(dispatch(argc, argv));
}
