/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What live subcommands have in common: a session made from their options,
 * the loop that runs its rounds until something ends it, and the figures
 * about it.
 *
 *	if (live_open(&l, &options))			exit status, told
 *		...
 *	live_add_events(&l); or live_add(&l, name, filter, user);
 *	status = live_run(&l, fn, &hooks, ctx);
 *	live_summary(&l, &s);
 *	live_close(&l);
 */
#ifndef TOOLS_LIVE_H
#define TOOLS_LIVE_H

#include <stdint.h>
#include <sys/types.h>

#include <perfclock/session.h>

#include "catalog.h"
#include "format.h"
#include "json.h"
#include "options.h"

/* An event of the session; comes as perfclock_event.user. */
struct live_tracepoint {
	char *name;
	const char *filter;		/* or NULL */
	struct tep_event *tep;		/* NULL: no tracepoint */
	struct event_format *format;	/* the same */
	int index;			/* of the session */
	bool is_syscall;		/* raw_syscalls: field id is a call */
	int role;			/* free for the subcommand */
};

struct live {
	const struct live_options *options;
	struct perfclock_session *session;
	struct catalog catalog;
	struct live_tracepoint **events;
	unsigned int nr_events;
	pid_t child;			/* 0: none */
	int child_status;
	uint64_t started, ended;	/* CLOCK_MONOTONIC, ns */
	uint64_t cpu_started, cpu_used;	/* CPU time of this process, ns */
	int stop_signal;		/* that ended it, or 0 */
};

/* What the event callback returns to end the run with all well. */
#define LIVE_STOP	(-ECANCELED)

struct live_hooks {
	/* After each round, and about ten times a second at least. */
	int (*round)(void *ctx);	/* not 0: stop, as the callback's */
};

int live_open(struct live *l, const struct live_options *options);
/* Those of -e, globs expanded. */
int live_add_events(struct live *l);
/* One event. NULL: told what is wrong. */
struct live_tracepoint *live_add(struct live *l, const char *name,
				 const char *filter);
/*
 * Start, and run until the time is over, the command ends, a signal comes, or
 * a callback says so. All records that were stamped until then are delivered,
 * but after a callback has said stop. Returns TOOL_DONE, or TOOL_FAILED with a
 * message.
 */
int live_run(struct live *l, perfclock_event_fn fn,
	     const struct live_hooks *hooks, void *ctx);
void live_close(struct live *l);

/* Figures of a run, those that every live subcommand reports. */
struct live_summary {
	struct perfclock_session_stats stats;
	struct perfclock_info info;
	uint64_t duration_ns;
	uint64_t cpu_ns_per_event;
};

void live_summary(struct live *l, struct live_summary *s);
void live_summary_json(const struct live_summary *s, struct json *j);
/* On stderr, a line: events, lost, late, who proves the order, lag. */
void live_summary_line(const struct live_summary *s);
/* status, or TOOL_PARTIAL: --strict, and something was late or lost. */
int live_strict(const struct live *l, const struct live_summary *s,
		int status);

/* "17.3 ms", of any size; into buf. */
const char *format_ns(char *buf, size_t size, uint64_t ns);
uint64_t monotonic_ns(void);

#endif /* TOOLS_LIVE_H */
