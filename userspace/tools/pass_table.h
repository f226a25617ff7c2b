/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pass tables: what a reader of rings saw, pass by pass, as a text that people
 * write and read. The grammar, one statement a line, "#" begins a comment:
 *
 *	rings N				how many rings there are, first of all
 *	round start=NS safe=NS		a round begins: clock, watermark (either
 *					may be left out: there is none)
 *	read RING: [STAMP | lost=STAMP]...
 *					the ring's head is loaded now; these
 *					records are found, in ring order. lost:
 *					a record whose stamp says nothing
 *	end				the input is over
 */
#ifndef TOOLS_PASS_TABLE_H
#define TOOLS_PASS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pass_kind { PASS_ROUND, PASS_READ };

struct pass_record {
	uint64_t stamp;
	bool lost;
};

struct pass_step {
	enum pass_kind kind;
	uint64_t start, safe;		/* PASS_ROUND */
	unsigned int ring;		/* PASS_READ */
	size_t first, nr;		/* PASS_READ: of pass_table.records */
};

struct pass_table {
	unsigned int nr_rings;
	struct pass_step *steps;
	size_t nr_steps;
	struct pass_record *records;
	size_t nr_records;
	size_t nr_rounds;
};

struct pass_error {
	unsigned int line, column;	/* from 1 */
	char text[160];
};

/*
 * text: NUL-terminated, of size bytes. 0, or -1 with *err telling where and
 * what; the table is then empty.
 */
int pass_table_parse(struct pass_table *t, const char *text, size_t size,
		     struct pass_error *err);
void pass_table_free(struct pass_table *t);

#endif /* TOOLS_PASS_TABLE_H */
