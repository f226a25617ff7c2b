/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM perf_clock

#if !defined(PERF_CLOCK_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define PERF_CLOCK_TRACE_H

#include <linux/tracepoint.h>

/* A floor was taken, and a grace period asked for that begins after it. */
TRACE_EVENT(perf_clock_gp_start,
	TP_PROTO(u64 floor, unsigned long cookie, bool expedited),
	TP_ARGS(floor, cookie, expedited),
	TP_STRUCT__entry(
		__field(u64, floor)
		__field(unsigned long, cookie)
		__field(bool, expedited)
	),
	TP_fast_assign(
		__entry->floor = floor;
		__entry->cookie = cookie;
		__entry->expedited = expedited;
	),
	TP_printk("floor=%llu cookie=%lu expedited=%d", __entry->floor,
		  __entry->cookie, __entry->expedited)
);

/* That grace period has ended: the floor becomes the watermark. */
TRACE_EVENT(perf_clock_gp_end,
	TP_PROTO(u64 watermark, u64 duration, bool expedited),
	TP_ARGS(watermark, duration, expedited),
	TP_STRUCT__entry(
		__field(u64, watermark)
		__field(u64, duration)
		__field(bool, expedited)
	),
	TP_fast_assign(
		__entry->watermark = watermark;
		__entry->duration = duration;
		__entry->expedited = expedited;
	),
	TP_printk("watermark=%llu duration=%llu expedited=%d",
		  __entry->watermark, __entry->duration, __entry->expedited)
);

#endif /* PERF_CLOCK_TRACE_H */

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
