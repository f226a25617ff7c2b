// SPDX-License-Identifier: GPL-2.0
/*
 * What a session can watch: CPUs, processes with threads and children, a
 * command, a cgroup; by which events; and what it says when it cannot.
 */
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "live.h"

#define CALLS	200

static struct perfclock_session *s;
static struct live_seen seen;
static uint64_t by_index[8];
static int32_t first_tid;
static unsigned int nr_tids;
static int32_t tids[4096];

static int note(const struct perfclock_event *ev, void *ctx)
{
	unsigned int i;

	live_see(ev, ctx);
	if (ev->type != PERF_RECORD_SAMPLE)
		return 0;
	if (ev->index >= 0 && ev->index < 8)
		by_index[ev->index]++;
	if (!first_tid)
		first_tid = ev->tid;
	for (i = 0; i < nr_tids && tids[i] != ev->tid; i++)
		;
	if (i == nr_tids && nr_tids < 4096)
		tids[nr_tids++] = ev->tid;
	return 0;
}

static void make(struct perfclock_session_opts *o)
{
	o->clock = PERFCLOCK_MONOTONIC;
	o->interval_ns = 1000000;
	seen = (struct live_seen){ 0 };
	nr_tids = first_tid = 0;
	memset(by_index, 0, sizeof(by_index));
	live_new(&s, o);
}

static void finish(void)
{
	struct perfclock_session_stats st;

	EXPECT_OP(perfclock_session_finish(s, note, &seen), >=, 0);
	st = live_stats(s);
	EXPECT_EQ(st.late, 0);
	EXPECT_EQ(st.lost, 0);
	EXPECT_EQ(st.held, 0);
	EXPECT_EQ(st.truncated, 0);
	EXPECT_EQ(seen.disorder, 0);
	perfclock_session_free(s);
}

static void call(int n)
{
	struct utsname u;

	while (n--)
		uname(&u);
}

static void *calling_thread(void *arg)
{
	call((int)(intptr_t)arg);
	return NULL;
}

/* A child that calls from itself, two threads, and a child of its own. */
static pid_t start_family(int *go)
{
	int fds[2];
	pid_t pid;
	char c;

	ASSERT_EQ(pipe(fds), 0);
	pid = fork();
	ASSERT_OP(pid, >=, 0);
	if (!pid) {
		pthread_t t[2];
		pid_t child;
		int i;

		close(fds[1]);
		if (read(fds[0], &c, 1) != 1)
			_exit(1);
		for (i = 0; i < 2; i++)
			pthread_create(&t[i], NULL, calling_thread,
				       (void *)CALLS);
		for (i = 0; i < 2; i++)
			pthread_join(t[i], NULL);
		child = fork();
		if (!child) {
			call(CALLS);
			_exit(0);
		}
		waitpid(child, NULL, 0);
		call(CALLS);
		_exit(0);
	}
	close(fds[0]);
	*go = fds[1];
	return pid;
}

static void run_family(int go, pid_t pid)
{
	EXPECT_EQ(write(go, "", 1), 1);
	close(go);
	while (!waitpid(pid, NULL, WNOHANG))
		ASSERT_OP(perfclock_session_poll(s, 10, note, &seen), >=, 0);
}

static void process_with_threads_and_children(void)
{
	pid_t pid;
	struct perfclock_session_opts o = {
		.nr_pids = 1, .pids = &pid, .flags = PERFCLOCK_SESSION_INHERIT,
	};
	int go;

	pid = start_family(&go);
	make(&o);
	live_add(s, "syscalls:sys_enter_newuname");
	ASSERT_OP(perfclock_session_track_tasks(s), >=, 0);
	live_start(s);
	run_family(go, pid);
	finish();
	EXPECT_EQ(seen.samples, 4 * CALLS);
	EXPECT_EQ(nr_tids, 4);
	EXPECT_OP(seen.forks, >=, 3);
	EXPECT_OP(seen.exits, >=, 3);
}

static void process_with_threads_only(void)
{
	pid_t pid;
	struct perfclock_session_opts o = { .nr_pids = 1, .pids = &pid };
	int go;

	pid = start_family(&go);
	make(&o);
	live_add(s, "syscalls:sys_enter_newuname");
	live_start(s);
	run_family(go, pid);
	finish();
	EXPECT_EQ(seen.samples, 3 * CALLS);
	EXPECT_EQ(nr_tids, 3);
}

static void threads_that_are_there_already(void)
{
	pid_t pid = getpid();
	struct perfclock_session_opts o = { .nr_pids = 1, .pids = &pid };
	pthread_t t;

	make(&o);
	live_add(s, "syscalls:sys_enter_newuname");
	live_start(s);
	call(CALLS);
	pthread_create(&t, NULL, calling_thread, (void *)CALLS);
	pthread_join(t, NULL);
	finish();
	EXPECT_EQ(seen.samples, 2 * CALLS);
	EXPECT_EQ(nr_tids, 2);
}

static void command_from_its_exec_on(void)
{
	char *argv[] = { "sh", "-c", "uname; uname; /bin/true", NULL };
	struct perfclock_session_opts o = { 0 };
	int status = -1;
	pid_t pid;

	make(&o);
	live_add(s, "syscalls:sys_enter_newuname");
	live_add(s, "syscalls:sys_enter_execve");
	ASSERT_OP(perfclock_session_track_tasks(s), >=, 0);
	ASSERT_EQ(perfclock_session_exec(s, argv, &pid), 0);
	/* It waits for us. */
	usleep(20000);
	EXPECT_EQ(waitpid(pid, &status, WNOHANG), 0);
	live_start(s);
	while (!waitpid(pid, &status, WNOHANG))
		ASSERT_OP(perfclock_session_poll(s, 10, note, &seen), >=, 0);
	EXPECT_EQ(status, 0);
	finish();
	EXPECT_OP(by_index[0], >=, 2);
	/* A shell may be its own uname and true, as busybox is. */
	EXPECT_OP(by_index[1], >=, 1);
	EXPECT_OP(seen.comms, >=, 1);
}

static void command_that_does_not_exist(void)
{
	char *argv[] = { "/no/such/command", NULL };
	struct perfclock_session_opts o = { .readers = 1 };
	int status, files;
	pid_t pid;

	make(&o);
	live_add(s, "context-switches");
	ASSERT_EQ(perfclock_session_exec(s, argv, &pid), 0);
	files = live_files();
	EXPECT_EQ(perfclock_session_start(s), -ENOENT);
	EXPECT(strstr(perfclock_session_error(s), "/no/such/command"));
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	/* All or nothing; and it can't be forked again. */
	EXPECT_EQ(live_files(), files);
	EXPECT_EQ(perfclock_session_start(s), -EINVAL);
	EXPECT_EQ(perfclock_session_poll(s, 0, NULL, NULL), -EINVAL);
	EXPECT_EQ(perfclock_session_finish(s, NULL, NULL), 0);
	perfclock_session_free(s);
}

static void command_of_a_session_that_never_starts(void)
{
	char *argv[] = { "touch", "/tmp/perfclock-must-not-be", NULL };
	struct perfclock_session_opts o = { 0 };
	int status;
	pid_t pid;

	make(&o);
	ASSERT_EQ(perfclock_session_exec(s, argv, &pid), 0);
	perfclock_session_free(s);
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 127);
	EXPECT(access(argv[1], F_OK));
}

static void cgroup_only(void)
{
	static const char *const roots[] = {
		"/sys/fs/cgroup/perf_event", "/sys/fs/cgroup",
	};
	char dir[128], procs[160];
	struct perfclock_session_opts o = { .cgroup = dir };
	struct load load = { .nr = 0 };
	unsigned int i;
	pid_t pid;
	int go, fd, err;

	for (i = 0; i < 2; i++) {
		snprintf(dir, sizeof(dir), "%s/perfclock-test", roots[i]);
		if (!mkdir(dir, 0755))
			break;
	}
	if (i == 2)
		SKIP("cannot make a cgroup: %s", strerror(errno));
	snprintf(procs, sizeof(procs), "%s/cgroup.procs", dir);
	pid = start_family(&go);
	fd = open(procs, O_WRONLY);
	if (fd < 0 || dprintf(fd, "%d\n", pid) < 0) {
		close(go);
		waitpid(pid, NULL, 0);
		rmdir(dir);
		SKIP("cannot move a task to a cgroup: %s", strerror(errno));
	}
	close(fd);
	make(&o);
	live_add(s, "syscalls:sys_enter_newuname");
	err = perfclock_session_start(s);
	if (err) {
		close(go);
		waitpid(pid, NULL, 0);
		rmdir(dir);
		printf("# %s\n", perfclock_session_error(s));
		if (err != -EBADF)
			ASSERT(!machine_may_look());
		SKIP("no perf cgroups: %s", strerror(-err));
	}
	/* Others call as well, and are not seen. */
	load_start(&load, 1);
	run_family(go, pid);
	load_stop(&load);
	finish();
	rmdir(dir);
	EXPECT_EQ(seen.samples, 4 * CALLS);
}

static void one_cpu_of_many(void)
{
	int cpu = sysconf(_SC_NPROCESSORS_ONLN) - 1;
	struct perfclock_session_opts o = { .nr_cpus = 1, .cpus = &cpu };
	cpu_set_t set, old;

	make(&o);
	live_add(s, "syscalls:sys_enter_newuname");
	live_start(s);
	EXPECT_EQ(live_stats(s).rings, 1);
	sched_getaffinity(0, sizeof(old), &old);
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	ASSERT_EQ(sched_setaffinity(0, sizeof(set), &set), 0);
	call(CALLS);
	sched_setaffinity(0, sizeof(old), &old);
	finish();
	EXPECT_OP(seen.samples, >=, CALLS);
}

static void several_events_share_a_ring(void)
{
	pid_t pid = getpid();
	struct perfclock_session_opts o = { .nr_pids = 1, .pids = &pid };
	int i;

	make(&o);
	live_add(s, "syscalls:sys_enter_newuname");
	live_add(s, "syscalls:sys_exit_newuname");
	live_add(s, "syscalls:sys_enter_getppid");
	live_start(s);
	EXPECT_EQ(live_stats(s).rings, sysconf(_SC_NPROCESSORS_CONF));
	for (i = 0; i < CALLS; i++) {
		call(1);
		syscall(SYS_getppid);
	}
	finish();
	EXPECT_EQ(by_index[0], CALLS);
	EXPECT_EQ(by_index[1], CALLS);
	EXPECT_EQ(by_index[2], CALLS);
}

static void filters_let_through_what_they_should(void)
{
	pid_t pid = getpid();
	struct perfclock_session_opts o = { .nr_pids = 1, .pids = &pid };
	struct perfclock_event_opts eo = { .sz = sizeof(eo) };
	char filter[32];

	make(&o);
	snprintf(filter, sizeof(filter), "id == %d", (int)SYS_uname);
	eo.filter = filter;
	live_add_with(s, "raw_syscalls:sys_enter", &eo);
	live_start(s);
	call(CALLS);
	syscall(SYS_getppid);
	finish();
	EXPECT_EQ(seen.samples, CALLS);
}

static void bad_filter_is_told(void)
{
	struct perfclock_session_opts o = { 0 };
	struct perfclock_event_opts eo = {
		.sz = sizeof(eo), .filter = "no_such_field == 1",
	};

	make(&o);
	live_add_with(s, "raw_syscalls:sys_enter", &eo);
	EXPECT_EQ(perfclock_session_start(s), -EINVAL);
	EXPECT(strstr(perfclock_session_error(s), "no_such_field"));
	perfclock_session_free(s);
}

static void names_nobody_knows(void)
{
	struct perfclock_session_opts o = { 0 };

	make(&o);
	EXPECT_EQ(perfclock_session_add(s, "cpu-clok", NULL), -ENOENT);
	EXPECT(strstr(perfclock_session_error(s), "cpu-clock"));
	EXPECT_EQ(perfclock_session_add(s, "", NULL), -ENOENT);
	EXPECT_EQ(perfclock_session_add(s, ":", NULL), -ENOENT);
	EXPECT_EQ(perfclock_session_add(s, "../../etc:passwd", NULL), -ENOENT);
	perfclock_session_free(s);
}

static void tracepoints_nobody_knows(void)
{
	struct perfclock_session_opts o = { 0 };

	make(&o);
	live_add(s, "sched:sched_switch");
	EXPECT_EQ(perfclock_session_add(s, "sched:sched_swich", NULL),
		  -ENOENT);
	EXPECT(strstr(perfclock_session_error(s), "sched:sched_switch"));
	EXPECT_EQ(perfclock_session_add(s, "shed:sched_switch", NULL),
		  -ENOENT);
	EXPECT(strstr(perfclock_session_error(s), "sched"));
	perfclock_session_free(s);
}

static void raw_numbers_are_events(void)
{
	struct perfclock_session_opts o = { 0 };

	make(&o);
	/* PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES */
	EXPECT_EQ(perfclock_session_add(s, "1:3", NULL), 0);
	EXPECT_EQ(perfclock_session_add(s, "0x1:0x3", NULL), 1);
	EXPECT_EQ(perfclock_session_add(s, "r1a8", NULL), 2);
	perfclock_session_free(s);
	make(&o);
	ASSERT_EQ(perfclock_session_add(s, "1:3", NULL), 0);
	live_start(s);
	usleep(20000);
	finish();
	EXPECT_OP(seen.samples, >, 0);
}

static void cpus_that_are_not(void)
{
	char error[512];
	int cpus[] = { 0, 4000 };
	struct perfclock_session_opts o = {
		.sz = sizeof(o), .clock = PERFCLOCK_MONOTONIC,
		.nr_cpus = 2, .cpus = cpus,
		.error = error, .error_size = sizeof(error),
	};

	EXPECT_EQ(perfclock_session_new(&s, &o), -EINVAL);
	EXPECT(strstr(error, "4000"));
	cpus[1] = 0;
	EXPECT_EQ(perfclock_session_new(&s, &o), -EINVAL);
	EXPECT(strstr(error, "twice"));
}

static void processes_that_are_not(void)
{
	char error[512];
	pid_t pid = 0x7ffffffe;
	struct perfclock_session_opts o = {
		.sz = sizeof(o), .clock = PERFCLOCK_MONOTONIC,
		.nr_pids = 1, .pids = &pid,
		.error = error, .error_size = sizeof(error),
	};

	EXPECT_EQ(perfclock_session_new(&s, &o), -ESRCH);
	EXPECT(strstr(error, "no process"));
	o.nr_pids = 0;
	o.cgroup = "no/such/group";
	EXPECT_EQ(perfclock_session_new(&s, &o), -ENOENT);
	EXPECT(strstr(error, "no/such/group"));
}

static void too_many_files_are_told(void)
{
	struct perfclock_session_opts o = { 0 };
	struct rlimit old, few;

	make(&o);
	live_add(s, "context-switches");
	getrlimit(RLIMIT_NOFILE, &old);
	few = old;
	few.rlim_cur = open("/dev/null", O_RDONLY | O_CLOEXEC);
	close(few.rlim_cur);
	few.rlim_cur++;
	setrlimit(RLIMIT_NOFILE, &few);
	EXPECT_EQ(perfclock_session_start(s), -EMFILE);
	setrlimit(RLIMIT_NOFILE, &old);
	EXPECT(strstr(perfclock_session_error(s), "ulimit -n"));
	/* All or nothing: and now it works. */
	live_start(s);
	finish();
}

/*
 * Run a child without rights; what it writes into its descriptor is in text.
 * Returns its exit status.
 */
static int as_nobody(int (*child)(int out), char *text, size_t size)
{
	int status, pair[2];
	ssize_t n;
	pid_t pid;

	if (geteuid())
		SKIP("needs root, to drop it");
	ASSERT_EQ(pipe(pair), 0);
	pid = fork();
	ASSERT_OP(pid, >=, 0);
	if (!pid) {
		/* Who changed his rights may not be looked at by default. */
		if (setgid(65534) || setuid(65534) ||
		    prctl(PR_SET_DUMPABLE, 1))
			_exit(2);
		_exit(child(pair[1]));
	}
	close(pair[1]);
	n = read(pair[0], text, size - 1);
	text[n < 0 ? 0 : n] = 0;
	close(pair[0]);
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	ASSERT(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int look_at_all(int out)
{
	struct perfclock_session_opts o = {
		.sz = sizeof(o), .clock = PERFCLOCK_MONOTONIC,
	};
	int err;

	if (perfclock_session_new(&s, &o) ||
	    perfclock_session_add(s, "context-switches", NULL) < 0)
		return 2;
	err = perfclock_session_start(s);
	dprintf(out, "%s", perfclock_session_error(s));
	return err == -EACCES || err == -EPERM ? 0 : !err ? 77 : 1;
}

/* As a user without rights: the sysctl and the capability are named. */
static void no_rights_are_told(void)
{
	char text[512];
	int got = as_nobody(look_at_all, text, sizeof(text));

	if (got == 77)
		SKIP("this machine lets everyone (perf_event_paranoid)");
	EXPECT_EQ(got, 0);
	EXPECT(strstr(text, "kernel.perf_event_paranoid"));
	EXPECT(strstr(text, "CAP_PERFMON"));
}

static int look_at_oneself(int out)
{
	struct rlimit none = { 0, 0 };
	pid_t self = getpid();
	struct perfclock_session_opts o = {
		.clock = PERFCLOCK_MONOTONIC, .sz = sizeof(o),
		.nr_pids = 1, .pids = &self,
	};
	char *p;
	int i;

	if (setrlimit(RLIMIT_MEMLOCK, &none) ||
	    perfclock_session_new(&s, &o) ||
	    perfclock_session_add(s, "page-faults:u", NULL) < 0)
		return 2;
	if (perfclock_session_start(s)) {
		dprintf(out, "%s", perfclock_session_error(s));
		return 77;
	}
	p = mmap(NULL, 100 * 4096, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (i = 0; i < 100; i++)
		p[i * 4096] = 1;
	if (perfclock_session_finish(s, note, &seen) < 0)
		return 3;
	return seen.samples >= 100 && !seen.disorder ? 0 : 4;
}

static int paranoid(void)
{
	FILE *f = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
	int level = 3;

	if (f && fscanf(f, "%d", &level) != 1)
		level = 3;
	if (f)
		fclose(f);
	return level;
}

/*
 * As a user without rights, on his own process: user mode only is allowed,
 * and the default rings shrink to what he may lock.
 */
static void own_process_without_rights(void)
{
	char text[512];
	int got = as_nobody(look_at_oneself, text, sizeof(text));

	/* Debian has 3, which forbids it. */
	if (got == 77 && paranoid() > 2)
		SKIP("%.200s", text);
	EXPECT_EQ(got, 0);
	EXPECT_STREQ(text, "");
}

static void events_in_a_group(void)
{
	pid_t pid = getpid();
	struct perfclock_session_opts o = { .nr_pids = 1, .pids = &pid };
	struct perfclock_event_opts eo = {
		.sz = sizeof(eo), .flags = PERFCLOCK_EVENT_GROUP,
	};

	make(&o);
	EXPECT_EQ(perfclock_session_add(s, "page-faults", &eo), -EINVAL);
	live_add(s, "syscalls:sys_enter_newuname");
	EXPECT_EQ(perfclock_session_add(s, "syscalls:sys_exit_newuname", &eo),
		  1);
	live_start(s);
	call(CALLS);
	finish();
	EXPECT_EQ(by_index[0], CALLS);
	EXPECT_EQ(by_index[1], CALLS);
}

/* The newest of far more than the ring holds, in order, on demand. */
static void flight_recorder(void)
{
	pid_t pid = getpid();
	struct perfclock_session_opts o = {
		.nr_pids = 1, .pids = &pid, .mmap_pages = 1,
		.flags = PERFCLOCK_SESSION_OVERWRITE,
	};
	uint64_t begin, after_first;

	make(&o);
	live_add(s, "syscalls:sys_enter_newuname");
	live_start(s);
	EXPECT_EQ(perfclock_session_poll(s, 0, note, &seen), -EINVAL);
	call(100 * CALLS);
	begin = live_now();
	call(10);
	EXPECT_OP(perfclock_session_snapshot(s, note, &seen), >=, 10);
	EXPECT_OP(seen.last_stamp, >, begin);
	EXPECT_OP(seen.samples, <, 100 * CALLS);
	EXPECT_EQ(seen.disorder, 0);
	after_first = seen.samples;
	call(5);
	EXPECT_EQ(perfclock_session_snapshot(s, note, &seen), 5);
	EXPECT_EQ(seen.samples, after_first + 5);
	call(3);
	finish();
	EXPECT_EQ(seen.samples, after_first + 8);
}

/* Rings that the test maps itself, two events in one. */
static void adopted_rings_of_real_events(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr),
		.config = PERF_COUNT_SW_CONTEXT_SWITCHES,
		.sample_period = 1, .sample_id_all = 1,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
		.use_clockid = 1, .clockid = CLOCK_MONOTONIC, .disabled = 1,
	};
	struct perfclock_session_opts o = { 0 };
	struct perfclock_adopt_opts ao = { .sz = sizeof(ao), .cpu = 0 };
	size_t size = 65 * sysconf(_SC_PAGESIZE);
	cpu_set_t set, old;
	int fd[2], i;

	/* Its own sleeps are what it will see, on that CPU. */
	sched_getaffinity(0, sizeof(old), &old);
	CPU_ZERO(&set);
	CPU_SET(0, &set);
	ASSERT_EQ(sched_setaffinity(0, sizeof(set), &set), 0);
	fd[0] = syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0);
	if (fd[0] < 0) {
		i = errno;
		sched_setaffinity(0, sizeof(old), &old);
		SKIP("perf_event_open: %s", strerror(i));
	}
	attr.config = PERF_COUNT_SW_CPU_MIGRATIONS;
	fd[1] = syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0);
	ASSERT_OP(fd[1], >=, 0);
	ao.base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd[0],
		       0);
	ASSERT(ao.base != MAP_FAILED);
	ASSERT_EQ(ioctl(fd[1], PERF_EVENT_IOC_SET_OUTPUT, fd[0]), 0);
	make(&o);
	ao.size = size;
	ao.attr = &attr;
	for (i = 0; i < 2; i++) {
		ao.fd = fd[i];
		ASSERT_EQ(perfclock_session_adopt(s, &ao), i);
	}
	live_start(s);
	EXPECT_EQ(live_stats(s).rings, 1);
	for (i = 0; i < 2; i++)
		ASSERT_EQ(ioctl(fd[i], PERF_EVENT_IOC_ENABLE, 0), 0);
	for (i = 0; i < 50; i++) {
		usleep(1000);
		ASSERT_OP(perfclock_session_poll(s, 0, note, &seen), >=, 0);
	}
	finish();
	EXPECT_OP(by_index[0], >=, 1);
	EXPECT_EQ(seen.samples, by_index[0] + by_index[1]);
	/* They are still the caller's. */
	EXPECT_EQ(ioctl(fd[0], PERF_EVENT_IOC_DISABLE, 0), 0);
	munmap(ao.base, size);
	close(fd[0]);
	close(fd[1]);
	sched_setaffinity(0, sizeof(old), &old);
}

static void inherit_stat_is_refused(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr),
		.config = PERF_COUNT_SW_CONTEXT_SWITCHES,
		.inherit = 1, .inherit_stat = 1,
	};
	struct perfclock_event_opts eo = { .sz = sizeof(eo), .attr = &attr };
	struct perfclock_session_opts o = { 0 };

	make(&o);
	EXPECT_EQ(perfclock_session_add(s, "mine", &eo), -EINVAL);
	EXPECT(strstr(perfclock_session_error(s), "inherit_stat"));
	perfclock_session_free(s);
}

static const struct tap_test tests[] = {
#define T(x) { #x, x }
	T(process_with_threads_and_children),
	T(process_with_threads_only),
	T(threads_that_are_there_already),
	T(command_from_its_exec_on),
	T(command_that_does_not_exist),
	T(command_of_a_session_that_never_starts),
	T(cgroup_only),
	T(one_cpu_of_many),
	T(several_events_share_a_ring),
	T(filters_let_through_what_they_should),
	T(bad_filter_is_told),
	T(names_nobody_knows),
	T(tracepoints_nobody_knows),
	T(raw_numbers_are_events),
	T(cpus_that_are_not),
	T(processes_that_are_not),
	T(too_many_files_are_told),
	T(no_rights_are_told),
	T(own_process_without_rights),
	T(events_in_a_group),
	T(flight_recorder),
	T(adopted_rings_of_real_events),
	T(inherit_stat_is_refused),
};

TAP_MAIN(tests)
