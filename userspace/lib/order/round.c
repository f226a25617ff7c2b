// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* The round: see round.h. */
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
	r->at = 0;
	r->open = true;
	return 0;
}

/* Step 2b. 0: every ring is drained to its head; 1: not yet; -errno. */
static int drain(struct round *r)
{
	int ret;

	for (; r->at < r->nr_rings; r->at++) {
		ret = r->ops->drain(r->ctx, r->at);
		if (ret)
			return ret;
	}
	return 0;
}

long round_run(struct round *r, unsigned int nr_rings, perfclock_order_fn fn,
	       void *fn_ctx)
{
	int ret;

	if (!r->open) {
		ret = begin(r, nr_rings);
		if (ret)
			return ret;
	}
	ret = drain(r);
	if (ret < 0)
		return ret;
	if (ret) {
		r->cut_short++;
	} else {
		r->open = false;
		r->completed++;
		/* A provider never goes back; a new one may start at 0. */
		if (r->loaded > r->proven)
			r->proven = r->loaded;
	}
	return perfclock_order_flush(r->order, r->proven, fn, fn_ctx);
}
