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
 */
#ifndef PERFCLOCK_POLICY_H
#define PERFCLOCK_POLICY_H

#include <perfclock/types.h>

PERFCLOCK_BEGIN_DECLS

struct perfclock_policy;

/*
 * One policy by name. nr_rings: rings declared from the start (min-max counts
 * a declared ring that was never seen as 0). -EINVAL: unknown name.
 */
int perfclock_policy_new(struct perfclock_policy **pp, const char *name,
			 unsigned int nr_rings);
void perfclock_policy_free(struct perfclock_policy *p);
const char *perfclock_policy_name(const struct perfclock_policy *p);

/*
 * A round begins; now: the clock just read, safe: the newest watermark, both
 * taken before any ring is touched; 0 where there is none.
 */
void perfclock_policy_round_begin(struct perfclock_policy *p, uint64_t now,
				  uint64_t safe);
/* A record was read. -EINVAL, -ENOMEM. */
int perfclock_policy_read(struct perfclock_policy *p, unsigned int ring,
			  uint64_t stamp);
/*
 * The round is over. Sets *limit to what may be delivered: everything stamped
 * strictly below it (an inclusive rule gives its stamp plus one).
 */
void perfclock_policy_round_end(struct perfclock_policy *p, uint64_t *limit);

PERFCLOCK_END_DECLS

#endif /* PERFCLOCK_POLICY_H */
