// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* A thread of the library's own. */
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>

#include "clock/futex.h"
#include "clock/worker.h"

static void *worker_main(void *arg)
{
	struct worker *w = arg;
	int err;

	err = w->begin ? w->begin(w->arg) : 0;
	w->err = err;
	sem_post(&w->begun);
	if (!err)
		w->run(w->arg);
	return NULL;
}

/* The new thread takes its signal mask from us. */
static int create(struct worker *w)
{
	sigset_t all, old;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = -pthread_create(&w->thread, NULL, worker_main, w);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return err;
}

int worker_start(struct worker *w, const char *name)
{
	int err;

	w->words = wiped_on_fork_new(sizeof(*w->words));
	if (!w->words)
		return -ENOMEM;
	atomic_store(&w->words->alive, 1);
	sem_init(&w->begun, 0, 0);
	err = create(w);
	if (!err) {
		pthread_setname_np(w->thread, name);
		while (sem_wait(&w->begun))
			;
		err = w->err;
		if (err)
			pthread_join(w->thread, NULL);
	}
	if (err) {
		sem_destroy(&w->begun);
		munmap(w->words, sizeof(*w->words));
		w->words = NULL;
	}
	return err;
}

void worker_tell(struct worker *w)
{
	if (!worker_here(w))
		return;
	atomic_store_explicit(&w->words->stop, 1, memory_order_release);
	futex_wake_all(&w->words->stop);
}

static void join(struct worker *w)
{
	struct timespec until;

	do {
		if (w->unblock)
			w->unblock(w->arg);
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_sec++;
	} while (pthread_timedjoin_np(w->thread, NULL, &until) == ETIMEDOUT);
}

void worker_stop(struct worker *w)
{
	if (!w->words)
		return;
	if (worker_here(w)) {
		worker_tell(w);
		join(w);
		sem_destroy(&w->begun);
	}
	munmap(w->words, sizeof(*w->words));
	w->words = NULL;
}

bool worker_pause(struct worker *w, uint64_t until)
{
	uint64_t now;

	while (!worker_stopped(w)) {
		now = mono_ns();
		if (now >= until)
			return false;
		futex_wait(&w->words->stop, 0, until - now);
	}
	return true;
}
