/* SPDX-License-Identifier: GPL-2.0 */
/* A perf mmap in plain memory, with this test in the kernel's place. */
#ifndef SELFTESTS_SIM_RING_H
#define SELFTESTS_SIM_RING_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct sim_ring {
	struct perf_event_mmap_page *page;
	size_t bytes;		/* of the whole mmap */
	uint64_t size;		/* of the data */
	unsigned char *data;
	uint64_t head;		/* written, perhaps not yet published */
};

static inline void __attribute__((unused))
sim_ring_init(struct sim_ring *r, unsigned int data_pages)
{
	size_t page = sysconf(_SC_PAGESIZE);

	r->size = data_pages * page;
	r->bytes = r->size + page;
	r->page = aligned_alloc(page, r->bytes);
	memset(r->page, 0, r->bytes);
	r->page->data_offset = page;
	r->page->data_size = r->size;
	r->data = (unsigned char *)r->page + page;
	r->head = 0;
}

static inline void __attribute__((unused)) sim_ring_free(struct sim_ring *r)
{
	free(r->page);
}

/* Begin at another place than 0, as a ring long in use has. */
static inline void __attribute__((unused))
sim_ring_start_at(struct sim_ring *r, uint64_t at)
{
	r->head = r->page->data_head = r->page->data_tail = at;
}

static inline void __attribute__((unused)) sim_publish(struct sim_ring *r)
{
	__atomic_store_n(&r->page->data_head, r->head, __ATOMIC_RELEASE);
}

/* Room left, as the kernel counts it. */
static inline uint64_t __attribute__((unused)) sim_room(struct sim_ring *r)
{
	return r->size - (r->head - __atomic_load_n(&r->page->data_tail,
						    __ATOMIC_ACQUIRE));
}

static inline void sim_write(struct sim_ring *r, const void *p, size_t n)
{
	const unsigned char *from = p;
	size_t i;

	for (i = 0; i < n; i++)
		r->data[(r->head + i) & (r->size - 1)] = from[i];
	r->head += n;
}

/* What session and ring tests use: TID, TIME, CPU, RAW; sample_id_all. */
#define SIM_SAMPLE_TYPE	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
			 PERF_SAMPLE_CPU | PERF_SAMPLE_RAW)

static inline struct perf_event_attr __attribute__((unused)) sim_attr(void)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.sample_type = SIM_SAMPLE_TYPE;
	attr.sample_id_all = 1;
	return attr;
}

struct sim_sample {
	struct perf_event_header h;
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, res;
	uint32_t raw_size;
	uint32_t raw[];
};

/* A sample whose raw bytes are 'words' words, each the number n. */
static inline void __attribute__((unused))
sim_sample(struct sim_ring *r, uint64_t time, uint32_t n, unsigned int words)
{
	/* Size word and data together fill whole 8 bytes. */
	unsigned int raw = (words | 1) * 4, i;
	size_t size = offsetof(struct sim_sample, raw) + raw;
	struct sim_sample *s = calloc(1, size);

	s->h.type = PERF_RECORD_SAMPLE;
	s->h.size = size;
	s->pid = 100;
	s->tid = 101;
	s->time = time;
	s->cpu = 3;
	s->raw_size = raw;
	for (i = 0; i < raw / 4; i++)
		s->raw[i] = n;
	sim_write(r, s, size);
	free(s);
}

struct sim_trailer {
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, res;
};

static inline void __attribute__((unused))
sim_lost(struct sim_ring *r, uint64_t time, uint64_t lost)
{
	struct {
		struct perf_event_header h;
		uint64_t id, lost;
		struct sim_trailer t;
	} rec = {
		.h = { PERF_RECORD_LOST, 0, sizeof(rec) },
		.id = 7, .lost = lost,
		.t = { 100, 101, time, 3, 0 },
	};

	sim_write(r, &rec, sizeof(rec));
}

static inline void __attribute__((unused))
sim_lost_samples(struct sim_ring *r, uint64_t time, uint64_t lost)
{
	struct {
		struct perf_event_header h;
		uint64_t lost;
		struct sim_trailer t;
	} rec = {
		.h = { PERF_RECORD_LOST_SAMPLES, 0, sizeof(rec) },
		.lost = lost, .t = { 100, 101, time, 3, 0 },
	};

	sim_write(r, &rec, sizeof(rec));
}

/* FORK or EXIT: a time of its own, and the trailer's. */
static inline void __attribute__((unused))
sim_task(struct sim_ring *r, uint32_t type, uint64_t own, uint64_t time)
{
	struct {
		struct perf_event_header h;
		uint32_t pid, ppid, tid, ptid;
		uint64_t time;
		struct sim_trailer t;
	} rec = {
		.h = { type, 0, sizeof(rec) },
		.pid = 5, .ppid = 4, .tid = 5, .ptid = 4, .time = own,
		.t = { 100, 101, time, 3, 0 },
	};

	sim_write(r, &rec, sizeof(rec));
}

/* A header alone, of any size it claims. */
static inline void __attribute__((unused))
sim_header(struct sim_ring *r, uint32_t type, uint16_t size)
{
	struct perf_event_header h = { type, 0, size };

	sim_write(r, &h, sizeof(h));
}

#endif /* SELFTESTS_SIM_RING_H */
