// SPDX-License-Identifier: GPL-2.0
/*
 * CPUs really go offline and come back under a session. Not on a machine that
 * others work on: only where PERFCLOCK_TEST_HOTPLUG is set, as in the VM.
 */
#include <fcntl.h>

#include "live.h"

static struct perfclock_session *s;
static struct live_seen seen;

static bool set_online(int cpu, bool online)
{
	char path[64];
	int fd;
	bool ok;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online",
		 cpu);
	fd = open(path, O_WRONLY);
	ok = fd >= 0 && write(fd, online ? "1" : "0", 1) == 1;
	if (fd >= 0)
		close(fd);
	return ok;
}

static void poll_for(uint64_t ms)
{
	uint64_t end = live_now() + ms * 1000000;

	do {
		if (perfclock_session_poll(s, 10, live_see, &seen) < 0) {
			printf("# poll: %s\n", perfclock_session_error(s));
			ASSERT(false);
		}
	} while (live_now() < end);
}

#define poll_until(cond) do {						\
	int _n;								\
	for (_n = 0; _n < 200 && !(cond); _n++)				\
		poll_for(50);						\
	EXPECT(cond);							\
} while (0)

static void run(const char *provider, unsigned int readers)
{
	struct perfclock_session_opts o = {
		.sz = sizeof(o), .interval_ns = 1000000,
		.provider = provider, .readers = readers,
		.clock = PERFCLOCK_MONOTONIC,
	};
	int cpu = sysconf(_SC_NPROCESSORS_CONF) - 1, i;
	struct perfclock_session_stats st;
	struct load load;

	if (!getenv("PERFCLOCK_TEST_HOTPLUG"))
		SKIP("PERFCLOCK_TEST_HOTPLUG is not set");
	if (cpu < 1 || !set_online(cpu, false) || !set_online(cpu, true))
		SKIP("cannot take CPU %d offline", cpu);
	seen = (struct live_seen){ 0 };
	live_new(&s, &o);
	live_add(s, LOAD_EVENT);
	live_start(s);
	load_start(&load, cpu + 1);
	poll_until(seen.cpus & 1u << cpu);
	for (i = 0; i < 3; i++) {
		ASSERT(set_online(cpu, false));
		poll_until(live_stats(s).rings == (unsigned int)cpu);
		ASSERT(set_online(cpu, true));
		poll_until(live_stats(s).rings == (unsigned int)cpu + 1);
		seen.cpus = 0;
		/* The loop that was moved away must be put back. */
		load_stop(&load);
		load_start(&load, cpu + 1);
		poll_until(seen.cpus & 1u << cpu);
	}
	/* Both between two looks: heard of by the kernel's message. */
	ASSERT(set_online(cpu, false));
	ASSERT(set_online(cpu, true));
	load_stop(&load);
	load_start(&load, cpu + 1);
	poll_until(live_stats(s).rings_begun == 4 &&
		   live_stats(s).rings_ended == 4);
	seen.cpus = 0;
	poll_until(seen.cpus & 1u << cpu);
	load_stop(&load);
	EXPECT_OP(perfclock_session_finish(s, live_see, &seen), >=, 0);
	st = live_stats(s);
	printf("# read %llu lost %llu\n", (unsigned long long)st.read,
	       (unsigned long long)st.lost);
	EXPECT_EQ(st.late, 0);
	EXPECT_EQ(seen.disorder, 0);
	EXPECT_EQ(st.rings_begun, 4);
	EXPECT_EQ(st.rings_ended, 4);
	EXPECT_EQ(st.read, st.delivered);
	EXPECT_EQ(st.samples, seen.samples);
	perfclock_session_free(s);
}

static void by_the_best_provider(void)
{
	run(NULL, 0);
}

static void by_membarrier(void)
{
	run("membarrier", 0);
}

static void by_cpu_visit(void)
{
	run("cpu-visit", 0);
}

static void by_reader_threads(void)
{
	run(NULL, 2);
}

static const struct tap_test tests[] = {
	{ "by_the_best_provider", by_the_best_provider },
	{ "by_membarrier", by_membarrier },
	{ "by_cpu_visit", by_cpu_visit },
	{ "by_reader_threads", by_reader_threads },
};

TAP_MAIN(tests)
