// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* A perf mmap ring, read forward. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ring/ring.h"

int pc_ring_init(struct pc_ring *r, void *base, size_t bytes)
{
	struct perf_event_mmap_page *page = base;
	size_t page_size = sysconf(_SC_PAGESIZE);
	uint64_t offset, size;

	memset(r, 0, sizeof(*r));
	if (!base || bytes <= page_size || (uintptr_t)base % sizeof(uint64_t))
		return -EINVAL;
	/* Kernels before 4.1 leave these zero: all but the first page. */
	offset = page->data_offset ? page->data_offset : page_size;
	size = page->data_size ? page->data_size : bytes - page_size;
	if (size & (size - 1) || offset % sizeof(uint64_t) ||
	    offset > bytes || size > bytes - offset)
		return -EINVAL;
	r->page = page;
	r->data = (unsigned char *)base + offset;
	r->size = size;
	r->tail = page->data_tail;
	return 0;
}

void pc_ring_fini(struct pc_ring *r)
{
	free(r->scratch);
	r->scratch = NULL;
}

static void ring_skip(struct pc_ring *r, uint64_t head)
{
	r->malformed++;
	r->tail = head;
}

uint64_t pc_ring_head(struct pc_ring *r)
{
	uint64_t head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);

	if (head - r->tail > r->size)
		ring_skip(r, head);
	return head;
}

/* A record that wraps, in one piece. */
static const struct perf_event_header *ring_unwrap(struct pc_ring *r,
						   size_t at, size_t size,
						   int *errp)
{
	size_t first = r->size - at;

	if (!r->scratch) {
		r->scratch = malloc(UINT16_MAX + 1);
		if (!r->scratch) {
			*errp = -ENOMEM;
			return NULL;
		}
	}
	memcpy(r->scratch, r->data + at, first);
	memcpy(r->scratch + first, r->data, size - first);
	return (const struct perf_event_header *)r->scratch;
}

const struct perf_event_header *pc_ring_peek(struct pc_ring *r, uint64_t head,
					     int *errp)
{
	const struct perf_event_header *h;
	uint64_t left = head - r->tail;
	size_t at = r->tail & (r->size - 1);

	*errp = 0;
	if (!left)
		return NULL;
	if (left < sizeof(*h) || r->size - at < sizeof(*h)) {
		ring_skip(r, head);
		return NULL;
	}
	h = (const struct perf_event_header *)(r->data + at);
	if (h->size < sizeof(*h) || h->size > left ||
	    h->size % sizeof(uint64_t)) {
		ring_skip(r, head);
		return NULL;
	}
	if (h->size > r->size - at)
		return ring_unwrap(r, at, h->size, errp);
	return h;
}
