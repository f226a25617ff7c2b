// SPDX-License-Identifier: GPL-2.0
/*
 * What is wrong with a filter: see filter.h. perf says no more than EINVAL, but
 * tracefs keeps the reason in the event's filter file. It is asked for in a
 * trace instance of our own, so that nobody else's trace is touched.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tracefs.h>

#include "common.h"
#include "filter.h"
#include "live.h"

/* The reason, of two lines (where, and what), or NULL: the filter is good. */
static char *ask(struct tracefs_instance *instance,
		 const struct live_tracepoint *ev, const char *filter)
{
	char *path, *file, *text = NULL;
	int fd;

	path = tool_printf("events/%s/%s/filter", ev->tep->system,
			   ev->tep->name);
	file = tracefs_instance_get_file(instance, path);
	free(path);
	fd = file ? open(file, O_WRONLY | O_CLOEXEC) : -1;
	if (fd >= 0) {
		if (write(fd, filter, strlen(filter)) < 0)
			text = read_whole_file(file, NULL);
		close(fd);
	}
	tracefs_put_tracing_file(file);
	return text;
}

bool filter_tell_errors(struct live *l)
{
	char name[64], *text = NULL;
	struct tracefs_instance *instance;
	unsigned int i;

	snprintf(name, sizeof(name), "perfclock-%d", getpid());
	instance = tracefs_instance_create(name);
	if (!instance)
		return false;
	for (i = 0; i < l->nr_events && !text; i++) {
		const struct live_tracepoint *ev = l->events[i];

		if (!ev->filter || !ev->tep)
			continue;
		text = ask(instance, ev, ev->filter);
		if (text) {
			tool_error("--filter of %s is refused by the kernel:",
				   ev->name);
			fputs(text, stderr);
		}
	}
	tracefs_instance_destroy(instance);
	tracefs_instance_free(instance);
	if (!text)
		return false;
	free(text);
	return true;
}
