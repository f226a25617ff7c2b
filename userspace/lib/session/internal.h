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

#include <perfclock/session.h>

#include "ring/layout.h"
#include "ring/ring.h"
#include "session/histogram.h"

#define PC_ERROR_SIZE	512

/* An event as added; stays for the session's life, as records refer to it. */
struct pc_event {
	char *name;
	char *filter;
	struct perf_event_attr attr;
	struct pc_layout layout;
	void *user;
	bool adopted;
};

/* One perf event file of ours. */
struct pc_file {
	int fd;
	int event;		/* index in events */
	int ring;		/* index in rings */
};

struct pc_session_ring {
	struct pc_ring ring;
	size_t map_size;	/* 0: adopted, not ours to unmap */
	int fd;			/* to poll; -1: none */
	int cpu;
	pid_t pid;
	int event;		/* index if the ring is of one event; else -1 */
	int first_event;	/* whose layout serves for unknown ids */
	uint64_t head;		/* loaded in the open round */
	bool open;		/* head is loaded, and not yet reached */
	bool dead;		/* will never be read again */
	struct perfclock_ring_stats stats;
};

enum pc_session_state {
	PC_SESSION_NEW,
	PC_SESSION_RUNNING,
	PC_SESSION_FINISHED
};

/* id of the kernel -> event index; open addressing, size a power of two. */
struct pc_ids {
	struct { uint64_t id; int event; } *slot;
	size_t size, used;
};


struct perfclock_session {
	enum pc_session_state state;
	struct perfclock *clock;
	enum perfclock_clockid clockid;
	bool proven_provider;
	struct perfclock_order *order;
	struct perfclock_session_observer observer;

	/* From the opts. */
	unsigned int flags;
	int *cpus;
	unsigned int nr_cpus;
	size_t ring_bytes;
	bool ring_auto;		/* less will do, where less is allowed */
	size_t memory_max, memory_soft;
	enum perfclock_late late;
	uint64_t interval_ns;
	uint32_t wakeup_bytes;

	struct pc_event *events;
	unsigned int nr_events;
	struct pc_file *files;
	unsigned int nr_files, max_files;
	struct pc_session_ring *rings;
	unsigned int nr_rings, max_rings;
	struct pc_ids ids;

	/* The round; see round.c. */
	bool round_open;
	uint64_t round_mark;	/* W of the open round */
	uint64_t limit;		/* greatest delivered up to */
	unsigned int next_ring;	/* where the next slice begins: fairness */
	uint64_t call_bytes;	/* read in this call */
	uint64_t greatest_read;	/* stamp */
	perfclock_event_fn fn;
	void *fn_ctx;

	/* Waiting; see wait.c. */
	int stop_fd, epoll_fd, mark_fd;
	struct pollfd *polls;
	unsigned int max_polls;
	atomic_bool stopped;

	/* Counted by the thread that runs rounds; published under the lock. */
	struct perfclock_session_stats stats;
	struct pc_histogram lag;
	pthread_mutex_t lock;
	struct perfclock_session_stats published;
	struct perfclock_ring_stats *published_rings;
	unsigned int nr_published_rings;

	char error[PC_ERROR_SIZE];
};

/* session.c: note the error line; returns err. */
int pc_session_fail(struct perfclock_session *s, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
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

/* open.c */
int pc_session_open(struct perfclock_session *s);
void pc_session_disable(struct perfclock_session *s);
void pc_session_close(struct perfclock_session *s);
int pc_ring_slot(struct perfclock_session *s);

/* cpus.c: the CPUs online now; *cpus is malloced. Returns how many. */
int pc_cpus_online(int **cpus);
int pc_cpus_check(struct perfclock_session *s);

/* ids.c */
int pc_ids_add(struct pc_ids *t, uint64_t id, int event);
int pc_ids_find(const struct pc_ids *t, uint64_t id);	/* -1: none */

/* wait.c */
int pc_wait_init(struct perfclock_session *s);
void pc_wait_fini(struct perfclock_session *s);
int pc_wait(struct perfclock_session *s, int timeout_ms);
void pc_wait_forget(struct perfclock_session *s, int fd);

/* round.c */
long pc_round(struct perfclock_session *s);
long pc_round_last(struct perfclock_session *s);

/* stats.c */
void pc_stats_publish(struct perfclock_session *s);
void pc_stats_lag(struct perfclock_session *s, uint64_t ns);

#endif /* PERFCLOCK_LIB_SESSION_H */
