/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of the module share.
 *
 *	main.c		load and unload
 *	clock.c		the clocks: now, and a bound below every CPU's now
 *	engine.c	grace periods: turns bounds into watermarks
 *	page.c		the page that user space maps
 *	device.c	/dev/perf_clock
 *	posix.c		/dev/perf_clock_posix
 *	sysfs.c		attributes
 *	trace.c		tracepoints
 *	compat.h	differences between kernels, and nothing else
 */
#ifndef PERF_CLOCK_H
#define PERF_CLOCK_H

#include <linux/types.h>
#include <linux/wait.h>
#include <linux/perf_clock.h>

#define pc_name		"perf_clock"

/* One value for each clock the module knows, in ns. */
struct pc_times {
	u64 ns[PERF_CLOCK_NR];
};

/* clock.c */
u64 pc_clock_now(void);
void pc_clock_now_all(struct pc_times *now);
void pc_clock_floor(struct pc_times *floor);
u64 pc_clock_margin(unsigned int clock);
u32 pc_clock_state(void);
void pc_clock_observe(void);

/* page.c */
struct pc_gp_report {
	struct pc_times watermark;
	u64 start;	/* CLOCK_MONOTONIC */
	u64 duration;
};

int pc_page_init(void);
void pc_page_exit(void);
struct page *pc_page(void);
u64 pc_page_watermark(unsigned int clock);
u64 pc_page_gp_completed(void);
u64 pc_page_gp_duration(void);
u32 pc_page_mode(void);
void pc_page_set_engine(bool running, u32 mode);
bool pc_page_publish(const struct pc_gp_report *gp);

/* engine.c */

/* What one open file asks of the engine. Zero: nothing. */
struct pc_ask {
	bool running;		/* wants watermarks */
	bool expedited;		/* wants them soon */
};

int pc_engine_init(void);
void pc_engine_exit(void);
void pc_engine_start(struct pc_ask *ask);
bool pc_engine_try_start(struct pc_ask *ask);
void pc_engine_set_mode(struct pc_ask *ask, u32 mode);
void pc_engine_drop(struct pc_ask *ask);
unsigned int pc_engine_users(void);
wait_queue_head_t *pc_engine_moved(void);

/* Least time between two samples / two expedited grace periods, us. */
extern unsigned int pc_interval_us;
extern unsigned int pc_expedited_interval_us;
#define PC_INTERVAL_US_MIN	100
#define PC_INTERVAL_US_MAX	1000000

/* device.c, posix.c, sysfs.c */
int pc_device_init(void);
void pc_device_exit(void);
int pc_posix_init(void);
void pc_posix_exit(void);
extern const struct attribute_group *pc_attribute_groups[];

#endif /* PERF_CLOCK_H */
