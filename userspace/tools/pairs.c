// SPDX-License-Identifier: GPL-2.0
/* Pairs of begin and end: see pairs.h. */
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "pairs.h"

struct pair_slot {
	struct pair_key key;
	uint64_t stamp, read;
	unsigned int group;
	bool used;
};

#define FIRST_SLOTS	256

void pairs_init(struct pairs *p)
{
	memset(p, 0, sizeof(*p));
	p->slots = tool_alloc(FIRST_SLOTS, sizeof(*p->slots));
	p->mask = FIRST_SLOTS - 1;
	p->group_slots = tool_alloc(FIRST_SLOTS, sizeof(*p->group_slots));
	p->group_mask = FIRST_SLOTS - 1;
}

void pairs_free(struct pairs *p)
{
	unsigned int i;

	for (i = 0; i < p->nr_groups; i++) {
		free(p->groups[i].name);
		hist_free(&p->groups[i].time);
	}
	free(p->groups);
	free(p->group_slots);
	free(p->slots);
}

static size_t hash(const uint64_t *part, unsigned int n)
{
	uint64_t h = 0;

	while (n--)
		h = (h ^ part[n]) * 0x9e3779b97f4a7c15ULL ^ h >> 29;
	return h >> 20;
}

/* ---- groups ---- */

static size_t group_place(const struct pairs *p, const struct group_key *key)
{
	size_t i = hash(key->part, GROUP_KEY_MAX) & p->group_mask;

	while (p->group_slots[i] &&
	       memcmp(&p->groups[p->group_slots[i] - 1].key, key,
		      sizeof(*key)))
		i = (i + 1) & p->group_mask;
	return i;
}

static void grow_groups(struct pairs *p)
{
	unsigned int i;

	p->max_groups = p->max_groups ? p->max_groups * 2 : 64;
	p->groups = tool_realloc(p->groups, p->max_groups,
				 sizeof(*p->groups));
	if (p->max_groups * 2 <= p->group_mask)
		return;
	free(p->group_slots);
	p->group_mask = p->max_groups * 4 - 1;
	p->group_slots = tool_alloc(p->group_mask + 1,
				    sizeof(*p->group_slots));
	for (i = 0; i < p->nr_groups; i++)
		p->group_slots[group_place(p, &p->groups[i].key)] = i + 1;
}

unsigned int pairs_group(struct pairs *p, const struct group_key *key,
			 bool *is_new)
{
	size_t i = group_place(p, key);

	*is_new = !p->group_slots[i];
	if (!*is_new)
		return p->group_slots[i] - 1;
	if (p->nr_groups == p->max_groups) {
		grow_groups(p);
		i = group_place(p, key);
	}
	memset(&p->groups[p->nr_groups], 0, sizeof(*p->groups));
	p->groups[p->nr_groups].key = *key;
	p->group_slots[i] = ++p->nr_groups;
	return p->nr_groups - 1;
}

/* ---- open begins ---- */

static size_t home(const struct pairs *p, const struct pair_key *key)
{
	return hash(key->part, PAIR_KEY_MAX) & p->mask;
}

static size_t place(const struct pairs *p, const struct pair_key *key)
{
	size_t i = home(p, key);

	while (p->slots[i].used &&
	       memcmp(&p->slots[i].key, key, sizeof(*key)))
		i = (i + 1) & p->mask;
	return i;
}

static void grow_slots(struct pairs *p)
{
	struct pair_slot *old = p->slots;
	size_t n = p->mask + 1, i;

	p->slots = tool_alloc(n * 2, sizeof(*old));
	p->mask = n * 2 - 1;
	for (i = 0; i < n; i++)
		if (old[i].used)
			p->slots[place(p, &old[i].key)] = old[i];
	free(old);
}

/* Later ones of the same run move up, so that none is cut off. */
static void remove_slot(struct pairs *p, size_t hole)
{
	size_t i = hole, wanted;

	for (;;) {
		i = (i + 1) & p->mask;
		if (!p->slots[i].used)
			break;
		wanted = home(p, &p->slots[i].key);
		if (((i - wanted) & p->mask) < ((i - hole) & p->mask))
			continue;
		p->slots[hole] = p->slots[i];
		hole = i;
	}
	p->slots[hole].used = false;
	p->open--;
}

void pairs_begin(struct pairs *p, const struct pair_key *key, uint64_t stamp,
		 uint64_t read, unsigned int group, bool keep)
{
	struct pair_slot *slot = &p->slots[place(p, key)];

	if (slot->used) {
		if (keep)
			return;
		p->lone_begins++;
	} else if (++p->open * 2 > p->mask) {
		grow_slots(p);
		slot = &p->slots[place(p, key)];
	}
	*slot = (struct pair_slot){ *key, stamp, read, group, true };
}

int pairs_end(struct pairs *p, const struct pair_key *key, uint64_t stamp,
	      uint64_t read, uint64_t *ns)
{
	size_t i = place(p, key);
	struct pair_slot begin = p->slots[i];

	if (!begin.used) {
		p->lone_ends++;
		return -1;
	}
	remove_slot(p, i);
	if (stamp < begin.stamp) {	/* a late record: no time to tell */
		p->reversed++;
		return -1;
	}
	p->paired++;
	if (read && begin.read && read < begin.read) {
		p->mispaired++;
		p->groups[begin.group].mispaired++;
	}
	*ns = stamp - begin.stamp;
	hist_add(&p->groups[begin.group].time, *ns);
	return begin.group;
}

void pairs_reset_times(struct pairs *p)
{
	unsigned int i;

	for (i = 0; i < p->nr_groups; i++) {
		hist_clear(&p->groups[i].time);
		p->groups[i].mispaired = 0;
	}
}
