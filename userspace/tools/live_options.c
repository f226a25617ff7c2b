// SPDX-License-Identifier: GPL-2.0
/* The options that live subcommands share: see options.h. */
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "options.h"

int live_option_cpus(const char *arg, void *value)
{
	struct live_options *o = value;

	free(o->cpus);
	o->cpus = parse_int_list(arg, &o->nr_cpus);
	if (o->cpus)
		return 0;
	return tool_usage("-C: '%s' is not a list of CPUs like 0-3,8", arg);
}

int live_option_pids(const char *arg, void *value)
{
	struct live_options *o = value;

	free(o->pids);
	o->pids = parse_int_list(arg, &o->nr_pids);
	if (o->pids && o->pids[0] > 0)
		return 0;
	return tool_usage("-p: '%s' is not a list of process ids like 1,4711",
			  arg);
}

/* A comma inside of slashes or braces, as in cpu/a=1,b=2/, does not split. */
static size_t name_length(const char *s)
{
	bool inside = false;
	size_t n;

	for (n = 0; s[n] && (inside || s[n] != ','); n++)
		if (s[n] == '/')
			inside = !inside;
	return n;
}

int live_option_events(const char *arg, void *value)
{
	struct live_options *o = value;
	const char *s = arg;

	for (;;) {
		size_t n = name_length(s);
		struct live_event *ev;

		if (!n)
			return tool_usage("-e: an empty name in '%s'", arg);
		o->events = tool_realloc(o->events, o->nr_events + 1,
					 sizeof(*o->events));
		ev = &o->events[o->nr_events++];
		ev->name = tool_strdup(s);
		ev->name[n] = '\0';
		ev->filter = NULL;
		if (!s[n])
			return 0;
		s += n + 1;
	}
}

/* Goes to all events since the --filter before. */
int live_option_filter(const char *arg, void *value)
{
	struct live_options *o = value;
	unsigned int i = o->nr_events;

	if (!i || o->events[i - 1].filter)
		return tool_usage("--filter wants an -e before it");
	while (i && !o->events[i - 1].filter)
		o->events[--i].filter = tool_strdup(arg);
	return 0;
}

int live_option_clock(const char *arg, void *value)
{
	struct live_options *o = value;
	int clock = perfclock_clock_from_name(arg);

	if (clock < 0)
		return tool_usage("--clock: no clock '%s'; there are perf, "
				  "monotonic, monotonic_raw, boottime", arg);
	o->clock = clock;
	o->clock_given = true;
	return 0;
}

int live_options_check(struct live_options *o, struct options_rest *rest)
{
	int ways;

	if (rest->dashes && !rest->argc)
		return tool_usage("no command after --");
	if (rest->argc > rest->nr_dashed)
		return tool_usage("unexpected word '%s'; a command to run "
				  "goes after --", rest->argv[0]);
	if (rest->argc)
		o->command = rest->argv;
	ways = o->all_cpus + (o->nr_pids > 0) + (o->cgroup != NULL);
	if (ways > 1)
		return tool_usage("only one of -a, -p and --cgroup");
	if (o->all_cpus && o->nr_cpus)
		return tool_usage("only one of -a and -C");
	if (o->nr_pids && o->command)
		return tool_usage("only one of -p and a command");
	if (o->mmap_pages & (o->mmap_pages - 1))
		return tool_usage("--mmap-pages: %u is not a power of two",
				  o->mmap_pages);
	return 0;
}

void live_options_free(struct live_options *o)
{
	unsigned int i;

	for (i = 0; i < o->nr_events; i++) {
		free(o->events[i].name);
		free(o->events[i].filter);
	}
	free(o->events);
	free(o->cpus);
	free(o->pids);
}
