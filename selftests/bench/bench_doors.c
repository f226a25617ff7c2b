// SPDX-License-Identifier: GPL-2.0
/*
 * What the doors of /dev/perf_clock cost, and how far the watermark lags:
 *
 *	bench_doors [--seconds S] [--row]
 *
 * Prints one JSON object, or a row of the table in Documentation/kernels.rst.
 * Run it on an otherwise idle machine; needs the module, and the right to ask
 * for the expedited mode (else that part is null).
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <linux/membarrier.h>
#include <linux/perf_clock.h>

#define NODE		"/dev/perf_clock"
#define POSIX_NODE	"/dev/perf_clock_posix"
#define BATCHES		7
#define MAX_SAMPLES	200000

struct lag {
	double mean, p50, p99, max;	/* ns */
	double gp;			/* mean duration of a grace period */
	double per_second;		/* grace periods */
};

static int fd, posix_fd;
static size_t page_bytes;
static const struct perf_clock_page *page;
static volatile uint64_t sink;

static void die(const char *what)
{
	fprintf(stderr, "bench_doors: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static uint64_t watermark(int clock)
{
	return __atomic_load_n(&page->mark[clock].watermark, __ATOMIC_ACQUIRE);
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The doors. */

static void door_page(void)
{
	sink = watermark(PERF_CLOCK_PERF);
}

static void door_read(void)
{
	struct perf_clock_read record;

	if (read(fd, &record, sizeof(record)) != sizeof(record))
		die("read");
}

static void door_snapshot(void)
{
	struct perf_clock_snapshot snap;

	memset(&snap, 0, sizeof(snap));
	if (ioctl(fd, PERF_CLOCK_IOC_SNAPSHOT, &snap))
		die("SNAPSHOT");
}

static void door_wait(void)
{
	struct perf_clock_wait wait = { .clock = PERF_CLOCK_PERF };

	if (ioctl(fd, PERF_CLOCK_IOC_WAIT, &wait))
		die("WAIT");
}

static void door_poll(void)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	if (poll(&p, 1, 0) < 0)
		die("poll");
}

static void door_posix(void)
{
	struct timespec ts;

	if (clock_gettime((~(clockid_t)posix_fd << 3) | 3, &ts))
		die("clock_gettime");
}

static void door_getppid(void)
{
	sink = syscall(SYS_getppid);
}

static const struct door {
	const char *name;
	void (*fn)(void);
	int times;
} doors[] = {
	{ "page", door_page, 1000000 },
	{ "read", door_read, 20000 },
	{ "snapshot", door_snapshot, 20000 },
	{ "wait", door_wait, 20000 },
	{ "poll", door_poll, 20000 },
	{ "clock_gettime", door_posix, 20000 },
	{ "getppid", door_getppid, 20000 },	/* an empty system call */
};
#define DOORS (sizeof(doors) / sizeof(doors[0]))

/* Median over batches, ns a call. */
static double cost(const struct door *door)
{
	const int middle = BATCHES / 2;
	uint64_t took[BATCHES], begin;
	int batch, i;

	for (batch = 0; batch < BATCHES; batch++) {
		begin = now_ns();
		for (i = 0; i < door->times; i++)
			door->fn();
		took[batch] = now_ns() - begin;
	}
	qsort(took, BATCHES, sizeof(took[0]), compare);
	return (double)took[middle] / door->times;
}

static int set_mode(unsigned int mode)
{
	struct perf_clock_mode ask = { .mode = mode };

	return ioctl(fd, PERF_CLOCK_IOC_SET_MODE, &ask);
}

/*
 * Sleep between two looks: about a millisecond, so that the machine stays
 * idle, and never twice the same, so as not to keep step with the engine.
 */
static void sleep_some(void)
{
	static uint32_t state = 1;

	state = state * 1664525 + 1013904223;
	usleep(500 + (state >> 16) % 1000);
}

/* The lag as a program sees it that looks at moments of its own choice. */
static int measure_lag(unsigned int mode, int seconds, struct lag *lag)
{
	static uint64_t samples[MAX_SAMPLES];
	uint64_t end, begin, first, last, gp, durations = 0;
	double sum = 0;
	int n = 0, gps = 0, middle, high;

	if (set_mode(mode))
		return -1;
	usleep(300000);
	begin = now_ns();
	end = begin + seconds * 1000000000ULL;
	first = last = __atomic_load_n(&page->gp_completed, __ATOMIC_ACQUIRE);
	while (now_ns() < end && n < MAX_SAMPLES) {
		struct perf_clock_read r;

		if (read(fd, &r, sizeof(r)) != sizeof(r))
			die("read");
		samples[n] = r.now - r.watermark;
		sum += samples[n++];
		gp = __atomic_load_n(&page->gp_completed, __ATOMIC_ACQUIRE);
		if (gp != last) {
			durations += page->gp_duration;
			gps++;
			last = gp;
		}
		sleep_some();
	}
	lag->per_second = (last - first) * 1e9 / (now_ns() - begin);
	qsort(samples, n, sizeof(samples[0]), compare);
	lag->mean = sum / n;
	middle = n / 2;
	high = (uint64_t)n * 99 / 100;
	lag->p50 = samples[middle];
	lag->p99 = samples[high];
	lag->max = samples[n - 1];
	lag->gp = gps ? (double)durations / gps : 0;
	return 0;
}

/* An independent measure of a grace period; 0 where it is not to be had. */
static double measure_membarrier(int times)
{
	uint64_t begin = now_ns();
	int i;

	for (i = 0; i < times; i++)
		if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
			return 0;
	return (double)(now_ns() - begin) / times;
}

static void print_lag(const char *name, const struct lag *lag, int got)
{
	if (!got) {
		printf("\"%s\": null", name);
		return;
	}
	printf("\"%s\": {\"mean_ns\": %.0f, \"p50_ns\": %.0f, \"p99_ns\": %.0f, \"max_ns\": %.0f, \"gp_ns\": %.0f, \"mean_per_gp\": %.2f, \"gp_per_s\": %.0f}",
	       name, lag->mean, lag->p50, lag->p99, lag->max, lag->gp,
	       lag->gp ? lag->mean / lag->gp : 0, lag->per_second);
}

static const char *state_name(unsigned int state)
{
	static const char * const names[] = { "unknown", "stable", "unstable" };

	return state < 3 ? names[state] : "?";
}

int main(int argc, char **argv)
{
	struct lag normal, expedited;
	struct utsname uts;
	double ns[DOORS], gp;
	int i, row = 0, seconds = 5, got_normal, got_expedited;

	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--row")) {
			row = 1;
		} else if (!strcmp(argv[i], "--seconds") && i + 1 < argc) {
			seconds = atoi(argv[++i]);
		} else {
			fprintf(stderr, "usage: bench_doors [--seconds S] [--row]\n");
			return 2;
		}
	}
	uname(&uts);
	gp = measure_membarrier(50);	/* before the engine runs */

	page_bytes = sysconf(_SC_PAGESIZE);
	fd = open(NODE, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		die(NODE);
	posix_fd = open(POSIX_NODE, O_RDONLY | O_CLOEXEC);
	if (posix_fd < 0)
		die(POSIX_NODE);
	page = mmap(NULL, page_bytes, PROT_READ, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		die("mmap");

	got_normal = !measure_lag(PERF_CLOCK_MODE_NORMAL, seconds, &normal);
	got_expedited = !measure_lag(PERF_CLOCK_MODE_EXPEDITED, seconds,
				     &expedited);
	set_mode(PERF_CLOCK_MODE_NORMAL);
	for (i = 0; i < (int)DOORS; i++)
		ns[i] = cost(&doors[i]);

	if (row) {
		printf("%s %s\n", uts.release, uts.machine);
		printf("%s,%.2f,%.1f,%.1f,%.1f,%.2f,%.2f,%.2f", state_name(
		       page->clock_state), normal.mean / normal.gp,
		       normal.gp / 1e6, normal.p50 / 1e6, normal.p99 / 1e6,
		       got_expedited ? expedited.p50 / 1e6 : 0.,
		       got_expedited ? expedited.p99 / 1e6 : 0., gp / 1e6);
		for (i = 0; i < (int)DOORS; i++)
			printf(",%.0f", ns[i]);
		printf("\n");
		return 0;
	}
	printf("{\"release\": \"%s\", \"machine\": \"%s\", \"cpus\": %ld, \"clock_state\": \"%s\", \"membarrier_ns\": %.0f,\n ",
	       uts.release, uts.machine, sysconf(_SC_NPROCESSORS_ONLN),
	       state_name(page->clock_state), gp);
	print_lag("normal", &normal, got_normal);
	printf(",\n ");
	print_lag("expedited", &expedited, got_expedited);
	printf(",\n \"door_ns\": {");
	for (i = 0; i < (int)DOORS; i++)
		printf("%s\"%s\": %.1f", i ? ", " : "", doors[i].name, ns[i]);
	printf("}}\n");
	return 0;
}
