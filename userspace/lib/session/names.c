// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* Events by name: tracepoints, software events, raw numbers, libpfm4. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "session/internal.h"
#include "session/pfm.h"
#include "session/suggest.h"

static const struct {
	const char *name;
	uint64_t config;
} software[] = {
	{ "cpu-clock", PERF_COUNT_SW_CPU_CLOCK },
	{ "task-clock", PERF_COUNT_SW_TASK_CLOCK },
	{ "page-faults", PERF_COUNT_SW_PAGE_FAULTS },
	{ "faults", PERF_COUNT_SW_PAGE_FAULTS },
	{ "context-switches", PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "cs", PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "cpu-migrations", PERF_COUNT_SW_CPU_MIGRATIONS },
	{ "migrations", PERF_COUNT_SW_CPU_MIGRATIONS },
	{ "minor-faults", PERF_COUNT_SW_PAGE_FAULTS_MIN },
	{ "major-faults", PERF_COUNT_SW_PAGE_FAULTS_MAJ },
	{ "alignment-faults", PERF_COUNT_SW_ALIGNMENT_FAULTS },
	{ "emulation-faults", PERF_COUNT_SW_EMULATION_FAULTS },
	{ "dummy", PERF_COUNT_SW_DUMMY },
	{ "bpf-output", PERF_COUNT_SW_BPF_OUTPUT },
	{ "cgroup-switches", 11 },	/* since 5.13 */
};

#define NR_SOFTWARE (sizeof(software) / sizeof(software[0]))

static bool software_by_name(const char *name, struct perf_event_attr *attr)
{
	unsigned int i;

	for (i = 0; i < NR_SOFTWARE; i++) {
		if (strcmp(name, software[i].name))
			continue;
		attr->type = PERF_TYPE_SOFTWARE;
		attr->config = software[i].config;
		return true;
	}
	return false;
}

/* All of text is a number. */
static bool number(const char *text, int base, uint64_t *v)
{
	char *end;

	if (!*text || strchr(" +-", *text))
		return false;
	errno = 0;
	*v = strtoull(text, &end, base);
	return !*end && !errno;
}

/* "TYPE:CONFIG" in numbers, or "rHEX" for the CPU's raw events. */
static bool raw_by_name(const char *name, struct perf_event_attr *attr)
{
	const char *colon = strchr(name, ':');
	char type_text[24];
	uint64_t type, config;

	if (!colon) {
		if (name[0] != 'r' || !number(name + 1, 16, &config))
			return false;
		attr->type = PERF_TYPE_RAW;
		attr->config = config;
		return true;
	}
	if ((size_t)(colon - name) >= sizeof(type_text))
		return false;
	memcpy(type_text, name, colon - name);
	type_text[colon - name] = '\0';
	if (!number(type_text, 0, &type) || type > UINT32_MAX ||
	    !number(colon + 1, 0, &config))
		return false;
	attr->type = type;
	attr->config = config;
	return true;
}

/* What libpfm4 knows of this CPU. */
static bool hardware_by_name(const char *name, struct perf_event_attr *attr)
{
	struct pc_pfm_event hw;

	if (pc_pfm_event(name, &hw))
		return false;
	attr->type = hw.type;
	attr->config = hw.config;
	attr->config1 = hw.config1;
	attr->config2 = hw.config2;
	attr->exclude_user = hw.exclude_user;
	attr->exclude_kernel = hw.exclude_kernel;
	attr->exclude_hv = hw.exclude_hv;
	attr->precise_ip = hw.precise_ip;
	return true;
}

static int unknown(struct perfclock_session *s, const char *name)
{
	struct pc_suggest sg;
	unsigned int i;

	pc_suggest_init(&sg, name);
	for (i = 0; i < NR_SOFTWARE; i++)
		pc_suggest_try(&sg, software[i].name);
	return pc_session_fail(s, -ENOENT, "event %s: no such event%s; "
		"an event is SYSTEM:NAME (tracepoint), a software event, "
		"TYPE:CONFIG, rHEX, %s", name, pc_suggest_text(&sg),
		pc_pfm_built() ? "or a hardware event libpfm4 knows here" :
		"(built without libpfm4: no hardware events by name)");
}

/* "SYSTEM:NAME" of a tracepoint; -EINVAL: it cannot be one. */
static int tracepoint_by_name(struct perfclock_session *s, const char *name,
			      struct perf_event_attr *attr)
{
	const char *colon = strchr(name, ':');
	char system[64];

	if (!colon || (size_t)(colon - name) >= sizeof(system) ||
	    colon[1] == ':')
		return -EINVAL;
	memcpy(system, name, colon - name);
	system[colon - name] = '\0';
	return pc_tracepoint(s, system, colon + 1, attr);
}

/* "NAME:u", "NAME:k" of a software or raw event. */
static bool restricted_by_name(const char *name, struct perf_event_attr *attr)
{
	size_t len = strlen(name);
	char plain[64];
	char mode;

	if (len < 3 || len - 2 >= sizeof(plain) || name[len - 2] != ':')
		return false;
	mode = name[len - 1];
	memcpy(plain, name, len - 2);
	plain[len - 2] = '\0';
	if ((mode != 'u' && mode != 'k') ||
	    (!software_by_name(plain, attr) && !raw_by_name(plain, attr)))
		return false;
	attr->exclude_kernel = attr->exclude_hv = mode == 'u';
	attr->exclude_user = mode == 'k';
	return true;
}

int pc_event_by_name(struct perfclock_session *s, const char *name,
		     struct perf_event_attr *attr)
{
	int err;

	if (software_by_name(name, attr) || raw_by_name(name, attr) ||
	    restricted_by_name(name, attr))
		return 0;
	err = tracepoint_by_name(s, name, attr);
	/* libpfm4's names have colons as well. */
	if (!err || hardware_by_name(name, attr))
		return 0;
	return err == -EINVAL ? unknown(s, name) : err;
}
