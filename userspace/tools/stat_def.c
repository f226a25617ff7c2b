// SPDX-License-Identifier: GPL-2.0
/* What "perfclock stat" pairs: see stat_def.h. */
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "stat_def.h"

struct preset {
	const char *name, *title;
	const char *begin[2], *end;
	const char *key, *by;
	enum stat_name by_name[GROUP_KEY_MAX];
	bool keep_first, skip_idle;
};

/*
 * The kernel thread of a virtual CPU is its key: kvm_entry and kvm_exit tell
 * of it on all kernels, vcpu_id only on newer ones.
 */
static const struct preset presets[] = {
	{ .name = "syscalls", .title = "system calls",
	  .begin = { "raw_syscalls:sys_enter" },
	  .end = "raw_syscalls:sys_exit", .key = "tid",
	  .by = "id", .by_name = { STAT_NAME_SYSCALL } },
	{ .name = "kvm", .title = "guest exits, until the next entry",
	  .begin = { "kvm:kvm_exit" }, .end = "kvm:kvm_entry", .key = "tid",
	  .by = "exit_reason", .by_name = { STAT_NAME_KVM_EXIT } },
	{ .name = "irq", .title = "interrupt handlers",
	  .begin = { "irq:irq_handler_entry" }, .end = "irq:irq_handler_exit",
	  .key = "cpu,irq", .by = "irq,name",
	  .by_name = { STAT_NAME_VALUE, STAT_NAME_PLAIN } },
	{ .name = "softirq", .title = "soft interrupts",
	  .begin = { "irq:softirq_entry" }, .end = "irq:softirq_exit",
	  .key = "cpu,vec", .by = "vec", .by_name = { STAT_NAME_SOFTIRQ } },
	{ .name = "sched", .title = "wakeups, until the task runs",
	  .begin = { "sched:sched_wakeup", "sched:sched_wakeup_new" },
	  .end = "sched:sched_switch", .key = "pid=next_pid", .by = "comm",
	  .by_name = { STAT_NAME_PLAIN }, .keep_first = true,
	  .skip_idle = true },
	{ .name = "block", .title = "block requests, issue to completion",
	  .begin = { "block:block_rq_issue" },
	  .end = "block:block_rq_complete", .key = "dev,sector",
	  .by = "dev,rwbs", .by_name = { STAT_NAME_DEVICE, STAT_NAME_PLAIN } },
};

const char stat_preset_names[] = "syscalls, kvm, irq, softirq, sched, block";

static enum stat_source source_of(const char *name)
{
	static const struct {
		const char *name;
		enum stat_source source;
	} sources[] = {
		{ "tid", STAT_TID }, { "common_pid", STAT_TID },
		{ "task", STAT_TID }, { "cpu", STAT_CPU },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sources); i++)
		if (!strcmp(name, sources[i].name))
			return sources[i].source;
	return STAT_FIELD;
}

/* "A" or "A=B", of len bytes. */
static void set_part(struct stat_part *part, const char *text, size_t len)
{
	char *equal;

	part->field = tool_strdup(text);
	part->field[len] = '\0';
	equal = strchr(part->field, '=');
	if (equal) {
		*equal = '\0';
		part->end_field = tool_strdup(equal + 1);
	}
	part->source = equal ? STAT_FIELD : source_of(part->field);
}

/* A comma list. TOOL_USAGE: told. */
static int set_parts(struct stat_part *parts, unsigned int *nr,
		     unsigned int max, const char *list, const char *option)
{
	size_t len;

	for (;; list += len + 1) {
		len = strcspn(list, ",");
		if (!len)
			return tool_usage("%s: an empty name", option);
		if (*nr == max)
			return tool_usage("%s: more than %u names", option,
					  max);
		set_part(&parts[(*nr)++], list, len);
		if (!list[len])
			return TOOL_DONE;
	}
}

struct stat_def *stat_def_preset(const char *name)
{
	const struct preset *p = presets;
	struct stat_def *def;
	unsigned int i;

	while (p < presets + ARRAY_SIZE(presets) && strcmp(p->name, name))
		p++;
	if (p == presets + ARRAY_SIZE(presets)) {
		tool_usage("no preset '%s'; there are %s", name,
			   stat_preset_names);
		return NULL;
	}
	def = tool_alloc(1, sizeof(*def));
	def->title = p->title;
	def->begin[0] = p->begin[0];
	def->begin[1] = p->begin[1];
	def->end = p->end;
	def->keep_first = p->keep_first;
	def->skip_idle = p->skip_idle;
	set_parts(def->key, &def->nr_key, PAIR_KEY_MAX, p->key, "key");
	set_parts(def->by, &def->nr_by, GROUP_KEY_MAX, p->by, "by");
	for (i = 0; i < def->nr_by; i++)
		def->by[i].name = p->by_name[i];
	return def;
}

struct stat_def *stat_def_own(const char *begin, const char *end,
			      const char *key, const char *by)
{
	struct stat_def *def = tool_alloc(1, sizeof(*def));

	def->title = "pairs";
	def->begin[0] = begin;
	def->end = end;
	if (set_parts(def->key, &def->nr_key, PAIR_KEY_MAX, key, "--key") ||
	    (by && set_parts(def->by, &def->nr_by, GROUP_KEY_MAX, by,
			     "--by"))) {
		stat_def_free(def);
		return NULL;
	}
	return def;
}

int stat_def_per(struct stat_def *def, const char *what)
{
	struct stat_part part = { .name = STAT_NAME_VALUE };

	if (def->nr_by == GROUP_KEY_MAX)
		return tool_usage("--per: too many names to group by");
	if (!strcmp(what, "task")) {
		part.source = STAT_TID;
	} else if (!strcmp(what, "cpu")) {
		part.source = STAT_CPU;
	} else if (!strcmp(what, "comm")) {
		part.source = STAT_COMM;
	} else if (!strcmp(what, "vcpu")) {
		part.source = STAT_FIELD;
		part.field = tool_strdup("vcpu_id");
	} else {
		return tool_usage("--per: task, comm, cpu or vcpu, not '%s'",
				  what);
	}
	memmove(def->by + 1, def->by, def->nr_by * sizeof(part));
	def->by[0] = part;
	def->nr_by++;
	return TOOL_DONE;
}

static void free_parts(struct stat_part *parts, unsigned int nr)
{
	while (nr--) {
		free(parts[nr].field);
		free(parts[nr].end_field);
	}
}

void stat_def_free(struct stat_def *def)
{
	if (!def)
		return;
	free_parts(def->key, def->nr_key);
	free_parts(def->by, def->nr_by);
	free(def);
}

/* ---- the fields of an event ---- */

static int lacks_field(const char *event, struct tep_event *tep,
		       const char *field)
{
	struct tep_format_field *f;
	char *list = tool_strdup("");

	for (f = tep->format.fields; f; f = f->next) {
		char *longer = tool_printf("%s%s%s", list, *list ? ", " : "",
					   f->name);

		free(list);
		list = longer;
	}
	tool_error("event %s has no field '%s'; it has %s, and tid, cpu",
		   event, field, list);
	free(list);
	return TOOL_FAILED;
}

static int find_fields(struct event_field *fields, const struct stat_part *part,
		       unsigned int nr, const char *event,
		       struct tep_event *tep, bool is_end)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		const char *name = is_end && part[i].end_field ?
				   part[i].end_field : part[i].field;

		if (part[i].source == STAT_FIELD &&
		    !field_find(&fields[i], tep, name))
			return lacks_field(event, tep, name);
	}
	return TOOL_DONE;
}

int stat_event_init(struct stat_event *e, const struct stat_def *def,
		    const char *name, struct tep_event *tep, int role)
{
	int status;

	e->role = role;
	if (!tep) {
		tool_error("event %s is no tracepoint that can be read: it "
			   "has no fields to pair by", name);
		return TOOL_FAILED;
	}
	status = find_fields(e->key, def->key, def->nr_key, name, tep,
			     !(role & STAT_BEGIN));
	if (!status && role & STAT_BEGIN)
		status = find_fields(e->by, def->by, def->nr_by, name, tep,
				     false);
	return status;
}

/* Sixteen bytes are two numbers: their mix will do. */
static uint64_t comm_value(const struct comm *comm)
{
	uint64_t half[2];

	memcpy(half, comm->column, sizeof(half));
	return half[0] ^ half[1] * 0x9e3779b97f4a7c15ULL;
}

static bool part_value(const struct stat_part *part,
		       const struct event_field *field,
		       const struct perfclock_event *ev, struct comms *comms,
		       uint64_t *value)
{
	switch (part->source) {
	case STAT_TID:
		*value = (uint32_t)ev->tid;
		return true;
	case STAT_PID:
		*value = (uint32_t)ev->pid;
		return true;
	case STAT_CPU:
		*value = (uint32_t)ev->cpu;
		return true;
	case STAT_COMM:
		*value = comm_value(comms_find(comms, ev->tid));
		return true;
	case STAT_FIELD:
		break;
	}
	return field_key(field, ev->raw, ev->raw_size, value);
}

bool stat_event_key(const struct stat_event *e, const struct stat_def *def,
		    const struct perfclock_event *ev, struct pair_key *key)
{
	unsigned int i;

	memset(key, 0, sizeof(*key));
	for (i = 0; i < def->nr_key; i++)
		if (!part_value(&def->key[i], &e->key[i], ev, NULL,
				&key->part[i]))
			return false;
	return true;
}

bool stat_event_group(const struct stat_event *e, const struct stat_def *def,
		      const struct perfclock_event *ev, struct comms *comms,
		      struct group_key *key)
{
	unsigned int i;

	memset(key, 0, sizeof(*key));
	for (i = 0; i < def->nr_by; i++)
		if (!part_value(&def->by[i], &e->by[i], ev, comms,
				&key->part[i]))
			return false;
	return true;
}
