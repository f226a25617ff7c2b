// SPDX-License-Identifier: GPL-2.0
/* The arena of the order core's chunks: pieces never overlap, none is lost. */
#include <stdbool.h>
#include <stdint.h>

#include "order/arena.h"

#include "tap.h"

#define PIECES	600
#define STEPS	60000

struct piece {
	unsigned char *at;
	struct arena_block *block;
	unsigned int shift;
	unsigned char mark;
};

static uint64_t seed = 88172645463325252u;

static uint64_t rnd(uint64_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % n;
}

static bool is_whole(const struct piece *p)
{
	const size_t size = (size_t)1 << p->shift;
	size_t i;

	for (i = 0; i < size; i++)
		if (p->at[i] != p->mark)
			return false;
	return true;
}

static void get(struct arena *a, struct piece *p, unsigned int shift)
{
	p->shift = shift;
	p->at = arena_get(a, shift, &p->block);
	ASSERT(p->at);
	EXPECT_EQ((uintptr_t)p->at & (((uintptr_t)1 << shift) - 1), 0);
	p->mark = rnd(256);
	memset(p->at, p->mark, (size_t)1 << shift);
}

static void put(struct arena *a, struct piece *p)
{
	EXPECT(is_whole(p));
	arena_put(a, p->at, p->shift, p->block);
	p->at = NULL;
}

static bool has_free(const struct arena *a)
{
	unsigned int i;

	for (i = 0; i < ARENA_ORDERS; i++)
		if (a->free[i])
			return true;
	return false;
}

static void pieces_never_overlap_and_all_comes_back(void)
{
	static struct piece pieces[PIECES];
	struct arena a = { { NULL } };
	unsigned int i, step;

	for (step = 0; step < STEPS; step++) {
		i = rnd(PIECES);
		if (pieces[i].at)
			put(&a, &pieces[i]);
		else
			get(&a, &pieces[i], ARENA_MIN_SHIFT + rnd(7));
	}
	for (i = 0; i < PIECES; i++)
		if (pieces[i].at)
			put(&a, &pieces[i]);
	/* Whole blocks go back to the system at once. */
	EXPECT(!has_free(&a));
}

static void one_block_holds_as_many_as_fit(void)
{
	static struct piece pieces[ARENA_UNITS];
	struct arena a = { { NULL } };
	unsigned int i;

	for (i = 0; i < ARENA_UNITS; i++) {
		get(&a, &pieces[i], ARENA_MIN_SHIFT);
		EXPECT(pieces[i].block == pieces[0].block);
	}
	EXPECT(!has_free(&a));
	for (i = 0; i < ARENA_UNITS; i += 2)
		put(&a, &pieces[i]);
	EXPECT(has_free(&a));
	for (i = 1; i < ARENA_UNITS; i += 2)
		put(&a, &pieces[i]);
	EXPECT(!has_free(&a));
}

static void a_whole_block_can_be_had(void)
{
	struct arena a = { { NULL } };
	struct piece p;

	get(&a, &p, ARENA_MAX_SHIFT);
	EXPECT(!has_free(&a));
	put(&a, &p);
	EXPECT(!has_free(&a));
}

#define T(name) { #name, name }
static const struct tap_test tests[] = {
	T(pieces_never_overlap_and_all_comes_back),
	T(one_block_holds_as_many_as_fit),
	T(a_whole_block_can_be_had),
};

TAP_MAIN(tests)
