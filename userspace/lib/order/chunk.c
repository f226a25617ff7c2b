// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* The pool of chunks: see chunk.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "order/chunk.h"

#define BREATH		64		/* flushes in a stretch */
#define KEEP_ALWAYS	((size_t)64 << 10)
/* Who holds less than this needs no huge page. */
#define ARENA_FROM	((size_t)64 << 10)

/* A sanitizer shall see each chunk as a thing of its own. */
#ifndef __has_feature
#define __has_feature(x)	0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define ARENA_USED	false
#else
#define ARENA_USED	true
#endif

static unsigned int class_of(size_t size)
{
	return size <= CHUNK_MIN ? 0 :
	       64 - __builtin_clzll(size - 1) - CHUNK_MIN_SHIFT;
}

static size_t class_size(unsigned int class)
{
	return CHUNK_MIN << class;
}

void chunk_pool_init(struct chunk_pool *p, size_t bound)
{
	memset(p, 0, sizeof(*p));
	p->bound = bound;
}

void chunk_pool_destroy(struct chunk_pool *p)
{
	chunk_pool_trim(p, 0);
}

static struct chunk *chunk_new(struct chunk_pool *p, size_t size)
{
	struct arena_block *block = NULL;
	struct chunk *c = NULL;

	if (ARENA_USED && p->in_use >= ARENA_FROM && size <= CHUNK_MAX &&
	    size >> ARENA_MIN_SHIFT)
		c = arena_get(&p->arena, __builtin_ctzll(size), &block);
	if (!c) {
		block = NULL;
		c = malloc(size);
	}
	if (c) {
		c->size = size;
		c->block = block;
	}
	return c;
}

static void chunk_free(struct chunk_pool *p, struct chunk *c)
{
	if (c->block)
		arena_put(&p->arena, c, __builtin_ctzll(c->size), c->block);
	else
		free(c);
}

void chunk_pool_trim(struct chunk_pool *p, size_t keep)
{
	unsigned int class = CHUNK_CLASSES;
	struct chunk *c;

	/* The great ones first: few calls, much memory. */
	while (class-- && p->cached > keep) {
		while (p->free[class] && p->cached > keep) {
			c = p->free[class];
			p->free[class] = c->next;
			p->cached -= class_size(class);
			chunk_free(p, c);
		}
	}
}

/* Room below the bound for size bytes more, even if the cache must shrink. */
static int make_room(struct chunk_pool *p, size_t size)
{
	const size_t free_bytes = p->bound - p->in_use;

	if (size > free_bytes)
		return -ENOBUFS;
	if (size > free_bytes - p->cached)
		chunk_pool_trim(p, free_bytes - size);
	return 0;
}

static void note_use(struct chunk_pool *p, size_t size)
{
	p->in_use += size;
	if (p->in_use > p->peak)
		p->peak = p->in_use;
	if (p->in_use + p->cached > p->most)
		p->most = p->in_use + p->cached;
}

int chunk_pool_charge(struct chunk_pool *p, size_t size)
{
	int err = make_room(p, size);

	if (!err)
		note_use(p, size);
	return err;
}

void chunk_pool_uncharge(struct chunk_pool *p, size_t size)
{
	p->in_use -= size;
}

/* A chunk of that class from the cache, or NULL. */
static struct chunk *take_cached(struct chunk_pool *p, unsigned int class)
{
	struct chunk *c = p->free[class];

	if (c) {
		p->free[class] = c->next;
		p->cached -= c->size;
		note_use(p, c->size);
	}
	return c;
}

struct chunk *chunk_get(struct chunk_pool *p, size_t need, size_t want,
			int *err)
{
	struct chunk *c;
	size_t size = need;

	if (want < need)
		want = need;
	if (need <= CHUNK_MAX) {
		size = want < CHUNK_MAX ? class_size(class_of(want)) :
					  CHUNK_MAX;
		c = take_cached(p, class_of(size));
		if (c)
			return c;
	}
	/* Near the bound a smaller one must do. */
	while ((*err = make_room(p, size)) && size / 2 >= need &&
	       size > CHUNK_MIN)
		size /= 2;
	if (*err)
		return NULL;
	c = chunk_new(p, size);
	if (!c) {
		*err = -ENOMEM;
		return NULL;
	}
	note_use(p, size);
	return c;
}

void chunk_put(struct chunk_pool *p, struct chunk *c)
{
	unsigned int class;

	p->in_use -= c->size;
	if (c->size > CHUNK_MAX) {
		free(c);
		return;
	}
	class = class_of(c->size);
	c->next = p->free[class];
	p->free[class] = c;
	p->cached += c->size;
}

bool chunk_pool_breathe(struct chunk_pool *p)
{
	const bool over = ++p->flushes == BREATH;
	size_t keep;

	if (over) {
		p->flushes = 0;
		p->last_peak = p->peak;
		p->peak = p->in_use;
	}
	keep = p->peak > p->last_peak ? p->peak : p->last_peak;
	keep = keep - p->in_use + KEEP_ALWAYS;
	if (p->cached > keep)
		chunk_pool_trim(p, keep);
	return over;
}
