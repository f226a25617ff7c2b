// SPDX-License-Identifier: GPL-2.0
/*
 * Watermarks while CPUs come and go, or are never given to us. It takes CPUs
 * away from the machine, so it runs in test guests only.
 */
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/syscall.h>

#include "live.h"
#include "machine.h"

static int refused_cpu = -1;

/* In libc's place: one CPU can be made to look as if it took no tasks. */
int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
	const int cpu = __atomic_load_n(&refused_cpu, __ATOMIC_RELAXED);

	if (cpu >= 0 && CPU_COUNT_S(size, set) == 1 &&
	    CPU_ISSET_S(cpu, size, set)) {
		errno = EINVAL;
		return -1;
	}
	return syscall(SYS_sched_setaffinity, pid, size, set);
}

static int last_cpu(void)
{
	return sysconf(_SC_NPROCESSORS_CONF) - 1;
}

static void guests_only(void)
{
	if (access("/vm", F_OK))
		SKIP("takes CPUs away: only in a test guest");
	if (last_cpu() < 1)
		SKIP("one CPU only");
}

static int set_online(int cpu, bool on)
{
	char path[64];
	int fd, n;

	snprintf(path, sizeof(path),
		 "/sys/devices/system/cpu/cpu%d/online", cpu);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	n = write(fd, on ? "1" : "0", 1);
	close(fd);
	return n == 1 ? 0 : -1;
}

static struct perfclock *open_clock(enum perfclock_clockid clock,
				    const char *source, const char *provider)
{
	struct perfclock *clk;
	char error[200] = "";
	struct perfclock_open_opts o = {
		.sz = sizeof(o), .clock = clock, .source = source,
		.provider = provider,
		.error = error, .error_size = sizeof(error),
	};

	if (perfclock_open(&clk, &o)) {
		if (machine_refuses(source, provider))
			SKIP("%s", error);
		printf("# %s\n", error);
		ASSERT(!"a clock can be had");
	}
	return clk;
}

/* The watermark passes what the clock shows now, without an error. */
static void expect_progress(struct perfclock *clk)
{
	uint64_t now, w;

	EXPECT_EQ(perfclock_now(clk, &now), 0);
	EXPECT_EQ(perfclock_watermark_wait(clk, now, 20000000000), 0);
	EXPECT_EQ(perfclock_watermark(clk, &w), 0);
	EXPECT_OP(w, >, now);
}

static void hotplug(enum perfclock_clockid clock, const char *source,
		    const char *provider)
{
	struct perfclock *clk;
	int i, cpu;

	guests_only();
	cpu = last_cpu();
	clk = open_clock(clock, source, provider);
	for (i = 0; i < 4; i++) {
		ASSERT_EQ(set_online(cpu, false), 0);
		expect_progress(clk);
		ASSERT_EQ(set_online(cpu, true), 0);
		expect_progress(clk);
	}
	perfclock_close(clk);
}

static void cpu_visit_goes_on_while_cpus_come_and_go(void)
{
	hotplug(PERFCLOCK_MONOTONIC_RAW, "clockid", "cpu-visit");
}

static void membarrier_goes_on_while_cpus_come_and_go(void)
{
	hotplug(PERFCLOCK_PERF, "comm-record", "membarrier");
}

static void module_goes_on_while_cpus_come_and_go(void)
{
	hotplug(PERFCLOCK_PERF, "module", "module");
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	ASSERT(fd >= 0);
	EXPECT_EQ(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

#define RT_RUNTIME	"/proc/sys/kernel/sched_rt_runtime_us"

/* A real-time task that never gives its CPU away, until killed. */
static pid_t hog(int cpu)
{
	struct sched_param param = { .sched_priority = 1 };
	cpu_set_t set;
	pid_t pid;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	fflush(stdout);
	pid = fork();
	if (pid < 0) {
		perror("fork");
		exit(1);	/* it would be killed later: -1 means all */
	}
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(30);
	if (sched_setaffinity(0, sizeof(set), &set) ||
	    sched_setscheduler(0, SCHED_FIFO, &param))
		_exit(1);
	for (;;)
		;
}

/* The watermark stands still, and the handle can be closed all the same. */
static void a_cpu_that_is_never_given_stops_cpu_visit_but_not_close(void)
{
	struct perfclock *clk;
	uint64_t now, w;
	int status;
	pid_t pid;

	guests_only();
	clk = open_clock(PERFCLOCK_MONOTONIC_RAW, "clockid", "cpu-visit");
	expect_progress(clk);
	write_file(RT_RUNTIME, "-1");
	pid = hog(last_cpu());
	usleep(500000);
	perfclock_now(clk, &now);
	perfclock_watermark_wait(clk, now, 1000000000);
	EXPECT_EQ(perfclock_watermark(clk, &w), 0);
	/* Kernels from 6.12 give other tasks their share even so. */
	printf("# under a hog the watermark %s\n",
	       w > now ? "moves" : "stands still");
	perfclock_close(clk);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	write_file(RT_RUNTIME, "950000");
	if (WIFEXITED(status))
		SKIP("there was no hog: it may not be a real-time task");
}

/* How long cpu-visit takes to find that CPU refused, ms; the error in *err. */
static uint64_t open_refused(int cpu, char *error, size_t size, int *err)
{
	struct perfclock *clk = NULL;
	struct perfclock_open_opts o = {
		.sz = sizeof(o), .clock = PERFCLOCK_MONOTONIC_RAW,
		.source = "clockid", .provider = "cpu-visit",
		.error = error, .error_size = size,
	};
	const uint64_t begin = live_now();

	__atomic_store_n(&refused_cpu, cpu, __ATOMIC_RELAXED);
	*err = perfclock_open(&clk, &o);
	__atomic_store_n(&refused_cpu, -1, __ATOMIC_RELAXED);
	perfclock_close(clk);
	return (live_now() - begin) / 1000000;
}

#define FAKE_STATE	"/tmp/perfclock-hotplug-state"

static void put_state(const char *text)
{
	int fd = open(FAKE_STATE, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
		      0600);

	ASSERT(fd >= 0);
	EXPECT_EQ(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void read_state(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		SKIP("no %s: this kernel's CPUs can't be taken away", path);
	n = read(fd, text, size - 1);
	close(fd);
	ASSERT(n > 0);
	text[n] = '\0';
}

/* Its state, as the kernel tells it, until the child writes the true one. */
static void waits_for(const char *path, int cpu)
{
	char text[32] = "", error[200] = "";
	uint64_t ms;
	pid_t pid;
	int err;

	read_state(path, text, sizeof(text));
	put_state("100\n");
	ASSERT_EQ(mount(FAKE_STATE, path, NULL, MS_BIND, NULL), 0);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		usleep(400000);
		put_state(text);
		_exit(0);
	}
	ms = open_refused(cpu, error, sizeof(error), &err);
	umount2(path, MNT_DETACH);
	unlink(FAKE_STATE);
	waitpid(pid, NULL, 0);
	EXPECT_EQ(err, -EPERM);
	EXPECT_OP(ms, >=, 400);
}

/* Between online and offline it refuses tasks: that is no lack of rights. */
static void a_cpu_on_its_way_is_waited_for(void)
{
	const int cpu = last_cpu();
	char path[80];

	if (cpu < 1)
		SKIP("one CPU only");
	if (unshare(CLONE_NEWNS) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		SKIP("no mounts of one's own: %s", strerror(errno));
	snprintf(path, sizeof(path),
		 "/sys/devices/system/cpu/cpu%d/hotplug/state", cpu);
	waits_for(path, cpu);
}

static void a_cpu_that_is_not_ours_is_refused_at_once(void)
{
	char error[200] = "";
	uint64_t ms;
	int err;

	if (last_cpu() < 1)
		SKIP("one CPU only");
	ms = open_refused(last_cpu(), error, sizeof(error), &err);
	EXPECT_EQ(err, -EPERM);
	EXPECT(strstr(error, "may not run on every CPU"));
	printf("# refused after %llu ms\n", (unsigned long long)ms);
	EXPECT_OP(ms, <, 5000);
}

static const struct tap_test tests[] = {
	{ "a_cpu_that_is_not_ours_is_refused_at_once",
	  a_cpu_that_is_not_ours_is_refused_at_once },
	{ "a_cpu_on_its_way_is_waited_for", a_cpu_on_its_way_is_waited_for },
	{ "cpu_visit_goes_on_while_cpus_come_and_go",
	  cpu_visit_goes_on_while_cpus_come_and_go },
	{ "membarrier_goes_on_while_cpus_come_and_go",
	  membarrier_goes_on_while_cpus_come_and_go },
	{ "module_goes_on_while_cpus_come_and_go",
	  module_goes_on_while_cpus_come_and_go },
	{ "a_cpu_that_is_never_given_stops_cpu_visit_but_not_close",
	  a_cpu_that_is_never_given_stops_cpu_visit_but_not_close },
};

TAP_MAIN(tests)
