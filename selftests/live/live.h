/* SPDX-License-Identifier: GPL-2.0 */
/* What live tests share: a load, and whether this machine lets us look. */
#ifndef SELFTESTS_LIVE_H
#define SELFTESTS_LIVE_H

#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <perfclock.h>

#include "machine.h"
#include "tap.h"

#define LOAD_CPUS_MAX	64
#define LOAD_EVENT	"raw_syscalls:sys_enter"

static inline uint64_t __attribute__((unused)) live_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/* One system call loop pinned to each of nr CPUs; until load_stop(). */
struct load {
	pid_t pid[LOAD_CPUS_MAX];
	int nr;
};

static inline void __attribute__((unused))
load_start(struct load *l, int nr)
{
	struct utsname u;
	cpu_set_t set;
	int i;

	l->nr = 0;
	for (i = 0; i < nr && i < LOAD_CPUS_MAX; i++) {
		pid_t pid = fork();

		if (pid > 0) {
			l->pid[l->nr++] = pid;
			continue;
		}
		if (pid < 0)
			break;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		CPU_ZERO(&set);
		CPU_SET(i, &set);
		sched_setaffinity(0, sizeof(set), &set);
		for (;;)
			uname(&u);
	}
}

static inline void __attribute__((unused)) load_stop(struct load *l)
{
	while (l->nr) {
		kill(l->pid[--l->nr], SIGKILL);
		waitpid(l->pid[l->nr], NULL, 0);
	}
}

/* What a callback has seen; zero it before a session starts. */
struct live_seen {
	uint64_t samples;
	uint64_t disorder;		/* stamped below the one before */
	uint64_t last_stamp;
	uint64_t lost;
	uint64_t comms, forks, exits;
	uint32_t cpus;			/* a bit for each, up to CPU 31 */
};

/* A callback of sessions; ctx: struct live_seen. */
static inline int __attribute__((unused))
live_see(const struct perfclock_event *ev, void *ctx)
{
	struct live_seen *seen = ctx;

	seen->lost += ev->lost;
	seen->comms += ev->type == PERF_RECORD_COMM;
	seen->forks += ev->type == PERF_RECORD_FORK;
	seen->exits += ev->type == PERF_RECORD_EXIT;
	if (ev->type != PERF_RECORD_SAMPLE)
		return 0;
	seen->samples++;
	seen->disorder += ev->stamp < seen->last_stamp;
	seen->last_stamp = ev->stamp;
	if (ev->cpu >= 0 && ev->cpu < 32)
		seen->cpus |= 1u << ev->cpu;
	return 0;
}

/*
 * Skips are for what this machine lacks, and that is asked of the kernel: a
 * library that refuses what is there has failed.
 */
static inline bool live_machine_lacks(const char *provider, int err)
{
	switch (err) {
	case -ENODEV:
		if (provider && !strcmp(provider, "module"))
			return !machine_has_module();
		if (provider && strcmp(provider, "membarrier"))
			return true;
		return !machine_has_membarrier();
	case -ENOENT:
	case -ENOSYS:
	case -EOPNOTSUPP:
	case -EACCES:
	case -EPERM:
		return true;
	}
	return false;
}

/* A new session, or a skip that says why there is none. */
static inline void __attribute__((unused))
live_new(struct perfclock_session **s, const struct perfclock_session_opts *way)
{
	struct perfclock_session_opts o = *way;
	char error[512] = "";
	int err;

	o.sz = sizeof(o);
	o.error = error;
	o.error_size = sizeof(error);
	err = perfclock_session_new(s, &o);
	if (err && live_machine_lacks(o.provider, err))
		SKIP("%.200s", error);
	if (err)
		printf("# %s\n", error);
	ASSERT_EQ(err, 0);
}

/* A session that has started, or a skip that says why not. */
static inline void __attribute__((unused))
live_start(struct perfclock_session *s)
{
	int err = perfclock_session_start(s);
	char why[256];

	if ((err == -EACCES || err == -EPERM) && !machine_may_look()) {
		snprintf(why, sizeof(why), "%s", perfclock_session_error(s));
		perfclock_session_free(s);
		SKIP("%s", why);
	}
	if (err)
		printf("# %s\n", perfclock_session_error(s));
	ASSERT_EQ(err, 0);
}

static inline void __attribute__((unused))
live_add_with(struct perfclock_session *s, const char *event,
	      const struct perfclock_event_opts *opts)
{
	int err = perfclock_session_add(s, event, opts);
	char why[256];

	if ((err == -EACCES || err == -ENOENT) && strchr(event, ':') &&
	    !machine_has_tracepoint(event)) {
		snprintf(why, sizeof(why), "%s", perfclock_session_error(s));
		perfclock_session_free(s);
		SKIP("%s", why);
	}
	if (err < 0)
		printf("# %s\n", perfclock_session_error(s));
	ASSERT_OP(err, >=, 0);
}

static inline void __attribute__((unused))
live_add(struct perfclock_session *s, const char *event)
{
	live_add_with(s, event, NULL);
}

static inline struct perfclock_session_stats __attribute__((unused))
live_stats(struct perfclock_session *s)
{
	struct perfclock_session_stats st = { .sz = sizeof(st) };

	EXPECT_EQ(perfclock_session_get_stats(s, &st), 0);
	return st;
}

/* How many files are open; this look at them is one of them, each time. */
static inline int __attribute__((unused)) live_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	ASSERT(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

#endif /* SELFTESTS_LIVE_H */
