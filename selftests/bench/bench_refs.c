// SPDX-License-Identifier: GPL-2.0
/*
 * Three references:
 *
 * linear-scan	a FIFO for each ring; each delivery looks at all heads
 * binary-heap	the same FIFOs; a binary heap of rings by their heads' stamps
 * sorted-list	one list of all records in order of their stamps; a push walks
 *		from the place of the push before it; copies and nodes come
 *		from free lists
 */
#include <stdlib.h>
#include <string.h>

#include "bench_refs.h"

struct entry {
	uint64_t stamp;
	size_t len;
	unsigned char data[];
};

/* A ring's FIFO: records one behind the other in one block that grows. */
struct fifo {
	unsigned char *buf;
	size_t head, tail, room;
};

struct merger {
	unsigned int nr;
	struct fifo *fifos;
	uint64_t *heads;	/* stamps of the heads; ~0: empty */
	unsigned int *heap;
};

static void *xalloc(void *p, size_t size)
{
	p = realloc(p, size);
	if (!p)
		abort();
	return p;
}

static void *merger_new(unsigned int rings)
{
	struct merger *m = xalloc(NULL, sizeof(*m));

	m->nr = rings;
	m->fifos = calloc(rings, sizeof(*m->fifos));
	m->heads = xalloc(NULL, rings * sizeof(*m->heads));
	m->heap = xalloc(NULL, rings * sizeof(*m->heap));
	return m;
}

static void merger_free(void *self)
{
	struct merger *m = self;
	unsigned int i;

	for (i = 0; i < m->nr; i++)
		free(m->fifos[i].buf);
	free(m->fifos);
	free(m->heads);
	free(m->heap);
	free(m);
}

static void merger_push(void *self, unsigned int ring, uint64_t stamp,
			const void *data, size_t len)
{
	struct merger *m = self;
	struct fifo *f = &m->fifos[ring];
	struct entry *e;

	if (f->room - f->tail < sizeof(*e) + len) {
		f->room = f->room ? f->room * 2 : 1024;
		f->buf = xalloc(f->buf, f->room);
	}
	e = (struct entry *)(f->buf + f->tail);
	e->stamp = stamp;
	e->len = len;
	memcpy(e->data, data, len);
	f->tail += sizeof(*e) + len;
}

static uint64_t fifo_stamp(const struct fifo *f)
{
	return f->head == f->tail ? UINT64_MAX :
	       ((struct entry *)(f->buf + f->head))->stamp;
}

/* Deliver the head of a ring; returns the stamp of the next. */
static uint64_t fifo_take(struct fifo *f, bench_sink sink, void *ctx)
{
	struct entry *e = (struct entry *)(f->buf + f->head);

	sink(e->stamp, e->data, e->len, ctx);
	f->head += sizeof(*e) + e->len;
	if (f->head == f->tail)
		f->head = f->tail = 0;
	return fifo_stamp(f);
}

static void scan_drain(void *self, bench_sink sink, void *ctx)
{
	struct merger *m = self;
	unsigned int i, best;

	for (i = 0; i < m->nr; i++)
		m->heads[i] = fifo_stamp(&m->fifos[i]);
	for (;;) {
		for (best = 0, i = 1; i < m->nr; i++)
			if (m->heads[i] < m->heads[best])
				best = i;
		if (m->heads[best] == UINT64_MAX)
			return;
		m->heads[best] = fifo_take(&m->fifos[best], sink, ctx);
	}
}

static int heap_less(const struct merger *m, unsigned int a, unsigned int b)
{
	return m->heads[a] < m->heads[b] ||
	       (m->heads[a] == m->heads[b] && a < b);
}

static void heap_down(struct merger *m, unsigned int n, unsigned int i)
{
	unsigned int moving = m->heap[i], child;

	while ((child = 2 * i + 1) < n) {
		if (child + 1 < n &&
		    heap_less(m, m->heap[child + 1], m->heap[child]))
			child++;
		if (!heap_less(m, m->heap[child], moving))
			break;
		m->heap[i] = m->heap[child];
		i = child;
	}
	m->heap[i] = moving;
}

static void heap_drain(void *self, bench_sink sink, void *ctx)
{
	struct merger *m = self;
	unsigned int n = 0, i, ring;

	for (i = 0; i < m->nr; i++) {
		m->heads[i] = fifo_stamp(&m->fifos[i]);
		if (m->heads[i] != UINT64_MAX)
			m->heap[n++] = i;
	}
	for (i = n / 2; i--; )
		heap_down(m, n, i);
	while (n) {
		ring = m->heap[0];
		m->heads[ring] = fifo_take(&m->fifos[ring], sink, ctx);
		if (m->heads[ring] == UINT64_MAX)
			m->heap[0] = m->heap[--n];
		heap_down(m, n, 0);
	}
}

const struct bench_algo bench_linear_scan = {
	"linear-scan", merger_new, merger_push, scan_drain, merger_free,
};

const struct bench_algo bench_binary_heap = {
	"binary-heap", merger_new, merger_push, heap_drain, merger_free,
};

/* The sorted list. */

struct node {
	struct node *prev, *next;
	uint64_t stamp;
	void *copy;
	size_t len;
};

struct list {
	struct node head;		/* of the circle */
	struct node *hint;		/* where the last push went */
	struct node *spare;		/* free nodes, by next */
};

static void *list_new(unsigned int rings)
{
	struct list *l = calloc(1, sizeof(*l));

	if (!l)
		abort();
	l->head.prev = l->head.next = &l->head;
	return l;
}

static void list_free(void *self)
{
	struct list *l = self;
	struct node *n, *next;

	for (n = l->spare; n; n = next) {
		next = n->next;
		free(n->copy);
		free(n);
	}
	free(l);
}

static struct node *list_node(struct list *l, size_t len)
{
	struct node *n = l->spare;

	if (n && n->len >= len) {
		l->spare = n->next;
		return n;
	}
	n = xalloc(NULL, sizeof(*n));
	n->copy = xalloc(NULL, len);
	return n;
}

static void list_push(void *self, unsigned int ring, uint64_t stamp,
		      const void *data, size_t len)
{
	struct list *l = self;
	struct node *n = list_node(l, len), *at = l->hint;

	n->stamp = stamp;
	n->len = len;
	memcpy(n->copy, data, len);
	l->hint = n;
	if (!at)
		at = &l->head;
	/* Walk to the last node that is not above. */
	if (at != &l->head && at->stamp <= stamp) {
		while (at->next != &l->head && at->next->stamp <= stamp)
			at = at->next;
	} else {
		while (at != &l->head && at->stamp > stamp)
			at = at->prev;
	}
	n->prev = at;
	n->next = at->next;
	at->next->prev = n;
	at->next = n;
}

static void list_drain(void *self, bench_sink sink, void *ctx)
{
	struct list *l = self;
	struct node *n, *next;

	for (n = l->head.next; n != &l->head; n = next) {
		next = n->next;
		sink(n->stamp, n->copy, n->len, ctx);
		n->next = l->spare;
		l->spare = n;
	}
	l->head.prev = l->head.next = &l->head;
	l->hint = NULL;
}

const struct bench_algo bench_sorted_list = {
	"sorted-list", list_new, list_push, list_drain, list_free,
};
