/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Numbers computed from the fields of a record: what libtraceevent's argument
 * trees say, compiled once so that a record costs no string compares.
 */
#ifndef TOOLS_EXPR_H
#define TOOLS_EXPR_H

#include <stdint.h>

#include <event-parse.h>

enum expr_kind {
	EXPR_CONST,
	EXPR_LOAD,		/* size bytes at offset, zero-extended */
	EXPR_MASK,		/* a & value */
	EXPR_NOT,		/* !a */
	EXPR_INVERT,		/* ~a */
	EXPR_ADD, EXPR_SUB, EXPR_MUL, EXPR_DIV, EXPR_MOD,
	EXPR_AND, EXPR_OR, EXPR_SHL, EXPR_SHR,
	EXPR_EQ, EXPR_NE, EXPR_LT, EXPR_LE, EXPR_GT, EXPR_GE,
	EXPR_BOTH, EXPR_EITHER,
	EXPR_CHOOSE		/* a ? b : c */
};

struct expr {
	enum expr_kind kind;
	unsigned int offset, size;
	uint64_t value;
	struct expr *a, *b, *c;
};

/*
 * Compile a tree. *min_size is raised to the bytes a record must have for it.
 * NULL: it holds something that only libtraceevent knows.
 */
struct expr *expr_compile(struct tep_event *event, struct tep_print_arg *arg,
			  unsigned int *min_size);
void expr_free(struct expr *e);

/* data has min_size bytes at least. */
uint64_t expr_eval(const struct expr *e, const void *data);

/* A number of 1, 2, 4 or 8 bytes, of this machine's byte order; 0 else. */
static inline uint64_t load_number(const void *p, unsigned int size)
{
	uint64_t v8;
	uint32_t v4;
	uint16_t v2;

	switch (size) {
	case 8:
		__builtin_memcpy(&v8, p, 8);
		return v8;
	case 4:
		__builtin_memcpy(&v4, p, 4);
		return v4;
	case 2:
		__builtin_memcpy(&v2, p, 2);
		return v2;
	case 1:
		return *(const unsigned char *)p;
	}
	return 0;
}

/* The same, sign-extended. */
static inline int64_t load_signed(const void *p, unsigned int size)
{
	uint64_t v = load_number(p, size);

	switch (size) {
	case 4:
		return (int32_t)v;
	case 2:
		return (int16_t)v;
	case 1:
		return (int8_t)v;
	}
	return v;
}

#endif /* TOOLS_EXPR_H */
