// SPDX-License-Identifier: GPL-2.0
/*
 * perfclock info: who can tell the time here, who can prove a watermark, what
 * each costs, which would be chosen, and what would be better.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <perfclock.h>

#include "commands.h"
#include "common.h"
#include "json.h"
#include "options.h"

#define LOOKS		40	/* at a provider's lag */
#define LOOK_EVERY_NS	4000000
#define CHOICES_MAX	8

static const struct command_help help = {
	"info", "[--clock CLOCK] [--provider NAME] [--json[=FILE]]",
	"Show which sources can read a clock here and which providers can prove\n"
	"a watermark of it, with the reason where one can't, and what each costs.\n"
	"Without --clock: the clock that 'perfclock trace' would use.",
	"  perfclock info\n"
	"  perfclock info --clock perf --json",
};

struct provider_report {
	struct perfclock_choice choice;
	bool measured;
	uint64_t lag_ns;	/* median of LOOKS */
	uint64_t gp_ns;		/* newest grace period or round of visits */
	uint64_t margin_ns;
	double cpu;		/* of one CPU, by this process */
};

struct report {
	struct perfclock_open_opts o;
	struct perfclock_choice sources[CHOICES_MAX];
	struct provider_report providers[CHOICES_MAX];
	unsigned int nr_sources, nr_providers;
	struct perfclock_info chosen;	/* .provider NULL: none */
	char refusal[512];
};

/* CPU time of all threads but this one, which only looks. */
static uint64_t cpu_time(void)
{
	struct timespec all, own;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &all);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &own);
	return (all.tv_sec - own.tv_sec) * NSEC_PER_SEC +
	       all.tv_nsec - own.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Median of now minus W, looked at without regard to when W moves. */
static int measure_lag(struct perfclock *clk, uint64_t *median)
{
	struct timespec pause = { 0, LOOK_EVERY_NS };
	uint64_t lag[LOOKS], now, w;
	int i, err = 0;

	err = perfclock_watermark_wait(clk, 0, 2 * (int64_t)NSEC_PER_SEC);
	for (i = 0; i < LOOKS && !err; i++) {
		nanosleep(&pause, NULL);
		err = perfclock_watermark(clk, &w);
		if (!err)
			err = perfclock_now(clk, &now);
		lag[i] = now > w ? now - w : 0;
	}
	if (err)
		return err;
	qsort(lag, LOOKS, sizeof(lag[0]), by_value);
	*median = lag[LOOKS / 2];
	return 0;
}

static void measure_provider(const struct perfclock_open_opts *opts,
			     struct provider_report *p)
{
	struct perfclock_info info = { .sz = sizeof(info) };
	struct perfclock_open_opts o = *opts;
	uint64_t cpu = cpu_time();
	struct perfclock *clk;

	o.provider = p->choice.name;
	if (perfclock_open(&clk, &o))
		return;
	p->measured = !measure_lag(clk, &p->lag_ns) &&
		      !perfclock_get_info(clk, &info);
	p->cpu = (double)(cpu_time() - cpu) / (LOOKS * LOOK_EVERY_NS);
	p->gp_ns = info.gp_duration;
	p->margin_ns = info.margin;
	perfclock_close(clk);
}

static void probe_all(struct report *r)
{
	struct provider_report *p = r->providers;
	unsigned int n;

	for (n = 0; n < CHOICES_MAX; n++) {
		r->sources[n].sz = sizeof(r->sources[n]);
		if (perfclock_probe_source(n, &r->o, &r->sources[n]) != 1)
			break;
	}
	r->nr_sources = n;
	for (n = 0; n < CHOICES_MAX; n++, p++) {
		p->choice.sz = sizeof(p->choice);
		if (perfclock_probe_provider(n, &r->o, &p->choice) != 1)
			break;
		if (p->choice.available && p->choice.proven)
			measure_provider(&r->o, p);
	}
	r->nr_providers = n;
}

/* What a session would get: asked for, or the best. */
static int choose(struct report *r)
{
	struct perfclock_open_opts o = r->o;
	struct perfclock *clk;
	int err;

	o.error = r->refusal;
	o.error_size = sizeof(r->refusal);
	r->chosen.sz = sizeof(r->chosen);
	err = perfclock_open(&clk, &o);
	if (err) {
		if (!r->refusal[0])
			snprintf(r->refusal, sizeof(r->refusal), "%s",
				 strerror(-err));
		return err;
	}
	err = perfclock_get_info(clk, &r->chosen);
	perfclock_close(clk);
	return err;
}

/* The perf clock wherever the module serves it, as in perfclock trace. */
static enum perfclock_clockid default_clock(const char *device)
{
	struct perfclock_open_opts o = {
		.sz = sizeof(o), .clock = PERFCLOCK_PERF, .device = device,
	};
	struct perfclock_choice c = { .sz = sizeof(c) };
	unsigned int i;

	for (i = 0; perfclock_probe_provider(i, &o, &c) == 1; i++)
		if (!strcmp(c.name, "module"))
			return c.available ? PERFCLOCK_PERF :
					     PERFCLOCK_MONOTONIC;
	return PERFCLOCK_MONOTONIC;
}

static const struct provider_report *find_provider(const struct report *r,
						   const char *name)
{
	unsigned int i;

	for (i = 0; i < r->nr_providers; i++)
		if (!strcmp(r->providers[i].choice.name, name))
			return &r->providers[i];
	return NULL;
}

/* One sentence; NULL: nothing better is known. */
static const char *advice(const struct report *r)
{
	const struct provider_report *module = find_provider(r, "module");
	const char *p = r->chosen.provider;

	if (module && module->choice.available)
		return p && strcmp(p, "module") ?
		       "the module is here: leave --provider to it" : NULL;
	if (!p && r->o.clock == PERFCLOCK_PERF)
		return "use --clock monotonic_raw, whose events need only "
		       "membarrier, or load the module";
	if (!p)
		return "load the module: it works where nothing else is "
		       "allowed";
	if (!r->chosen.proven)
		return "the order is guessed: name no provider to have the "
		       "best one that is proven";
	if (!strcmp(p, "cpu-visit"))
		return "the module would leave the CPUs alone, which cpu-visit "
		       "interrupts, isolated ones too";
	if (r->o.clock == PERFCLOCK_PERF)
		return "the module would read the perf clock without visits "
		       "to CPUs, a look costing one load";
	return "the module would serve perf's default clock too, a look "
	       "costing one load";
}

static void json_sources(const struct report *r, struct json *j)
{
	unsigned int i;

	json_array_begin(j, "sources");
	for (i = 0; i < r->nr_sources; i++) {
		const struct perfclock_choice *c = &r->sources[i];

		json_object_begin(j, NULL);
		json_string(j, "name", c->name);
		json_bool(j, "available", c->available);
		json_string(j, "reason", c->reason);
		if (c->available)
			json_u64(j, "cost_ns", c->cost_ns);
		else
			json_null(j, "cost_ns");
		json_u64(j, "resolution_ns", c->resolution);
		json_object_end(j);
	}
	json_array_end(j);
}

static void json_providers(const struct report *r, struct json *j)
{
	const struct provider_report *p;

	json_array_begin(j, "providers");
	for (p = r->providers; p < r->providers + r->nr_providers; p++) {
		json_object_begin(j, NULL);
		json_string(j, "name", p->choice.name);
		json_bool(j, "proven", p->choice.proven);
		json_bool(j, "available", p->choice.available);
		json_string(j, "reason", p->choice.reason);
		if (p->measured) {
			json_u64(j, "lag_ns", p->lag_ns);
			json_u64(j, "gp_ns", p->gp_ns);
			json_u64(j, "margin_ns", p->margin_ns);
			json_double(j, "cpu", p->cpu, 4);
		} else {
			json_null(j, "lag_ns");
		}
		json_object_end(j);
	}
	json_array_end(j);
}

static int report_json(const struct report *r, const char *path)
{
	struct json j;
	int err;

	json_init(&j, false);
	json_object_begin(&j, NULL);
	json_string(&j, "clock", perfclock_clock_name(r->o.clock));
	json_sources(r, &j);
	json_providers(r, &j);
	json_string(&j, "chosen", r->chosen.provider);
	json_string(&j, "chosen_source", r->chosen.source);
	json_bool(&j, "proven", r->chosen.proven);
	json_string(&j, "refusal", r->chosen.provider ? NULL : r->refusal);
	json_string(&j, "advice", advice(r));
	json_object_end(&j);
	err = json_write(&j, path);
	json_free(&j);
	return err ? TOOL_FAILED : TOOL_DONE;
}

static void print_time(const char *what, uint64_t ns)
{
	if (ns < 10000)
		printf("%s%" PRIu64 " ns", what, ns);
	else if (ns < 10000000)
		printf("%s%" PRIu64 " us", what, ns / 1000);
	else
		printf("%s%" PRIu64 " ms", what, ns / 1000000);
}

static void text_sources(const struct report *r)
{
	const struct perfclock_choice *c;

	printf("\nSources (who tells the time):\n");
	for (c = r->sources; c < r->sources + r->nr_sources; c++) {
		printf("  %-12s  %-3s  ", c->name, c->available ? "yes" : "no");
		if (c->available)
			print_time("a read takes ", c->cost_ns);
		else
			printf("%s", c->reason);
		putchar('\n');
	}
}

static void text_providers(const struct report *r)
{
	const struct provider_report *p;

	printf("\nProviders (who says what is in order), best first:\n");
	for (p = r->providers; p < r->providers + r->nr_providers; p++) {
		printf("  %-12s  %-3s  %s", p->choice.name,
		       p->choice.available ? "yes" : "no",
		       p->choice.available ?
		       p->choice.proven ? "proven" : "unproven" : "");
		if (p->measured) {
			print_time(", lag ", p->lag_ns);
			printf(", %.1f%% of a CPU", p->cpu * 100);
		}
		if (p->choice.reason[0])
			printf("%s%s", p->choice.available ? ": " : "",
			       p->choice.reason);
		putchar('\n');
	}
}

static int report_text(const struct report *r)
{
	const char *better = advice(r);

	printf("Clock: %s%s\n", perfclock_clock_name(r->o.clock),
	       r->o.clock == PERFCLOCK_PERF ? " (perf's default)" : "");
	text_sources(r);
	text_providers(r);
	putchar('\n');
	if (r->chosen.provider)
		printf("Chosen: time from %s, watermark from %s (%s)\n",
		       r->chosen.source, r->chosen.provider,
		       r->chosen.proven ? "proven" : "UNPROVEN");
	else
		printf("Chosen: nothing: %s\n", r->refusal);
	if (better)
		printf("Better: %s\n", better);
	return TOOL_DONE;
}

int cmd_info(int argc, char **argv)
{
	struct live_options live = LIVE_OPTIONS_INIT;
	struct report r = { .o.sz = sizeof(r.o) };
	struct json_option json = { 0 };
	const struct option_spec specs[] = {
		{ 0, "clock", "CLOCK",
		  "perf, monotonic, monotonic_raw or boottime",
		  OPT_CALL, &live, live_option_clock },
		{ 0, "provider", "NAME", "auto, module, membarrier, "
		  "cpu-visit, backoff=NS", OPT_STRING, &r.o.provider, NULL },
		{ 0, "source", "NAME",
		  "auto, perf-page, clockid, module or comm-record",
		  OPT_STRING, &r.o.source, NULL },
		{ 0, "device", "PATH", "of the module's node",
		  OPT_STRING, &r.o.device, NULL },
		JSON_OPTION(&json),
		{ 0 }
	};
	struct options_rest rest;

	if (options_parse(&help, specs, argc, argv, &rest))
		return rest.status;
	if (rest.argc)
		return tool_usage("unexpected word '%s'", rest.argv[0]);
	r.o.clock = live.clock_given ? live.clock : default_clock(r.o.device);
	if (choose(&r) == -EINVAL)
		return tool_usage("%s", r.refusal);
	probe_all(&r);
	return json.on ? report_json(&r, json.path) : report_text(&r);
}
