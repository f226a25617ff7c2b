/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * Internal: a perf mmap ring, read forward.
 *
 * The kernel writes at data_head, we read at data_tail; both only grow and
 * are taken modulo the size of the data area. What lies between is ours until
 * we store data_tail. A record is 8-byte aligned, so its header never wraps,
 * but its body may: such a record is put together in a scratch buffer.
 */
#ifndef PERFCLOCK_LIB_RING_H
#define PERFCLOCK_LIB_RING_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ring/layout.h"

struct pc_ring {
	struct perf_event_mmap_page *page;
	unsigned char *data;
	uint64_t size;		/* of data: a power of two */
	uint64_t tail;		/* next byte to read; >= page->data_tail */
	uint64_t malformed;	/* times the reader had to skip to the head */
	unsigned char *scratch;	/* for records that wrap; made when needed */
};

/* base: of a perf mmap of 'bytes' bytes. -EINVAL. */
int pc_ring_init(struct pc_ring *r, void *base, size_t bytes);
void pc_ring_fini(struct pc_ring *r);

/*
 * Where the kernel is. Acquire: pairs with the kernel's barrier before its
 * store of data_head; records below are whole. A head that no kernel would
 * show (behind us, or more than the ring ahead) skips to it and is counted.
 */
uint64_t pc_ring_head(struct pc_ring *r);

/*
 * The record at the tail, or NULL at head. A header that makes no sense (its
 * size zero, odd, or past head) ends the run: tail moves to head, counted.
 * The pointer is valid until the next call or pc_ring_release(). -ENOMEM (no
 * scratch) is told by errp; the tail has not moved then.
 */
const struct perf_event_header *pc_ring_peek(struct pc_ring *r, uint64_t head,
					     int *errp);

static inline void pc_ring_consume(struct pc_ring *r,
				   const struct perf_event_header *h)
{
	r->tail += h->size;
}

/* Give everything below the tail back to the kernel. */
static inline void pc_ring_release(struct pc_ring *r)
{
	/* Release: our reads are done before the kernel may overwrite. */
	__atomic_store_n(&r->page->data_tail, r->tail, __ATOMIC_RELEASE);
}

#endif /* PERFCLOCK_LIB_RING_H */
