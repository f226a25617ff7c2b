/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * Internal: hardware events by name, from libpfm4. Apart, as its header
 * brings a copy of <linux/perf_event.h> that does not bear the real one.
 */
#ifndef PERFCLOCK_LIB_PFM_H
#define PERFCLOCK_LIB_PFM_H

#include <stdbool.h>
#include <stdint.h>

struct pc_pfm_event {
	uint32_t type;
	uint64_t config, config1, config2;
	bool exclude_user, exclude_kernel, exclude_hv;
	unsigned int precise_ip;
};

/* 0, or -ENOENT; -EOPNOTSUPP: built without libpfm4. */
int pc_pfm_event(const char *name, struct pc_pfm_event *e);
bool pc_pfm_built(void);

#endif /* PERFCLOCK_LIB_PFM_H */
