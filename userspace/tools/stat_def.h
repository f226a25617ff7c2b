/* SPDX-License-Identifier: GPL-2.0 */
/* What "perfclock stat" pairs: presets and pairs of the user's own. */
#ifndef TOOLS_STAT_DEF_H
#define TOOLS_STAT_DEF_H

#include <perfclock/session.h>

#include "comms.h"
#include "fields.h"
#include "live.h"
#include "pairs.h"

/* Roles of an event; both at once is fine: an end, then a begin. */
#define STAT_BEGIN	1
#define STAT_END	2

/* Where a part of a key comes from. */
enum stat_source {
	STAT_FIELD, STAT_TID, STAT_PID, STAT_CPU,
	STAT_COMM		/* the task's name */
};

/* How a group's key becomes a name. */
enum stat_name {
	STAT_NAME_VALUE,	/* field=value */
	STAT_NAME_PLAIN,	/* value */
	STAT_NAME_SYSCALL, STAT_NAME_SOFTIRQ, STAT_NAME_KVM_EXIT,
	STAT_NAME_DEVICE
};

struct stat_part {
	enum stat_source source;
	enum stat_name name;
	char *field;		/* of the begin event */
	char *end_field;	/* of the end event; NULL: the same */
};

struct stat_def {
	const char *title;
	const char *begin[2];	/* the second may be NULL */
	const char *end;
	struct stat_part key[PAIR_KEY_MAX];
	unsigned int nr_key;
	struct stat_part by[GROUP_KEY_MAX];
	unsigned int nr_by;
	bool keep_first;	/* a second begin is part of the first */
	bool skip_idle;		/* key 0 is the idle task: no end */
};

/* NULL: no such preset (told). The caller frees with stat_def_free(). */
struct stat_def *stat_def_preset(const char *name);
/*
 * An own pair: events, "FIELD[=FIELD_OF_END],..." and a list of what to group
 * by (or NULL). NULL: told.
 */
struct stat_def *stat_def_own(const char *begin, const char *end,
			      const char *key, const char *by);
/* In front of the others: "task", "cpu", "vcpu". TOOL_USAGE: told. */
int stat_def_per(struct stat_def *def, const char *what);
void stat_def_free(struct stat_def *def);
extern const char stat_preset_names[];

/* The fields of one event, found once. */
struct stat_event {
	struct event_field key[PAIR_KEY_MAX];
	struct event_field by[GROUP_KEY_MAX];
	int role;
};

/* TOOL_FAILED, told: the event lacks a field. */
int stat_event_init(struct stat_event *e, const struct stat_def *def,
		    const char *name, struct tep_event *tep, int role);
bool stat_event_key(const struct stat_event *e, const struct stat_def *def,
		    const struct perfclock_event *ev, struct pair_key *key);
bool stat_event_group(const struct stat_event *e, const struct stat_def *def,
		      const struct perfclock_event *ev, struct comms *comms,
		      struct group_key *key);
/* The name of that record's group; the caller frees. */
char *stat_group_name(const struct stat_event *e, const struct stat_def *def,
		      const struct perfclock_event *ev, struct comms *comms,
		      struct tep_event *tep);

#endif /* TOOLS_STAT_DEF_H */
