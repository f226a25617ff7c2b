// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Source "perf-page": the perf clock from the cycle counter. The kernel offers
 * it only where the perf clock is the counter, scaled: native and stable, so
 * in few guests. All CPUs then agree, and any thread may read.
 */
#include <errno.h>
#include <stdlib.h>

#include "clock/fail.h"
#include "clock/perf_page.h"
#include "clock/self_event.h"
#include "clock/source.h"

static int page_open(struct source *s, const struct perfclock_open_opts *o)
{
	struct self_event *e = malloc(sizeof(*e));
	int err;

	if (!e)
		return clock_fail(o, -ENOMEM, "out of memory");
	err = self_event_open(e, o);
	if (err) {
		free(e);
		return err;
	}
	s->priv = e;
	s->resolution = 1;
	if (self_event_stable(e))
		return 0;
	self_event_close(e);
	free(e);
	return clock_fail(o, -ENODEV,
			  "the kernel does not offer the perf clock by cycle count (no cap_user_time_zero), as in most guests and with an unstable TSC");
}

static void page_close(struct source *s)
{
	self_event_close(s->priv);
	free(s->priv);
}

static int page_read(struct source *s, uint64_t *ns)
{
	const struct self_event *e = s->priv;

	if (!self_event_here(e))
		return -ECHILD;
	return page_time_now(e->page, ns) ? 0 : -EIO;
}

/* The TSC watchdog may have thought again. */
static int page_agree(struct source *s, uint64_t *margin)
{
	*margin = SOURCE_SKEW_NS;
	return self_event_stable(s->priv) ? 0 : -EIO;
}

const struct source_ops source_perf_page = {
	.name = "perf-page",
	.clocks = SOURCE_CLOCK(PERFCLOCK_PERF),
	.open = page_open,
	.close = page_close,
	.read = page_read,
	.agree = page_agree,
};
