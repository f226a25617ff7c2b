/* SPDX-License-Identifier: GPL-2.0 */
/* The table of "perfclock stat", as text of a given size, and as JSON. */
#ifndef TOOLS_STAT_TABLE_H
#define TOOLS_STAT_TABLE_H

#include "json.h"
#include "stat_run.h"
#include "text.h"

enum stat_sort {
	STAT_SORT_TOTAL, STAT_SORT_COUNT, STAT_SORT_MAX, STAT_SORT_MEAN,
	STAT_SORT_P99, STAT_SORT_NAME,
	STAT_SORTS
};

struct stat_view {
	enum stat_sort sort;
	unsigned int columns;		/* width in characters; 0: no limit */
	unsigned int rows;		/* of groups at most; 0: all */
	unsigned int selected;		/* row that is marked; ~0: none */
	bool highlight;			/* escape sequences may be used */
};

const char *stat_sort_name(enum stat_sort sort);
/* -1: there is none of that name. */
int stat_sort_from_name(const char *name);

/* Group indices, sorted; those without a pair are left out. *nr: how many. */
unsigned int *stat_table_order(const struct stat_run *r, enum stat_sort sort,
			       unsigned int *nr);
/* The table with its heading. */
void stat_table(struct text *t, const struct stat_run *r,
		const struct stat_view *view);
/* How many pairs, and how many would have gone wrong; a few lines. */
void stat_table_notes(struct text *t, const struct stat_run *r,
		      unsigned int columns);
/* A histogram of one group, rows lines at most. */
void stat_histogram(struct text *t, const struct pair_group *g,
		    unsigned int columns, unsigned int rows);
void stat_json(struct json *j, const struct stat_run *r, enum stat_sort sort,
	       bool histograms);

#endif /* TOOLS_STAT_TABLE_H */
