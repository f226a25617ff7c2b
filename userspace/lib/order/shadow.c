// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* A policy in shadow: the rule, and an order core that carries no bytes. */
#include <stdlib.h>

#include <perfclock/policy.h>

#include "opts.h"

struct perfclock_shadow {
	struct perfclock_policy *policy;
	struct perfclock_order *order;
	struct perfclock_shadow_opts opts;
	unsigned int nr_rings;
	uint64_t greatest;	/* of the stamps delivered */
	struct perfclock_shadow_stats st;
};

int perfclock_shadow_new(struct perfclock_shadow **sp, const char *policy,
			 unsigned int nr_rings,
			 const struct perfclock_shadow_opts *opts)
{
	struct perfclock_order_opts oo = { .sz = sizeof(oo) };
	struct perfclock_shadow *s = calloc(1, sizeof(*s));
	int err;

	*sp = NULL;
	if (!s)
		return -ENOMEM;
	err = opts_copy(&s->opts, sizeof(s->opts), opts);
	if (!err)
		err = perfclock_policy_new(&s->policy, policy, nr_rings);
	oo.memory_max = s->opts.memory_max;
	if (!err)
		err = perfclock_order_new(&s->order, nr_rings, &oo);
	if (err) {
		perfclock_shadow_free(s);
		return err;
	}
	s->nr_rings = nr_rings;
	*sp = s;
	return 0;
}

void perfclock_shadow_free(struct perfclock_shadow *s)
{
	if (!s)
		return;
	perfclock_order_free(s->order);
	perfclock_policy_free(s->policy);
	free(s);
}

const char *perfclock_shadow_name(const struct perfclock_shadow *s)
{
	return perfclock_policy_name(s->policy);
}

static int deliver(const struct perfclock_record *rec, void *ctx)
{
	struct perfclock_shadow *s = ctx;

	if (!(rec->flags & PERFCLOCK_RECORD_PLACED) && rec->stamp > s->greatest)
		s->greatest = rec->stamp;
	return s->opts.delivered ? s->opts.delivered(rec, s->opts.ctx) : 0;
}

static long flush(struct perfclock_shadow *s)
{
	perfclock_policy_round_end(s->policy, &s->st.limit);
	return perfclock_order_flush(s->order, s->st.limit, deliver, s);
}

void perfclock_shadow_round_begin(struct perfclock_shadow *s, uint64_t now,
				  uint64_t safe)
{
	perfclock_policy_round_begin(s->policy, now, safe);
}

int perfclock_shadow_read(struct perfclock_shadow *s, unsigned int ring,
			  uint64_t stamp, uint32_t tag, unsigned int flags)
{
	const bool placed = flags & PERFCLOCK_RECORD_PLACED || stamp + 1 <= 1;
	long ret;
	int err;

	while (ring >= s->nr_rings) {
		ret = perfclock_order_ring_add(s->order);
		if (ret < 0)
			return ret == -ENOSPC ? -EINVAL : ret;
		s->nr_rings++;
	}
	err = perfclock_order_push(s->order, ring, stamp, NULL, 0, tag, flags);
	if (err)
		return err;
	if (!placed) {
		err = perfclock_policy_read(s->policy, ring, stamp);
		if (err)
			return err;
		if (stamp < s->greatest && s->opts.late)
			s->opts.late(ring, stamp, tag, s->greatest - stamp,
				     s->opts.ctx);
	}
	if (!perfclock_policy_at_once(s->policy))
		return 0;
	ret = flush(s);
	return ret < 0 ? ret : 0;
}

static uint64_t held(const struct perfclock_shadow *s)
{
	struct perfclock_order_stats st = { .sz = sizeof(st) };

	perfclock_order_get_stats(s->order, &st);
	return st.held;
}

long perfclock_shadow_round_end(struct perfclock_shadow *s)
{
	const uint64_t now = held(s);

	if (now > s->st.held_max)
		s->st.held_max = now;
	s->st.rounds++;
	return flush(s);
}

long perfclock_shadow_end(struct perfclock_shadow *s)
{
	s->st.left += held(s);
	return perfclock_order_end(s->order, deliver, s);
}

int perfclock_shadow_get_stats(const struct perfclock_shadow *s,
			       struct perfclock_shadow_stats *st)
{
	struct perfclock_order_stats o = { .sz = sizeof(o) };
	struct perfclock_shadow_stats now = s->st;

	perfclock_order_get_stats(s->order, &o);
	now.read = o.pushed;
	now.delivered = o.delivered;
	now.held = o.held;
	now.late = o.late;
	now.max_late_ns = o.max_late_ns;
	return opts_return(st, &now, sizeof(now));
}
