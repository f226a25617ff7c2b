/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/* Internal: what the files of the session share. */
#ifndef PERFCLOCK_LIB_SESSION_H
#define PERFCLOCK_LIB_SESSION_H

#include <linux/perf_event.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include <perfclock/session.h>

#include "order/round.h"
#include "ring/layout.h"
#include "ring/ring.h"
#include "session/histogram.h"
#include "session/waiter.h"

#define PC_ERROR_SIZE	512
#define PC_MAX_LAGS	64
#define PC_MAX_RINGS	PERFCLOCK_ORDER_MAX_RINGS

/* An event as added; stays for the session's life, as records refer to it. */
struct pc_event {
	char *name;
	char *filter;
	struct perf_event_attr attr;
	struct pc_layout layout;
	void *user;
	bool adopted;
	bool grouped;		/* with the one before it */
};

/* id of the kernel -> event index; open addressing, size a power of two. */
struct pc_ids {
	struct { uint64_t id; int event; } *slot;
	size_t size, used;
};

struct pc_session_ring;

/* One perf event file of ours. */
struct pc_file {
	int fd;
	int event;			/* index in events */
	struct pc_session_ring *ring;
};

/* minima.c: least stamps of a ring's records, by the block they begin in. */
struct pc_minima {
	uint64_t *least;	/* UINT64_MAX: none */
	unsigned int nr;	/* of blocks, a power of two */
	unsigned int last;	/* block in use: the one before known */
	uint64_t block;		/* bytes, a power of two */
	uint64_t known;		/* position up to which the ring is entered */
};

struct pc_session_ring {
	struct pc_ring ring;
	unsigned int number;	/* in the session and in the order queue */
	size_t map_size;	/* 0: adopted, not ours to unmap */
	int fd;			/* to poll; -1: none */
	int cpu;
	int event;		/* index if the ring is of one event; else -1 */
	int first_event;	/* whose layout serves for unknown ids */
	struct pc_ids ids;	/* of the events in it; complete when read */
	bool watched;		/* by the reader's waiter */
	uint64_t head;		/* loaded in the open round */
	uint64_t least;		/* stamp left in it, at a stall */
	struct pc_minima minima;
	/* Its CPU is gone: no more will come. Set by the session... */
	atomic_bool ending;
	bool last_round;	/* ...seen by the reader before it loads head */
	atomic_bool drained;	/* the reader will not touch it any more */
	bool closing;		/* seen to be drained, a round ago */
	atomic_uint_fast64_t malformed;
	struct perfclock_ring_stats stats;
};

/* What is watched: tasks (files with pid >= 0) or all that CPUs run. */
struct pc_target {
	pid_t *tids;
	unsigned int nr_tids;
	int cgroup_fd;			/* -1: none */
	/* A command that waits for us; see exec.c. */
	pid_t child;			/* 0: none */
	int child_fd;
	char *command;
};

/* Reads some of the rings, in rounds. */
struct pc_reader {
	struct perfclock_session *s;
	struct round round;
	_Atomic(struct pc_session_ring *) *slot;	/* PC_MAX_RINGS */
	atomic_uint nr_slots;
	struct pc_session_ring **reading;	/* slots as of this round */
	uint64_t call_bytes;	/* read in this run */
	uint64_t broken_since;	/* the provider fails, ns; 0: it works */
	bool last;		/* events are off: all there is is safe */
	bool finished;		/* and all that has been read */
	bool refused;		/* a record was late, and PERFCLOCK_LATE_FAIL */
	/* The threads' part: see threads.c. */
	struct pc_thread *thread;
};

enum pc_session_state {
	PC_SESSION_NEW,
	PC_SESSION_RUNNING,
	PC_SESSION_FINISHED
};

struct perfclock_session {
	enum pc_session_state state;
	unsigned char *here;	/* 1; 0 in a fork's child; NULL: not known */
	struct perfclock *clock;
	enum perfclock_clockid clockid;
	const char *provider;	/* static string */
	bool proven_provider;
	bool dear_clock;	/* reading it wakes a thread */
	struct timespec lag_seen;	/* when the lag of a dear clock was */
	struct perfclock_order *order;
	struct perfclock_session_observer observer;

	/* From the opts. */
	unsigned int flags;
	int *cpus;
	unsigned int nr_cpus;
	bool all_cpus;		/* cpus are those online: follow changes */
	size_t ring_bytes;
	bool ring_auto;		/* less will do, where less is allowed */
	bool map_refused;	/* mmap said so */
	size_t memory_max;
	enum perfclock_late late;
	enum perfclock_wait_method wait_method;
	uint64_t interval_ns;
	uint32_t wakeup_bytes;	/* 0: by the ring's size */

	struct pc_target target;
	struct pc_event *events;
	unsigned int nr_events;
	struct pc_file *files;
	unsigned int nr_files, max_files;
	struct pc_session_ring **rings;		/* PC_MAX_RINGS */
	unsigned int nr_rings;
	struct pc_reader *readers;
	unsigned int nr_readers;
	struct pc_threads *threads;		/* NULL: none */
	bool want_threads;

	perfclock_event_fn fn;
	void *fn_ctx;
	uint64_t greatest_read;	/* stamp */
	uint64_t limit;		/* of reader threads, last time */

	/* CPUs that come and go; see hotplug.c. */
	const char *online_path;
	int online_fd, message_fd;
	uint64_t online_checked;
	char online_text[256];

	/* Waiting; see wait.c. */
	struct pc_waiter waiter;
	int stop_fd, epoll_fd, mark_fd;
	atomic_bool stopped;

	/* Counted by the thread that runs rounds; published under the lock. */
	struct perfclock_session_stats stats;
	uint64_t malformed_gone;	/* of rings that have ended */
	uint64_t lags[PC_MAX_LAGS];	/* of rounds not yet published */
	unsigned int nr_lags;
	pthread_mutex_t lock;
	struct pc_histogram lag;
	struct perfclock_session_stats published;
	struct perfclock_ring_stats *published_rings;
	unsigned int nr_published_rings;

	char error[PC_ERROR_SIZE];
};

/* session.c: note the error line; returns err. */
bool pc_session_is_forked(const struct perfclock_session *s);
/* 0, or -ECHILD, told of: the session is of the process that forked us. */
int pc_session_refuse_forked(struct perfclock_session *s);
int pc_session_fail(struct perfclock_session *s, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
int pc_session_no_memory(struct perfclock_session *s);
/* Why what holds for this session is not proven; the first reason stays. */
void pc_session_unproven(struct perfclock_session *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* names.c: attr->type, config and period from a name. -errno, told. */
int pc_event_by_name(struct perfclock_session *s, const char *name,
		     struct perf_event_attr *attr);

/* tracefs.c */
int pc_tracepoint(struct perfclock_session *s, const char *system,
		  const char *name, struct perf_event_attr *attr);

/* event.c: a slot in events; -ENOMEM. */
int pc_event_slot(struct perfclock_session *s, const char *name);
/* use_clockid and clockid as the session's clock has them. */
void pc_attr_clock(const struct perfclock_session *s,
		   struct perf_event_attr *attr);
/* Refuse what a watermark cannot cover. */
int pc_event_conditions(struct perfclock_session *s, const char *name,
			const struct perf_event_attr *attr);

/* target.c */
int pc_target_init(struct perfclock_session *s,
		   const struct perfclock_session_opts *o);
void pc_target_fini(struct perfclock_session *s);
bool pc_target_is_tasks(const struct perfclock_session *s);

/* exec.c: let the command run; what became of its exec. */
int pc_exec_go(struct perfclock_session *s);
void pc_exec_fini(struct perfclock_session *s);

/* open.c */
int pc_session_open(struct perfclock_session *s);
/* All events on one CPU, into a ring of its own. Not yet enabled. */
int pc_open_cpu(struct perfclock_session *s, int cpu);
int pc_enable_ring(struct perfclock_session *s,
		   const struct pc_session_ring *r);
void pc_session_disable(struct perfclock_session *s);
void pc_session_close(struct perfclock_session *s);
/* Back to before pc_session_open(): adopted rings stay. */
void pc_session_close_ours(struct perfclock_session *s);
/* Close the files of a ring (NULL: all). */
void pc_close_files(struct perfclock_session *s,
		    const struct pc_session_ring *r);

/* open_error.c: the line for a failed perf_event_open or mmap. */
int pc_open_failed(struct perfclock_session *s, int err, const char *name,
		   pid_t pid, int cpu);
int pc_map_failed(struct perfclock_session *s, int err, int cpu);
/* A number from a file of /proc/sys; -1: it isn't there. */
long pc_read_setting(const char *path);

/* rings.c */
int pc_ring_new(struct perfclock_session *s, struct pc_session_ring **rp);
void pc_ring_free(struct pc_session_ring *r);
void pc_ring_unmap(struct pc_session_ring *r);
/* Take it back: it was never read. Closes its files. */
void pc_ring_abandon(struct perfclock_session *s, struct pc_session_ring *r);
int pc_ring_assign(struct perfclock_session *s, struct pc_session_ring *r);

/* cpus.c: *cpus is malloced. Return how many, or -errno. */
#define PC_CPUS_ONLINE	"/sys/devices/system/cpu/online"
#define PC_CPUS_PRESENT	"/sys/devices/system/cpu/present"
int pc_cpus_read(const char *path, int **cpus);
int pc_cpus_parse(const char *text, int **cpus);
bool pc_cpus_have(const int *cpus, int n, int cpu);
int pc_cpus_check(struct perfclock_session *s);

/* hotplug.c: look for CPUs that came or went. */
void pc_hotplug_init(struct perfclock_session *s);
void pc_hotplug_fini(struct perfclock_session *s);
int pc_hotplug_check(struct perfclock_session *s);

/* minima.c. The ring's least stamp from its tail to head; UINT64_MAX: none. */
int pc_minima_init(struct pc_minima *m, const struct pc_ring *ring);
void pc_minima_fini(struct pc_minima *m);
uint64_t pc_least_of_ring(struct perfclock_session *s,
			  struct pc_session_ring *r);

/* ids.c */
int pc_ids_add(struct pc_ids *t, uint64_t id, int event);
int pc_ids_find(const struct pc_ids *t, uint64_t id);	/* -1: none */

/* wait.c */
int pc_wait_init(struct perfclock_session *s);
int pc_wait_start(struct perfclock_session *s);
void pc_wait_fini(struct perfclock_session *s);
int pc_wait(struct perfclock_session *s, int timeout_ms);
int pc_wait_add_ring(struct perfclock_session *s, struct pc_session_ring *r);
void pc_wait_remove_ring(struct perfclock_session *s,
			 struct pc_session_ring *r);

/* reader.c */
int pc_reader_init(struct pc_reader *rd, struct perfclock_session *s);
void pc_reader_fini(struct pc_reader *rd);
int pc_reader_add(struct pc_reader *rd, struct pc_session_ring *r);
void pc_reader_forget(struct perfclock_session *s, struct pc_session_ring *r);
/*
 * Hand one record on. 0; -ENOBUFS: no room, the record stays in its ring; or
 * another -errno.
 */
int pc_reader_take(struct pc_reader *rd, struct pc_session_ring *r,
		   const struct perf_event_header *h);
/* After a completed round: rings that ended are drained now. */
void pc_reader_completed(struct pc_reader *rd);
int pc_event_of(const struct pc_session_ring *r,
		const struct perf_event_header *h);
const struct pc_layout *pc_layout_of(const struct perfclock_session *s,
				     const struct pc_session_ring *r,
				     int event);

/* round.c */
long pc_round(struct perfclock_session *s);
long pc_round_last(struct perfclock_session *s);
/* Deliver all that is queued. */
long pc_flush_all(struct perfclock_session *s);
/* A record went to the order queue. */
void pc_count_record(struct perfclock_session *s, struct pc_session_ring *r,
		     const struct pc_layout *layout,
		     const struct perf_event_header *h, uint64_t stamp);

/* snapshot.c */
long pc_snapshot(struct perfclock_session *s);

/* stats.c */
void pc_stats_publish(struct perfclock_session *s);

#endif /* PERFCLOCK_LIB_SESSION_H */
