/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * Internal: futexes, and memory that a fork's child finds zeroed.
 *
 * Threads of the library do not exist in a fork's child. What they share with
 * their users lies in a page that the kernel wipes in the child, so that a
 * word which is never zero in the parent tells the two apart by one load.
 */
#ifndef PERFCLOCK_CLOCK_FUTEX_H
#define PERFCLOCK_CLOCK_FUTEX_H

#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NSEC_PER_SEC	1000000000LL
#define TIMEOUT_MAX_NS	(1000000LL * NSEC_PER_SEC)

static inline uint64_t mono_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

/* 0 (woken, or the word had changed), -ETIMEDOUT, -EINTR. */
static inline int futex_wait(_Atomic uint32_t *word, uint32_t seen,
			     int64_t timeout_ns)
{
	struct timespec ts;

	if (timeout_ns > TIMEOUT_MAX_NS)
		timeout_ns = TIMEOUT_MAX_NS;
	ts.tv_sec = timeout_ns / NSEC_PER_SEC;
	ts.tv_nsec = timeout_ns % NSEC_PER_SEC;
	if (!syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, &ts, NULL, 0))
		return 0;
	return errno == EAGAIN ? 0 : -errno;
}

static inline void futex_wake_all(_Atomic uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

static inline void *wiped_on_fork_new(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	if (madvise(p, size, MADV_WIPEONFORK)) {
		munmap(p, size);
		return NULL;
	}
	return p;
}

#endif /* PERFCLOCK_CLOCK_FUTEX_H */
