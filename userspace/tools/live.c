// SPDX-License-Identifier: GPL-2.0
/* What live subcommands have in common: see live.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common.h"
#include "filter.h"
#include "live.h"
#include "stop.h"

#define GLOB_MAX	128	/* events that one glob may stand for */
#define TICK_MS		100

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

uint64_t monotonic_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* A file per event and CPU: take what the hard limit allows. */
static void raise_file_limit(void)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_NOFILE, &limit)) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/*
 * A reader that waits for its turn behind those it watches loses their
 * records. One that never sleeps must leave them a tenth of its CPU. Where it
 * is not permitted, so be it. A nice value that the user gave stays.
 */
#define PRIORITY	(-20)
#define PRIORITY_BUSY	(-10)

static void raise_priority(int nice)
{
	errno = 0;
	if (!getpriority(PRIO_PROCESS, 0) && !errno)
		setpriority(PRIO_PROCESS, 0, nice);
}

/* That is not for the command that is watched. */
static void normal_priority(pid_t pid)
{
	int nice = getpriority(PRIO_PROCESS, pid);

	if (nice == PRIORITY || nice == PRIORITY_BUSY)
		setpriority(PRIO_PROCESS, pid, 0);
}

int live_open(struct live *l, const struct live_options *options)
{
	char error[512] = "";
	struct perfclock_session_opts opts = {
		.sz = sizeof(opts),
		.clock = options->clock,
		.provider = options->provider,
		.device = options->device,
		.nr_cpus = options->nr_cpus,
		.cpus = options->cpus,
		.nr_pids = options->nr_pids,
		.pids = options->pids,
		.cgroup = options->cgroup,
		.mmap_pages = options->mmap_pages,
		.interval_ns = options->interval_ns,
		.error = error,
		.error_size = sizeof(error),
	};
	int err;

	memset(l, 0, sizeof(*l));
	l->options = options;
	raise_file_limit();
	raise_priority(options->interval_ns ? PRIORITY : PRIORITY_BUSY);
	if (!options->clock_given)
		opts.flags |= PERFCLOCK_SESSION_CLOCK_AUTO;
	if (options->expedited)
		opts.flags |= PERFCLOCK_SESSION_EXPEDITED;
	if (options->nr_pids || options->command)
		opts.flags |= PERFCLOCK_SESSION_INHERIT;
	err = perfclock_session_new(&l->session, &opts);
	if (err) {
		tool_error("%s", *error ? error : strerror(-err));
		return TOOL_FAILED;
	}
	catalog_init(&l->catalog);
	return TOOL_DONE;
}

static int session_failed(struct live *l, long err)
{
	const char *error = perfclock_session_error(l->session);

	tool_error("%s", *error ? error : strerror(-err));
	return TOOL_FAILED;
}

struct live_tracepoint *live_add(struct live *l, const char *name,
				 const char *filter)
{
	struct live_tracepoint *ev = tool_alloc(1, sizeof(*ev));
	struct perfclock_event_opts opts = {
		.sz = sizeof(opts), .filter = filter, .user = ev,
	};

	ev->index = perfclock_session_add(l->session, name, &opts);
	if (ev->index < 0) {
		session_failed(l, ev->index);
		free(ev);
		return NULL;
	}
	ev->name = tool_strdup(name);
	ev->filter = filter;
	ev->tep = catalog_event(&l->catalog, name);
	if (ev->tep)
		ev->format = event_format_new(ev->tep);
	ev->is_syscall = ev->tep && !strncmp(name, "raw_syscalls:", 13);
	l->events = tool_realloc(l->events, l->nr_events + 1,
				 sizeof(*l->events));
	l->events[l->nr_events++] = ev;
	return ev;
}

/* "sched_switch" alone: what was meant is easily said. */
static bool tell_system(struct live *l, const char *name)
{
	char *glob, **names;
	unsigned int n;

	if (strchr(name, ':'))
		return false;
	glob = tool_printf("*:%s", name);
	n = catalog_glob(&l->catalog, glob, 4, &names);
	free(glob);
	if (n && names)
		tool_error("event %s: no such event; did you mean %s?", name,
			   names[0]);
	catalog_free_names(names);
	return n;
}

static int add_glob(struct live *l, const struct live_event *given)
{
	unsigned int n, i;
	char **names;
	int status = TOOL_DONE;

	if (!l->catalog.dir) {
		tool_error("no tracefs can be read, so no tracepoints: run as "
			   "root, or: mount -t tracefs nodev "
			   "/sys/kernel/tracing");
		return TOOL_FAILED;
	}
	n = catalog_glob(&l->catalog, given->name, GLOB_MAX, &names);
	if (!n)
		tool_error("no tracepoint matches '%s'; they are listed in "
			   "%s/available_events", given->name,
			   l->catalog.dir);
	else if (!names)
		tool_error("'%s' matches %u tracepoints, more than the %d "
			   "that a glob may stand for: narrow it",
			   given->name, n, GLOB_MAX);
	for (i = 0; names && i < n && status == TOOL_DONE; i++)
		if (!live_add(l, names[i], given->filter))
			status = TOOL_FAILED;
	catalog_free_names(names);
	return n && n <= GLOB_MAX ? status : TOOL_FAILED;
}

int live_add_events(struct live *l)
{
	unsigned int i;
	int status;

	if (!l->options->nr_events)
		return tool_usage("which events? -e SYSTEM:NAME[,...]");
	for (i = 0; i < l->options->nr_events; i++) {
		const struct live_event *given = &l->options->events[i];

		if (catalog_is_glob(given->name)) {
			status = add_glob(l, given);
			if (status)
				return status;
		} else if ((!strchr(given->name, '-') &&
			    tell_system(l, given->name)) ||
			   !live_add(l, given->name, given->filter)) {
			return TOOL_FAILED;
		}
	}
	return TOOL_DONE;
}

/* Without the module things still work; a line says how. */
static void tell_provider(struct live *l)
{
	struct perfclock_info info = { .sz = sizeof(info) };

	if (perfclock_get_info(perfclock_session_clock(l->session), &info) ||
	    !strcmp(info.provider, "module"))
		return;
	if (info.proven)
		tool_note("order is proven by %s, on clock %s%s",
			  info.provider, perfclock_clock_name(info.clock),
			  l->options->provider || l->options->clock_given ?
			  "" : " (the module is not loaded)");
	else
		tool_note("order is NOT proven: provider %s only guesses",
			  info.provider);
}

static int start(struct live *l)
{
	int err = 0;

	if (l->options->command)
		err = perfclock_session_exec(l->session, l->options->command,
					     &l->child);
	if (l->child > 0)
		normal_priority(l->child);
	if (!err)
		err = perfclock_session_start(l->session);
	if (err == -EINVAL && filter_tell_errors(l))
		return TOOL_FAILED;
	if (err)
		return session_failed(l, err);
	tell_provider(l);
	l->started = monotonic_ns();
	l->cpu_started = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	return TOOL_DONE;
}

static bool child_ended(struct live *l)
{
	return l->child > 0 &&
	       waitpid(l->child, &l->child_status, WNOHANG) == l->child;
}

static int timeout_ms(uint64_t now, uint64_t deadline)
{
	if (deadline - now > TICK_MS * 1000000ULL)
		return TICK_MS;
	return (deadline - now) / 1000000 + 1;
}

/* 0: the run has ended, and all that is left may be delivered. */
static long run_rounds(struct live *l, perfclock_event_fn fn,
		       const struct live_hooks *hooks, void *ctx)
{
	uint64_t deadline = UINT64_MAX, now = l->started;
	long ret;

	if (l->options->duration_ns)
		deadline = l->started + l->options->duration_ns;
	for (;;) {
		ret = perfclock_session_poll(l->session,
					     timeout_ms(now, deadline), fn,
					     ctx);
		if (ret == -ESHUTDOWN)
			return 0;
		if (ret < 0 && ret != -EINTR)
			return ret;
		ret = hooks && hooks->round ? hooks->round(ctx) : 0;
		if (ret)
			return ret;
		now = monotonic_ns();
		if (now >= deadline)
			return 0;
		if (child_ended(l)) {
			l->child = 0;
			return 0;
		}
	}
}

int live_run(struct live *l, perfclock_event_fn fn,
	     const struct live_hooks *hooks, void *ctx)
{
	int status;
	long ret;

	stop_on_signals(l->session);
	status = start(l);
	if (status)
		return status;
	ret = run_rounds(l, fn, hooks, ctx);
	l->stop_signal = stop_signal();
	l->ended = monotonic_ns();
	if (!ret) {
		ret = perfclock_session_finish(l->session, fn, ctx);
		if (!ret || ret > 0)
			ret = hooks && hooks->round ? hooks->round(ctx) : 0;
	}
	l->cpu_used = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - l->cpu_started;
	if (ret && ret != LIVE_STOP)
		return ret == -EPIPE ? TOOL_FAILED : session_failed(l, ret);
	return TOOL_DONE;
}

void live_close(struct live *l)
{
	unsigned int i;

	stop_on_signals(NULL);
	perfclock_session_free(l->session);
	for (i = 0; i < l->nr_events; i++) {
		event_format_free(l->events[i]->format);
		free(l->events[i]->name);
		free(l->events[i]);
	}
	free(l->events);
	catalog_free(&l->catalog);
}
