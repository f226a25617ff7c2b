/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/* Internal: putting the entries of a window in order of their keys. */
#ifndef PERFCLOCK_LIB_PERFDATA_WINDOW_SORT_H
#define PERFCLOCK_LIB_PERFDATA_WINDOW_SORT_H

#include "perfdata/window.h"

/*
 * Stable. The first w->sorted entries are in order already; there is scratch
 * room for all.
 */
void window_sort(struct window *w);

#endif /* PERFCLOCK_LIB_PERFDATA_WINDOW_SORT_H */
