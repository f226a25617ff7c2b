// SPDX-License-Identifier: GPL-2.0
/*
 * perfclock sort: a recording in stamp order. The work is done by the library
 * (perfclock_perfdata_sort); here are the output's file and what is told.
 */
#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "common.h"
#include "faults.h"
#include "new_file.h"
#include "options.h"

typedef unsigned long long ull;

struct sort_options {
	const char *out;	/* NULL or "-": standard output */
	const char *tmp_dir;
	uint64_t memory_mib;
	struct json_option json;
};

static const struct command_help sort_help = {
	.name = "sort",
	.synopsis = "[-o OUT] [--memory MIB] [--json[=FILE]] FILE",
	.about =
"Writes the records of a perf.data file (FILE '-': standard input) in stamp\n"
"order to OUT ('-' or none: standard output), so that perf reads it without\n"
"out of order events. All else is kept byte for byte. OUT must not exist.",
	.examples =
"  perfclock sort perf.data -o sorted.data\n"
"  perf record -o - ... | perfclock sort - | perf script -i -",
};

static int show_progress(enum perfclock_sort_phase phase, uint64_t done,
			 uint64_t total, void *ctx)
{
	const char *what = phase == PERFCLOCK_SORT_READ ? "reading" : "merging";
	unsigned int percent = total ? done * 100.0 / total : 0, bar, i;
	char line[80];
	int n;

	if (!total) {
		n = snprintf(line, sizeof(line), "\r%s %llu MiB", what,
			     (ull)done >> 20);
	} else {
		n = snprintf(line, sizeof(line), "\r%s [", what);
		bar = percent > 100 ? 40 : percent * 40 / 100;
		for (i = 0; i < 40; i++)
			line[n++] = i < bar ? '#' : '.';
		n += snprintf(line + n, sizeof(line) - n, "] %3u%%", percent);
	}
	return write(STDERR_FILENO, line, n) < 0 ? 1 : 0;
}

static void clear_progress(bool shown)
{
	static const char clear[] = "\r\033[K";

	if (shown && write(STDERR_FILENO, clear, sizeof(clear) - 1) < 0)
		return;
}

static bool to_stdout(const struct sort_options *o)
{
	return !o->out || !strcmp(o->out, "-");
}

/* Readable by whom the recording is. */
static mode_t mode_of(const char *in)
{
	struct stat st;

	if (!strcmp(in, "-") ? fstat(STDIN_FILENO, &st) : stat(in, &st))
		return 0600;
	return S_ISREG(st.st_mode) ? st.st_mode & 0777 : 0600;
}

/* 0, or -errno, told of: the figures could not be written. */
static int report(const struct sort_options *o,
		  const struct perfclock_perfdata_sort_stats *st,
		  const struct faults *faults)
{
	struct json j;
	int err;

	if (!to_stdout(o) && (!o->json.on || o->json.path))
		printf("%llu records, %llu of them moved forward in time, to "
		       "%s\n", (ull)st->records, (ull)st->behind, o->out);
	if (!o->json.on)
		return 0;
	json_init(&j, false);
	json_object_begin(&j, NULL);
	json_u64(&j, "records", st->records);
	json_u64(&j, "stamped", st->stamped);
	json_u64(&j, "behind", st->behind);
	json_u64(&j, "dropped", st->dropped);
	json_u64(&j, "bytes", st->bytes);
	json_u64(&j, "spilled_bytes", st->spilled);
	json_u64(&j, "merged_runs", st->runs);
	faults_json(faults, &j);
	json_object_end(&j);
	err = json_write(&j, o->json.path);
	json_free(&j);
	return err;
}

static int sort_to(struct sort_options *o, struct faults *faults,
		   struct perfclock_perfdata *data, int fd,
		   struct perfclock_perfdata_sort_stats *st)
{
	char *dir = to_stdout(o) ? NULL : tool_strdup(o->out);
	struct perfclock_perfdata_sort_opts opts = {
		.sz = sizeof(opts), .memory_max = o->memory_mib << 20,
		.tmp_dir = o->tmp_dir,
	};
	bool bar = isatty(STDERR_FILENO);
	int err;

	if (!opts.tmp_dir)
		opts.tmp_dir = dir ? dirname(dir) : getenv("TMPDIR");
	if (bar)
		opts.progress = show_progress;
	err = perfclock_perfdata_sort(data, fd, &opts, st);
	clear_progress(bar);
	faults_finish(faults);
	free(dir);
	if (err == -EOPNOTSUPP)
		tool_error("%s: attributes stand behind the data, and sorting "
			   "would move them: not supported", faults->file);
	else if (err == -EPIPE)
		tool_error("the reader of the output has gone");
	else if (err)
		tool_error("sorting %s to %s: %s", faults->file,
			   to_stdout(o) ? "standard output" : o->out,
			   strerror(-err));
	return err ? TOOL_FAILED : faults_status(faults, st->good_records);
}

static int sort_file(struct sort_options *o, const char *in)
{
	struct perfclock_perfdata_sort_stats st = { .sz = sizeof(st) };
	struct new_file out = { .fd = -1 };
	struct perfclock_perfdata *data = NULL;
	struct faults faults;
	int status, err = 0;

	faults_init(&faults, in);
	status = faults_open(&faults, &data, in);
	if (!status && !to_stdout(o))
		status = new_file_open(&out, o->out, mode_of(in));
	if (!status)
		status = sort_to(o, &faults, data, to_stdout(o) ?
				 STDOUT_FILENO : out.fd, &st);
	if (!to_stdout(o) && status != TOOL_FAILED)
		err = new_file_finish(&out);
	new_file_drop(&out);
	if (err)
		status = err;
	if (status != TOOL_FAILED && report(o, &st, &faults))
		status = TOOL_FAILED;
	perfclock_perfdata_close(data);
	faults_free(&faults);
	return status;
}

int cmd_sort(int argc, char **argv)
{
	struct sort_options o = { .memory_mib = 256 };
	const struct option_spec specs[] = {
		{ 'o', "output", "OUT", "where to; must not exist",
		  OPT_STRING, &o.out, NULL },
		{ 0, "memory", "MIB", "bound for memory, MiB (256)",
		  OPT_U64, &o.memory_mib, NULL },
		{ 0, "tmp-dir", "DIR", "where temporary files go, if they are "
		  "needed (beside OUT)", OPT_STRING, &o.tmp_dir, NULL },
		JSON_OPTION(&o.json),
		{ 0 }
	};
	struct options_rest rest;

	if (options_parse(&sort_help, specs, argc, argv, &rest))
		return rest.status;
	if (rest.argc != 1)
		return tool_usage(rest.argc ? "one file at a time" :
				  "which file?");
	if (o.memory_mib < 4 || o.memory_mib > 1 << 20)
		return tool_usage("--memory: from 4 to 1048576 MiB");
	if (to_stdout(&o) && isatty(STDOUT_FILENO))
		return tool_usage("records do not go to a terminal: give "
				  "-o OUT");
	if (to_stdout(&o) && o.json.on && !o.json.path)
		return tool_usage("standard output is for the records: give "
				  "--json=FILE");
	return sort_file(&o, rest.argv[0]);
}
