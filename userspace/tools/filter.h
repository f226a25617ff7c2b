/* SPDX-License-Identifier: GPL-2.0 */
/* What is wrong with a filter, in tracefs' own words. */
#ifndef TOOLS_FILTER_H
#define TOOLS_FILTER_H

#include <stdbool.h>

struct live;

/*
 * The kernel refused something: if it was one of the filters, tell which and
 * why. false: it was none of them, or it cannot be found out.
 */
bool filter_tell_errors(struct live *l);

#endif /* TOOLS_FILTER_H */
