// SPDX-License-Identifier: GPL-2.0
/*
 * Watermarks while CPUs come and go, or are never given to us. It takes CPUs
 * away from the machine, so it runs in test guests only.
 */
#include <fcntl.h>

#include "live.h"

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

	if (perfclock_open(&clk, &o))
		SKIP("%s", error);
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
	waitpid(pid, NULL, 0);
	write_file(RT_RUNTIME, "950000");
}

static const struct tap_test tests[] = {
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
