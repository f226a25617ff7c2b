/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * Internal: the window of the external sort. It takes records in file order,
 * with a key each, up to a bound of memory; when it is full, its older half
 * leaves in key order and the rest stays. Of a recording whose disorder is
 * smaller than half a window, everything leaves in one ascending run, which
 * is then the result; else the caller begins a new run and merges at the end.
 *
 * Equal keys leave in the order in which they came.
 *
 * Records lie in chunks of an arena. A chunk whose records have all left is
 * used anew: as records come nearly in order, those of a chunk leave together
 * and what stays need not be moved.
 */
#ifndef PERFCLOCK_LIB_PERFDATA_WINDOW_H
#define PERFCLOCK_LIB_PERFDATA_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What follows a record outside of it: put aside into a file of its own. */
struct sort_payload {
	uint64_t size;
	uint64_t aside;		/* place in the file of payloads */
	uint64_t offset;	/* of the record in the input */
};

/* A record on its way. size: of the bytes; payload.size 0: none. */
struct sort_record {
	uint64_t key;
	const void *data;
	uint32_t size;
	struct sort_payload payload;
};

struct window_entry {
	uint64_t key;
	uint32_t at;		/* in the arena */
	uint32_t size;		/* of the record; top bit: payload behind it */
};

struct window_chunk {
	uint32_t live;		/* records that begin in it */
	uint32_t next_free;
};

struct window {
	uint8_t *arena, *spare;
	size_t arena_size, spare_size;	/* allocated */
	size_t used;			/* bytes of the records inside */
	size_t tail, tail_end;		/* in the chunk that is being filled */
	struct window_chunk *chunks;
	size_t chunk_room;
	uint32_t nr_chunks, max_chunks;	/* begun so far, at most */
	uint32_t nr_free, first_free;	/* of those begun */
	struct window_entry *entries, *scratch;
	size_t room, scratch_room, nr;
	size_t entries_max;
	size_t sorted;			/* so many are in order, from the first */
};

/* 0 or a negative number, which window_emit() then returns. */
typedef int (*window_fn)(const struct sort_record *r, void *ctx);

/* memory: the bound for all of it; it grows up to that. */
void window_init(struct window *w, size_t memory);
void window_free(struct window *w);
/* Without records, as after window_init(); memory is kept. */
void window_clear(struct window *w);
/* Not before a record of 64 KiB may fail to fit. */
bool window_full(const struct window *w);
/* Time to emit, if the next record has a stamp of its own. */
bool window_nearly_full(const struct window *w);
/* 0, -ENOMEM; to be called when not full. */
int window_add(struct window *w, const struct sort_record *r);
/* Emit the first half, or all of it. -ENOMEM, or what fn returned. */
int window_emit(struct window *w, bool all, window_fn fn, void *ctx);
/* Put in order, and tell the least key inside; ~0 if empty. 0, -ENOMEM. */
int window_least(struct window *w, uint64_t *key);

#endif /* PERFCLOCK_LIB_PERFDATA_WINDOW_H */
