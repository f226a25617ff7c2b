// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* The names that come closest to one that does not exist. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/suggest.h"

/* Letters to add, drop or change; swapped neighbours count as one change. */
static int distance(const char *a, const char *b)
{
	int row[3][PC_SUGGEST_LENGTH + 1];
	int la = strlen(a), lb = strlen(b), i, j, best;

	for (j = 0; j <= lb; j++)
		row[0][j] = j;
	for (i = 1; i <= la; i++) {
		int *now = row[i % 3], *before = row[(i + 2) % 3];
		const int *older = row[(i + 1) % 3];

		now[0] = i;
		for (j = 1; j <= lb; j++) {
			best = before[j - 1] + (a[i - 1] != b[j - 1]);
			if (before[j] + 1 < best)
				best = before[j] + 1;
			if (now[j - 1] + 1 < best)
				best = now[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1] && older[j - 2] + 1 < best)
				best = older[j - 2] + 1;
			now[j] = best;
		}
	}
	return row[la % 3][lb];
}

void pc_suggest_init(struct pc_suggest *sg, const char *wanted)
{
	memset(sg, 0, sizeof(*sg));
	sg->wanted = wanted;
}

void pc_suggest_try(struct pc_suggest *sg, const char *name)
{
	size_t len = strlen(sg->wanted);
	int d, i;

	if (len > PC_SUGGEST_LENGTH || strlen(name) >= PC_SUGGEST_LENGTH)
		return;
	d = distance(sg->wanted, name);
	/* A name that continues what was typed is close as well. */
	if (!strncmp(sg->wanted, name, len) && d > 1)
		d = 1;
	if (d > 2 + (int)len / 8)
		return;
	for (i = sg->n; i > 0 && sg->distance[i - 1] > d; i--) {
		if (i == PC_SUGGEST_NAMES)
			continue;
		sg->distance[i] = sg->distance[i - 1];
		strcpy(sg->name[i], sg->name[i - 1]);
	}
	if (i == PC_SUGGEST_NAMES)
		return;
	sg->distance[i] = d;
	strcpy(sg->name[i], name);
	if (sg->n < PC_SUGGEST_NAMES)
		sg->n++;
}

const char *pc_suggest_text(struct pc_suggest *sg)
{
	int i, at = 0;

	sg->text[0] = '\0';
	for (i = 0; i < sg->n; i++)
		at += snprintf(sg->text + at, sizeof(sg->text) - at, "%s%s",
			       i ? ", " : "; did you mean ", sg->name[i]);
	if (at)
		snprintf(sg->text + at, sizeof(sg->text) - at, "?");
	return sg->text;
}
