/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Options of subcommands, by table: the same table parses them, writes --help
 * and, through that, feeds the completions.
 *
 *	struct thing t = { 0 };
 *	const struct option_spec specs[] = {
 *		{ 'o', "output", "FILE", "write to FILE", OPT_STRING, &t.out },
 *		JSON_OPTION(&t.json),
 *		{ 0 }
 *	};
 *	struct options_rest rest;
 *
 *	if (options_parse(&thing_help, specs, argc, argv, &rest))
 *		return rest.status;
 *	... rest.argv[0 .. rest.argc - 1] are the other words ...
 */
#ifndef TOOLS_OPTIONS_H
#define TOOLS_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <perfclock/clock.h>

enum option_type {
	OPT_FLAG,	/* bool: set to true; takes no argument */
	OPT_STRING,	/* const char * */
	OPT_UINT,	/* unsigned int */
	OPT_U64,	/* uint64_t */
	OPT_SECONDS,	/* uint64_t, ns; the argument may have a fraction */
	OPT_MICROS,	/* uint64_t, ns; the same */
	OPT_CALL,	/* fn(arg, value); returns 0, or a message was given */
	OPT_CALL_FLAG,	/* the same without an argument (arg is NULL) */
	OPT_JSON,	/* struct json_option: "--json" or "--json=FILE" */
	OPT_TITLE	/* no option: a heading (help) in the --help text */
};

struct option_spec {
	char letter;		/* 0: none */
	const char *name;	/* without the dashes; NULL ends the table */
	const char *arg;	/* what --help calls the argument, or NULL */
	const char *help;
	enum option_type type;
	void *value;
	int (*fn)(const char *arg, void *value);
};

struct command_help {
	const char *name;
	const char *synopsis;	/* lines, without "perfclock NAME" */
	const char *about;	/* a few lines of prose */
	const char *examples;	/* lines of "  command  text" */
};

struct options_rest {
	int argc;
	char **argv;		/* in place, NULL-terminated */
	bool dashes;		/* there was a "--" */
	int nr_dashed;		/* words after it */
	int status;		/* exit status, if options_parse() said stop */
};

struct json_option {
	bool on;
	const char *path;	/* NULL: stdout */
};

#define JSON_OPTION(jsonp)						\
	{ 0, "json", "[=FILE]", "write the result as one JSON object",	\
	  OPT_JSON, (jsonp), NULL }
#define TITLE_OPTION(text)	{ 0, "", NULL, (text), OPT_TITLE, NULL, NULL }

/*
 * argv[0] is the subcommand's name. Words and options may be mixed; "--" ends
 * the options, and the words after it stay as they are. true: stop with
 * rest->status (--help was answered, or a message has told what is wrong).
 */
bool options_parse(const struct command_help *help,
		   const struct option_spec *specs, int argc, char **argv,
		   struct options_rest *rest);

/* What all live subcommands share. */
struct live_event {
	char *name;		/* as given: may be a glob */
	char *filter;		/* or NULL */
};

struct live_options {
	struct live_event *events;
	unsigned int nr_events;
	bool all_cpus;
	int *cpus;
	unsigned int nr_cpus;
	pid_t *pids;
	unsigned int nr_pids;
	const char *cgroup;
	char **command;		/* after "--", or NULL */
	uint64_t duration_ns;	/* 0: none given */
	uint64_t interval_ns;	/* ~0: none given */
	bool clock_given;
	enum perfclock_clockid clock;
	const char *provider;
	const char *device;
	bool expedited;
	unsigned int mmap_pages;
	bool strict;
	struct json_option json;
};

#define LIVE_OPTIONS_INIT	{ .interval_ns = ~0ULL }

/* Of struct live_options *. */
#define LIVE_TARGET_OPTIONS(o)						\
	TITLE_OPTION("What to watch"),					\
	{ 'a', "all-cpus", NULL, "all online CPUs (the default)",	\
	  OPT_FLAG, &(o)->all_cpus, NULL },				\
	{ 'C', "cpu", "LIST", "these CPUs, as in 0-3,8",		\
	  OPT_CALL, (o), live_option_cpus },				\
	{ 'p', "pid", "LIST", "these processes with their threads",	\
	  OPT_CALL, (o), live_option_pids },				\
	{ 0, "cgroup", "PATH", "this control group, below /sys/fs/cgroup", \
	  OPT_STRING, &(o)->cgroup, NULL },				\
	{ 0, "duration", "SECONDS", "end after so long",		\
	  OPT_SECONDS, &(o)->duration_ns, NULL }
#define LIVE_EVENT_OPTIONS(o)						\
	{ 'e', "event", "EVENTS", "events, by comma: sched:sched_switch, " \
	  "sched:*, cpu-clock", OPT_CALL, (o), live_option_events },	\
	{ 0, "filter", "FILTER", "of the events of the -e before it, as " \
	  "tracefs takes it", OPT_CALL, (o), live_option_filter }
#define LIVE_CLOCK_OPTIONS(o)						\
	TITLE_OPTION("Order and clock"),				\
	{ 0, "clock", "CLOCK", "perf, monotonic, monotonic_raw or boottime", \
	  OPT_CALL, (o), live_option_clock },				\
	{ 0, "provider", "NAME", "who proves the order: auto, module, "	\
	  "membarrier, cpu-visit, backoff=NS", OPT_STRING,		\
	  &(o)->provider, NULL },					\
	{ 0, "device", "PATH", "the module's node, not "		\
	  "/dev/perf_clock", OPT_STRING, &(o)->device, NULL },		\
	{ 0, "expedited", NULL, "module: grace periods that hurry",	\
	  OPT_FLAG, &(o)->expedited, NULL },				\
	{ 0, "interval", "US", "longest sleep between rounds; 0: none",	\
	  OPT_MICROS, &(o)->interval_ns, NULL },			\
	{ 'm', "mmap-pages", "N", "pages of a ring, a power of two",	\
	  OPT_UINT, &(o)->mmap_pages, NULL },				\
	{ 0, "strict", NULL, "exit 3 if something was late or lost",	\
	  OPT_FLAG, &(o)->strict, NULL }

int live_option_cpus(const char *arg, void *value);
int live_option_pids(const char *arg, void *value);
int live_option_events(const char *arg, void *value);
int live_option_filter(const char *arg, void *value);
int live_option_clock(const char *arg, void *value);

/*
 * Takes the command after "--", and refuses contradictions. 0, or TOOL_USAGE
 * with a message.
 */
int live_options_check(struct live_options *o, struct options_rest *rest);
void live_options_free(struct live_options *o);

#endif /* TOOLS_OPTIONS_H */
