// SPDX-License-Identifier: GPL-2.0
/*
 * Hard times: a consumer that is stopped, a ring of one page under a burst, a
 * storm of short tasks, a CPU that goes and comes, little memory. Order
 * holds, what is lost is counted, memory keeps to its bound.
 */
#include <fcntl.h>

#include "live.h"
#include "session/internal.h"

static struct perfclock_session *s;
static struct live_seen seen;

static void make(struct perfclock_session_opts *o, const char *event)
{
	o->clock = PERFCLOCK_MONOTONIC;
	seen = (struct live_seen){ 0 };
	live_new(&s, o);
	live_add(s, event);
}

static void poll_for(uint64_t ms)
{
	uint64_t end = live_now() + ms * 1000000;
	struct perfclock_session_stats st;

	do {
		long n = perfclock_session_poll(s, 10, live_see, &seen);

		/* A stop and its end may interrupt the wait. */
		if (n < 0 && n != -EINTR) {
			printf("# poll: %ld %s\n", n,
			       perfclock_session_error(s));
			ASSERT(false);
		}
		st = live_stats(s);
		EXPECT_EQ(st.read, st.delivered + st.held + st.dropped);
	} while (live_now() < end && !tap_failed);
}

/*
 * Until it is so, but not for ever. A minute: on a machine with ten others to
 * serve, what is queued before it may take that long to be delivered.
 */
#define poll_until(cond) do {						\
	int _n;								\
	for (_n = 0; _n < 1200 && !(cond); _n++)			\
		poll_for(50);						\
} while (0)

static struct perfclock_session_stats finish(void)
{
	struct perfclock_session_stats st;

	EXPECT_OP(perfclock_session_finish(s, live_see, &seen), >=, 0);
	st = live_stats(s);
	printf("# read %llu lost %llu stalls %llu memory %llu rounds %llu\n",
	       (unsigned long long)st.read, (unsigned long long)st.lost,
	       (unsigned long long)st.stalls, (unsigned long long)st.memory,
	       (unsigned long long)st.rounds);
	EXPECT_EQ(st.late, 0);
	EXPECT_EQ(st.lost, seen.lost);
	EXPECT_EQ(st.held, 0);
	EXPECT_EQ(st.read, st.delivered);
	EXPECT_EQ(st.truncated, 0);
	EXPECT_EQ(st.samples, seen.samples);
	EXPECT_EQ(seen.disorder, 0);
	return st;
}

static void one_second_under_load(struct perfclock_session_opts *o)
{
	struct load load;

	make(o, LOAD_EVENT);
	live_start(s);
	load_start(&load, 2);
	poll_for(1000);
	load_stop(&load);
}

/* The consumer is this process: a child stops it, and lets it go on. */
static void consumer_stopped_for_two_seconds(void)
{
	struct perfclock_session_opts o = {
		.interval_ns = 1000000, .mmap_pages = 64,
	};
	struct load load;
	pid_t pid;

	make(&o, LOAD_EVENT);
	live_start(s);
	load_start(&load, 2);
	poll_for(200);
	pid = fork();
	if (!pid) {
		kill(getppid(), SIGSTOP);
		sleep(2);
		kill(getppid(), SIGCONT);
		_exit(0);
	}
	poll_for(500);
	waitpid(pid, NULL, 0);
	poll_for(500);
	load_stop(&load);
	EXPECT_OP(finish().lost, >, 0);
	perfclock_session_free(s);
}

static void consumer_that_is_slow_keeps_to_its_memory(void)
{
	struct perfclock_session_opts o = {
		.interval_ns = 100000, .memory_max = 1 << 20,
	};
	struct perfclock_session_stats st;
	struct load load;
	uint64_t most = 0, end;

	make(&o, LOAD_EVENT);
	live_start(s);
	load_start(&load, 2);
	end = live_now() + 1500000000;
	while (live_now() < end) {
		ASSERT_OP(perfclock_session_poll(s, 10, live_see, &seen), >=, 0);
		st = live_stats(s);
		if (st.memory > most)
			most = st.memory;
		usleep(5000);
	}
	load_stop(&load);
	EXPECT_OP(most, <=, 1 << 20);
	EXPECT_OP(finish().stalls, >, 0);
	perfclock_session_free(s);
}

static void ring_of_one_page_under_a_burst(void)
{
	struct perfclock_session_opts o = {
		.interval_ns = 1000000, .mmap_pages = 1,
	};

	one_second_under_load(&o);
	/* What did not fit was counted, and what was counted arrived. */
	EXPECT_OP(finish().lost, >, 0);
	EXPECT_OP(seen.samples, >, 100);
	perfclock_session_free(s);
}

static void storm_of_short_tasks(void)
{
	struct perfclock_session_opts o = { .interval_ns = 1000000 };
	int i, n = 0;
	pid_t pid;

	make(&o, "sched:sched_process_fork");
	ASSERT_OP(perfclock_session_track_tasks(s), >=, 0);
	live_start(s);
	for (i = 0; i < 500; i++) {
		pid = fork();
		if (!pid)
			_exit(0);
		n += pid > 0;
		if (i % 16 == 0) {
			perfclock_session_poll(s, 0, live_see, &seen);
			while (waitpid(-1, NULL, WNOHANG) > 0)
				;
		}
	}
	while (waitpid(-1, NULL, 0) > 0)
		;
	EXPECT_EQ(finish().lost, 0);
	EXPECT_OP(seen.samples, >=, n);
	EXPECT_OP(seen.forks, >=, n);
	EXPECT_OP(seen.exits, >=, n);
	perfclock_session_free(s);
}

/* All their threads and children, each seen to its end. */
static void storm_of_children_of_a_watched_task(void)
{
	struct perfclock_session_opts o = { .interval_ns = 1000000 };
	char *argv[] = {
		"sh", "-c", "i=0; while [ $i -lt 500 ]; do i=$((i+1)); "
		"( : ) & [ $((i % 50)) = 0 ] && wait; done; wait", NULL
	};
	int status;
	pid_t pid;

	make(&o, "sched:sched_process_fork");
	ASSERT_OP(perfclock_session_track_tasks(s), >=, 0);
	ASSERT_EQ(perfclock_session_exec(s, argv, &pid), 0);
	live_start(s);
	while (!waitpid(pid, &status, WNOHANG))
		ASSERT_OP(perfclock_session_poll(s, 10, live_see, &seen), >=, 0);
	EXPECT_EQ(status, 0);
	EXPECT_EQ(finish().lost, 0);
	EXPECT_OP(seen.samples, >=, 500);
	EXPECT_OP(seen.exits, >=, 500);
	perfclock_session_free(s);
}

static void set_online(const char *path, const char *list)
{
	int fd = open(path, O_WRONLY);
	char text[41];

	/* In one write, of one length: no reader sees a half. */
	snprintf(text, sizeof(text), "%s\n%39s", list, "");
	ASSERT_EQ(write(fd, text, 40), 40);
	close(fd);
}

static uint64_t held_of_ring(unsigned int ring)
{
	struct perfclock_ring_stats rs = { .sz = sizeof(rs) };

	EXPECT_EQ(perfclock_session_get_ring_stats(s, ring, &rs), 0);
	return rs.held;
}

/* The file that tells which CPUs are online is ours, the CPUs are real. */
static void cpu_goes_and_comes(unsigned int readers)
{
	struct perfclock_session_opts o = {
		.interval_ns = 1000000, .readers = readers,
	};
	char path[] = "/tmp/perfclock-online-XXXXXX";
	struct perfclock_session_stats st;
	struct load load;
	uint64_t before;
	int fd;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP("needs two CPUs");
	fd = mkstemp(path);
	ASSERT_OP(fd, >=, 0);
	close(fd);
	set_online(path, "0-1");
	make(&o, LOAD_EVENT);
	s->online_path = path;
	live_start(s);
	load_start(&load, 2);
	poll_until(seen.cpus == 3);
	EXPECT_EQ(live_stats(s).rings, 2);
	EXPECT_EQ(seen.cpus, 3);
	set_online(path, "0");
	poll_until(live_stats(s).rings == 1 && !held_of_ring(1));
	st = live_stats(s);
	EXPECT_EQ(st.rings, 1);
	EXPECT_EQ(st.rings_ended, 1);
	seen.cpus = 0;
	before = seen.samples;
	poll_until(seen.cpus);
	EXPECT_EQ(seen.cpus, 1);
	EXPECT_OP(seen.samples, >, before);
	set_online(path, "0-1");
	poll_until(seen.cpus == 3);
	EXPECT_EQ(seen.cpus, 3);
	EXPECT_EQ(live_stats(s).rings, 2);
	EXPECT_EQ(live_stats(s).rings_begun, 1);
	load_stop(&load);
	finish();
	perfclock_session_free(s);
	unlink(path);
}

static void cpu_goes_and_comes_alone(void)
{
	cpu_goes_and_comes(0);
}

static void cpu_goes_and_comes_under_reader_threads(void)
{
	cpu_goes_and_comes(2);
}

static void reader_threads(void)
{
	struct perfclock_session_opts o = {
		.interval_ns = 1000000, .readers = 2,
	};

	one_second_under_load(&o);
	finish();
	EXPECT_EQ(seen.cpus & 3, 3);
	perfclock_session_free(s);
}

static const struct tap_test tests[] = {
#define T(x) { #x, x }
	T(consumer_stopped_for_two_seconds),
	T(consumer_that_is_slow_keeps_to_its_memory),
	T(ring_of_one_page_under_a_burst),
	T(storm_of_short_tasks),
	T(storm_of_children_of_a_watched_task),
	T(cpu_goes_and_comes_alone),
	T(cpu_goes_and_comes_under_reader_threads),
	T(reader_threads),
};

TAP_MAIN(tests)
