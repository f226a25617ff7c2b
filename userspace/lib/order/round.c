// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* The round: see round.h. */
#include <errno.h>

#include "order/round.h"

/* Steps 1 and 2a. All heads are loaded after W, whatever the rings hold. */
static int begin(struct round *r, unsigned int nr_rings)
{
	unsigned int i;
	int err;

	err = r->ops->watermark(r->ctx, &r->loaded);
	if (err)
		return err;
	for (i = 0; i < nr_rings; i++) {
		err = r->ops->load_head(r->ctx, i);
		if (err)
			return err;
	}
	r->nr_rings = nr_rings;
	if (r->first >= nr_rings)
		r->first = 0;
	r->at = r->turns = 0;
	r->open = true;
	return 0;
}

static unsigned int ring_at(const struct round *r)
{
	return (r->first + r->at) % r->nr_rings;
}

/* Step 2b. 0: every ring is drained to its head; else as ops->drain. */
static int drain(struct round *r)
{
	int ret;

	do {
		for (; r->at < r->nr_rings; r->at++) {
			ret = r->ops->drain(r->ctx, ring_at(r));
			if (ret == ROUND_TURN)
				r->turns++;
			else if (ret)
				return ret;
		}
		ret = r->turns;
		r->at = r->turns = 0;
	} while (ret);
	return 0;
}

/* A provider never goes back; a new one may start at 0. */
static void prove(struct round *r, uint64_t limit)
{
	if (limit > r->proven)
		r->proven = limit;
}

static int give_up(struct round *r)
{
	uint64_t least = 0;
	int err;

	err = r->ops->stalled(r->ctx, r->loaded, &least);
	if (err)
		return err;
	r->stalls++;
	r->first = ring_at(r);
	r->open = false;
	prove(r, least < r->loaded ? least : r->loaded);
	return -ENOBUFS;
}

int round_read(struct round *r, unsigned int nr_rings)
{
	int ret;

	if (!r->open) {
		ret = begin(r, nr_rings);
		if (ret)
			return ret;
	}
	ret = drain(r);
	if (ret == -ENOBUFS && r->ops->stalled)
		return give_up(r);
	if (ret < 0)
		return ret;
	if (ret) {
		r->cut_short++;
		return ROUND_CUT;
	}
	r->open = false;
	r->completed++;
	prove(r, r->loaded);
	return 0;
}

long round_run(struct round *r, unsigned int nr_rings, perfclock_order_fn fn,
	       void *fn_ctx)
{
	int ret = round_read(r, nr_rings);

	if (ret < 0 && !(ret == -ENOBUFS && r->ops->stalled))
		return ret;
	return perfclock_order_flush(r->order, r->proven, fn, fn_ctx);
}
