/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * libperfclock: events of N per-CPU ring buffers, live, in true order.
 *
 * Three layers, each usable alone:
 *
 *   <perfclock/clock.h>	the perf clock, and a watermark with its proof
 *   <perfclock/order.h>	merge of N nearly sorted streams (knows no perf)
 *   <perfclock/session.h>	opens events, runs rounds, delivers in order
 *
 * and beside them <perfclock/policy.h>, every known rule for "when is it safe
 * to flush", and <perfclock/perfdata.h>, recorded files.
 *
 * Common rules. Functions return 0 (or a count) on success and -errno on
 * failure; they never print, exit or touch global state. What each may return
 * is told above it; an error of the system that is not named there may come
 * through as well, so test for < 0. A function that makes a handle stores it on
 * success; what it leaves there on failure is no handle. All times are in
 * nanoseconds, all sizes in bytes.
 *
 * An opts structure begins with 'sz', its size as the caller's compiler saw
 * it; a NULL opts means all defaults. A longer structure than the library knows
 * is accepted if its tail is zero (-E2BIG otherwise); of a shorter one the
 * missing fields count as zero; one too short for its 'sz' is -EINVAL, which
 * each call with one may give. The same holds for structures that the library
 * fills: 'sz' is set by the caller, what the library does not know becomes
 * zero. What an opts structure points to need not outlive the call, unless said
 * otherwise.
 *
 * Different handles may be used from different threads at will; each header
 * says what holds for one handle. No handle may be used while it is being
 * closed or freed; NULL may be closed and freed.
 */
#ifndef PERFCLOCK_H
#define PERFCLOCK_H

#include <perfclock/clock.h>
#include <perfclock/order.h>
#include <perfclock/policy.h>
#include <perfclock/session.h>
#include <perfclock/perfdata.h>

#endif /* PERFCLOCK_H */
