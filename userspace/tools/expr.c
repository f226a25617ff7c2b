// SPDX-License-Identifier: GPL-2.0
/*
 * Numbers computed from fields: see expr.h. The rules are libtraceevent's,
 * since its text is the reference: fields are not sign-extended, a cast to a
 * narrow type masks, and all arithmetic is unsigned 64-bit.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "expr.h"

static struct expr *new_expr(enum expr_kind kind)
{
	struct expr *e = tool_alloc(1, sizeof(*e));

	e->kind = kind;
	return e;
}

void expr_free(struct expr *e)
{
	if (!e)
		return;
	expr_free(e->a);
	expr_free(e->b);
	expr_free(e->c);
	free(e);
}

static struct expr *compile_load(unsigned int offset, unsigned int size,
				 unsigned int *min_size)
{
	struct expr *e;

	if (size != 1 && size != 2 && size != 4 && size != 8)
		return NULL;
	e = new_expr(EXPR_LOAD);
	e->offset = offset;
	e->size = size;
	if (*min_size < offset + size)
		*min_size = offset + size;
	return e;
}

static struct tep_format_field *field_of(struct tep_event *event,
					 struct tep_print_arg *arg)
{
	if (arg->field.field)
		return arg->field.field;
	return tep_find_any_field(event, arg->field.name);
}

/* What a cast leaves; ~0: all of it. False: not known. */
static bool cast_mask(const char *type, uint64_t *mask)
{
	static const struct {
		const char *type;
		uint64_t mask;
	} casts[] = {
		{ "u8", 0xff }, { "s8", 0xff }, { "char", 0xff },
		{ "u16", 0xffff }, { "s16", 0xffff }, { "short", 0xffff },
		{ "u32", 0xffffffff }, { "s32", 0xffffffff },
		{ "int", 0xffffffff },
	};
	unsigned int i;

	if (strlen(type) < 2)
		return false;
	*mask = ~0ULL;
	if (type[strlen(type) - 1] == '*' || !strncmp(type, "struct", 6))
		return true;
	if (!strncmp(type, "unsigned ", 9))
		type += 9;
	for (i = 0; i < ARRAY_SIZE(casts); i++)
		if (!strcmp(type, casts[i].type))
			*mask = casts[i].mask;
	return true;
}

static struct expr *compile_cast(struct tep_event *event,
				 struct tep_print_arg *arg,
				 unsigned int *min_size)
{
	struct expr *e, *inner;
	uint64_t mask;

	if (!cast_mask(arg->typecast.type, &mask))
		return NULL;
	inner = expr_compile(event, arg->typecast.item, min_size);
	if (!inner || mask == ~0ULL)
		return inner;
	e = new_expr(EXPR_MASK);
	e->value = mask;
	e->a = inner;
	return e;
}

/* field[constant], the only indexing that is worth it. */
static struct expr *compile_index(struct tep_event *event,
				  struct tep_print_arg *arg,
				  unsigned int *min_size)
{
	struct tep_print_arg *left = arg->op.left, *right = arg->op.right;
	struct tep_format_field *field;
	uint64_t index;

	if (left->type != TEP_PRINT_FIELD || right->type != TEP_PRINT_ATOM ||
	    !isdigit((unsigned char)right->atom.atom[0]))
		return NULL;
	field = field_of(event, left);
	if (!field || !field->elementsize)
		return NULL;
	index = strtoull(right->atom.atom, NULL, 0);
	if (index > 4096)
		return NULL;
	return compile_load(field->offset + index * field->elementsize,
			    field->elementsize, min_size);
}

static bool binary_kind(const char *op, enum expr_kind *kind)
{
	static const struct {
		char op[3];
		enum expr_kind kind;
	} kinds[] = {
		{ "+", EXPR_ADD }, { "-", EXPR_SUB }, { "*", EXPR_MUL },
		{ "/", EXPR_DIV }, { "%", EXPR_MOD }, { "&", EXPR_AND },
		{ "|", EXPR_OR }, { "<<", EXPR_SHL }, { ">>", EXPR_SHR },
		{ "==", EXPR_EQ }, { "!=", EXPR_NE }, { "<", EXPR_LT },
		{ "<=", EXPR_LE }, { ">", EXPR_GT }, { ">=", EXPR_GE },
		{ "&&", EXPR_BOTH }, { "||", EXPR_EITHER },
		{ "!", EXPR_NOT }, { "~", EXPR_INVERT },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!strcmp(op, kinds[i].op)) {
			*kind = kinds[i].kind;
			return true;
		}
	}
	return false;
}

/* e owns what is compiled; false: some part could not be. */
static bool compile_into(struct expr **slot, struct tep_event *event,
			 struct tep_print_arg *arg, unsigned int *min_size)
{
	*slot = expr_compile(event, arg, min_size);
	return *slot != NULL;
}

static struct expr *compile_op(struct tep_event *event,
			       struct tep_print_arg *arg,
			       unsigned int *min_size)
{
	struct tep_print_arg *right = arg->op.right;
	enum expr_kind kind;
	struct expr *e;
	bool ok;

	if (!strcmp(arg->op.op, "["))
		return compile_index(event, arg, min_size);
	if (!strcmp(arg->op.op, "?")) {
		if (right->type != TEP_PRINT_OP)
			return NULL;
		e = new_expr(EXPR_CHOOSE);
		ok = compile_into(&e->a, event, arg->op.left, min_size) &&
		     compile_into(&e->b, event, right->op.left, min_size) &&
		     compile_into(&e->c, event, right->op.right, min_size);
	} else if (binary_kind(arg->op.op, &kind)) {
		e = new_expr(kind);
		if (kind == EXPR_NOT || kind == EXPR_INVERT)
			ok = compile_into(&e->a, event, right, min_size);
		else
			ok = compile_into(&e->a, event, arg->op.left,
					  min_size) &&
			     compile_into(&e->b, event, right, min_size);
	} else {
		return NULL;
	}
	if (ok)
		return e;
	expr_free(e);
	return NULL;
}

struct expr *expr_compile(struct tep_event *event, struct tep_print_arg *arg,
			  unsigned int *min_size)
{
	struct tep_format_field *field;
	struct expr *e;

	switch (arg->type) {
	case TEP_PRINT_ATOM:
		if (!isdigit((unsigned char)arg->atom.atom[0]))
			return NULL;
		e = new_expr(EXPR_CONST);
		e->value = strtoull(arg->atom.atom, NULL, 0);
		return e;
	case TEP_PRINT_FIELD:
		field = field_of(event, arg);
		if (!field)
			return NULL;
		return compile_load(field->offset, field->size, min_size);
	case TEP_PRINT_TYPE:
		return compile_cast(event, arg, min_size);
	case TEP_PRINT_OP:
		return compile_op(event, arg, min_size);
	default:
		return NULL;
	}
}

static uint64_t eval_binary(enum expr_kind kind, uint64_t a, uint64_t b)
{
	switch (kind) {
	case EXPR_ADD:	return a + b;
	case EXPR_SUB:	return a - b;
	case EXPR_MUL:	return a * b;
	case EXPR_DIV:	return b ? a / b : 0;
	case EXPR_MOD:	return b ? a % b : 0;
	case EXPR_AND:	return a & b;
	case EXPR_OR:	return a | b;
	case EXPR_SHL:	return a << (b & 63);
	case EXPR_SHR:	return a >> (b & 63);
	case EXPR_EQ:	return a == b;
	case EXPR_NE:	return a != b;
	case EXPR_LT:	return a < b;
	case EXPR_LE:	return a <= b;
	case EXPR_GT:	return a > b;
	case EXPR_GE:	return a >= b;
	case EXPR_BOTH:	return a && b;
	case EXPR_EITHER: return a || b;
	default:	return 0;
	}
}

uint64_t expr_eval(const struct expr *e, const void *data)
{
	switch (e->kind) {
	case EXPR_CONST:
		return e->value;
	case EXPR_LOAD:
		return load_number((const char *)data + e->offset, e->size);
	case EXPR_MASK:
		return expr_eval(e->a, data) & e->value;
	case EXPR_NOT:
		return !expr_eval(e->a, data);
	case EXPR_INVERT:
		return ~expr_eval(e->a, data);
	case EXPR_CHOOSE:
		return expr_eval(expr_eval(e->a, data) ? e->b : e->c, data);
	default:
		return eval_binary(e->kind, expr_eval(e->a, data),
				   expr_eval(e->b, data));
	}
}
