/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/* Recorded perf.data files: read record by record, without trust. */
#ifndef PERFCLOCK_PERFDATA_H
#define PERFCLOCK_PERFDATA_H

#include <perfclock/types.h>

PERFCLOCK_BEGIN_DECLS
PERFCLOCK_END_DECLS

#endif /* PERFCLOCK_PERFDATA_H */
