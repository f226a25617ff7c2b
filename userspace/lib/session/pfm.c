// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* Hardware events by name, from libpfm4. */
#include <errno.h>
#include <string.h>

#include "session/pfm.h"

#ifdef HAVE_LIBPFM
#include <perfmon/pfmlib_perf_event.h>

int pc_pfm_event(const char *name, struct pc_pfm_event *e)
{
	struct perf_event_attr hw;
	pfm_perf_encode_arg_t arg;
	int ret;

	memset(&hw, 0, sizeof(hw));
	memset(&arg, 0, sizeof(arg));
	arg.attr = &hw;
	arg.size = sizeof(arg);
	/* Does nothing if done before. */
	if (pfm_initialize() != PFM_SUCCESS)
		return -ENOENT;
	ret = pfm_get_os_event_encoding(name, PFM_PLM0 | PFM_PLM3,
					PFM_OS_PERF_EVENT_EXT, &arg);
	if (ret != PFM_SUCCESS)
		return -ENOENT;
	*e = (struct pc_pfm_event) {
		.type = hw.type, .config = hw.config,
		.config1 = hw.config1, .config2 = hw.config2,
		.exclude_user = hw.exclude_user,
		.exclude_kernel = hw.exclude_kernel,
		.exclude_hv = hw.exclude_hv,
		.precise_ip = hw.precise_ip,
	};
	return 0;
}

bool pc_pfm_built(void)
{
	return true;
}
#else
int pc_pfm_event(const char *name, struct pc_pfm_event *e)
{
	(void)name;
	(void)e;
	return -EOPNOTSUPP;
}

bool pc_pfm_built(void)
{
	return false;
}
#endif
