// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Counters. The thread that runs rounds counts without locks; at the end of a
 * round it publishes them as one, so that whoever asks, whenever, finds
 * read = delivered + held + dropped.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "opts.h"
#include "session/internal.h"
#include "session/threads.h"

/* Rings are looked at each round if they are few, else now and then. */
#define RINGS_EACH_ROUND	16
#define RINGS_EVERY		64

static void collect(struct perfclock_session *s)
{
	struct perfclock_order_stats os = { .sz = sizeof(os) };
	struct perfclock_session_stats *st = &s->stats;

	if (perfclock_order_get_stats(s->order, &os))
		return;
	st->delivered = os.delivered;
	st->held = os.held;
	st->held_max = os.held_max;
	st->dropped = os.discarded;
	st->late = os.late;
	st->max_late_ns = os.max_late_ns;
	st->inversions = os.inversions;
	st->memory = os.memory + pc_threads_memory(s);
	st->wait = s->waiter.method;
}

static void collect_rings(struct perfclock_session *s)
{
	uint64_t malformed = s->malformed_gone;
	unsigned int i;

	for (i = 0; i < s->nr_rings; i++) {
		struct pc_session_ring *r = s->rings[i];
		struct perfclock_order_ring_stats rs = { .sz = sizeof(rs) };

		if (!r)
			continue;
		malformed += atomic_load(&r->malformed);
		/* A ring that has ended, and whose all is delivered, is gone. */
		if (perfclock_order_get_ring_stats(s->order, i, &rs)) {
			r->stats.held = 0;
			continue;
		}
		r->stats.held = rs.held;
		r->stats.late = rs.late;
		r->stats.inversions = rs.inversions;
	}
	s->stats.truncated = malformed;
}

/* Under the lock. */
static void publish_rings(struct perfclock_session *s)
{
	unsigned int i;

	if (s->nr_published_rings < s->nr_rings) {
		void *p = realloc(s->published_rings, s->nr_rings *
				  sizeof(*s->published_rings));

		if (!p)
			return;		/* the old ones will do */
		s->published_rings = p;
		for (i = s->nr_published_rings; i < s->nr_rings; i++)
			memset(&s->published_rings[i], 0, sizeof(*s->published_rings));
		s->nr_published_rings = s->nr_rings;
	}
	for (i = 0; i < s->nr_published_rings; i++)
		if (s->rings[i])
			s->published_rings[i] = s->rings[i]->stats;
}

void pc_stats_publish(struct perfclock_session *s)
{
	bool rings = s->nr_rings <= RINGS_EACH_ROUND ||
		     s->state != PC_SESSION_RUNNING ||
		     s->nr_published_rings != s->nr_rings ||
		     s->stats.rounds % RINGS_EVERY == 0;

	collect(s);
	if (rings)
		collect_rings(s);
	/*
	 * Whoever asks all the time must not hold up the rounds: if the lock
	 * is taken, what we have is published the next time.
	 */
	if (s->state == PC_SESSION_RUNNING && s->nr_lags < PC_MAX_LAGS) {
		if (pthread_mutex_trylock(&s->lock))
			return;
	} else {
		pthread_mutex_lock(&s->lock);
	}
	s->published = s->stats;
	while (s->nr_lags)
		pc_histogram_add(&s->lag, s->lags[--s->nr_lags]);
	if (rings)
		publish_rings(s);
	pthread_mutex_unlock(&s->lock);
}

int perfclock_session_get_stats(struct perfclock_session *s,
				struct perfclock_session_stats *st)
{
	int err;

	pthread_mutex_lock(&s->lock);
	s->published.lag_p50_ns = pc_histogram_quantile(&s->lag, 50, 100);
	s->published.lag_p99_ns = pc_histogram_quantile(&s->lag, 99, 100);
	s->published.lag_max_ns = s->lag.max;
	err = opts_return(st, &s->published, sizeof(s->published));
	pthread_mutex_unlock(&s->lock);
	return err;
}

int perfclock_session_get_ring_stats(struct perfclock_session *s,
				     unsigned int ring,
				     struct perfclock_ring_stats *st)
{
	int err = -EINVAL;

	pthread_mutex_lock(&s->lock);
	if (ring < s->nr_published_rings)
		err = opts_return(st, &s->published_rings[ring],
				  sizeof(*st));
	pthread_mutex_unlock(&s->lock);
	return err;
}
