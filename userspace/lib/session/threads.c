// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Reader threads. Each runs rounds over its own rings and copies what it
 * reads into chunks, as entries; the polling thread queues references to
 * them. A thread publishes, together and under its lock, what it has copied
 * and up to where its rounds are complete; the least of these is the limit.
 *
 * A chunk is filled by its thread, up to 'ready' taken by the polling thread,
 * and counted by that thread alone: one for each record queued from it, one
 * until it is sealed and taken. At zero it is the thread's to fill again.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "session/internal.h"
#include "session/threads.h"

#define CHUNK_BYTES	((size_t)128 << 10)	/* also its alignment */
#define CHUNKS_LEAST	16
#define STALL_NS	1000000			/* look for memory again */

struct pc_chunk {
	struct pc_thread *thread;
	struct pc_chunk *all;	/* to find them at the end, wherever held */
	struct pc_chunk *next;
	uint32_t used;		/* the reader's */
	uint32_t ready;		/* under the lock */
	bool sealed;		/* under the lock: nothing will follow */
	uint32_t taken, refs;	/* the polling thread's */
};

struct entry {
	uint64_t stamp;
	uint32_t ring;
	int32_t event;
	uint32_t placed;
	uint32_t bytes;		/* of the entry with its record */
};

struct pc_thread {
	pthread_t id;
	bool started;
	struct pc_reader *rd;
	struct pc_waiter waiter;
	int kick_fd;
	atomic_bool last, quit;
	/* The reader's. */
	struct pc_chunk *fill;
	bool mixed;			/* it has records that may stay long */
	pthread_mutex_t lock;
	/* Under the lock. */
	struct pc_chunk *free, *all;
	uint64_t proven, stalls;
	int err;
	bool done;
	atomic_uint nr_chunks, nr_free;
	unsigned int max_chunks;
	/* The polling thread's. */
	struct pc_chunk *first;		/* to take from */
	uint64_t limit;			/* all below is taken */
	uint64_t stalls_seen;
};

struct pc_threads {
	struct pc_thread *thread;
	unsigned int nr;
	int ready_fd;
	bool all_taken;
	atomic_bool signalled;
};

/* Chunks */

static struct pc_chunk *chunk_new(struct pc_thread *t)
{
	struct pc_chunk *c = aligned_alloc(CHUNK_BYTES, CHUNK_BYTES);

	if (!c)
		return NULL;
	c->thread = t;
	pthread_mutex_lock(&t->lock);
	c->all = t->all;
	t->all = c;
	pthread_mutex_unlock(&t->lock);
	atomic_fetch_add(&t->nr_chunks, 1);
	return c;
}

static void chunk_reset(struct pc_chunk *c)
{
	c->next = NULL;
	c->sealed = false;
	c->used = c->ready = c->taken = sizeof(*c);
	c->refs = 1;
}

/* Another chunk to fill; the old one is sealed. */
static int next_chunk(struct pc_thread *t)
{
	struct pc_chunk *c;

	pthread_mutex_lock(&t->lock);
	c = t->free;
	if (c) {
		t->free = c->next;
		atomic_fetch_sub(&t->nr_free, 1);
	}
	pthread_mutex_unlock(&t->lock);
	if (!c) {
		if (atomic_load(&t->nr_chunks) >= t->max_chunks)
			return -ENOBUFS;
		c = chunk_new(t);
		if (!c)
			return -ENOMEM;
	}
	chunk_reset(c);
	pthread_mutex_lock(&t->lock);
	t->fill->ready = t->fill->used;
	t->fill->sealed = true;
	t->fill->next = c;
	pthread_mutex_unlock(&t->lock);
	t->fill = c;
	return 0;
}

int pc_thread_put(struct pc_thread *t, struct pc_session_ring *r,
		  const struct perf_event_header *h, uint64_t stamp,
		  int event, bool placed)
{
	size_t bytes = sizeof(struct entry) + h->size;
	struct entry *e;
	int err;

	if (t->fill->used + bytes > CHUNK_BYTES) {
		err = next_chunk(t);
		if (err)
			return err;
	}
	e = (struct entry *)((char *)t->fill + t->fill->used);
	*e = (struct entry) {
		.stamp = placed ? 0 : stamp, .ring = r->number,
		.event = event, .placed = placed, .bytes = bytes,
	};
	memcpy(e + 1, h, h->size);
	t->fill->used += bytes;
	t->mixed = true;
	return 0;
}

/*
 * At the bound what is let in leaves soon, and what is held does not: a chunk
 * with something of both would stay. Without another chunk it must do.
 */
void pc_thread_stalled(struct pc_thread *t)
{
	if (t->mixed)
		next_chunk(t);
}

void pc_thread_let_in(struct pc_thread *t)
{
	t->mixed = false;
}

/* Bytes of all chunks that are not free. */
static size_t thread_memory(const struct pc_thread *t, size_t *max)
{
	*max = t->max_chunks * CHUNK_BYTES;
	return (atomic_load(&t->nr_chunks) - atomic_load(&t->nr_free)) *
	       CHUNK_BYTES;
}

size_t pc_thread_used(const struct pc_thread *t, size_t *max)
{
	return thread_memory(t, max) - (CHUNK_BYTES - t->fill->used);
}

size_t pc_threads_memory(const struct perfclock_session *s)
{
	size_t sum = 0, max;
	unsigned int i;

	for (i = 0; s->threads && i < s->threads->nr; i++)
		sum += thread_memory(&s->threads->thread[i], &max);
	return sum;
}

static void chunk_unref(struct pc_chunk *c)
{
	struct pc_thread *t = c->thread;

	if (--c->refs)
		return;
	pthread_mutex_lock(&t->lock);
	c->next = t->free;
	t->free = c;
	atomic_fetch_add(&t->nr_free, 1);
	pthread_mutex_unlock(&t->lock);
}

void pc_threads_release(const void *data)
{
	chunk_unref((struct pc_chunk *)((uintptr_t)data &
					~(CHUNK_BYTES - 1)));
}

/* The thread */

static void publish(struct pc_thread *t, int err, bool done)
{
	struct pc_threads *all = t->rd->s->threads;
	uint64_t one = 1;

	pthread_mutex_lock(&t->lock);
	t->fill->ready = t->fill->used;
	t->proven = t->rd->round.proven;
	t->stalls = t->rd->round.stalls;
	t->err = err;
	t->done = done;
	pthread_mutex_unlock(&t->lock);
	if (!atomic_exchange(&all->signalled, true) &&
	    write(all->ready_fd, &one, sizeof(one)) < 0) {
		/* Full: it is readable, which is all that is wanted. */
	}
}

/* Rings that came since we last looked. */
static int watch_new(struct pc_thread *t)
{
	struct pc_reader *rd = t->rd;
	unsigned int i, n = atomic_load(&rd->nr_slots);
	int err = 0;

	for (i = 0; i < n && !err; i++) {
		struct pc_session_ring *r = atomic_load(&rd->slot[i]);

		if (!r || r->watched)
			continue;
		r->watched = true;
		err = pc_waiter_add(&t->waiter, r->fd, PC_WAKE_RING);
	}
	return err;
}

/* Rings that have ended are about to be closed. */
static void unwatch_ended(struct pc_thread *t)
{
	struct pc_reader *rd = t->rd;
	unsigned int i;

	for (i = 0; i < rd->round.nr_rings; i++)
		if (rd->reading[i] && rd->reading[i]->last_round &&
		    rd->reading[i]->watched) {
			pc_waiter_remove(&t->waiter, rd->reading[i]->fd);
			rd->reading[i]->watched = false;
		}
}

static int one_round(struct pc_thread *t)
{
	struct pc_reader *rd = t->rd;
	int ret;

	rd->call_bytes = 0;
	if (atomic_load(&t->last) && !rd->round.open)
		rd->last = true;
	ret = round_read(&rd->round, atomic_load(&rd->nr_slots));
	rd->finished = !ret && rd->last;
	publish(t, ret < 0 && ret != -ENOBUFS ? ret : 0, rd->finished);
	/* Only now: who sees a ring drained can take all that was in it. */
	if (!ret) {
		unwatch_ended(t);
		pc_reader_completed(rd);
	}
	return ret;
}

/* Before the next round. */
static int pause_between(struct pc_thread *t, int ret)
{
	int64_t ns = t->rd->s->interval_ns;

	if (ret == -ENOBUFS) {
		struct timespec ts = { 0, STALL_NS };

		nanosleep(&ts, NULL);
		return 0;
	}
	if (ret == ROUND_CUT || !ns || atomic_load(&t->last))
		return 0;
	ret = watch_new(t);
	if (ret)
		return ret;
	ret = pc_waiter_wait(&t->waiter, ns, false);
	return ret == -EINTR || ret > 0 ? 0 : ret;
}

static void *run(void *arg)
{
	struct pc_thread *t = arg;
	int ret = 0;

	while (!atomic_load(&t->quit) && !t->rd->finished) {
		ret = pause_between(t, ret);
		if (!ret)
			ret = one_round(t);
		if (ret < 0 && ret != -ENOBUFS)
			break;
	}
	if (ret < 0 && ret != -ENOBUFS)
		publish(t, ret, true);
	return NULL;
}

/* The polling thread */

/* Queue what is ready in a chunk. 0, -ENOBUFS and the like. */
static int take_chunk(struct perfclock_session *s, struct pc_chunk *c,
		      uint32_t ready, bool *refused)
{
	struct perfclock_order_stats os = { .sz = sizeof(os) };
	uint64_t discarded;

	perfclock_order_get_stats(s->order, &os);
	discarded = os.discarded;
	while (c->taken < ready) {
		struct entry *e = (struct entry *)((char *)c + c->taken);
		const struct perf_event_header *h = (void *)(e + 1);
		struct pc_session_ring *r = s->rings[e->ring];
		int err;

		err = perfclock_order_push_ref(s->order, e->ring, e->stamp, h,
					       h->size, e->event, e->placed ?
					       PERFCLOCK_RECORD_PLACED : 0);
		if (err && err != -EILSEQ)
			return err;
		*refused |= err == -EILSEQ;
		c->taken += e->bytes;
		c->refs++;
		pc_count_record(s, r, pc_layout_of(s, r, e->event), h,
				e->stamp);
		if (s->late == PERFCLOCK_LATE_DELIVER)
			continue;
		/* Dropped is delivered to nobody. */
		perfclock_order_get_stats(s->order, &os);
		if (os.discarded != discarded)
			chunk_unref(c);
		discarded = os.discarded;
	}
	return 0;
}

static int take_thread(struct perfclock_session *s, struct pc_thread *t,
		       bool *refused, bool *done)
{
	uint64_t proven;
	int err;

	/*
	 * What is complete and what is copied are of one moment: first note
	 * both, then take all that was copied by then.
	 */
	for (;;) {
		struct pc_chunk *c = t->first;
		uint32_t ready;
		bool sealed;

		pthread_mutex_lock(&t->lock);
		proven = t->proven;
		ready = c->ready;
		sealed = c->sealed;
		err = t->err;
		*done = t->done;
		s->stats.stalls += t->stalls - t->stalls_seen;
		t->stalls_seen = t->stalls;
		pthread_mutex_unlock(&t->lock);
		if (err)
			return err;
		err = take_chunk(s, c, ready, refused);
		if (err)
			return err;
		if (!sealed)
			break;
		t->first = c->next;
		chunk_unref(c);
	}
	t->limit = proven;
	return 0;
}

int pc_threads_take(struct perfclock_session *s, uint64_t *limit, bool *done)
{
	struct pc_threads *all = s->threads;
	bool refused = false, this_done;
	unsigned int i;
	uint64_t count;
	int err = 0;

	if (read(all->ready_fd, &count, sizeof(count)) < 0) {
		/* Nothing new is no error. */
	}
	atomic_store(&all->signalled, false);
	*limit = UINT64_MAX;
	*done = all->all_taken = true;
	for (i = 0; i < all->nr; i++) {
		err = take_thread(s, &all->thread[i], &refused, &this_done);
		if (err && err != -ENOBUFS)
			return err;
		*done &= this_done && !err;
		all->all_taken &= !err;
		if (all->thread[i].limit < *limit)
			*limit = all->thread[i].limit;
	}
	return refused ? -EILSEQ : 0;
}

bool pc_threads_all_taken(const struct perfclock_session *s)
{
	return !s->threads || s->threads->all_taken;
}

int pc_threads_wait(struct perfclock_session *s, int64_t ns)
{
	return pc_waiter_wait(&s->waiter, ns, false);
}

/* Life */

static void kick(struct pc_thread *t)
{
	uint64_t one = 1;

	if (write(t->kick_fd, &one, sizeof(one)) < 0) {
		/* Full: it is readable, which is all that is wanted. */
	}
}

void pc_threads_last(struct perfclock_session *s)
{
	unsigned int i;

	for (i = 0; i < s->threads->nr; i++) {
		atomic_store(&s->threads->thread[i].last, true);
		kick(&s->threads->thread[i]);
	}
}

static int thread_init(struct pc_thread *t, struct pc_reader *rd)
{
	struct perfclock_session *s = rd->s;
	size_t share = s->memory_max / 2 / s->nr_readers / CHUNK_BYTES;
	int err;

	pthread_mutex_init(&t->lock, NULL);
	t->rd = rd;
	t->max_chunks = share < CHUNKS_LEAST ? CHUNKS_LEAST : share;
	t->kick_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (t->kick_fd < 0)
		return -errno;
	t->fill = t->first = chunk_new(t);
	if (!t->fill)
		return -ENOMEM;
	chunk_reset(t->fill);
	err = pc_waiter_init(&t->waiter, s->wait_method);
	if (!err)
		err = pc_waiter_add(&t->waiter, t->kick_fd, PC_WAKE_STOP);
	if (err)
		return err;
	rd->thread = t;
	err = -pthread_create(&t->id, NULL, run, t);
	t->started = !err;
	return err;
}

int pc_threads_start(struct perfclock_session *s)
{
	struct pc_threads *all = calloc(1, sizeof(*all));
	unsigned int i;
	int err;

	if (!all)
		return -ENOMEM;
	s->threads = all;
	all->ready_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (all->ready_fd < 0)
		return -errno;
	err = pc_waiter_add(&s->waiter, all->ready_fd, PC_WAKE_RING);
	if (err)
		return err;
	all->thread = calloc(s->nr_readers, sizeof(*all->thread));
	if (!all->thread)
		return -ENOMEM;
	for (i = 0; i < s->nr_readers; i++) {
		all->thread[i].kick_fd = -1;
		all->nr++;
		err = thread_init(&all->thread[i], &s->readers[i]);
		if (err)
			return err;
	}
	return 0;
}

static void free_chunks(struct pc_chunk *c)
{
	struct pc_chunk *next;

	for (; c; c = next) {
		next = c->all;
		free(c);
	}
}

static void thread_fini(struct pc_thread *t, bool forked)
{
	atomic_store(&t->quit, true);
	if (t->started && !forked) {
		kick(t);
		pthread_join(t->id, NULL);
	}
	if (t->rd)
		t->rd->thread = NULL;
	free_chunks(t->all);
	pc_waiter_fini(&t->waiter);
	if (t->kick_fd >= 0)
		close(t->kick_fd);
	pthread_mutex_destroy(&t->lock);
}

void pc_threads_fini(struct perfclock_session *s)
{
	const bool forked = pc_session_is_forked(s);
	struct pc_threads *all = s->threads;
	unsigned int i;

	if (!all)
		return;
	for (i = 0; i < all->nr; i++)
		thread_fini(&all->thread[i], forked);
	if (all->ready_fd >= 0) {
		if (!forked)
			pc_waiter_remove(&s->waiter, all->ready_fd);
		close(all->ready_fd);
	}
	free(all->thread);
	free(all);
	s->threads = NULL;
}
