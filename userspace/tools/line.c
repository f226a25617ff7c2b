// SPDX-License-Identifier: GPL-2.0
/* A record as a line: see line.h. */
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <perfclock/clock.h>

#include "common.h"
#include "expr.h"
#include "fields.h"
#include "line.h"
#include "live.h"
#include "syscalls.h"

#define COLOR_TIME	"\033[32m"
#define COLOR_EVENT	"\033[36m"
#define COLOR_LATE	"\033[31m"
#define COLOR_OFF	"\033[0m"

static const struct {
	const char *name;
	enum line_column column;
} column_names[] = {
	{ "comm", COLUMN_COMM }, { "pid", COLUMN_PID }, { "tid", COLUMN_TID },
	{ "cpu", COLUMN_CPU }, { "time", COLUMN_TIME },
	{ "event", COLUMN_EVENT }, { "trace", COLUMN_TRACE },
};

void line_init(struct line_printer *p, struct comms *comms)
{
	memset(p, 0, sizeof(*p));
	p->comms = comms;
	p->second = UINT64_MAX;
	json_init(&p->object, true);
	line_set_columns(p, "comm,tid,cpu,time,event,trace");
}

static void free_columns(struct line_printer *p)
{
	while (p->nr_columns)
		free(p->columns[--p->nr_columns].field);
	free(p->columns);
	p->columns = NULL;
}

void line_free(struct line_printer *p)
{
	free_columns(p);
	json_free(&p->object);
}

static void add_column(struct line_printer *p, const char *name, size_t len)
{
	struct line_spec *spec;
	unsigned int i;

	p->columns = tool_realloc(p->columns, p->nr_columns + 1,
				  sizeof(*p->columns));
	spec = &p->columns[p->nr_columns++];
	spec->field = tool_strdup(name);
	spec->field[len] = '\0';
	spec->column = COLUMN_FIELD;
	for (i = 0; i < ARRAY_SIZE(column_names); i++)
		if (!strcmp(spec->field, column_names[i].name))
			spec->column = column_names[i].column;
}

int line_set_columns(struct line_printer *p, const char *list)
{
	size_t len;

	free_columns(p);
	for (; ; list += len + 1) {
		len = strcspn(list, ",");
		if (!len)
			return tool_usage("--fields: an empty name");
		add_column(p, list, len);
		if (!list[len])
			return TOOL_DONE;
	}
}

void line_set_wall(struct line_printer *p, struct perfclock *clock)
{
	struct timespec ts;
	uint64_t now;

	if (perfclock_now(clock, &now))
		return;
	clock_gettime(CLOCK_REALTIME, &ts);
	p->wall_offset = ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec - now;
}

/* ---- time ---- */

static void new_second(struct line_printer *p, uint64_t second)
{
	time_t when = second;
	struct tm tm;

	p->second = second;
	if (p->time == LINE_TIME_ISO && localtime_r(&when, &tm)) {
		p->second_len = strftime(p->second_text,
					 sizeof(p->second_text),
					 "%Y-%m-%dT%H:%M:%S", &tm);
		return;
	}
	/* As perf: at least five places. */
	p->second_len = second < 10 ? 4 : second < 100 ? 3 :
			second < 1000 ? 2 : second < 10000 ? 1 : 0;
	memset(p->second_text, ' ', p->second_len);
	p->second_len += put_decimal(p->second_text + p->second_len, second);
}

/* The stamp, as the printer counts time; ns. */
static uint64_t shown_time(struct line_printer *p, uint64_t stamp)
{
	switch (p->time) {
	case LINE_TIME_RELATIVE:
		return stamp > p->first ? stamp - p->first : 0;
	case LINE_TIME_DELTA:
		return stamp > p->last ? stamp - p->last : 0;
	case LINE_TIME_ISO:
		return stamp + p->wall_offset;
	default:
		return stamp;
	}
}

static void print_time(struct line_printer *p, struct text *t, uint64_t stamp)
{
	uint64_t shown = shown_time(p, stamp);
	uint64_t second = shown / NSEC_PER_SEC;
	uint32_t ns = shown % NSEC_PER_SEC;
	char *to;
	int i;

	if (second != p->second)
		new_second(p, second);
	text_need(t, sizeof(p->second_text) + 10);
	memcpy(t->buf + t->used, p->second_text, p->second_len);
	to = t->buf + t->used + p->second_len;
	*to = '.';
	for (i = 9; i > 1; i -= 2, ns /= 100)
		put_two_digits(to + i - 1, ns % 100);
	to[1] = '0' + ns;
	t->used += p->second_len + 10;
	if (p->time == LINE_TIME_ISO) {
		time_t when = second;
		struct tm tm;
		char zone[8] = "";

		if (localtime_r(&when, &tm) &&
		    strftime(zone, sizeof(zone), "%z", &tm))
			text_bytes(t, zone, strlen(zone));
	}
}

/* ---- columns ---- */

/* A number in a column. */
static void print_padded(struct text *t, int32_t v, int width, char pad)
{
	char digits[24] = "-";
	int n = v < 0;		/* -1: a task that has no number any more */

	n += put_decimal(digits + n, v < 0 ? -(uint64_t)v : (uint64_t)v);

	text_need(t, 32);
	for (; width > n; width--)
		t->buf[t->used++] = pad;
	memcpy(t->buf + t->used, digits, n);
	t->used += n;
}

static void print_comm(struct line_printer *p, struct text *t, pid_t tid)
{
	const struct comm *comm = comms_find(p->comms, tid);

	text_need(t, COMM_MAX);
	memcpy(t->buf + t->used, comm->column, COMM_MAX);
	t->used += COMM_MAX;
}

/* What the event's own text lacks: the name of the system call. */
static void print_syscall(struct text *t, const struct live_tracepoint *tp,
			  const struct perfclock_event *ev)
{
	const char *name;

	if (!tp->is_syscall || ev->raw_size < 16)
		return;
	name = syscall_name(load_number((const char *)ev->raw + 8, 8));
	if (!name)
		return;
	text_char(t, ' ');
	text_string(t, name);
}

/* Where a sample of no tracepoint was taken: it stands behind its id. */
static void print_ip(struct text *t, const struct perfclock_event *ev)
{
	if (ev->header->size < sizeof(*ev->header) + 16)
		return;
	text_string(t, "ip 0x");
	text_hex(t, load_number((const char *)(ev->header + 1) + 8, 8));
}

static void print_trace(struct line_printer *p, struct text *t,
			const struct perfclock_event *ev)
{
	const struct live_tracepoint *tp = ev->user;
	size_t from = t->used;
	char *newline;

	if (tp && !tp->tep)
		print_ip(t, ev);
	if (!tp || !tp->format || !ev->raw)
		return;
	event_format_print(tp->format, t, ev->raw, ev->raw_size);
	print_syscall(t, tp, ev);
	/* A record is a line, whatever its fields hold. */
	while ((newline = memchr(t->buf + from, '\n', t->used - from)))
		*newline = ' ';
}

static void print_field(struct text *t, const char *name,
			const struct perfclock_event *ev)
{
	const struct live_tracepoint *tp = ev->user;
	struct event_field field;

	if (!tp || !tp->tep || !ev->raw || !field_find(&field, tp->tep, name))
		return;
	text_string(t, name);
	text_char(t, '=');
	field_text(&field, t, ev->raw, ev->raw_size);
}

static void print_event_name(struct text *t, const struct perfclock_event *ev)
{
	const struct live_tracepoint *tp = ev->user;

	text_string(t, tp ? tp->name : "?");
	text_char(t, ':');
}

static void colored(struct line_printer *p, struct text *t, const char *color)
{
	if (p->color)
		text_string(t, color);
}

static void print_column(struct line_printer *p, struct text *t,
			 const struct line_spec *spec,
			 const struct perfclock_event *ev)
{
	switch (spec->column) {
	case COLUMN_COMM:
		print_comm(p, t, ev->tid);
		break;
	case COLUMN_PID:
		print_padded(t, ev->pid, 7, ' ');
		break;
	case COLUMN_TID:
		print_padded(t, ev->tid, 7, ' ');
		break;
	case COLUMN_CPU:
		text_char(t, '[');
		print_padded(t, ev->cpu, 3, '0');
		text_char(t, ']');
		break;
	case COLUMN_TIME:
		colored(p, t, COLOR_TIME);
		print_time(p, t, ev->stamp);
		colored(p, t, COLOR_OFF);
		text_char(t, ':');
		break;
	case COLUMN_EVENT:
		colored(p, t, COLOR_EVENT);
		print_event_name(t, ev);
		colored(p, t, COLOR_OFF);
		break;
	case COLUMN_TRACE:
		print_trace(p, t, ev);
		break;
	case COLUMN_FIELD:
		print_field(t, spec->field, ev);
		break;
	}
}

static void print_late(struct line_printer *p, struct text *t,
		       const struct perfclock_event *ev)
{
	colored(p, t, COLOR_LATE);
	text_string(t, " # late by ");
	text_u64(t, p->last - ev->stamp);
	text_string(t, " ns");
	colored(p, t, COLOR_OFF);
}

static void print_text(struct line_printer *p, struct text *t,
		       const struct perfclock_event *ev)
{
	unsigned int i;

	for (i = 0; i < p->nr_columns; i++) {
		if (i)
			text_char(t, ' ');
		print_column(p, t, &p->columns[i], ev);
	}
	if (ev->flags & PERFCLOCK_RECORD_LATE && ev->stamp < p->last)
		print_late(p, t, ev);
	text_char(t, '\n');
}

/* ---- JSON ---- */

static void json_fields(struct json *j, const struct perfclock_event *ev)
{
	const struct live_tracepoint *tp = ev->user;
	struct tep_format_field *tep;
	struct event_field field;

	if (!tp || !tp->tep || !ev->raw)
		return;
	json_object_begin(j, "fields");
	for (tep = tp->tep->format.fields; tep; tep = tep->next) {
		field_init(&field, tep);
		field_json(&field, j, ev->raw, ev->raw_size);
	}
	json_object_end(j);
	if (tp->is_syscall && ev->raw_size >= 16)
		json_string(j, "syscall", syscall_name(
			load_number((const char *)ev->raw + 8, 8)));
}

static void put_object(struct line_printer *p, struct text *t)
{
	json_object_end(&p->object);
	text_bytes(t, p->object.buf, p->object.used);
	text_char(t, '\n');
}

static void print_json(struct line_printer *p, struct text *t,
		       const struct perfclock_event *ev)
{
	const struct live_tracepoint *tp = ev->user;
	struct json *j = &p->object;

	json_reset(j);
	json_object_begin(j, NULL);
	json_u64(j, "time_ns", shown_time(p, ev->stamp));
	json_s64(j, "cpu", ev->cpu);
	json_s64(j, "pid", ev->pid);
	json_s64(j, "tid", ev->tid);
	json_string(j, "comm", comms_find(p->comms, ev->tid)->name);
	json_string(j, "event", tp ? tp->name : NULL);
	if (ev->flags & PERFCLOCK_RECORD_LATE)
		json_bool(j, "late", true);
	json_fields(j, ev);
	put_object(p, t);
}

void line_print(struct line_printer *p, struct text *t,
		const struct perfclock_event *ev)
{
	if (!p->first)
		p->first = p->last = ev->stamp;
	if (p->json)
		print_json(p, t, ev);
	else
		print_text(p, t, ev);
	if (ev->stamp > p->last)
		p->last = ev->stamp;
}

void line_print_lost(struct line_printer *p, struct text *t,
		     const struct perfclock_event *ev)
{
	struct json *j = &p->object;

	if (p->json) {
		json_reset(j);
		json_object_begin(j, NULL);
		json_s64(j, "cpu", ev->cpu);
		json_u64(j, "lost", ev->lost);
		put_object(p, t);
		return;
	}
	colored(p, t, COLOR_LATE);
	text_printf(t, "# CPU %d: %llu records lost here; larger rings "
		    "(-m) may help", ev->cpu, (unsigned long long)ev->lost);
	colored(p, t, COLOR_OFF);
	text_char(t, '\n');
}
