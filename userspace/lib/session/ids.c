// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* The kernel's event ids, and the events they are of. */
#include <errno.h>
#include <stdlib.h>

#include "session/internal.h"

static size_t slot_of(const struct pc_ids *t, uint64_t id)
{
	size_t i = (id * 0x9e3779b97f4a7c15ull >> 32) & (t->size - 1);

	while (t->slot[i].id && t->slot[i].id != id)
		i = (i + 1) & (t->size - 1);
	return i;
}

static int grow(struct pc_ids *t)
{
	struct pc_ids big = { .size = t->size ? t->size * 2 : 64 };
	size_t i;

	big.slot = calloc(big.size, sizeof(*big.slot));
	if (!big.slot)
		return -ENOMEM;
	big.used = t->used;
	for (i = 0; i < t->size; i++)
		if (t->slot[i].id)
			big.slot[slot_of(&big, t->slot[i].id)] = t->slot[i];
	free(t->slot);
	*t = big;
	return 0;
}

int pc_ids_add(struct pc_ids *t, uint64_t id, int event)
{
	size_t i;

	/* 0 marks a free slot; the kernel counts from 1. */
	if (!id)
		return -EINVAL;
	if (t->used * 2 >= t->size) {
		int err = grow(t);

		if (err)
			return err;
	}
	i = slot_of(t, id);
	if (!t->slot[i].id)
		t->used++;
	t->slot[i].id = id;
	t->slot[i].event = event;
	return 0;
}

int pc_ids_find(const struct pc_ids *t, uint64_t id)
{
	size_t i;

	if (!t->size || !id)
		return -1;
	i = slot_of(t, id);
	return t->slot[i].id ? t->slot[i].event : -1;
}
