/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pairs of begin and end, by key: how long each took, summed up by group. The
 * records come in time order, so an end belongs to the begin of its key that
 * is open. Knows nothing of perf.
 */
#ifndef TOOLS_PAIRS_H
#define TOOLS_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hist.h"

#define PAIR_KEY_MAX	4
#define GROUP_KEY_MAX	4

struct pair_key {
	uint64_t part[PAIR_KEY_MAX];	/* unused ones are 0 */
};

struct group_key {
	uint64_t part[GROUP_KEY_MAX];
};

struct pair_group {
	struct group_key key;
	char *name;
	struct hist time;		/* ns */
	uint64_t mispaired;
};

struct pairs {
	struct pair_slot *slots;	/* open begins: a hash table */
	size_t mask;
	struct pair_group *groups;	/* in order of first appearance */
	unsigned int nr_groups, max_groups;
	unsigned int *group_slots;	/* index + 1: a hash table */
	size_t group_mask;

	uint64_t open;			/* begins without an end so far */
	uint64_t paired;
	uint64_t lone_begins;		/* another begin came instead of an end */
	uint64_t lone_ends;		/* no begin was open */
	uint64_t reversed;		/* end stamped before begin (late) */
	uint64_t mispaired;		/* end was read before its begin */
};

void pairs_init(struct pairs *p);
void pairs_free(struct pairs *p);

/*
 * The group of a key; *is_new: it was made now, and has no name yet.
 * Indices stay; pointers move.
 */
unsigned int pairs_group(struct pairs *p, const struct group_key *key,
			 bool *is_new);

/*
 * read: place of the record in the order in which it was read from the rings,
 * 0: unknown. keep: a begin that is open already stays, and the new one is
 * part of it (a task may be woken twice); else it is replaced and counted.
 */
void pairs_begin(struct pairs *p, const struct pair_key *key, uint64_t stamp,
		 uint64_t read, unsigned int group, bool keep);
/* The duration in *ns and the group's index, or -1. */
int pairs_end(struct pairs *p, const struct pair_key *key, uint64_t stamp,
	      uint64_t read, uint64_t *ns);
/* Durations and counts back to zero; open begins and groups stay. */
void pairs_reset_times(struct pairs *p);

#endif /* TOOLS_PAIRS_H */
