/* SPDX-License-Identifier: GPL-2.0 */
/* "perfclock compare" on live events. */
#ifndef TOOLS_COMPARE_LIVE_H
#define TOOLS_COMPARE_LIVE_H

#include "hist.h"
#include "options.h"

/* What one policy came to. */
struct compare_result {
	const char *name;
	uint64_t read, late, max_late_ns, held_max;
	struct hist lateness;	/* of the late records, ns */
	struct hist lag;	/* now minus the limit, at each round's end */
	bool broken;		/* gave up: it held more than memory allows */
};

struct compare_live_opts {
	struct live_options live;
	const char *policies;	/* by comma; NULL: perfclock_policy_list() */
	const char *plot;	/* SVG file to draw, or NULL */
};

/* Returns an exit status. */
int cmd_compare_live(const struct compare_live_opts *opts);

#endif /* TOOLS_COMPARE_LIVE_H */
