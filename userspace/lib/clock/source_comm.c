// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Source "comm-record": the kernel stamps a record for us. A thread sets its
 * own name; perf puts a COMM record into the ring of an event on that thread,
 * stamped by the clock of the CPU it runs on: what any other record of that
 * CPU would have been stamped with at that moment.
 *
 * The name that is set must not be a name of the caller's threads. So a thread
 * of the library's own does it: the reader itself where that is one, else one
 * that is started here and serves reads one at a time.
 */
#include <errno.h>
#include <semaphore.h>
#include <stdlib.h>

#include "clock/fail.h"
#include "clock/self_event.h"
#include "clock/source.h"
#include "clock/worker.h"

#define THREAD_NAME	"perfclock"

struct comm_source {
	struct self_event event;
	struct perfclock_open_opts o;	/* valid during open */
	bool served;			/* by the worker; else read directly */
	struct worker worker;
	pthread_mutex_t lock;		/* one read at a time */
	sem_t asked, answered;
	uint64_t ns;
	int err;
};

static int comm_begin(void *arg)
{
	struct comm_source *cs = arg;

	return self_event_open(&cs->event, &cs->o);
}

static void comm_serve(void *arg)
{
	struct comm_source *cs = arg;

	for (;;) {
		if (sem_wait(&cs->asked))
			continue;
		if (worker_stopped(&cs->worker))
			break;
		cs->err = self_event_stamp(&cs->event, THREAD_NAME, &cs->ns);
		sem_post(&cs->answered);
	}
}

static int comm_start(struct comm_source *cs)
{
	int err;

	cs->served = true;
	pthread_mutex_init(&cs->lock, NULL);
	sem_init(&cs->asked, 0, 0);
	sem_init(&cs->answered, 0, 0);
	cs->worker.begin = comm_begin;
	cs->worker.run = comm_serve;
	cs->worker.arg = cs;
	err = worker_start(&cs->worker, THREAD_NAME);
	if (err == -EAGAIN || err == -ENOMEM)
		clock_fail(&cs->o, err, "can't start a thread");
	return err;
}

static int comm_open(struct source *s, const struct perfclock_open_opts *o)
{
	struct comm_source *cs = calloc(1, sizeof(*cs));
	int err;

	if (!cs)
		return clock_fail(o, -ENOMEM, "out of memory");
	cs->o = *o;
	err = s->own_thread ? comm_begin(cs) : comm_start(cs);
	if (err) {
		free(cs);
		return err;
	}
	s->priv = cs;
	s->resolution = 1;
	return 0;
}

static void comm_close(struct source *s)
{
	struct comm_source *cs = s->priv;

	if (cs->served) {
		worker_tell(&cs->worker);
		sem_post(&cs->asked);
		worker_stop(&cs->worker);
	}
	self_event_close(&cs->event);
	free(cs);
}

static void wait_answer(struct comm_source *cs)
{
	while (sem_wait(&cs->answered))
		;	/* a signal: the answer is still to come */
}

static int comm_read(struct source *s, uint64_t *ns)
{
	struct comm_source *cs = s->priv;
	int err;

	if (!cs->served)
		return self_event_stamp(&cs->event, THREAD_NAME, ns);
	if (!worker_here(&cs->worker))
		return -ECHILD;
	pthread_mutex_lock(&cs->lock);
	sem_post(&cs->asked);
	wait_answer(cs);
	*ns = cs->ns;
	err = cs->err;
	pthread_mutex_unlock(&cs->lock);
	return err;
}

static int comm_agree(struct source *s, uint64_t *margin)
{
	const struct comm_source *cs = s->priv;

	*margin = SOURCE_SKEW_NS;
	if (s->clock != PERFCLOCK_PERF)
		return 0;
	return self_event_stable(&cs->event) ? 0 : -EXDEV;
}

const struct source_ops source_comm_record = {
	.name = "comm-record",
	.clocks = SOURCE_CLOCK(PERFCLOCK_PERF) | SOURCE_POSIX_CLOCKS,
	.open = comm_open,
	.close = comm_close,
	.read = comm_read,
	.agree = comm_agree,
};
