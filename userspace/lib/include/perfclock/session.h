/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * A session opens perf events (or adopts rings that the caller has), reads
 * their rings in rounds, and delivers the records of all rings as one stream
 * in stamp order.
 *
 * A round:
 *   1. W := the newest watermark, before any ring is touched;
 *   2. load every ring's data_head, copy all records up to it, advance
 *      data_tail at once;
 *   3. deliver, in order, everything stamped strictly below W.
 *
 * One thread at a time uses a session. Of the calls below only
 * perfclock_session_stop(), _get_stats() and _get_ring_stats() may be made from
 * any thread at any time, _stop() from a signal handler too. A callback may
 * call these three and use perfclock_session_clock().
 *
 * A session is of the process that made it. In a child that was forked,
 * _start(), _poll(), _finish() and _snapshot() answer -ECHILD; _free() gives
 * back what is the child's, and the parent's session does not notice.
 *
 * Where a call fails, perfclock_session_error() says what failed, on what, and
 * what to do.
 */
#ifndef PERFCLOCK_SESSION_H
#define PERFCLOCK_SESSION_H

#include <sys/types.h>

#include <perfclock/clock.h>
#include <perfclock/order.h>
#include <perfclock/types.h>

struct perf_event_attr;
struct perf_event_header;

PERFCLOCK_BEGIN_DECLS

struct perfclock_session;

/* How to wait between rounds. */
enum perfclock_wait_method {
	PERFCLOCK_WAIT_AUTO,		/* io_uring where allowed, else poll */
	PERFCLOCK_WAIT_POLL,
	PERFCLOCK_WAIT_IO_URING
};

/* perfclock_session_opts.flags */
#define PERFCLOCK_SESSION_EXPEDITED	(1u << 0) /* as with
						   * PERFCLOCK_OPEN_EXPEDITED:
						   * the provider "module"
						   * only */
#define PERFCLOCK_SESSION_INHERIT	(1u << 1) /* pids: children too */
#define PERFCLOCK_SESSION_CLOCK_AUTO	(1u << 2) /* ignore .clock: PERF if the
						   * module is here, else
						   * MONOTONIC */
#define PERFCLOCK_SESSION_OVERWRITE	(1u << 3) /* a flight recorder: rings
						   * keep the newest; see
						   * perfclock_session_snapshot
						   */

struct perfclock_session_opts {
	size_t sz;
	/* Clock, source, provider: as in perfclock_open_opts. */
	enum perfclock_clockid clock;
	const char *source;
	const char *provider;
	const char *device;
	unsigned int flags;		/* PERFCLOCK_SESSION_* */
	/*
	 * What to watch: CPUs (nr_cpus > 0), or pids with their threads
	 * (nr_pids > 0), on those CPUs if both are given, or a cgroup (path
	 * in cgroupfs), or a command that the caller has forked (see
	 * perfclock_session_exec()). None of them: all online CPUs.
	 */
	unsigned int nr_cpus;
	const int *cpus;
	unsigned int nr_pids;
	const pid_t *pids;
	const char *cgroup;
	/*
	 * Data pages of a ring: a power of two; 0: 4 to 16 MiB worth of them,
	 * the more the fewer CPUs, or as much as this user may lock
	 * (perf_event_mlock_kb).
	 */
	unsigned int mmap_pages;
	/* Bound for what is held back, bytes; 0: 256 MiB. */
	size_t memory_max;
	enum perfclock_late late;
	enum perfclock_wait_method wait;
	/*
	 * Longest sleep between rounds, ns; 0 (also of NULL opts): none, the
	 * rounds are busy; ~0: 10 ms.
	 */
	uint64_t interval_ns;
	/* Wake when a ring holds that many bytes; 0: a quarter of it. */
	uint32_t wakeup_bytes;
	uint64_t pace_ns;		/* as in perfclock_open_opts */
	char *error;			/* one line, on failure of _new() */
	size_t error_size;
	/*
	 * Threads that read the rings, each its share, for machines with more
	 * CPUs than one thread can read; 0: the polling thread reads them.
	 */
	unsigned int readers;
};

/*
 * Makes a session and opens its clock; events come later. Sets *sp, to NULL on
 * failure. 0, or -errno as perfclock_open(), and: -EINVAL, -E2BIG (bad opts),
 * -ENODEV (a CPU is offline), -ESRCH (no such process), -errno of opening the
 * cgroup, -EOPNOTSUPP or -errno (PERFCLOCK_WAIT_IO_URING was asked for and is
 * not to be had), -ENOMEM. opts->error says more.
 * _free() at any time closes all that the session opened; it may follow
 * anything, a session that runs too.
 */
int perfclock_session_new(struct perfclock_session **sp,
			  const struct perfclock_session_opts *opts);
void perfclock_session_free(struct perfclock_session *s);

/* One line about the newest failure; "" if none. It is the session's. */
const char *perfclock_session_error(const struct perfclock_session *s);

struct perfclock_event_opts {
	size_t sz;
	const char *filter;	/* tracepoints: tracefs filter; or NULL */
	uint64_t period;	/* 0: 1 for tracepoints, else the default */
	uint64_t freq;		/* samples per second instead of a period */
	const struct perf_event_attr *attr;	/* use this; the session sets
						 * what ordering needs */
	void *user;		/* comes back in perfclock_event.user */
	unsigned int flags;	/* PERFCLOCK_EVENT_* */
};

/* perfclock_event_opts.flags: in one kernel group with the event before. */
#define PERFCLOCK_EVENT_GROUP	(1u << 0)

/*
 * Add an event by name: "sched:sched_switch" (tracepoint), "cpu-clock",
 * "context-switches", ... (software), "r1a8" or "TYPE:CONFIG" (raw, numbers),
 * each of these two with ":u" or ":k" for user or kernel mode only, or a
 * hardware event's name where built with libpfm4. With opts->attr the
 * name is only a label, and what name, filter and attr point to is copied.
 * Before _start() only. Returns the event's index, or -ENOENT (no such event),
 * -EACCES (tracefs can't be read; the error line says what helps), -EINVAL,
 * -E2BIG (bad opts, no name, period and freq, a filter for what is no
 * tracepoint, a clockid that is not the session's, inherit_stat,
 * write_backward, precise_ip > 0 with the PERF clock and a proven provider:
 * see watermark.rst), -ENOMEM. Whether the kernel takes event and filter shows
 * in _start().
 */
int perfclock_session_add(struct perfclock_session *s, const char *name,
			  const struct perfclock_event_opts *opts);

/*
 * The file of an event on one CPU, after _start(); for BPF programs that write
 * to "bpf-output" through a BPF_MAP_TYPE_PERF_EVENT_ARRAY, and for ioctls. It
 * stays the session's: don't close it. -ENOENT: no such event there.
 */
int perfclock_session_event_fd(const struct perfclock_session *s, int index,
			       int cpu);

/*
 * Side-band records (COMM, FORK, EXIT, MMAP2): names of tasks. An event more;
 * 0, or -EINVAL (after _start()), -ENOMEM.
 */
int perfclock_session_track_tasks(struct perfclock_session *s);

/*
 * The attr of the index-th event (track_tasks() adds one too), as the session
 * has made it: who stores records needs it to read them later. size: of
 * *attr. -EINVAL: no such event, or size is less than PERF_ATTR_SIZE_VER0.
 */
int perfclock_session_get_attr(const struct perfclock_session *s, int index,
			       struct perf_event_attr *attr, size_t size);

/* A ring the caller has: perf mmap of 1 + 2^n pages, read-write. */
struct perfclock_adopt_opts {
	size_t sz;
	void *base;		/* of the mmap: the perf_event_mmap_page */
	size_t size;		/* of the mmap */
	int fd;			/* of the event, for poll */
	int cpu;		/* -1: not of one CPU */
	/* sample_type, sample_id_all, read_format, use_clockid, clockid */
	const struct perf_event_attr *attr;
	void *user;
	uint64_t id;		/* the kernel's id of the event; 0: ask fd */
};

/*
 * Several events in one ring (PERF_EVENT_IOC_SET_OUTPUT): adopt each, with
 * the same base. Before _start() only. mmap and fd stay the caller's, who
 * keeps them until _free(), reads nothing from the ring and does not move its
 * data_tail. Returns the event's index, or -EINVAL, -E2BIG (bad opts, no perf
 * mmap, no PERF_SAMPLE_TIME, stamps of another clock than the session's,
 * several events without PERF_SAMPLE_IDENTIFIER and id, OVERWRITE, and what
 * _add() refuses), -ENOSPC (there are PERFCLOCK_ORDER_MAX_RINGS rings),
 * -ENOMEM. Events that do without sample_id_all make the session unproven.
 */
int perfclock_session_adopt(struct perfclock_session *s,
			    const struct perfclock_adopt_opts *opts);

/*
 * Fork a command that waits, to be watched with its children; it runs on
 * _start(). Once, before _start(), and without pids and cgroup (else -EINVAL).
 * 0 and the pid in *pid, or -errno of fork, -ENOMEM. The caller waits for the
 * pid; if the session is freed before it starts, the child exits with 127.
 */
int perfclock_session_exec(struct perfclock_session *s, char *const argv[],
			   pid_t *pid);

/*
 * Open all events, map the rings, enable, let the command run. All or nothing:
 * on failure nothing stays open, and it may be tried again, but for where
 * threads or the command could not be started. 0, or -EINVAL (no events,
 * started before), -EACCES, -EPERM (rights, or more memory than may be
 * locked), -ENOENT, -ENODEV, -EOPNOTSUPP, -EINVAL, -E2BIG (the event is not to
 * be had here, or not so), -EBUSY (its counter is taken), -EBADF (not a perf
 * cgroup), -ESRCH (the task is gone), -EMFILE, -ENFILE (too many open files),
 * -ENOSPC (more than PERFCLOCK_ORDER_MAX_RINGS CPUs), -EAGAIN (no more threads
 * may be started), -ENOMEM, -errno of the command's exec.
 */
int perfclock_session_start(struct perfclock_session *s);

/* A record, delivered. Pointers are valid during the callback. */
struct perfclock_event {
	uint64_t stamp;		/* ns of the session's clock; 0: none */
	const struct perf_event_header *header;	/* the record as the kernel
						 * wrote it */
	const void *raw;	/* PERF_SAMPLE_RAW bytes of a sample, or NULL */
	uint32_t raw_size;
	uint32_t type;		/* PERF_RECORD_* */
	uint32_t flags;		/* PERFCLOCK_RECORD_* */
	int32_t cpu;		/* -1: unknown */
	int32_t pid;		/* -1: unknown */
	int32_t tid;
	uint32_t ring;		/* number in this session */
	int32_t index;		/* of the event, as _add() gave; -1: unknown */
	uint64_t id;		/* kernel's event id; 0: unknown */
	uint64_t lost;		/* PERF_RECORD_LOST*: how many */
	void *user;
};

/* 0: go on; negative: stop; _poll() returns it, what is held stays held. */
typedef int (*perfclock_event_fn)(const struct perfclock_event *ev, void *ctx);

/*
 * Told of every record as it is read, in reading order, and of rounds; for
 * policies in shadow and for tests. All members may be NULL. They are called
 * in the thread that polls, whatever reads the rings. The structure is copied;
 * NULL: no more observer. Not from inside a callback. 0, or -EINVAL, -E2BIG
 * (bad structure).
 */
struct perfclock_session_observer {
	size_t sz;
	void (*round_begin)(uint64_t now, uint64_t watermark, void *ctx);
	void (*read)(uint32_t ring, uint64_t stamp, uint32_t type, void *ctx);
	void (*round_end)(void *ctx);
	void *ctx;
};
int perfclock_session_observe(struct perfclock_session *s,
			      const struct perfclock_session_observer *ob);

/*
 * Wait (at most the interval, at most timeout_ms; < 0: no limit but the
 * interval) and run one round. Returns the number of records delivered, or
 * -EINTR (a signal came; nothing is lost), -ESHUTDOWN (after _stop()), the
 * callback's value, -EINVAL (does not run, or OVERWRITE), -ECHILD (in a fork's
 * child), -EILSEQ (with PERFCLOCK_LATE_FAIL: a record was late and is dropped),
 * or another -errno of the clock, the wait or memory. fn NULL: deliver to
 * nobody, but count.
 */
long perfclock_session_poll(struct perfclock_session *s, int timeout_ms,
			    perfclock_event_fn fn, void *ctx);

/* Make _poll() return -ESHUTDOWN, now and from now on. Async-signal safe. */
void perfclock_session_stop(struct perfclock_session *s);

/*
 * Disable the events, read what is left, deliver everything in order.
 * Afterwards only statistics and _free() are of use. Returns as _poll(), and
 * 0 if it was finished before; -EINVAL before _start(). Also after _stop().
 */
long perfclock_session_finish(struct perfclock_session *s,
			      perfclock_event_fn fn, void *ctx);

/*
 * With PERFCLOCK_SESSION_OVERWRITE, instead of _poll(): pause the rings,
 * deliver in order what has come since the last snapshot and has not been
 * overwritten, resume. Events are missed while the rings are paused, for
 * about one grace period. What was overwritten is nowhere counted. Returns as
 * _poll(); -EINVAL: does not run, or not OVERWRITE; -ENOBUFS: the rings hold
 * more than memory_max; -ETIMEDOUT: the watermark did not move for 2 s.
 */
long perfclock_session_snapshot(struct perfclock_session *s,
				perfclock_event_fn fn, void *ctx);

/*
 * A file descriptor for a caller who owns the loop: poll it for POLLIN, at
 * most for the interval, then call _poll() with timeout 0. It is the session's:
 * don't close it. -EINVAL before _start(), or -errno of epoll.
 */
int perfclock_session_fd(struct perfclock_session *s);

/*
 * The clock and watermark of the session, for perfclock_now() and the like. It
 * is the session's: don't close it, and it ends with _free().
 */
struct perfclock *perfclock_session_clock(struct perfclock_session *s);

struct perfclock_session_stats {
	size_t sz;			/* in */
	uint64_t read;			/* records taken from rings */
	uint64_t delivered;
	uint64_t held;			/* waiting for the watermark */
	uint64_t held_max;
	uint64_t dropped;		/* late and discarded on request, bad */
	uint64_t samples;		/* of the delivered */
	uint64_t lost;			/* records the kernel says it lost */
	uint64_t late;
	uint64_t max_late_ns;
	uint64_t inversions;
	uint64_t truncated;		/* malformed records in a ring */
	uint64_t throttled;		/* PERF_RECORD_THROTTLE */
	uint64_t rounds;
	uint64_t stalls;		/* rounds cut short at the memory bound */
	uint64_t wakeups;
	/* Lag at a flush: now minus W, ns. Quantiles within 1/16. */
	uint64_t lag_p50_ns;
	uint64_t lag_p99_ns;
	uint64_t lag_max_ns;
	uint64_t memory;		/* bytes held */
	unsigned int rings;
	unsigned int rings_max;
	bool proven;
	char unproven_reason[128];	/* "" while proven */
	enum perfclock_wait_method wait;	/* in force */
	uint64_t rings_begun;		/* a CPU came while we ran */
	uint64_t rings_ended;		/* a CPU went */
};

/* As of the newest round. 0, or -EINVAL (st->sz). */
int perfclock_session_get_stats(struct perfclock_session *s,
				struct perfclock_session_stats *st);

struct perfclock_ring_stats {
	size_t sz;			/* in */
	int cpu;
	pid_t pid;
	uint64_t read;
	uint64_t lost;
	uint64_t late;
	uint64_t inversions;
	uint64_t bytes;
	uint64_t held;
};

/* The same of one ring. -EINVAL: no such ring, or st->sz. */
int perfclock_session_get_ring_stats(struct perfclock_session *s,
				     unsigned int ring,
				     struct perfclock_ring_stats *st);

PERFCLOCK_END_DECLS

#endif /* PERFCLOCK_SESSION_H */
