// SPDX-License-Identifier: GPL-2.0
/*
 * fuzz_node SECONDS SEED: senseless calls on the nodes of perf_clock, from
 * several threads on shared file descriptors, so that close races with
 * everything. Whether the kernel minds shows in its log; here only what a
 * user must never get counts: a writable mapping, or a byte that was not
 * written from a call that claims to have filled a structure.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <linux/perf_clock.h>

#define THREADS	8
#define FDS	16

static const char *const nodes[] = {
	"/dev/perf_clock", "/dev/perf_clock", "/dev/perf_clock_posix",
};

static int fds[FDS];		/* -1: closed; races are the purpose */
static volatile int stop;
static uint64_t calls[THREADS];
static int bad;

static uint32_t rnd(uint64_t *state)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return *state >> 33;
}

/* Often a number of the ABI, sometimes with a bit turned, sometimes any. */
static unsigned long any_request(uint64_t *s)
{
	static const unsigned long known[] = {
		PERF_CLOCK_IOC_CAPS, PERF_CLOCK_IOC_SNAPSHOT,
		PERF_CLOCK_IOC_WAIT, PERF_CLOCK_IOC_SET_MODE,
	};
	unsigned long request = known[rnd(s) % 4];

	switch (rnd(s) % 8) {
	case 0:
		return request ^ (1UL << rnd(s) % 32);
	case 1:
		return rnd(s);
	default:
		return request;
	}
}

static uint64_t filled[THREADS];	/* structures that calls filled */

union any_arg {
	struct perf_clock_caps caps;
	struct perf_clock_snapshot snapshot;
	struct perf_clock_wait wait;
	struct perf_clock_mode mode;
	uint64_t words[64];
};

/* What the kernel has no value for is zero, whatever was there before. */
static void look_at_answer(unsigned long request, const union any_arg *u)
{
	const struct perf_clock_snapshot *snap = &u->snapshot;
	uint64_t bits = 0;
	size_t i;

	if (request == PERF_CLOCK_IOC_CAPS) {
		for (i = 0; i < 4; i++)
			bits |= u->caps.reserved[i];
	} else if (request == PERF_CLOCK_IOC_SNAPSHOT) {
		bits = snap->flags;
		for (i = PERF_CLOCK_NR; i < PERF_CLOCK_MAX; i++)
			bits |= snap->now[i] | snap->watermark[i];
		for (i = 0; i < 4; i++)
			bits |= snap->reserved[i];
	}
	if (bits) {
		fprintf(stderr, "fuzz_node: bytes that nobody wrote\n");
		bad = 1;
	}
}

static void any_ioctl(int fd, uint64_t *s, uint64_t *answers)
{
	union any_arg u;
	unsigned long request = any_request(s);
	void *arg = &u;
	size_t i;

	memset(&u, 0, sizeof(u));
	if (rnd(s) % 2)
		for (i = 0; i < 64; i++)
			u.words[i] = rnd(s) % 4 ? 0 : rnd(s);
	if (request == PERF_CLOCK_IOC_WAIT)
		u.wait.timeout = rnd(s) % 2000000;	/* come back */
	if (rnd(s) % 16 == 0)
		arg = (void *)(uintptr_t)(rnd(s) % 2 ? rnd(s) : 0);
	/* Another thread may have put another node in the place of this fd. */
	if (!ioctl(fd, request, arg) && arg == &u) {
		look_at_answer(request, &u);
		++*answers;
	}
}

static void any_mmap(int fd, uint64_t *s)
{
	size_t page = sysconf(_SC_PAGESIZE);
	size_t size = page * (rnd(s) % 3 + (rnd(s) % 4 == 0));
	int prot = rnd(s) % 8;
	void *p = mmap(NULL, size, prot, rnd(s) % 2 ? MAP_SHARED : MAP_PRIVATE,
		       fd, page * (rnd(s) % 4 ? 0 : rnd(s) % 5));

	if (p == MAP_FAILED)
		return;
	if (rnd(s) % 2 && !mprotect(p, page, PROT_READ | PROT_WRITE)) {
		fprintf(stderr, "fuzz_node: the page became writable\n");
		bad = 1;
	}
	if (rnd(s) % 2) {
		size_t other = page * (1 + rnd(s) % 3);
		void *q = mremap(p, size, other, MREMAP_MAYMOVE);

		if (q != MAP_FAILED) {
			p = q;
			size = other;
		}
	}
	madvise(p, size, rnd(s) % 30);
	munmap(p, size);
}

static void any_read(int fd, uint64_t *s)
{
	struct perf_clock_read buf[4];
	size_t size = rnd(s) % (sizeof(buf) + 1);

	switch (rnd(s) % 3) {
	case 0:
		if (read(fd, buf, size) > (ssize_t)sizeof(buf[0])) {
			fprintf(stderr, "fuzz_node: read gave too much\n");
			bad = 1;
		}
		break;
	case 1:
		pread(fd, buf, size, rnd(s));
		break;
	default:
		if (write(fd, buf, size) >= 0 && size) {
			fprintf(stderr, "fuzz_node: write succeeded\n");
			bad = 1;
		}
	}
}

static void any_poll(int fd, uint64_t *s)
{
	struct pollfd p = { .fd = fd, .events = rnd(s) };
	struct timespec ts;
	clockid_t clock = (~(clockid_t)fd << 3) | 3;

	poll(&p, 1, rnd(s) % 3);
	clock_gettime(clock, &ts);
	clock_getres(clock, &ts);
	ts.tv_sec = rnd(s);
	if (!clock_settime(clock, &ts)) {
		fprintf(stderr, "fuzz_node: the clock could be set\n");
		bad = 1;
	}
}

static void any_call(uint64_t *s, uint64_t *answers)
{
	int *slot = &fds[rnd(s) % FDS];
	int fd = __atomic_load_n(slot, __ATOMIC_RELAXED);

	if (fd < 0 || rnd(s) % 32 == 0) {
		fd = open(nodes[rnd(s) % 3],
			  rnd(s) % 8 ? O_RDONLY | O_CLOEXEC | O_NONBLOCK :
				       (int)(rnd(s) & (O_ACCMODE | O_NONBLOCK)));
		fd = __atomic_exchange_n(slot, fd, __ATOMIC_RELAXED);
		if (fd >= 0)
			close(fd);
		return;
	}
	switch (rnd(s) % 4) {
	case 0:
		any_ioctl(fd, s, answers);
		break;
	case 1:
		any_mmap(fd, s);
		break;
	case 2:
		any_read(fd, s);
		break;
	default:
		any_poll(fd, s);
	}
}

static void *fuzz(void *arg)
{
	uint64_t *count = arg, state = *count;
	uint64_t *answers = &filled[count - calls];

	*count = 0;
	while (!stop) {
		any_call(&state, answers);
		++*count;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	uint64_t total = 0, answers = 0;
	int i;

	if (argc != 3) {
		fprintf(stderr, "usage: fuzz_node SECONDS SEED\n");
		return 2;
	}
	if (access(nodes[0], R_OK)) {
		perror(nodes[0]);
		return 1;
	}
	printf("fuzz_node: seed %s\n", argv[2]);
	memset(fds, -1, sizeof(fds));
	for (i = 0; i < THREADS; i++) {
		calls[i] = strtoull(argv[2], NULL, 0) * THREADS + i;
		if (pthread_create(&threads[i], NULL, fuzz, &calls[i]))
			return 1;
	}
	sleep(atoi(argv[1]));
	stop = 1;
	for (i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		total += calls[i];
		answers += filled[i];
	}
	printf("fuzz_node: %llu calls, %llu ioctls answered\n",
	       (unsigned long long)total, (unsigned long long)answers);
	if (!answers) {
		fprintf(stderr, "fuzz_node: all was refused\n");
		bad = 1;
	}
	return bad;
}
