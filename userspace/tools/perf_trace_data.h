/* SPDX-License-Identifier: GPL-2.0 */
/* The tracing data of a perf.data file: the formats of its tracepoints. */
#ifndef TOOLS_PERF_TRACE_DATA_H
#define TOOLS_PERF_TRACE_DATA_H

#include "live.h"
#include "text.h"

void perf_trace_data(struct text *t, const struct live *l);

#endif /* TOOLS_PERF_TRACE_DATA_H */
