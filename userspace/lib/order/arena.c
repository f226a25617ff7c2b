// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* Blocks cut by halving (a buddy allocator): see arena.h. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "order/arena.h"

#define BLOCK_SIZE	((size_t)1 << ARENA_MAX_SHIFT)
#define WHOLE		(ARENA_ORDERS - 1)	/* order of a block */

static struct arena_free *piece_at(const struct arena_block *block,
				   unsigned int unit)
{
	return (void *)(block->base + ((size_t)unit << ARENA_MIN_SHIFT));
}

static void list_add(struct arena *a, struct arena_block *block,
		     unsigned int unit, unsigned int order)
{
	struct arena_free *f = piece_at(block, unit);

	f->block = block;
	f->next = a->free[order];
	f->prev = &a->free[order];
	if (f->next)
		f->next->prev = &f->next;
	a->free[order] = f;
	block->free[unit] = order + 1;
}

static void list_del(struct arena_block *block, unsigned int unit)
{
	struct arena_free *f = piece_at(block, unit);

	*f->prev = f->next;
	if (f->next)
		f->next->prev = f->prev;
	block->free[unit] = 0;
}

static int add_block(struct arena *a)
{
	struct arena_block *block = calloc(1, sizeof(*block));

	if (!block)
		return -1;
	block->base = aligned_alloc(BLOCK_SIZE, BLOCK_SIZE);
	if (!block->base) {
		free(block);
		return -1;
	}
	/* Refused: small pages will do. */
	madvise(block->base, BLOCK_SIZE, MADV_HUGEPAGE);
	list_add(a, block, 0, WHOLE);
	return 0;
}

static unsigned int unit_of(const struct arena_block *block, const void *piece)
{
	return ((const char *)piece - block->base) >> ARENA_MIN_SHIFT;
}

void *arena_get(struct arena *a, unsigned int shift,
		struct arena_block **block)
{
	const unsigned int want = shift - ARENA_MIN_SHIFT;
	unsigned int order = want, unit;
	struct arena_free *f;

	while (order < WHOLE && !a->free[order])
		order++;
	if (!a->free[order] && add_block(a))
		return NULL;
	f = a->free[order];
	*block = f->block;
	unit = unit_of(f->block, f);
	list_del(f->block, unit);
	while (order > want) {
		order--;
		list_add(a, *block, unit + (1u << order), order);
	}
	return f;
}

void arena_put(struct arena *a, void *piece, unsigned int shift,
	       struct arena_block *block)
{
	unsigned int order = shift - ARENA_MIN_SHIFT, other;
	unsigned int unit = unit_of(block, piece);

	for (; order < WHOLE; order++) {
		other = unit ^ (1u << order);
		if (block->free[other] != order + 1)
			break;
		list_del(block, other);
		unit &= ~(1u << order);
	}
	if (order < WHOLE) {
		list_add(a, block, unit, order);
		return;
	}
	free(block->base);
	free(block);
}
