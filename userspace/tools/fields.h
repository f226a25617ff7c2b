/* SPDX-License-Identifier: GPL-2.0 */
/* Single fields of tracepoint records: as numbers, as text, as JSON. */
#ifndef TOOLS_FIELDS_H
#define TOOLS_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

#include <event-parse.h>

#include "json.h"
#include "text.h"

enum field_kind {
	FIELD_UNSIGNED,
	FIELD_SIGNED,
	FIELD_STRING,		/* char array, NUL-padded */
	FIELD_ARRAY,		/* of numbers */
	FIELD_DYNAMIC_STRING,
	FIELD_DYNAMIC_ARRAY,
	FIELD_BYTES		/* anything else */
};

struct event_field {
	const char *name;	/* libtraceevent's */
	enum field_kind kind;
	unsigned int offset, size;
	unsigned int element;	/* bytes of an array's element */
	bool is_signed, relative;
};

void field_init(struct event_field *f, const struct tep_format_field *tep);
/* Common fields too. false: the event has no such field. */
bool field_find(struct event_field *f, struct tep_event *event,
		const char *name);

/* The number; of a string a hash. false: the record is too short. */
bool field_key(const struct event_field *f, const void *data,
	       unsigned int size, uint64_t *value);
void field_text(const struct event_field *f, struct text *t, const void *data,
		unsigned int size);
void field_json(const struct event_field *f, struct json *j, const void *data,
		unsigned int size);

#endif /* TOOLS_FIELDS_H */
