// SPDX-License-Identifier: GPL-2.0
/*
 * The picture of "perfclock compare", by gnuplot: on the left how many records
 * came late by more than so much, on the right what each policy's lag was.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common.h"
#include "compare_live.h"
#include "live.h"
#include "plot.h"

/* Colours that people with any colour sight tell apart. */
static const char *const colors[] = {
	"#e69f00", "#56b4e9", "#009e73", "#cc79a7", "#d55e00", "#0072b2",
	"#999933", "#882255", "#444444",
};

static const char *color_of(const struct compare_result *r, unsigned int i)
{
	if (!strcmp(r->name, "watermark"))
		return "#000000";
	return colors[i % ARRAY_SIZE(colors)];
}

/* "backoff=10000000" as people say it. */
static const char *label_of(const struct compare_result *r, char *buf,
			    size_t size)
{
	char ns[32];

	if (strncmp(r->name, "backoff=", 8))
		return r->name;
	snprintf(buf, size, "backoff %s",
		 format_ns(ns, sizeof(ns), strtoull(r->name + 8, NULL, 10)));
	return buf;
}

/* Ticks that say 1 us, not 10^{-3}; unit: of the axis, in ns. */
static void time_tics(FILE *f, double unit)
{
	static const char *const names[] = {
		"1 ns", "10 ns", "100 ns", "1 us", "10 us", "100 us", "1 ms",
		"10 ms", "100 ms", "1 s", "10 s",
	};
	double ns = 1;
	unsigned int i;

	fprintf(f, "set xtics rotate by -40 (");
	for (i = 0; i < ARRAY_SIZE(names); i++, ns *= 10)
		fprintf(f, "%s\"%s\" %g", i ? ", " : "", names[i], ns / unit);
	fprintf(f, ")\n");
}

static bool in_path(const char *program)
{
	char *path = tool_strdup(getenv("PATH") ? getenv("PATH") : "");
	char *rest = path, *dir;
	bool found = false;

	while (!found && (dir = strsep(&rest, ":"))) {
		char *file = tool_printf("%s/%s", dir, program);

		found = !access(file, X_OK);
		free(file);
	}
	free(path);
	return found;
}

int plot_check(const char *path)
{
	FILE *f;

	if (!in_path("gnuplot")) {
		tool_error("--plot needs gnuplot, which is not installed "
			   "(Debian: gnuplot-nox); run without --plot, or "
			   "take the numbers from --json");
		return TOOL_FAILED;
	}
	f = fopen(path, "we");
	if (!f) {
		tool_error("cannot write %s: %s", path, strerror(errno));
		return TOOL_FAILED;
	}
	fclose(f);
	return TOOL_DONE;
}

/* Each late bucket: its lower end in us, and how many are at least as late. */
static void lateness_data(FILE *f, const struct compare_result *r,
			  unsigned int i)
{
	uint64_t above = r->lateness.count;
	unsigned int b;

	fprintf(f, "$late%u << EOD\n", i);
	for (b = 0; r->lateness.count && b < HIST_BUCKETS && above; b++) {
		uint64_t start = hist_bucket_start(b);

		if (!r->lateness.buckets[b])
			continue;
		if (start < r->lateness.min)
			start = r->lateness.min;
		fprintf(f, "%.3f %llu\n", start / 1e3,
			(unsigned long long)above);
		above -= r->lateness.buckets[b];
	}
	if (r->lateness.count)
		fprintf(f, "%.3f 0.5\n", r->lateness.max / 1e3);
	fprintf(f, "EOD\n");
}

/* Quantiles of lag, in ms, and the row where it is drawn. */
static void lag_data(FILE *f, const struct compare_result *const *results,
		     unsigned int nr)
{
	unsigned int i;

	fprintf(f, "$lag << EOD\n");
	for (i = 0; i < nr; i++) {
		const struct hist *h = &results[i]->lag;

		if (h->count)
			fprintf(f, "%u %.6f %.6f %.6f %.6f %.6f \"%s\"\n",
				nr - i, hist_quantile(h, 0.01) / 1e6 + 1e-6,
				hist_quantile(h, 0.25) / 1e6 + 1e-6,
				hist_quantile(h, 0.5) / 1e6 + 1e-6,
				hist_quantile(h, 0.75) / 1e6 + 1e-6,
				hist_quantile(h, 0.99) / 1e6 + 1e-6,
				results[i]->name);
	}
	fprintf(f, "EOD\n");
}

/* Axis labels that say what nothing could be drawn for. */
static void lag_tics(FILE *f, const struct compare_result *const *results,
		     unsigned int nr)
{
	unsigned int i;
	char buf[64];

	fprintf(f, "set ytics (");
	for (i = 0; i < nr; i++)
		fprintf(f, "%s\"%s\" %u", i ? ", " : "",
			label_of(results[i], buf, sizeof(buf)), nr - i);
	fprintf(f, ")\n");
	for (i = 0; i < nr; i++)
		if (!results[i]->lag.count)
			fprintf(f, "set label \"%s\" at graph 0.02, first %u "
				"font ',10' tc rgb '#777777'\n",
				strcmp(results[i]->name, "none") ?
				"never let anything go" : "holds nothing",
				nr - i);
}

static void lateness_panel(FILE *f, const struct compare_result *const *results,
			   unsigned int nr)
{
	bool any = false;
	unsigned int i;
	char buf[64];

	for (i = 0; i < nr; i++)
		any |= results[i]->lateness.count;
	fprintf(f, "set title 'Late records: how many, and by how much'\n"
		"set xlabel 'late by more than'\n"
		"set ylabel 'records'\n"
		"set logscale xy\nset format y '10^{%%L}'\n"
		"set yrange [0.7:*]\nset xrange [0.01:*]\n"
		"set key at screen 0.26,0.01 bottom center horizontal "
		"maxcols 3 font ',10' samplen 2\n");
	time_tics(f, 1e3);
	if (!any)
		fprintf(f, "set xrange [0.1:1000]\nset yrange [0.7:10]\n"
			"set label 'no policy had a late record' at graph "
			"0.5, 0.5 center\n");
	fprintf(f, "plot ");
	for (i = 0; i < nr; i++) {
		const struct compare_result *r = results[i];

		if (r->lateness.count)
			fprintf(f, "%s$late%u using 1:2 with steps lw 2 lc rgb "
				"'%s' title '%s: %llu'", i ? ", " : "", i,
				color_of(r, i), label_of(r, buf, sizeof(buf)),
				(unsigned long long)r->late);
		else
			fprintf(f, "%sNaN with lines lw 2 lc rgb '%s' title "
				"'%s: none late'", i ? ", " : "",
				color_of(r, i),
				label_of(r, buf, sizeof(buf)));
	}
	fprintf(f, "\nunset label\n");
}

static void lag_panel(FILE *f, const struct compare_result *const *results,
		      unsigned int nr)
{
	fprintf(f, "set title 'Lag: what is held back'\n"
		"set xlabel 'now minus the limit: box 25 to 75%%, "
		"line 1 to 99%%'\n"
		"unset ylabel\nunset logscale y\nset format y '%%s'\n"
		"set yrange [0.3:%u.7]\nset xrange [*:*]\nunset key\n",
		nr);
	time_tics(f, 1e6);
	lag_tics(f, results, nr);
	fprintf(f, "set boxwidth 0.5\n"
		"plot $lag using 2:1:($6-$2):(0) with vectors nohead lw 1.5 "
		"lc rgb '#555555', "
		"$lag using 4:1:3:5:($1-0.28):($1+0.28) with boxxyerror "
		"fs solid 0.5 lc rgb '#0072b2', "
		"$lag using 4:1 with points pt 7 ps 0.7 lc rgb '#000000'\n");
}

/* gnuplot does not say when the disk is full: does a file have its end? */
static bool is_whole(const char *path)
{
	static const char end[] = "</svg>";
	char tail[sizeof(end) + 8] = "";
	FILE *f = fopen(path, "re");
	struct stat st;
	bool whole = false;

	if (!f)
		return false;
	if (!fstat(fileno(f), &st) && !S_ISREG(st.st_mode))
		whole = true;		/* it has gone wherever it goes */
	else if (!fseek(f, -(long)sizeof(end) - 2, SEEK_END) &&
		 fread(tail, 1, sizeof(tail) - 1, f) > 0)
		whole = strstr(tail, end);
	fclose(f);
	return whole;
}

int plot_policies(const char *path, const char *title,
		  const struct compare_result *const *results,
		  unsigned int nr)
{
	FILE *f = popen("gnuplot", "we");
	const char *name = path;
	unsigned int i;
	int status;

	if (!f) {
		tool_error("cannot run gnuplot: %s", strerror(errno));
		return -errno;
	}
	/* Through stdin, so that no name of a file is ever quoted wrongly. */
	fprintf(f, "set terminal svg size 1000,500 font 'sans-serif,12' "
		"background '#ffffff'\nset encoding utf8\n");
	for (i = 0; i < nr; i++)
		lateness_data(f, results[i], i);
	lag_data(f, results, nr);
	fprintf(f, "set output \"");
	for (; *path; path++)
		fprintf(f, strchr("\\\"`$", *path) ? "\\%c" : "%c", *path);
	fprintf(f, "\"\nset multiplot layout 1,2 title '%s'\n"
		"set grid lc rgb '#dddddd'\nset border 3\n"
		"set tics nomirror\nset bmargin 9\nset rmargin 6\n", title);
	lateness_panel(f, results, nr);
	lag_panel(f, results, nr);
	fprintf(f, "unset multiplot\n");
	status = pclose(f);
	if (!status && is_whole(name))
		return 0;
	if (!status) {
		tool_error("cannot write %s: the picture has no end; is the "
			   "disk full?", name);
		return -ENOSPC;
	}
	tool_error("gnuplot failed to draw the picture (status %d)", status);
	return -EIO;
}
