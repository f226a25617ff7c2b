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
 * Common rules: functions return 0 (or a count) on success and -errno on
 * failure; they never print, exit or touch global state. All times are in
 * nanoseconds, all sizes in bytes. An opts structure begins with 'sz', its
 * size as the caller's compiler saw it; a NULL opts means all defaults. A
 * longer structure than the library knows is accepted if its tail is zero
 * (-E2BIG otherwise); one that ends inside a field the library must have is
 * -EINVAL. Objects of different handles may be used from different threads
 * at will; each function says what holds for one handle.
 */
#ifndef PERFCLOCK_H
#define PERFCLOCK_H

#include <perfclock/clock.h>
#include <perfclock/order.h>
#include <perfclock/policy.h>
#include <perfclock/session.h>
#include <perfclock/perfdata.h>

#endif /* PERFCLOCK_H */
