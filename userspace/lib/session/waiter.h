/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * Internal: sleep until one of many files has something, or a time is over.
 * By io_uring (multishot poll: files are armed once, a wait is one enter) or
 * by poll(2), with the same behaviour. One thread at a time.
 */
#ifndef PERFCLOCK_LIB_WAITER_H
#define PERFCLOCK_LIB_WAITER_H

#include <stdbool.h>
#include <stdint.h>

#include <perfclock/session.h>

/* What a file is to the session, and what pc_waiter_wait() says woke it. */
#define PC_WAKE_STOP	(1u << 0)
#define PC_WAKE_MARK	(1u << 1)	/* waited for only when wanted */
#define PC_WAKE_RING	(1u << 2)

struct pc_wait_file {
	int fd;			/* -1: gone */
	unsigned int kind;
	bool armed;		/* io_uring: a poll is out there */
};

struct pc_waiter {
	enum perfclock_wait_method method;	/* in force; AUTO: undecided */
	bool may_fall_back;
	struct pc_wait_file *files;
	unsigned int nr_files, max_files;
	struct pollfd *polls;
	struct io_uring *uring;
	/* A file hung up (its tasks are gone) and is no longer waited for. */
	void (*on_hangup)(void *ctx, int fd);
	void *ctx;
};

/* 0, or why io_uring, being asked for, cannot be had: -errno. */
int pc_waiter_init(struct pc_waiter *w, enum perfclock_wait_method method);
void pc_waiter_fini(struct pc_waiter *w);
int pc_waiter_add(struct pc_waiter *w, int fd, unsigned int kind);
/* Before the file is closed. */
void pc_waiter_remove(struct pc_waiter *w, int fd);
/*
 * Sleep at most ns (< 0: without limit). Returns PC_WAKE_*, 0 when the time
 * is over, -EINTR, or another -errno.
 */
int pc_waiter_wait(struct pc_waiter *w, int64_t ns, bool want_mark);

/* waiter_uring.c; each -EOPNOTSUPP where built without liburing. */
int pc_uring_open(struct pc_waiter *w);
void pc_uring_close(struct pc_waiter *w);
void pc_uring_remove(struct pc_waiter *w, unsigned int i);
int pc_uring_wait(struct pc_waiter *w, int64_t ns, bool want_mark);

/* A file hung up. */
void pc_waiter_hangup(struct pc_waiter *w, unsigned int i);

#endif /* PERFCLOCK_LIB_WAITER_H */
