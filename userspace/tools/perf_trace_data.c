// SPDX-License-Identifier: GPL-2.0
/*
 * The tracing data of a perf.data file, version 0.6: files of tracefs one after
 * another, each with its length. Lengths are in this machine's byte order,
 * which the beginning tells.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common.h"
#include "perf_trace_data.h"

static void put_u32(struct text *t, uint32_t v)
{
	text_bytes(t, (char *)&v, sizeof(v));
}

static void put_u64(struct text *t, uint64_t v)
{
	text_bytes(t, (char *)&v, sizeof(v));
}

/* A file's length and bytes; one that cannot be read is empty. */
static void put_file(struct text *t, const char *dir, const char *name)
{
	char *path = tool_printf("%s/events/%s", dir, name), *text;
	size_t size = 0;

	text = read_whole_file(path, &size);
	put_u64(t, text ? size : 0);
	if (text)
		text_bytes(t, text, size);
	free(text);
	free(path);
}

/* Has an event before the n-th the same system? */
static bool seen_before(const struct live *l, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (l->events[i]->tep && !strcmp(l->events[i]->tep->system,
						 l->events[n]->tep->system))
			return true;
	return false;
}

static void put_system(struct text *t, const struct live *l, unsigned int n)
{
	const char *system = l->events[n]->tep->system;
	unsigned int i, count = 0;

	for (i = n; i < l->nr_events; i++)
		count += l->events[i]->tep &&
			 !strcmp(l->events[i]->tep->system, system);
	text_bytes(t, system, strlen(system) + 1);
	put_u32(t, count);
	for (i = n; i < l->nr_events; i++) {
		const struct tep_event *tep = l->events[i]->tep;
		char *name;

		if (!tep || strcmp(tep->system, system))
			continue;
		name = tool_printf("%s/%s/format", system, tep->name);
		put_file(t, l->catalog.dir, name);
		free(name);
	}
}

static void put_events(struct text *t, const struct live *l)
{
	unsigned int i, systems = 0;

	for (i = 0; i < l->nr_events; i++)
		systems += l->events[i]->tep && !seen_before(l, i);
	put_u32(t, systems);
	for (i = 0; i < l->nr_events; i++)
		if (l->events[i]->tep && !seen_before(l, i))
			put_system(t, l, i);
}

void perf_trace_data(struct text *t, const struct live *l)
{
	static const char begin[] = "\027\010\104tracing0.6";
	const char *dir = l->catalog.dir ? l->catalog.dir : "";

	text_bytes(t, begin, sizeof(begin));	/* with the NUL */
	text_char(t, tep_is_bigendian());
	text_char(t, sizeof(long));
	put_u32(t, sysconf(_SC_PAGESIZE));
	text_bytes(t, "header_page", 12);
	put_file(t, dir, "header_page");
	text_bytes(t, "header_event", 13);
	put_file(t, dir, "header_event");
	put_u32(t, 0);		/* formats of ftrace's own events */
	put_events(t, l);
	put_u32(t, 0);		/* kallsyms */
	put_u32(t, 0);		/* printk formats */
	put_u64(t, 0);		/* saved command lines */
}
