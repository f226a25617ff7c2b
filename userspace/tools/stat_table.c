// SPDX-License-Identifier: GPL-2.0
/* The table of "perfclock stat": see stat_table.h. */
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "live.h"
#include "stat_table.h"

static const char *const sort_names[STAT_SORTS] = {
	"total", "count", "max", "mean", "p99", "name",
};

const char *stat_sort_name(enum stat_sort sort)
{
	return sort_names[sort];
}

int stat_sort_from_name(const char *name)
{
	int i;

	for (i = 0; i < STAT_SORTS; i++)
		if (!strcmp(name, sort_names[i]))
			return i;
	return -1;
}

/* ---- sorting ---- */

struct sort_entry {
	uint64_t value;
	const char *name;
	unsigned int group;
};

static uint64_t sort_value(const struct pair_group *g, enum stat_sort sort)
{
	switch (sort) {
	case STAT_SORT_COUNT:
		return g->time.count;
	case STAT_SORT_MAX:
		return g->time.max;
	case STAT_SORT_MEAN:
		return hist_mean(&g->time);
	case STAT_SORT_P99:
		return hist_quantile(&g->time, 0.99);
	case STAT_SORT_NAME:
		return 0;
	default:
		return g->time.sum;
	}
}

/* The greatest first; the same by name, so that rows keep their places. */
static int compare_entries(const void *a, const void *b)
{
	const struct sort_entry *x = a, *y = b;

	if (x->value != y->value)
		return x->value > y->value ? -1 : 1;
	return strcmp(x->name, y->name);
}

unsigned int *stat_table_order(const struct stat_run *r, enum stat_sort sort,
			       unsigned int *nr)
{
	const struct pairs *p = &r->pairs;
	struct sort_entry *entries = tool_alloc(p->nr_groups,
						sizeof(*entries));
	unsigned int *order = tool_alloc(p->nr_groups, sizeof(*order));
	unsigned int i, n = 0;

	for (i = 0; i < p->nr_groups; i++) {
		const struct pair_group *g = &p->groups[i];

		if (g->time.count)
			entries[n++] = (struct sort_entry){
				sort_value(g, sort), g->name, i };
	}
	qsort(entries, n, sizeof(*entries), compare_entries);
	for (i = 0; i < n; i++)
		order[i] = entries[i].group;
	free(entries);
	*nr = n;
	return order;
}

/* ---- the table ---- */

/* Columns right of the name, the least needed on a narrow terminal last. */
enum column {
	COLUMN_COUNT, COLUMN_TOTAL, COLUMN_MIN, COLUMN_MEAN, COLUMN_P50,
	COLUMN_P99, COLUMN_MAX, COLUMNS
};

static const struct {
	const char *title;
	unsigned int width, need;	/* need: 0 is needed most */
} columns[COLUMNS] = {
	[COLUMN_COUNT] = { "count", 10, 0 },
	[COLUMN_TOTAL] = { "total", 9, 3 },
	[COLUMN_MIN] = { "min", 9, 6 },
	[COLUMN_MEAN] = { "mean", 9, 1 },
	[COLUMN_P50] = { "p50", 9, 5 },
	[COLUMN_P99] = { "p99", 9, 4 },
	[COLUMN_MAX] = { "max", 9, 2 },
};

#define NAME_LEAST	12

/* Which columns fit; the rest of the width is the name's. */
static unsigned int choose_columns(unsigned int width, unsigned int name_max,
				   bool shown[COLUMNS])
{
	unsigned int need, c, used = NAME_LEAST;

	for (need = 0; need < COLUMNS; need++) {
		for (c = 0; c < COLUMNS; c++) {
			if (columns[c].need != need)
				continue;
			shown[c] = !width || used + columns[c].width <= width;
			if (shown[c])
				used += columns[c].width;
		}
	}
	used -= NAME_LEAST;
	if (!width || name_max + used <= width)
		return name_max > NAME_LEAST ? name_max : NAME_LEAST;
	return width > used ? width - used : 1;
}

static void cell(struct text *t, const char *s, unsigned int width)
{
	text_column(t, s, strlen(s), width, false);
}

static void cell_ns(struct text *t, uint64_t ns, unsigned int width)
{
	char buf[32];

	cell(t, format_ns(buf, sizeof(buf), ns), width);
}

static void print_cell(struct text *t, const struct pair_group *g,
		       enum column c)
{
	const struct hist *h = &g->time;
	unsigned int width = columns[c].width;
	char digits[24];

	switch (c) {
	case COLUMN_COUNT:
		digits[put_decimal(digits, h->count)] = '\0';
		cell(t, digits, width);
		break;
	case COLUMN_TOTAL:
		cell_ns(t, h->sum, width);
		break;
	case COLUMN_MIN:
		cell_ns(t, h->min, width);
		break;
	case COLUMN_MEAN:
		cell_ns(t, hist_mean(h), width);
		break;
	case COLUMN_P50:
		cell_ns(t, hist_quantile(h, 0.5), width);
		break;
	case COLUMN_P99:
		cell_ns(t, hist_quantile(h, 0.99), width);
		break;
	case COLUMN_MAX:
		cell_ns(t, h->max, width);
		break;
	case COLUMNS:
		break;
	}
}

static unsigned int longest_name(const struct stat_run *r,
				 const unsigned int *order, unsigned int nr)
{
	unsigned int longest = 0, i;

	for (i = 0; i < nr; i++) {
		size_t len = strlen(r->pairs.groups[order[i]].name);

		if (len > longest)
			longest = len;
	}
	return longest > 60 ? 60 : longest;
}

/* Cut to the width, with a mark where something is missing. */
static void print_name(struct text *t, const char *name, unsigned int width)
{
	size_t len = strlen(name);

	if (len <= width) {
		text_column(t, name, len, width, true);
	} else {
		text_bytes(t, name, width - 1);
		text_char(t, '>');
	}
}

static void print_heading(struct text *t, const bool shown[COLUMNS],
			  unsigned int name_width,
			  const struct stat_view *view)
{
	unsigned int c;

	if (view->highlight)
		text_string(t, "\033[1m");
	text_column(t, "", 0, name_width, true);
	for (c = 0; c < COLUMNS; c++)
		if (shown[c])
			cell(t, columns[c].title, columns[c].width);
	if (view->highlight)
		text_string(t, "\033[0m");
	text_char(t, '\n');
}

void stat_table(struct text *t, const struct stat_run *r,
		const struct stat_view *view)
{
	bool shown[COLUMNS] = { false };
	unsigned int nr, i, c, name_width, first = 0, rows;
	unsigned int *order = stat_table_order(r, view->sort, &nr);

	rows = view->rows && view->rows < nr ? view->rows : nr;
	name_width = choose_columns(view->columns, longest_name(r, order, nr),
				    shown);
	print_heading(t, shown, name_width, view);
	/* The marked row stays in sight. */
	if (view->selected != ~0U && view->selected >= rows)
		first = (view->selected < nr ? view->selected : nr - 1) -
			rows + 1;
	for (i = first; i < first + rows && i < nr; i++) {
		const struct pair_group *g = &r->pairs.groups[order[i]];
		bool marked = view->highlight && i == view->selected;

		if (marked)
			text_string(t, "\033[7m");
		print_name(t, g->name, name_width);
		for (c = 0; c < COLUMNS; c++)
			if (shown[c])
				print_cell(t, g, c);
		if (marked)
			text_string(t, "\033[0m");
		text_char(t, '\n');
	}
	if (!nr)
		text_string(t, "(no pair yet)\n");
	else if (rows < nr)
		text_printf(t, "(and %u more)\n", nr - rows);
	free(order);
}

/* A line, broken between its pieces where the terminal is narrow. */
static void piece(struct text *t, size_t *line, unsigned int width,
		  const char *s)
{
	if (width && t->used > *line && t->used - *line + strlen(s) + 2 > width) {
		text_char(t, '\n');
		*line = t->used;
	}
	if (t->used > *line)
		text_string(t, "; ");
	text_bytes(t, s, width && strlen(s) > width ? width : strlen(s));
}

void stat_table_notes(struct text *t, const struct stat_run *r,
		      unsigned int width)
{
	const struct pairs *p = &r->pairs;
	size_t line = t->used;
	char buf[128];

	snprintf(buf, sizeof(buf), "%llu pairs",
		 (unsigned long long)p->paired);
	piece(t, &line, width, buf);
	snprintf(buf, sizeof(buf), "%llu a reader without order mispairs",
		 (unsigned long long)p->mispaired);
	piece(t, &line, width, buf);
	snprintf(buf, sizeof(buf), "unpaired: %llu begins, %llu ends",
		 (unsigned long long)p->lone_begins,
		 (unsigned long long)p->lone_ends);
	piece(t, &line, width, buf);
	snprintf(buf, sizeof(buf), "%llu open", (unsigned long long)p->open);
	piece(t, &line, width, buf);
	if (p->reversed) {
		snprintf(buf, sizeof(buf), "%llu ends came late",
			 (unsigned long long)p->reversed);
		piece(t, &line, width, buf);
	}
	text_char(t, '\n');
}

/* ---- histogram ---- */

/* Powers of two: what falls in each, and the range that is not empty. */
static void by_powers(const struct hist *h, uint64_t count[64],
		      unsigned int *low, unsigned int *high)
{
	unsigned int b;

	memset(count, 0, 64 * sizeof(*count));
	*low = 63;
	*high = 0;
	for (b = 0; h->count && b < HIST_BUCKETS; b++) {
		uint64_t start = hist_bucket_start(b);
		unsigned int power = start ? 63 - __builtin_clzll(start) : 0;

		if (!h->buckets[b])
			continue;
		count[power] += h->buckets[b];
		if (power < *low)
			*low = power;
		if (power > *high)
			*high = power;
	}
}

void stat_histogram(struct text *t, const struct pair_group *g,
		    unsigned int width, unsigned int rows)
{
	uint64_t count[64], most = 1;
	unsigned int low, high, i, bar;
	char from[32], to[32];

	by_powers(&g->time, count, &low, &high);
	if (rows && high - low + 1 > rows)	/* the slow ones matter */
		low = high + 1 - rows;
	for (i = low; i <= high; i++)
		if (count[i] > most)
			most = count[i];
	if (!width)
		width = 80;
	bar = width > 50 ? width - 40 : 10;
	text_printf(t, "%s:\n", g->name);
	for (i = low; i <= high; i++) {
		text_printf(t, "%8s .. %8s %10llu ",
			    format_ns(from, sizeof(from), i ? 1ULL << i : 0),
			    format_ns(to, sizeof(to), 2ULL << i),
			    (unsigned long long)count[i]);
		text_fill(t, '#', (count[i] * bar + most - 1) / most);
		text_char(t, '\n');
	}
}

/* ---- JSON ---- */

static void group_json(struct json *j, const struct pair_group *g,
		       bool histogram)
{
	const struct hist *h = &g->time;
	unsigned int b;

	json_object_begin(j, NULL);
	json_string(j, "name", g->name);
	json_u64(j, "count", h->count);
	json_u64(j, "total_ns", h->sum);
	json_u64(j, "min_ns", h->min);
	json_u64(j, "mean_ns", hist_mean(h));
	json_u64(j, "max_ns", h->max);
	json_u64(j, "p50_ns", hist_quantile(h, 0.5));
	json_u64(j, "p99_ns", hist_quantile(h, 0.99));
	json_u64(j, "mispaired", g->mispaired);
	if (histogram) {
		json_array_begin(j, "histogram");
		for (b = 0; b < HIST_BUCKETS; b++) {
			if (!h->buckets[b])
				continue;
			json_array_begin(j, NULL);
			json_u64(j, NULL, hist_bucket_start(b));
			json_u64(j, NULL, h->buckets[b]);
			json_array_end(j);
		}
		json_array_end(j);
	}
	json_object_end(j);
}

void stat_json(struct json *j, const struct stat_run *r, enum stat_sort sort,
	       bool histograms)
{
	const struct pairs *p = &r->pairs;
	unsigned int nr, i;
	unsigned int *order = stat_table_order(r, sort, &nr);

	json_string(j, "title", r->def->title);
	json_array_begin(j, "groups");
	for (i = 0; i < nr; i++)
		group_json(j, &p->groups[order[i]], histograms);
	json_array_end(j);
	json_u64(j, "pairs", p->paired);
	json_u64(j, "mispaired_unordered", p->mispaired);
	json_u64(j, "unpaired_begins", p->lone_begins);
	json_u64(j, "unpaired_ends", p->lone_ends);
	json_u64(j, "open", p->open);
	json_u64(j, "reversed", p->reversed);
	free(order);
}
