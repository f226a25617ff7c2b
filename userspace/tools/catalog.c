// SPDX-License-Identifier: GPL-2.0
/* The tracepoints that this kernel has: see catalog.h. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include <tracefs.h>

#include "catalog.h"
#include "common.h"

void catalog_init(struct catalog *c)
{
	static const char *const places[] = {
		"/sys/kernel/tracing", "/sys/kernel/debug/tracing",
	};
	unsigned int i;

	c->dir = NULL;
	for (i = 0; i < ARRAY_SIZE(places) && !c->dir; i++) {
		char **systems = tracefs_event_systems(places[i]);

		if (systems)
			c->dir = places[i];
		tracefs_list_free(systems);
	}
	c->tep = tep_alloc();
	if (!c->tep) {
		tool_error("out of memory");
		exit(TOOL_FAILED);
	}
	tep_set_loglevel(TEP_LOG_NONE);
	tep_set_long_size(c->tep, sizeof(long));
	tep_set_local_bigendian(c->tep, tep_is_bigendian());
	tep_set_file_bigendian(c->tep, tep_is_bigendian());
}

void catalog_free(struct catalog *c)
{
	tep_free(c->tep);
	c->tep = NULL;
}

bool catalog_is_glob(const char *name)
{
	return strpbrk(name, "*?[") != NULL;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void catalog_free_names(char **names)
{
	char **n;

	for (n = names; n && *n; n++)
		free(*n);
	free(names);
}

unsigned int catalog_glob(struct catalog *c, const char *glob,
			  unsigned int max, char ***names)
{
	char **systems = c->dir ? tracefs_event_systems(c->dir) : NULL;
	char **list = tool_alloc(max + 1, sizeof(*list)), **s, **e;
	unsigned int found = 0;

	for (s = systems; s && *s; s++) {
		char **events = tracefs_system_events(c->dir, *s);

		for (e = events; e && *e; e++) {
			char *name = tool_printf("%s:%s", *s, *e);

			/* Those of ftrace are no perf events. */
			if (strcmp(*s, "ftrace") && !fnmatch(glob, name, 0) &&
			    found++ < max)
				list[found - 1] = name;
			else
				free(name);
		}
		tracefs_list_free(events);
	}
	tracefs_list_free(systems);
	if (found > max) {
		catalog_free_names(list);
		list = NULL;
	} else {
		qsort(list, found, sizeof(*list), by_name);
	}
	*names = list;
	return found;
}

struct tep_event *catalog_event(struct catalog *c, const char *name)
{
	const char *colon = strchr(name, ':');
	struct tep_event *event = NULL;
	char *system, *path, *text;
	size_t size;

	if (!c->dir || !colon)
		return NULL;
	system = strndup(name, colon - name);
	if (!system)
		return NULL;
	path = tool_printf("%s/events/%s/%s/format", c->dir, system,
			   colon + 1);
	text = read_whole_file(path, &size);
	if (text && !tep_parse_event(c->tep, text, size, system))
		event = tep_find_event_by_name(c->tep, system, colon + 1);
	free(text);
	free(path);
	free(system);
	return event;
}
