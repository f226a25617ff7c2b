/* SPDX-License-Identifier: GPL-2.0 */
/* "perfclock compare --script": all policies on one pass table. */
#ifndef TOOLS_COMPARE_SCRIPT_H
#define TOOLS_COMPARE_SCRIPT_H

#include <stdbool.h>

#include "options.h"

struct compare_script_opts {
	bool trace;		/* tell, round by round, what each policy did */
	const char *policies;	/* by comma; NULL: perfclock_policy_list() */
	bool strict;		/* TOOL_PARTIAL if the watermark was late */
	struct json_option json;
};

/* path "-": stdin. Returns an exit status. */
int cmd_compare_script(const char *path,
		       const struct compare_script_opts *opts);

#endif /* TOOLS_COMPARE_SCRIPT_H */
