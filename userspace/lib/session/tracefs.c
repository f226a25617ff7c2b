// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* Tracepoints: their ids are files under tracefs. Nothing is mounted here. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session/internal.h"
#include "session/suggest.h"

static const char *const places[] = {
	"/sys/kernel/tracing", "/sys/kernel/debug/tracing",
};

/* The events directory into path. 0, -ENOENT (no tracefs), -EACCES. */
static int find_events(char *path, size_t size)
{
	unsigned int i;
	int err = -ENOENT;

	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(path, size, "%s/events", places[i]);
		if (!access(path, R_OK | X_OK))
			return 0;
		if (errno == EACCES || errno == EPERM)
			err = -EACCES;
	}
	return err;
}

static int no_tracefs(struct perfclock_session *s, int err)
{
	if (err == -EACCES)
		return pc_session_fail(s, err,
			"tracefs is not readable: run as root, or let your "
			"group in: mount -o remount,gid=GROUP,mode=750 "
			"/sys/kernel/tracing");
	return pc_session_fail(s, err,
		"no tracefs, so no tracepoints: mount -t tracefs nodev "
		"/sys/kernel/tracing");
}

/* Names of a directory that come close to name. */
static void suggest_from(struct pc_suggest *sg, const char *dir,
			 const char *prefix)
{
	char full[512];
	struct dirent *d;
	DIR *f = opendir(dir);

	while (f && (d = readdir(f))) {
		if (d->d_name[0] == '.' || d->d_type == DT_REG)
			continue;
		snprintf(full, sizeof(full), "%s%s", prefix, d->d_name);
		pc_suggest_try(sg, full);
	}
	if (f)
		closedir(f);
}

static int unknown(struct perfclock_session *s, const char *events,
		   const char *system, const char *name)
{
	char path[512], wanted[256], prefix[128];
	struct pc_suggest sg;

	snprintf(path, sizeof(path), "%s/%s", events, system);
	if (access(path, F_OK)) {
		pc_suggest_init(&sg, system);
		suggest_from(&sg, events, "");
		return pc_session_fail(s, -ENOENT,
			"event %s:%s: no tracepoint system '%s'%s", system,
			name, system, pc_suggest_text(&sg));
	}
	snprintf(wanted, sizeof(wanted), "%s:%s", system, name);
	snprintf(prefix, sizeof(prefix), "%s:", system);
	pc_suggest_init(&sg, wanted);
	suggest_from(&sg, path, prefix);
	return pc_session_fail(s, -ENOENT, "event %s: no such tracepoint%s",
			       wanted, pc_suggest_text(&sg));
}

int pc_tracepoint(struct perfclock_session *s, const char *system,
		  const char *name, struct perf_event_attr *attr)
{
	char events[256], path[512];
	unsigned long long id;
	FILE *f;
	int err, got;

	if (strchr(system, '/') || strchr(name, '/') || !*system || !*name)
		return pc_session_fail(s, -EINVAL,
			"event %s:%s: not SYSTEM:NAME", system, name);
	err = find_events(events, sizeof(events));
	if (err)
		return no_tracefs(s, err);
	snprintf(path, sizeof(path), "%s/%s/%s/id", events, system, name);
	f = fopen(path, "re");
	if (!f) {
		err = -errno;
		if (err == -EACCES)
			return no_tracefs(s, err);
		if (err == -ENOENT)
			return unknown(s, events, system, name);
		return pc_session_fail(s, err, "event %s:%s: %s: %s", system,
				       name, path, strerror(-err));
	}
	got = fscanf(f, "%llu", &id);
	fclose(f);
	if (got != 1)
		return pc_session_fail(s, -EIO, "%s: not a number", path);
	attr->type = PERF_TYPE_TRACEPOINT;
	attr->config = id;
	return 0;
}
