// SPDX-License-Identifier: GPL-2.0
/*
 * The text of a record's fields: see format.h. An event's print format, as
 * libtraceevent has parsed it ("NR %ld (%lx, ...)" and a tree per argument),
 * becomes a row of pieces: literal text, numbers, strings.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "expr.h"
#include "format.h"

#define ANY_LENGTH	((size_t)PTRDIFF_MAX)

/* Where a %s argument's bytes come from. */
enum string_kind {
	STRING_CONST,
	STRING_FIELD,		/* a char array in the record */
	STRING_DYNAMIC,		/* __get_str() */
	STRING_SYMBOL,		/* __print_symbolic() */
	STRING_FLAGS,		/* __print_flags() */
	STRING_CHOOSE		/* condition ? string : string */
};

struct name_value {
	int64_t value;
	char *name;		/* libtraceevent's */
};

struct string_arg {
	enum string_kind kind;
	const char *text;	/* CONST; FLAGS: what is put between */
	unsigned int offset, size;
	bool relative;
	struct expr *number;	/* SYMBOL, FLAGS, CHOOSE */
	struct name_value *names;
	unsigned int nr_names;
	struct string_arg *yes, *no;
};

enum piece_kind { PIECE_TEXT, PIECE_NUMBER, PIECE_STRING };

struct piece {
	enum piece_kind kind;
	char conversion;	/* d u x X, p: %p */
	char pad;
	bool left;
	unsigned int width;
	unsigned int bytes;	/* of the number that are printed */
	char *text;
	size_t len;
	struct expr *number;
	struct string_arg *string;
};

struct event_format {
	struct tep_event *event;
	struct trace_seq seq;
	bool compiled;
	unsigned int min_size;	/* of what the print format reads */
	struct piece *pieces;
	unsigned int nr_pieces;
};

static void free_string(struct string_arg *s)
{
	if (!s)
		return;
	expr_free(s->number);
	free(s->names);
	free_string(s->yes);
	free_string(s->no);
	free(s);
}

static void free_pieces(struct event_format *f)
{
	unsigned int i;

	for (i = 0; i < f->nr_pieces; i++) {
		free(f->pieces[i].text);
		expr_free(f->pieces[i].number);
		free_string(f->pieces[i].string);
	}
	free(f->pieces);
	f->pieces = NULL;
	f->nr_pieces = 0;
}

static struct piece *add_piece(struct event_format *f, enum piece_kind kind)
{
	struct piece *p;

	f->pieces = tool_realloc(f->pieces, f->nr_pieces + 1,
				 sizeof(*f->pieces));
	p = &f->pieces[f->nr_pieces++];
	memset(p, 0, sizeof(*p));
	p->kind = kind;
	return p;
}

/* ---- compiling ---- */

/* Literal text up to the next conversion, escapes resolved. */
static const char *compile_text(struct event_format *f, const char *s)
{
	struct piece *p = add_piece(f, PIECE_TEXT);

	p->text = tool_alloc(strlen(s) + 16, 1);	/* for text_short() */
	for (; *s && (*s != '%' || s[1] == '%'); s++) {
		char c = *s;

		if (c == '%') {
			s++;
		} else if (c == '\\' && s[1]) {
			c = *++s;
			c = c == 'n' ? '\n' : c == 't' ? '\t' :
			    c == 'r' ? '\r' : c;
		}
		p->text[p->len++] = c;
	}
	return s;
}

static bool add_names(struct string_arg *s, struct tep_print_flag_sym *sym)
{
	for (; sym; sym = sym->next) {
		if (!isdigit((unsigned char)sym->value[0]) || !sym->str)
			return false;
		s->names = tool_realloc(s->names, s->nr_names + 1,
					sizeof(*s->names));
		s->names[s->nr_names].value = strtoull(sym->value, NULL, 0);
		s->names[s->nr_names++].name = sym->str;
	}
	return true;
}

static struct tep_format_field *find_field(struct event_format *f,
					   struct tep_format_field *field,
					   const char *name)
{
	return field ? field : tep_find_any_field(f->event, name);
}

/* A char array: pointers, which print as addresses, are left alone. */
static bool string_field(struct event_format *f, struct string_arg *s,
			 struct tep_format_field *field)
{
	if (!field || !(field->flags & TEP_FIELD_IS_ARRAY) || !field->size ||
	    (field->flags & (TEP_FIELD_IS_DYNAMIC | TEP_FIELD_IS_RELATIVE)))
		return false;
	s->kind = STRING_FIELD;
	s->offset = field->offset;
	s->size = field->size;
	if (f->min_size < s->offset + s->size)
		f->min_size = s->offset + s->size;
	return true;
}

static bool string_dynamic(struct event_format *f, struct string_arg *s,
			   struct tep_format_field *field)
{
	if (!field || field->size != 4)
		return false;
	s->kind = STRING_DYNAMIC;
	s->offset = field->offset;
	s->relative = field->flags & TEP_FIELD_IS_RELATIVE;
	if (f->min_size < s->offset + 4)
		f->min_size = s->offset + 4;
	return true;
}

static bool compile_string_into(struct event_format *f, struct string_arg *s,
				struct tep_print_arg *arg);

static struct string_arg *compile_string(struct event_format *f,
					 struct tep_print_arg *arg)
{
	struct string_arg *s = tool_alloc(1, sizeof(*s));

	if (arg && compile_string_into(f, s, arg))
		return s;
	free_string(s);
	return NULL;
}

static bool string_choose(struct event_format *f, struct string_arg *s,
			  struct tep_print_arg *arg)
{
	struct tep_print_arg *right = arg->op.right;

	if (strcmp(arg->op.op, "?") || right->type != TEP_PRINT_OP)
		return false;
	s->kind = STRING_CHOOSE;
	s->number = expr_compile(f->event, arg->op.left, &f->min_size);
	s->yes = compile_string(f, right->op.left);
	s->no = compile_string(f, right->op.right);
	return s->number && s->yes && s->no;
}

static bool compile_string_into(struct event_format *f, struct string_arg *s,
				struct tep_print_arg *arg)
{
	switch (arg->type) {
	case TEP_PRINT_ATOM:
		s->kind = STRING_CONST;
		s->text = arg->atom.atom;
		return s->text;
	case TEP_PRINT_FIELD:
		return string_field(f, s, find_field(f, arg->field.field,
						     arg->field.name));
	case TEP_PRINT_STRING:
		return string_dynamic(f, s, find_field(f, arg->string.field,
						       arg->string.string));
	case TEP_PRINT_SYMBOL:
		s->kind = STRING_SYMBOL;
		s->number = expr_compile(f->event, arg->symbol.field,
					 &f->min_size);
		return s->number && add_names(s, arg->symbol.symbols);
	case TEP_PRINT_FLAGS:
		s->kind = STRING_FLAGS;
		s->text = arg->flags.delim ? arg->flags.delim : "";
		s->number = expr_compile(f->event, arg->flags.field,
					 &f->min_size);
		return s->number && add_names(s, arg->flags.flags);
	case TEP_PRINT_OP:
		return string_choose(f, s, arg);
	default:
		return false;
	}
}

/* The number's piece after its length modifiers; c: the conversion. */
static bool compile_number(struct event_format *f, struct piece *p, int longs,
			   char c, struct tep_print_arg *arg)
{
	static const unsigned char bytes[] = { 1, 2, 4, 8, 8 };

	if (longs < -2 || longs > 2)
		return false;
	p->conversion = c == 'i' ? 'd' : c;
	p->bytes = c == 'p' ? 8 : bytes[longs + 2];
	p->number = expr_compile(f->event, arg, &f->min_size);
	return p->number != NULL;
}

/* One conversion, at its '%'. NULL: not one that we print. */
static const char *compile_conversion(struct event_format *f, const char *s,
				      struct tep_print_arg *arg)
{
	struct piece *p = add_piece(f, PIECE_NUMBER);
	int longs = 0;

	p->pad = ' ';
	for (s++; *s == '-' || *s == '0'; s++) {
		if (*s == '-')
			p->left = true;
		else
			p->pad = '0';
	}
	while (isdigit((unsigned char)*s) && p->width < 1000)
		p->width = p->width * 10 + *s++ - '0';
	for (; *s == 'l' || *s == 'h' || *s == 'z' || *s == 'L'; s++)
		longs = *s == 'l' ? longs + 1 : *s == 'h' ? longs - 1 :
			*s == 'z' ? 1 : 2;
	if (!arg || !*s || (p->left && p->pad == '0'))
		return NULL;
	if (*s == 's') {
		p->kind = PIECE_STRING;
		p->string = compile_string(f, arg);
		return p->string && p->pad == ' ' ? s + 1 : NULL;
	}
	if (!strchr("diuxXp", *s) || !compile_number(f, p, longs, *s, arg))
		return NULL;
	/* %p alone; %pS and its kin are for libtraceevent. */
	if (*s == 'p' && (isalnum((unsigned char)s[1]) || p->width))
		return NULL;
	return s + 1;
}

static bool compile(struct event_format *f)
{
	struct tep_event *event = f->event;
	struct tep_print_arg *arg = event->print_fmt.args;
	const char *s = event->print_fmt.format;

	if (event->handler || !s ||
	    event->flags & (TEP_EVENT_FL_FAILED | TEP_EVENT_FL_ISBPRINT |
			    TEP_EVENT_FL_PRINTRAW) ||
	    tep_is_file_bigendian(event->tep) != tep_is_local_bigendian(event->tep))
		return false;
	while (*s) {
		if (*s != '%' || s[1] == '%') {
			s = compile_text(f, s);
			continue;
		}
		s = compile_conversion(f, s, arg);
		if (!s)
			return false;
		arg = arg->next;
	}
	return true;
}

/* Up to the end of the last field: libtraceevent may read any of them. */
static unsigned int size_of_fields(const struct tep_event *event)
{
	const struct tep_format_field *field = event->format.fields;
	unsigned int size = 0;

	for (; field; field = field->next)
		if (size < (unsigned int)field->offset + field->size)
			size = field->offset + field->size;
	return size;
}

struct event_format *event_format_new(struct tep_event *event)
{
	struct event_format *f = tool_alloc(1, sizeof(*f));

	f->event = event;
	trace_seq_init(&f->seq);
	f->compiled = compile(f);
	if (!f->compiled) {
		free_pieces(f);
		f->min_size = size_of_fields(event);
	}
	return f;
}

void event_format_free(struct event_format *f)
{
	if (!f)
		return;
	free_pieces(f);
	trace_seq_destroy(&f->seq);
	free(f);
}

bool event_format_compiled(const struct event_format *f)
{
	return f->compiled;
}

/* ---- printing ---- */

static inline uint64_t number_of(const struct piece *p, const void *data)
{
	const struct expr *e = p->number;

	if (__builtin_expect(e->kind == EXPR_LOAD, 1))
		return load_number((const char *)data + e->offset, e->size);
	return expr_eval(e, data);
}

static void print_number(struct text *t, const struct piece *p,
			 const void *data)
{
	uint64_t v = number_of(p, data);
	unsigned int n = 0, width = p->width;
	char room[24], *digits = room;

	if (!width) {		/* nothing to pad: straight to its place */
		text_need(t, sizeof(room));
		digits = t->buf + t->used;
	}
	switch (p->conversion) {
	case 'd':
		v = load_signed(&v, p->bytes);
		if ((int64_t)v < 0) {
			digits[n++] = '-';
			v = -v;
		}
		n += put_decimal(digits + n, v);
		break;
	case 'u':
		n = put_decimal(digits, load_number(&v, p->bytes));
		break;
	case 'x':
	case 'X':
		v = load_number(&v, p->bytes);
		n = p->conversion == 'x' ? put_hex(digits, v) :
					   put_hex_upper(digits, v);
		break;
	case 'p':
		memcpy(digits, v ? "0x" : "(nil)", v ? 2 : 5);
		n = v ? 2 + put_hex(digits + 2, v) : 5;
		break;
	}
	if (!width) {
		t->used += n;
	} else if (n >= width) {
		text_bytes(t, digits, n);
	} else if (p->pad == '0' && digits[0] == '-') {
		text_char(t, '-');
		text_fill(t, '0', width - n);
		text_bytes(t, digits + 1, n - 1);
	} else {
		if (!p->left)
			text_fill(t, p->pad, width - n);
		text_bytes(t, digits, n);
		if (p->left)
			text_fill(t, ' ', width - n);
	}
}

static void print_name(struct text *t, const struct piece *p, const char *s,
		       size_t max)
{
	text_column(t, s, strnlen(s, max), p->width, p->left);
}

static void print_hex(struct text *t, uint64_t v)
{
	text_bytes(t, "0x", 2);
	text_hex(t, v);
}

static void print_symbol(struct text *t, const struct piece *p,
			 const struct string_arg *s, const void *data)
{
	int64_t v = expr_eval(s->number, data);
	unsigned int i;

	for (i = 0; i < s->nr_names; i++) {
		if (s->names[i].value == v) {
			print_name(t, p, s->names[i].name, ANY_LENGTH);
			return;
		}
	}
	print_hex(t, v);
}

static void print_flags(struct text *t, const struct piece *p,
			const struct string_arg *s, const void *data)
{
	int64_t v = expr_eval(s->number, data), flag;
	bool first = true;
	unsigned int i;

	for (i = 0; i < s->nr_names; i++) {
		flag = s->names[i].value;
		if (!v && flag < 0) {
			print_name(t, p, s->names[i].name, ANY_LENGTH);
			break;
		}
		if (flag <= 0 || (v & flag) != flag)
			continue;
		if (!first)
			text_string(t, s->text);
		first = false;
		print_name(t, p, s->names[i].name, ANY_LENGTH);
		v &= ~flag;
	}
	if (v) {
		if (!first)
			text_string(t, s->text);
		print_hex(t, v);
	}
}

static void print_dynamic(struct text *t, const struct piece *p,
			  const struct string_arg *s, const char *data,
			  unsigned int size)
{
	uint32_t where = load_number(data + s->offset, 4);
	unsigned int offset = where & 0xffff, len = where >> 16;

	if (!len || offset > size || offset + len > size)
		return;
	if (s->relative)
		offset += s->offset + 4;
	if (offset < size)
		print_name(t, p, data + offset, size - offset);
}

static void print_string(struct text *t, const struct piece *p,
			 const struct string_arg *s, const char *data,
			 unsigned int size)
{
	while (s->kind == STRING_CHOOSE)
		s = expr_eval(s->number, data) ? s->yes : s->no;
	switch (s->kind) {
	case STRING_CONST:
		print_name(t, p, s->text, ANY_LENGTH);
		break;
	case STRING_FIELD:
		print_name(t, p, data + s->offset, s->size);
		break;
	case STRING_DYNAMIC:
		print_dynamic(t, p, s, data, size);
		break;
	case STRING_SYMBOL:
		print_symbol(t, p, s, data);
		break;
	case STRING_FLAGS:
		print_flags(t, p, s, data);
		break;
	case STRING_CHOOSE:
		break;
	}
}

void event_format_print_reference(struct event_format *f, struct text *t,
				  const void *data, unsigned int size)
{
	struct tep_record record = {
		.data = (void *)data, .size = size, .record_size = size,
	};

	trace_seq_reset(&f->seq);
	tep_print_event(f->event->tep, &f->seq, &record, "%s",
			TEP_PRINT_INFO);
	text_bytes(t, f->seq.buffer, f->seq.len);
}

void event_format_print(struct event_format *f, struct text *t,
			const void *data, unsigned int size)
{
	const struct piece *p = f->pieces, *end = p + f->nr_pieces;

	if (size < f->min_size) {
		text_string(t, "[cut off]");
		return;
	}
	if (!f->compiled) {
		event_format_print_reference(f, t, data, size);
		return;
	}
	for (; p < end; p++) {
		if (p->kind == PIECE_TEXT)
			text_short(t, p->text, p->len);
		else if (p->kind == PIECE_NUMBER)
			print_number(t, p, data);
		else
			print_string(t, p, p->string, data, size);
	}
}
