/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * Internal: a thread of the library's own. It has all signals blocked, so no
 * handler of the program ever runs in it; it ends when told and is joined.
 */
#ifndef PERFCLOCK_CLOCK_WORKER_H
#define PERFCLOCK_CLOCK_WORKER_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct worker_words {
	_Atomic uint32_t alive;		/* 0: we are a fork's child */
	_Atomic uint32_t stop;
};

struct worker {
	struct worker_words *words;
	pthread_t thread;
	/* In the thread, before worker_start() returns: its value is that. */
	int (*begin)(void *arg);
	/* The thread's life, after a begin that returned 0. */
	void (*run)(void *arg);
	/* Free it from wherever it may hang; called until it ends; or NULL. */
	void (*unblock)(void *arg);
	void *arg;
	sem_t begun;
	int err;
};

/* begin, run and arg are set. 0, -errno of pthread_create, or begin's. */
int worker_start(struct worker *w, const char *name);

/* Tell it to end. In a fork's child: nothing. */
void worker_tell(struct worker *w);

/* Tell it to end and wait until it has. In a fork's child: only forget it. */
void worker_stop(struct worker *w);

/* In the thread: sleep until CLOCK_MONOTONIC ns; true: told to end. */
bool worker_pause(struct worker *w, uint64_t until);

static inline bool worker_stopped(const struct worker *w)
{
	return atomic_load_explicit(&w->words->stop, memory_order_acquire);
}

static inline bool worker_here(const struct worker *w)
{
	return atomic_load_explicit(&w->words->alive, memory_order_relaxed);
}

#endif /* PERFCLOCK_CLOCK_WORKER_H */
