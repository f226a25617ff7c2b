/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * The round: the one loop on which the promise rests. Whoever reads rings
 * live runs it (sessions do; the explorer in selftests drives the same code
 * through all interleavings), and gives the steps as callbacks.
 *
 *   1. load the newest watermark W, before any ring is touched;
 *   2. load every ring's head, once; copy all records up to it into the
 *      order core, and give the room back at once;
 *   3. only when every ring is drained to that head: deliver all that is
 *      stamped strictly below W.
 *
 * A round that can't be drained in one go (a budget) stays open: the next run
 * goes on with the same W and the same heads, and nothing newer is delivered
 * before. Since the heads stand still the round ends.
 *
 * A round for which there is no memory is given up: what is left stays in the
 * rings, and the kernel counts what then finds no room. No more is delivered
 * than what none of the records left can undercut. The next round loads anew.
 */
#ifndef PERFCLOCK_LIB_ORDER_ROUND_H
#define PERFCLOCK_LIB_ORDER_ROUND_H

#include <perfclock/order.h>

/* What drain returns beside 0 and -errno. */
#define ROUND_CUT	1	/* there is more; end this run, go on later */
#define ROUND_TURN	2	/* there is more; the other rings first */

struct round_ops {
	/* Step 1. Sets *w (0: none yet); load-acquire. 0 or -errno. */
	int (*watermark)(void *ctx, uint64_t *w);
	/* Step 2, first half: load the head (acquire) and remember it. */
	int (*load_head)(void *ctx, unsigned int ring);
	/*
	 * Step 2, second half: push up to the remembered head. 0: reached it
	 * (also when called again then); ROUND_CUT, ROUND_TURN; -ENOBUFS: no
	 * memory; another -errno.
	 */
	int (*drain)(void *ctx, unsigned int ring);
	/*
	 * After -ENOBUFS; may be NULL (the error is returned then). Sets
	 * *least to a stamp that no record between the rings' tails and
	 * remembered heads is below. 0 or -errno.
	 */
	int (*stalled)(void *ctx, uint64_t w, uint64_t *least);
};

struct round {
	const struct round_ops *ops;
	void *ctx;
	struct perfclock_order *order;
	uint64_t loaded;	/* W of the round that is open */
	uint64_t proven;	/* below this all is read: the limit */
	unsigned int nr_rings;	/* of the round that is open */
	unsigned int first;	/* ring to begin with */
	unsigned int at;	/* ring to go on with, counted from first */
	unsigned int turns;	/* rings to come back to */
	bool open;
	uint64_t completed;	/* rounds drained */
	uint64_t cut_short;	/* runs that left a round open */
	uint64_t stalls;	/* rounds given up at the memory bound */
};

static inline void round_init(struct round *r, const struct round_ops *ops,
			      void *ctx, struct perfclock_order *order)
{
	*r = (struct round){ .ops = ops, .ctx = ctx, .order = order };
}

/*
 * Steps 1 and 2: read rings 0..nr_rings-1; r->proven is then what may be
 * delivered. Rings that come while a round is open are read in the next one:
 * their first record is younger than this W. Returns 0, ROUND_CUT, -ENOBUFS
 * (given up; r->proven holds all the same), or -errno of a step; after that,
 * run it again and nothing is missed.
 */
int round_read(struct round *r, unsigned int nr_rings);

/*
 * The whole round. Returns the number delivered, the callback's value, or
 * -errno of a step.
 */
long round_run(struct round *r, unsigned int nr_rings, perfclock_order_fn fn,
	       void *fn_ctx);

#endif /* PERFCLOCK_LIB_ORDER_ROUND_H */
