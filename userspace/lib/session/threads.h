/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * Internal: reader threads, for machines with more CPUs than one thread can
 * read. Each copies its rings into chunks; the thread that polls the session
 * queues references to them. A chunk is free again when the last record in it
 * has been delivered.
 */
#ifndef PERFCLOCK_LIB_THREADS_H
#define PERFCLOCK_LIB_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pc_reader;
struct pc_session_ring;
struct pc_thread;
struct perf_event_header;
struct perfclock_session;

/* Start one for each reader; stop and join all. */
int pc_threads_start(struct perfclock_session *s);
void pc_threads_fini(struct perfclock_session *s);
/* From now on all that rings hold is safe: drain, then end. */
void pc_threads_last(struct perfclock_session *s);
/*
 * Queue what the readers have copied. *limit: the least of what each of them
 * has completed. *done: all have ended. 0 or -errno.
 */
int pc_threads_take(struct perfclock_session *s, uint64_t *limit, bool *done);
/* Was all that was ready at the last take queued? */
bool pc_threads_all_taken(const struct perfclock_session *s);
/* Sleep until a reader has something. As pc_waiter_wait(). */
int pc_threads_wait(struct perfclock_session *s, int64_t ns);
/* A record was delivered, or dropped: its chunk has one less. */
void pc_threads_release(const void *data);
size_t pc_threads_memory(const struct perfclock_session *s);

/* For the reader, in its thread. 0, -ENOBUFS, -ENOMEM. */
int pc_thread_put(struct pc_thread *t, struct pc_session_ring *r,
		  const struct perf_event_header *h, uint64_t stamp,
		  int event, bool placed);
/* Before and after the oldest records are let in past the bound. */
void pc_thread_stalled(struct pc_thread *t);
void pc_thread_let_in(struct pc_thread *t);
/*
 * Bytes of its bound that hold records; what is free in the chunk that is
 * being filled does not count: were it taken for full, a reader at its bound
 * would fill it by single records.
 */
size_t pc_thread_used(const struct pc_thread *t, size_t *max);

#endif /* PERFCLOCK_LIB_THREADS_H */
