// SPDX-License-Identifier: GPL-2.0
/* Single fields of tracepoint records: see fields.h. */
#include <string.h>

#include "expr.h"
#include "fields.h"

static bool is_number_size(unsigned int size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

static enum field_kind kind_of(const struct tep_format_field *tep)
{
	bool string = tep->flags & TEP_FIELD_IS_STRING;
	bool dynamic = tep->flags & (TEP_FIELD_IS_DYNAMIC |
				     TEP_FIELD_IS_RELATIVE);

	if (dynamic && tep->size != 4)
		return FIELD_BYTES;
	if (dynamic)
		return string ? FIELD_DYNAMIC_STRING : FIELD_DYNAMIC_ARRAY;
	if (tep->flags & TEP_FIELD_IS_ARRAY) {
		if (string)
			return FIELD_STRING;
		return is_number_size(tep->elementsize) ? FIELD_ARRAY :
							  FIELD_BYTES;
	}
	if (!is_number_size(tep->size))
		return FIELD_BYTES;
	return tep->flags & TEP_FIELD_IS_SIGNED ? FIELD_SIGNED :
						  FIELD_UNSIGNED;
}

void field_init(struct event_field *f, const struct tep_format_field *tep)
{
	f->name = tep->name;
	f->kind = kind_of(tep);
	f->offset = tep->offset;
	f->size = tep->size;
	f->element = is_number_size(tep->elementsize) ? tep->elementsize : 1;
	f->is_signed = tep->flags & TEP_FIELD_IS_SIGNED;
	f->relative = tep->flags & TEP_FIELD_IS_RELATIVE;
}

bool field_find(struct event_field *f, struct tep_event *event,
		const char *name)
{
	struct tep_format_field *tep = tep_find_any_field(event, name);

	if (!tep)
		return false;
	field_init(f, tep);
	return true;
}

/* Where the field's bytes lie, cut to the record. */
static const char *field_bytes(const struct event_field *f, const void *data,
			       unsigned int size, unsigned int *len)
{
	unsigned int offset = f->offset;
	uint32_t where;

	*len = 0;
	if (offset > size || f->size > size - offset)
		return data;
	*len = f->size;
	if (f->kind == FIELD_DYNAMIC_STRING || f->kind == FIELD_DYNAMIC_ARRAY) {
		where = load_number((const char *)data + offset, 4);
		offset = (where & 0xffff) + (f->relative ? offset + 4 : 0);
		*len = where >> 16;
		if (offset > size || *len > size - offset)
			*len = 0;
	}
	return *len ? (const char *)data + offset : data;
}

static uint64_t hash_bytes(const char *s, unsigned int len)
{
	uint64_t h = 0xcbf29ce484222325ULL;

	while (len--)
		h = (h ^ (unsigned char)*s++) * 0x100000001b3ULL;
	return h;
}

bool field_key(const struct event_field *f, const void *data,
	       unsigned int size, uint64_t *value)
{
	unsigned int len;
	const char *p = field_bytes(f, data, size, &len);

	switch (f->kind) {
	case FIELD_UNSIGNED:
		*value = load_number(p, f->size);
		break;
	case FIELD_SIGNED:
		*value = load_signed(p, f->size);
		break;
	case FIELD_STRING:
	case FIELD_DYNAMIC_STRING:
		*value = hash_bytes(p, strnlen(p, len));
		break;
	default:
		*value = hash_bytes(p, len);
	}
	return len > 0;
}

static void number_text(struct text *t, const char *p, unsigned int size,
			bool is_signed)
{
	if (is_signed)
		text_s64(t, load_signed(p, size));
	else
		text_u64(t, load_number(p, size));
}

static void array_text(const struct event_field *f, struct text *t,
		       const char *p, unsigned int len)
{
	unsigned int i;

	text_char(t, '[');
	for (i = 0; i + f->element <= len; i += f->element) {
		if (i)
			text_char(t, ',');
		number_text(t, p + i, f->element, f->is_signed);
	}
	text_char(t, ']');
}

void field_text(const struct event_field *f, struct text *t, const void *data,
		unsigned int size)
{
	unsigned int len, i;
	const char *p = field_bytes(f, data, size, &len);

	if (!len)
		return;
	switch (f->kind) {
	case FIELD_UNSIGNED:
	case FIELD_SIGNED:
		number_text(t, p, len, f->kind == FIELD_SIGNED);
		break;
	case FIELD_STRING:
	case FIELD_DYNAMIC_STRING:
		text_bytes(t, p, strnlen(p, len));
		break;
	case FIELD_ARRAY:
	case FIELD_DYNAMIC_ARRAY:
		array_text(f, t, p, len);
		break;
	case FIELD_BYTES:
		for (i = 0; i < len; i++)
			text_printf(t, "%02x", (unsigned char)p[i]);
		break;
	}
}

static void number_json(struct json *j, const char *key, const char *p,
			unsigned int size, bool is_signed)
{
	if (is_signed)
		json_s64(j, key, load_signed(p, size));
	else
		json_u64(j, key, load_number(p, size));
}

void field_json(const struct event_field *f, struct json *j, const void *data,
		unsigned int size)
{
	unsigned int len, i;
	const char *p = field_bytes(f, data, size, &len);

	switch (f->kind) {
	case FIELD_UNSIGNED:
	case FIELD_SIGNED:
		if (len)
			number_json(j, f->name, p, len,
				    f->kind == FIELD_SIGNED);
		else
			json_null(j, f->name);
		break;
	case FIELD_STRING:
	case FIELD_DYNAMIC_STRING:
		json_string_n(j, f->name, p, len ? strnlen(p, len) : 0);
		break;
	default:
		json_array_begin(j, f->name);
		for (i = 0; i + f->element <= len; i += f->element)
			number_json(j, NULL, p + i, f->element, f->is_signed);
		json_array_end(j);
	}
}
