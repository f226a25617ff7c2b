// SPDX-License-Identifier: GPL-2.0
/*
 * perfclock check --plot: the disorder as a picture. Across: the records in
 * file order. Up: how far the worst of each stretch is behind the newest
 * record before it, on a logarithmic scale.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "common.h"

enum { LEFT = 70, TOP = 40, WIDTH = 1024, HEIGHT = 320, BOTTOM = 50 };

static const char *const decades[] = {
	"1 ns", "10 ns", "100 ns", "1 us", "10 us", "100 us", "1 ms", "10 ms",
	"100 ms", "1 s", "10 s", "100 s", "1000 s",
};
#define DECADES	((int)ARRAY_SIZE(decades) - 1)

static double height_of(uint64_t ns)
{
	double decade = ns ? log10((double)ns) : 0;

	if (decade > DECADES)
		decade = DECADES;
	return HEIGHT * decade / DECADES;
}

/* XML has five letters that must not stand for themselves. */
static void put_text(FILE *f, const char *s)
{
	for (; *s; s++) {
		if (*s == '<' || *s == '&' || *s == '>')
			fprintf(f, "&#%d;", *s);
		else if ((unsigned char)*s >= ' ' && (unsigned char)*s < 127)
			fputc(*s, f);
		else
			fputc('?', f);
	}
}

static void draw_axes(FILE *f, const struct check *c)
{
	int i;

	for (i = 0; i <= DECADES; i++) {
		double y = TOP + HEIGHT - (double)HEIGHT * i / DECADES;

		fprintf(f, "<line x1='%d' x2='%d' y1='%.1f' y2='%.1f' "
			"stroke='#ddd'/>\n<text x='%d' y='%.1f' "
			"text-anchor='end'>%s</text>\n", LEFT, LEFT + WIDTH, y,
			y, LEFT - 6, y + 4, decades[i]);
	}
	fprintf(f, "<text x='%d' y='%d'>0</text>\n"
		"<text x='%d' y='%d' text-anchor='end'>record %llu</text>\n",
		LEFT, TOP + HEIGHT + 18, LEFT + WIDTH, TOP + HEIGHT + 18,
		(unsigned long long)c->stamped);
}

static void draw(FILE *f, const struct check *c)
{
	const struct check_picture *p = &c->picture;
	uint64_t columns = (p->at + p->per_column - 1) / p->per_column, i;
	double step = columns ? (double)WIDTH / columns : 0;

	fprintf(f, "<svg xmlns='http://www.w3.org/2000/svg' width='%d' "
		"height='%d' font-family='sans-serif' font-size='11'>\n"
		"<rect width='100%%' height='100%%' fill='white'/>\n"
		"<text x='%d' y='22' font-size='14'>",
		LEFT + WIDTH + 20, TOP + HEIGHT + BOTTOM, LEFT);
	put_text(f, c->faults.file);
	fprintf(f, ": %llu of %llu records behind the newest before them"
		"</text>\n", (unsigned long long)c->disorder.count,
		(unsigned long long)c->stamped);
	draw_axes(f, c);
	for (i = 0; i < columns; i++) {
		double h = height_of(p->behind[i]);

		if (!p->behind[i])
			continue;
		fprintf(f, "<rect x='%.2f' y='%.1f' width='%.2f' "
			"height='%.1f' fill='#c33'/>\n", LEFT + i * step,
			TOP + HEIGHT - h, step < 1 ? 1 : step,
			h < 1 ? 1 : h);
	}
	fprintf(f, "</svg>\n");
}

int check_plot(const struct check *c, const char *path)
{
	FILE *f = fopen(path, "we");
	int bad;

	if (!f) {
		tool_error("%s: %s", path, strerror(errno));
		return TOOL_FAILED;
	}
	draw(f, c);
	bad = ferror(f);
	if (fclose(f) || bad) {
		tool_error("%s: %s", path, strerror(errno));
		return TOOL_FAILED;
	}
	return TOOL_DONE;
}
