/* SPDX-License-Identifier: GPL-2.0 */
/* The tracepoints that this kernel has, by tracefs. */
#ifndef TOOLS_CATALOG_H
#define TOOLS_CATALOG_H

#include <stdbool.h>

#include <event-parse.h>

struct catalog {
	const char *dir;	/* of tracefs, or NULL: none is mounted */
	struct tep_handle *tep;
};

/* Mounts nothing. */
void catalog_init(struct catalog *c);
void catalog_free(struct catalog *c);

bool catalog_is_glob(const char *name);
/*
 * Names "SYSTEM:NAME" that match a glob, sorted, NULL-terminated; at most max.
 * Returns their number; if it is over max, the list is NULL.
 */
unsigned int catalog_glob(struct catalog *c, const char *glob,
			  unsigned int max, char ***names);
void catalog_free_names(char **names);

/* "SYSTEM:NAME" parsed, or NULL (no tracepoint, or its format is unread). */
struct tep_event *catalog_event(struct catalog *c, const char *name);

#endif /* TOOLS_CATALOG_H */
