// SPDX-License-Identifier: GPL-2.0
/* perfclock now: the time of a clock, as perf would stamp a record now. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <perfclock.h>

#include "commands.h"
#include "common.h"
#include "json.h"
#include "options.h"

static const struct command_help help = {
	"now", "[--clock CLOCK] [--source NAME] [--json[=FILE]]",
	"Print the time of a clock, in seconds, as perf would stamp a record\n"
	"now, here. Without --clock: perf's default clock.",
	"  perfclock now\n"
	"  perfclock now --clock monotonic_raw --json",
};

static int print_now(struct perfclock *clk, const struct json_option *json)
{
	struct perfclock_info info = { .sz = sizeof(info) };
	struct json j;
	uint64_t ns;
	int err;

	err = perfclock_get_info(clk, &info);
	if (!err)
		err = perfclock_now(clk, &ns);
	if (err) {
		tool_error("reading the clock: %s", strerror(-err));
		return TOOL_FAILED;
	}
	if (!json->on) {
		printf("%llu.%09llu\n", ns / NSEC_PER_SEC,
		       ns % NSEC_PER_SEC);
		return TOOL_DONE;
	}
	json_init(&j, false);
	json_object_begin(&j, NULL);
	json_string(&j, "clock", perfclock_clock_name(info.clock));
	json_string(&j, "source", info.source);
	json_u64(&j, "now_ns", ns);
	json_u64(&j, "resolution_ns", info.resolution);
	json_object_end(&j);
	err = json_write(&j, json->path);
	json_free(&j);
	return err ? TOOL_FAILED : TOOL_DONE;
}

int cmd_now(int argc, char **argv)
{
	struct live_options live = LIVE_OPTIONS_INIT;
	struct json_option json = { 0 };
	const char *source = NULL, *device = NULL;
	const struct option_spec specs[] = {
		{ 0, "clock", "CLOCK",
		  "perf, monotonic, monotonic_raw or boottime",
		  OPT_CALL, &live, live_option_clock },
		{ 0, "source", "NAME",
		  "perf-page, clockid, module or comm-record",
		  OPT_STRING, &source, NULL },
		{ 0, "device", "PATH", "of the module's node",
		  OPT_STRING, &device, NULL },
		JSON_OPTION(&json),
		{ 0 }
	};
	struct options_rest rest;
	struct perfclock *clk;
	char error[512] = "";
	struct perfclock_open_opts o = {
		.sz = sizeof(o), .flags = PERFCLOCK_OPEN_NO_WATERMARK,
		.error = error, .error_size = sizeof(error),
	};
	int err, status;

	if (options_parse(&help, specs, argc, argv, &rest))
		return rest.status;
	if (rest.argc)
		return tool_usage("unexpected word '%s'", rest.argv[0]);
	o.clock = live.clock;
	o.source = source;
	o.device = device;
	err = perfclock_open(&clk, &o);
	if (err) {
		tool_error("%s", error[0] ? error : strerror(-err));
		return err == -EINVAL ? TOOL_USAGE : TOOL_FAILED;
	}
	status = print_now(clk, &json);
	perfclock_close(clk);
	return status;
}
