/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * Policies: the rules by which tools decide, at the end of a round, up to
 * which stamp they may deliver. One interface for live sessions, recorded
 * files and pass tables, so that all rules can be compared on the same input.
 *
 *	none		everything, as read
 *	pass-max	the greatest stamp seen when the previous round ended
 *	min-max		the least, over rings, of the greatest stamp of each
 *	first-min	the least of the first stamps read in this round
 *	backoff=B	the greatest stamp seen minus B ns
 *	round-start	the clock read before the first ring of this round
 *	watermark	the watermark proven before the first ring
 *
 * A policy or a shadow is used by one thread at a time. Names they return live
 * as long as they do; those of perfclock_policy_list() are static.
 */
#ifndef PERFCLOCK_POLICY_H
#define PERFCLOCK_POLICY_H

#include <perfclock/order.h>
#include <perfclock/types.h>

PERFCLOCK_BEGIN_DECLS

struct perfclock_policy;

/*
 * The policies that comparisons show, by number: the rules above with
 * backoff=1000, backoff=1000000 and backoff=10000000. NULL: no i-th.
 */
const char *perfclock_policy_list(unsigned int i);

/*
 * One policy by name. nr_rings: rings declared from the start (min-max counts
 * a declared ring that was never seen as 0); others may turn up later.
 * -EINVAL: unknown name, or too many rings; -ENOMEM; *pp is NULL then.
 */
int perfclock_policy_new(struct perfclock_policy **pp, const char *name,
			 unsigned int nr_rings);
void perfclock_policy_free(struct perfclock_policy *p);
const char *perfclock_policy_name(const struct perfclock_policy *p);

/*
 * The rule needs the clock (round-start) or a watermark at a round's start.
 * Recorded files have neither: there it does not apply.
 */
bool perfclock_policy_needs_clock(const struct perfclock_policy *p);

/*
 * A round begins; now: the clock just read, safe: the newest watermark, both
 * taken before any ring is touched; 0 where there is none.
 */
void perfclock_policy_round_begin(struct perfclock_policy *p, uint64_t now,
				  uint64_t safe);
/*
 * A record was read. Stamps 0 and ~0 say nothing and move no rule; every
 * other stamp, however wild, is taken as the rule's users would take it.
 * -EINVAL (ring number), -ENOMEM.
 */
int perfclock_policy_read(struct perfclock_policy *p, unsigned int ring,
			  uint64_t stamp);
/*
 * What may be delivered now: everything stamped strictly below it (an
 * inclusive rule gives its stamp plus one); 0: nothing. To be asked at a
 * round's end. "none" delivers as it reads: ask it after each record.
 */
void perfclock_policy_round_end(struct perfclock_policy *p, uint64_t *limit);
bool perfclock_policy_at_once(const struct perfclock_policy *p);

/*
 * A policy in shadow: what would have come of it, had it decided what to
 * deliver. It orders stamps alone, without their bytes.
 */
struct perfclock_shadow;

struct perfclock_shadow_opts {
	size_t sz;
	size_t memory_max;		/* as in perfclock_order_opts */
	/* Told of each delivery, and of each late record as it is read. */
	perfclock_order_fn delivered;
	void (*late)(unsigned int ring, uint64_t stamp, uint32_t tag,
		     uint64_t late_ns, void *ctx);
	void *ctx;
};

/*
 * As perfclock_policy_new(): -EINVAL, -ENOMEM; -E2BIG, -EINVAL: bad opts; *sp
 * is NULL then.
 */
int perfclock_shadow_new(struct perfclock_shadow **sp, const char *policy,
			 unsigned int nr_rings,
			 const struct perfclock_shadow_opts *opts);
void perfclock_shadow_free(struct perfclock_shadow *s);
const char *perfclock_shadow_name(const struct perfclock_shadow *s);

void perfclock_shadow_round_begin(struct perfclock_shadow *s, uint64_t now,
				  uint64_t safe);
/*
 * tag: the caller's, given back in records. flags: PERFCLOCK_RECORD_PLACED or
 * 0. 0, or -EINVAL (ring number, flags), -ENOMEM, -ENOBUFS (memory bound: this
 * policy holds too much), -EPIPE (after _end()), or, with a policy that
 * delivers at once, the negative value of opts->delivered.
 */
int perfclock_shadow_read(struct perfclock_shadow *s, unsigned int ring,
			  uint64_t stamp, uint32_t tag, unsigned int flags);
/* Number delivered, or the value of opts->delivered, which then stops it. */
long perfclock_shadow_round_end(struct perfclock_shadow *s);
/* The input is over. Number delivered: what was left. */
long perfclock_shadow_end(struct perfclock_shadow *s);

struct perfclock_shadow_stats {
	size_t sz;			/* in */
	uint64_t read;
	uint64_t delivered;
	uint64_t held;
	uint64_t held_max;		/* at a round's end, before delivery */
	uint64_t late;
	uint64_t max_late_ns;
	uint64_t left;			/* what the end delivered */
	uint64_t rounds;
	uint64_t limit;			/* the newest, as in round_end */
};

/* 0, or -EINVAL (st->sz). */
int perfclock_shadow_get_stats(const struct perfclock_shadow *s,
			       struct perfclock_shadow_stats *st);

PERFCLOCK_END_DECLS

#endif /* PERFCLOCK_POLICY_H */
