/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The user space interface of perf_clock: /dev/perf_clock and
 * /dev/perf_clock_posix.
 *
 * perf stamps every record with the perf clock (local_clock() in the kernel).
 * This device shows that clock, and with it a *watermark*: a value of the
 * clock below which no perf record can still turn up in any ring buffer.
 *
 * The promise, for each clock below:
 *
 *	Load perf_clock_page.mark[clock].watermark (one aligned 64-bit load,
 *	acquire), call it W. Whoever then loads data_head (acquire) of any
 *	perf ring buffer of this machine finds every record whose stamp, on
 *	that clock, is strictly below W. This holds for any load, for idle,
 *	preempted and stolen CPUs and for NMIs; no time-out is involved.
 *
 * Why it holds, and the records that are outside of it (AUX data, large PEBS,
 * PERF_RECORD_READ of some kernels, ...): Documentation/watermark.rst.
 *
 * Rules of growth: fields are only ever appended or taken from reserved
 * space, never moved. A field is present if it lies within the 'size' the
 * kernel reports. What a program passes in must be zero where it is reserved;
 * the kernel answers EINVAL otherwise. What each call answers, and what starts
 * the engine that moves watermarks: Documentation/abi.rst.
 */
#ifndef _UAPI_LINUX_PERF_CLOCK_H
#define _UAPI_LINUX_PERF_CLOCK_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* "PCLK", read as a native integer: a page of the wrong endianness fails. */
#define PERF_CLOCK_MAGIC		0x4b4c4350u

/* Raised only if a program that knew the former version would misread. */
#define PERF_CLOCK_ABI_VERSION		1

/* Clocks. A record is stamped by one of them: attr.use_clockid/clockid. */
#define PERF_CLOCK_PERF			0	/* default: local_clock() */
#define PERF_CLOCK_MONOTONIC		1	/* CLOCK_MONOTONIC */
#define PERF_CLOCK_MONOTONIC_RAW	2	/* CLOCK_MONOTONIC_RAW */
#define PERF_CLOCK_BOOTTIME		3	/* CLOCK_BOOTTIME */
#define PERF_CLOCK_NR			4	/* clocks this header knows */
#define PERF_CLOCK_MAX			8	/* room in the structures */

/* perf_clock_page.clock_state: does the perf clock agree across CPUs? */
#define PERF_CLOCK_STATE_UNKNOWN	0
#define PERF_CLOCK_STATE_STABLE		1
#define PERF_CLOCK_STATE_UNSTABLE	2

/* perf_clock_page.mode, struct perf_clock_mode.mode */
#define PERF_CLOCK_MODE_NORMAL		0	/* normal grace periods */
#define PERF_CLOCK_MODE_EXPEDITED	1	/* expedited: less lag, IPIs */

/* One clock's watermark. */
struct perf_clock_mark {
	/*
	 * The watermark, ns of the clock. 0: none yet (no grace period has
	 * ended since the module was loaded). Never goes backwards. While
	 * the engine does not run it stands still: still true, only old.
	 */
	__u64 watermark;
	/*
	 * What the kernel has already taken off, at least, for differences
	 * between clocks read on several CPUs, ns. For information; do not
	 * subtract it again.
	 */
	__u64 margin;
};

/* perf_clock_page.flags */
#define PERF_CLOCK_PAGE_RUNNING		(1ULL << 0) /* engine runs */
#define PERF_CLOCK_PAGE_GP_VALID	(1ULL << 1) /* gp_* have meaning */

/* What mmap() of /dev/perf_clock shows: one page, offset 0, read only. */
struct perf_clock_page {
	__u32 magic;		/* PERF_CLOCK_MAGIC */
	__u32 size;		/* bytes of this structure in use */
	__u32 version;		/* PERF_CLOCK_ABI_VERSION */
	__u32 nr_clocks;	/* entries of mark[] in use */

	/*
	 * Odd while the kernel changes the fields from 'flags' to 'gp_start'.
	 * To read several of them as one: load seq_count (acquire) until it
	 * is even, read, load seq_count again (after a read barrier), repeat
	 * if it changed. A watermark alone needs none of this.
	 */
	__u32 seq_count;
	__u32 mode;		/* PERF_CLOCK_MODE_*, now in force */
	__u32 clock_state;	/* PERF_CLOCK_STATE_* */
	__u32 reserved0;
	__u64 flags;		/* PERF_CLOCK_PAGE_* */
	__u64 gp_completed;	/* grace periods completed since load */
	__u64 gp_duration;	/* ns that the newest of them took */
	__u64 gp_start;		/* CLOCK_MONOTONIC ns when it began */

	struct perf_clock_mark mark[PERF_CLOCK_MAX];
};

/*
 * What read() gives: exactly this. A buffer shorter than this: EINVAL. More
 * than this is never read at once. Never blocks.
 */
struct perf_clock_read {
	__u64 now;		/* perf clock of the calling CPU, ns */
	__u64 watermark;	/* PERF watermark, ns; 0: none */
};

/* PERF_CLOCK_IOC_CAPS */
struct perf_clock_caps {
	__u32 size;		/* sizeof(struct perf_clock_page), kernel's */
	__u32 version;		/* PERF_CLOCK_ABI_VERSION of the kernel */
	__u32 nr_clocks;	/* clocks the kernel knows */
	__u32 clock_state;	/* PERF_CLOCK_STATE_* */
	__u64 modes;		/* bit n: mode n may be asked for by you */
	__u64 resolution;	/* ns, of the perf clock */
	__u64 reserved[4];	/* 0 */
};

/*
 * perf_clock_snapshot.flags: only the times are wanted. Then watermark[] and
 * gp_completed are 0, and the engine is not started for this file.
 */
#define PERF_CLOCK_SNAPSHOT_NOW		(1U << 0)

/* PERF_CLOCK_IOC_SNAPSHOT: all clocks, read on one CPU without a break. */
struct perf_clock_snapshot {
	__u32 flags;		/* in: PERF_CLOCK_SNAPSHOT_*; out: 0 */
	__u32 cpu;		/* out: the CPU they were read on */
	__u64 now[PERF_CLOCK_MAX];	 /* out: ns; 0 past nr_clocks */
	__u64 watermark[PERF_CLOCK_MAX]; /* out: ns; 0: none */
	__u64 gp_completed;	/* out */
	__u64 reserved[4];	/* in, out: 0 */
};

/*
 * PERF_CLOCK_IOC_WAIT: sleep until the watermark of 'clock' is greater than
 * 'stamp'. Starts the engine for this file. ETIMEDOUT: not passed in time
 * ('watermark' is filled in all the same); EINTR: a signal came.
 */
struct perf_clock_wait {
	__u32 clock;		/* in: PERF_CLOCK_* */
	__u32 flags;		/* in: 0 */
	__u64 stamp;		/* in: ns */
	__s64 timeout;		/* in: ns; < 0: no limit; 0: only look */
	__u64 watermark;	/* out: the watermark when it returned */
	__u64 reserved[2];	/* in: 0 */
};

/*
 * PERF_CLOCK_IOC_SET_MODE: what this file asks for; see abi.rst. Starts the
 * engine for this file. EPERM: expedited needs CAP_PERFMON or CAP_SYS_ADMIN.
 */
struct perf_clock_mode {
	__u32 mode;		/* in: PERF_CLOCK_MODE_* */
	__u32 flags;		/* in: 0 */
	__u64 reserved[3];	/* in: 0 */
};

#define PERF_CLOCK_IOC_TYPE	0xBC
#define PERF_CLOCK_IOC_CAPS	_IOR(PERF_CLOCK_IOC_TYPE, 0, \
				     struct perf_clock_caps)
#define PERF_CLOCK_IOC_SNAPSHOT	_IOWR(PERF_CLOCK_IOC_TYPE, 1, \
				      struct perf_clock_snapshot)
#define PERF_CLOCK_IOC_WAIT	_IOWR(PERF_CLOCK_IOC_TYPE, 2, \
				      struct perf_clock_wait)
#define PERF_CLOCK_IOC_SET_MODE	_IOW(PERF_CLOCK_IOC_TYPE, 3, \
				     struct perf_clock_mode)

#endif /* _UAPI_LINUX_PERF_CLOCK_H */
