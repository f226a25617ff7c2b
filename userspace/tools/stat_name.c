// SPDX-License-Identifier: GPL-2.0
/* Names of the groups of "perfclock stat": see stat_def.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__) || defined(__i386__)
#include <asm/svm.h>
#include <asm/vmx.h>
#endif

#include "common.h"
#include "stat_def.h"
#include "syscalls.h"
#include "text.h"

static const char *softirq_name(uint64_t vec)
{
	static const char *const names[] = {
		"HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL",
		"TASKLET", "SCHED", "HRTIMER", "RCU",
	};

	return vec < ARRAY_SIZE(names) ? names[vec] : NULL;
}

#if defined(__x86_64__) || defined(__i386__)
/* The processor's exceptions, which the list of SVM needs. */
enum {
	DE_VECTOR, DB_VECTOR, BP_VECTOR = 3, OF_VECTOR, BR_VECTOR, UD_VECTOR,
	NM_VECTOR, DF_VECTOR, TS_VECTOR = 10, NP_VECTOR, SS_VECTOR, GP_VECTOR,
	PF_VECTOR, MF_VECTOR = 16, AC_VECTOR, MC_VECTOR, XM_VECTOR
};

struct exit_name {
	unsigned long long reason;
	const char *name;
};

static const struct exit_name vmx_exits[] = { VMX_EXIT_REASONS };
static const struct exit_name svm_exits[] = { SVM_EXIT_REASONS };

static const char *find_exit(const struct exit_name *list, unsigned int n,
			     uint64_t reason)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (list[i].reason == reason)
			return list[i].name;
	return NULL;
}

/* Field isa tells whose numbers they are: 1 Intel's, 2 AMD's. */
static const char *exit_name(uint64_t reason, struct tep_event *tep,
			     const struct perfclock_event *ev)
{
	struct event_field isa;
	uint64_t which = 1;

	if (field_find(&isa, tep, "isa"))
		field_key(&isa, ev->raw, ev->raw_size, &which);
	if (which == 2)
		return find_exit(svm_exits, ARRAY_SIZE(svm_exits), reason);
	/* Flags, as of a failed entry, are in the upper half. */
	return find_exit(vmx_exits, ARRAY_SIZE(vmx_exits), reason & 0xffff);
}
#else
static const char *exit_name(uint64_t reason, struct tep_event *tep,
			     const struct perfclock_event *ev)
{
	return NULL;
}
#endif

static void name_field(struct text *t, const struct stat_part *part,
		       const struct event_field *field,
		       const struct perfclock_event *ev, struct tep_event *tep)
{
	const char *name = NULL;
	uint64_t v = 0;

	field_key(field, ev->raw, ev->raw_size, &v);
	switch (part->name) {
	case STAT_NAME_VALUE:
		text_printf(t, "%s=", part->field);
		break;
	case STAT_NAME_SYSCALL:
		name = syscall_name(v);
		break;
	case STAT_NAME_SOFTIRQ:
		name = softirq_name(v);
		break;
	case STAT_NAME_KVM_EXIT:
		name = exit_name(v, tep, ev);
		break;
	case STAT_NAME_DEVICE:
		text_printf(t, "%llu:%llu", (unsigned long long)v >> 20,
			    (unsigned long long)v & 0xfffff);
		return;
	case STAT_NAME_PLAIN:
		break;
	}
	if (name)
		text_string(t, name);
	else
		field_text(field, t, ev->raw, ev->raw_size);
}

static void name_part(struct text *t, const struct stat_part *part,
		      const struct event_field *field,
		      const struct perfclock_event *ev, struct comms *comms,
		      struct tep_event *tep)
{
	switch (part->source) {
	case STAT_TID:
		text_printf(t, "%s/%d", comms_find(comms, ev->tid)->name,
			    ev->tid);
		break;
	case STAT_COMM:
		text_string(t, comms_find(comms, ev->tid)->name);
		break;
	case STAT_PID:
		text_printf(t, "pid=%d", ev->pid);
		break;
	case STAT_CPU:
		text_printf(t, "cpu=%d", ev->cpu);
		break;
	case STAT_FIELD:
		name_field(t, part, field, ev, tep);
		break;
	}
}

char *stat_group_name(const struct stat_event *e, const struct stat_def *def,
		      const struct perfclock_event *ev, struct comms *comms,
		      struct tep_event *tep)
{
	struct text t = { 0 };
	unsigned int i;

	for (i = 0; i < def->nr_by; i++) {
		if (i)
			text_char(&t, ' ');
		name_part(&t, &def->by[i], &e->by[i], ev, comms, tep);
	}
	if (!t.used)
		text_string(&t, "all");
	text_char(&t, '\0');
	return t.buf;
}
