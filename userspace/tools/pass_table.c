// SPDX-License-Identifier: GPL-2.0
/* The parser of pass tables: see pass_table.h. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <perfclock/order.h>

#include "common.h"
#include "pass_table.h"

struct parser {
	struct pass_table *t;
	struct pass_error *err;
	const char *line;		/* start of the line */
	const char *at;			/* where we are in it */
	unsigned int line_nr;
	bool ended;
	size_t steps_room, records_room;
};

/* An error at a place in the line; always -1. */
static int __attribute__((format(printf, 3, 4)))
fail(struct parser *p, const char *where, const char *fmt, ...)
{
	va_list ap;

	p->err->line = p->line_nr;
	p->err->column = where - p->line + 1;
	va_start(ap, fmt);
	vsnprintf(p->err->text, sizeof(p->err->text), fmt, ap);
	va_end(ap);
	return -1;
}

static void *grow(void *array, size_t nr, size_t *room, size_t size)
{
	if (nr < *room)
		return array;
	*room = *room ? *room * 2 : 16;
	return tool_realloc(array, *room, size);
}

static struct pass_step *add_step(struct parser *p, enum pass_kind kind)
{
	struct pass_table *t = p->t;

	t->steps = grow(t->steps, t->nr_steps, &p->steps_room,
			sizeof(*t->steps));
	t->steps[t->nr_steps] = (struct pass_step){ .kind = kind };
	return &t->steps[t->nr_steps++];
}

static void skip_blanks(struct parser *p)
{
	p->at += strspn(p->at, " \t\r");
}

static bool line_done(struct parser *p)
{
	skip_blanks(p);
	return *p->at == '\0' || *p->at == '\n' || *p->at == '#';
}

/* Length of the word here: up to a blank, a comment or one of stop. */
static int word_len(const struct parser *p, const char *stop)
{
	size_t n = 0;

	while (p->at[n] && !isspace((unsigned char)p->at[n]) &&
	       p->at[n] != '#' && !strchr(stop, p->at[n]))
		n++;
	return n > 40 ? 40 : n;
}

/* Take the word if it is this one. */
static bool take_word(struct parser *p, const char *word, const char *stop)
{
	size_t n = word_len(p, stop);

	if (n != strlen(word) || strncmp(p->at, word, n))
		return false;
	p->at += n;
	return true;
}

static int take_number(struct parser *p, const char *what, uint64_t *value)
{
	const char *begin = p->at;
	uint64_t v = 0;

	if (!isdigit((unsigned char)*begin))
		return fail(p, begin, "%s is not a number: '%.*s'", what,
			    word_len(p, ""), begin);
	for (; isdigit((unsigned char)*p->at); p->at++) {
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, *p->at - '0', &v))
			return fail(p, begin, "%s is greater than 2^64-1",
				    what);
	}
	*value = v;
	return 0;
}

/* A number must end its word: "12x" is none. */
static int end_of_number(struct parser *p, const char *what)
{
	if (*p->at && !isspace((unsigned char)*p->at) && *p->at != '#')
		return fail(p, p->at, "%s ends in '%.*s', which is no digit",
			    what, word_len(p, ""), p->at);
	return 0;
}

static int parse_rings(struct parser *p)
{
	const char *begin;
	uint64_t nr;

	skip_blanks(p);
	begin = p->at;
	if (take_number(p, "the number of rings", &nr) ||
	    end_of_number(p, "the number of rings"))
		return -1;
	if (nr < 1 || nr > PERFCLOCK_ORDER_MAX_RINGS)
		return fail(p, begin, "%llu rings: there can be 1 to %d",
			    (unsigned long long)nr, PERFCLOCK_ORDER_MAX_RINGS);
	p->t->nr_rings = nr;
	return 0;
}

static int parse_round(struct parser *p)
{
	struct pass_step *step = add_step(p, PASS_ROUND);
	bool start = false, safe = false, *given;
	uint64_t *value;
	const char *begin;

	p->t->nr_rounds++;
	while (!line_done(p)) {
		begin = p->at;
		if (take_word(p, "start", "=")) {
			value = &step->start;
			given = &start;
		} else if (take_word(p, "safe", "=")) {
			value = &step->safe;
			given = &safe;
		} else {
			return fail(p, begin, "a round has start=NS and "
				    "safe=NS, not '%.*s'", word_len(p, "="),
				    begin);
		}
		if (*given)
			return fail(p, begin, "'%.*s' is given twice",
				    (int)(p->at - begin), begin);
		*given = true;
		if (*p->at != '=')
			return fail(p, p->at, "'=' is missing");
		p->at++;
		if (take_number(p, "the time", value) ||
		    end_of_number(p, "the time"))
			return -1;
	}
	return 0;
}

static int parse_record(struct parser *p)
{
	struct pass_table *t = p->t;
	struct pass_record rec = { 0 };

	if (take_word(p, "lost", "=")) {
		if (*p->at != '=')
			return fail(p, p->at, "'lost' needs '=STAMP'");
		p->at++;
		rec.lost = true;
	}
	if (take_number(p, "the stamp", &rec.stamp) ||
	    end_of_number(p, "the stamp"))
		return -1;
	t->records = grow(t->records, t->nr_records, &p->records_room,
			  sizeof(*t->records));
	t->records[t->nr_records++] = rec;
	return 0;
}

static int parse_read(struct parser *p)
{
	struct pass_step *step;
	const char *begin;
	uint64_t ring;
	size_t first = p->t->nr_records;

	if (!p->t->nr_rounds)
		return fail(p, p->line, "a read comes before the first round");
	skip_blanks(p);
	begin = p->at;
	if (take_number(p, "the ring", &ring))
		return -1;
	if (ring >= p->t->nr_rings)
		return fail(p, begin, "there is no ring %llu: they are "
			    "numbered 0 to %u", (unsigned long long)ring,
			    p->t->nr_rings - 1);
	skip_blanks(p);
	if (*p->at != ':')
		return fail(p, p->at, "':' is missing after the ring");
	p->at++;
	while (!line_done(p))
		if (parse_record(p))
			return -1;
	step = add_step(p, PASS_READ);
	step->ring = ring;
	step->first = first;
	step->nr = p->t->nr_records - first;
	return 0;
}

static int parse_line(struct parser *p)
{
	const char *begin;
	int err;

	if (line_done(p))
		return 0;
	begin = p->at;
	if (p->ended)
		return fail(p, begin, "nothing may follow 'end'");
	if (take_word(p, "rings", "")) {
		if (p->t->nr_rings)
			return fail(p, begin, "'rings' is given twice");
		err = parse_rings(p);
	} else if (!p->t->nr_rings) {
		return fail(p, begin, "'rings N' must come first");
	} else if (take_word(p, "round", "")) {
		err = parse_round(p);
	} else if (take_word(p, "read", "")) {
		err = parse_read(p);
	} else if (take_word(p, "end", "")) {
		p->ended = true;
		err = 0;
	} else {
		return fail(p, begin, "'%.*s' is none of rings, round, read, "
			    "end", word_len(p, ""), begin);
	}
	if (!err && !line_done(p))
		return fail(p, p->at, "'%.*s' is too much on this line",
			    word_len(p, ""), p->at);
	return err;
}

int pass_table_parse(struct pass_table *t, const char *text, size_t size,
		     struct pass_error *err)
{
	struct parser p = { .t = t, .err = err, .line = text, .at = text };
	int bad = 0;

	memset(t, 0, sizeof(*t));
	while (!bad && p.line < text + size) {
		const char *end = memchr(p.line, '\n', text + size - p.line);

		if (!end)
			end = text + size;
		p.line_nr++;
		p.at = p.line;
		if (memchr(p.line, '\0', end - p.line))
			bad = fail(&p, p.line + strlen(p.line),
				   "a NUL byte: is this a text?");
		else
			bad = parse_line(&p);
		if (!bad)
			p.line = end + 1;
	}
	if (!bad && !p.ended) {
		p.line_nr++;
		p.line = text;
		bad = fail(&p, text, "'end' is missing");
	}
	if (bad)
		pass_table_free(t);
	return bad;
}

void pass_table_free(struct pass_table *t)
{
	free(t->steps);
	free(t->records);
	memset(t, 0, sizeof(*t));
}
