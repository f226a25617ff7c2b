// SPDX-License-Identifier: GPL-2.0
/*
 * What is said of this machine is what is so: the API and perfclock info, as
 * root, as another user, and where a seccomp filter refuses membarrier.
 */
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/membarrier.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/syscall.h>

#include "live.h"

static char output[65536];

/* What a child shall be before it is what it will be. */
enum child_kind {
	CHILD_PLAIN,
	CHILD_NOBODY,
	CHILD_NO_MEMBARRIER,	/* refused with EPERM */
	CHILD_NO_BARRIER,	/* only the barrier itself, not the question */
	CHILD_HIDDEN_MEMBARRIER,	/* ENOSYS */
	CHILD_NO_PERF
};

/* Refuse a system call, if any_cmd or its first argument is cmd. */
static int refuse(unsigned int nr, bool any_cmd, unsigned int cmd, int err)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, cmd, 0, any_cmd ? 0 : 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | err),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { sizeof(code) / sizeof(code[0]), code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
}

static int become(enum child_kind kind)
{
	switch (kind) {
	case CHILD_NOBODY:
		return setresgid(65534, 65534, 65534) ||
		       setresuid(65534, 65534, 65534);
	case CHILD_NO_MEMBARRIER:
		return refuse(SYS_membarrier, true, 0, EPERM);
	case CHILD_NO_BARRIER:
		return refuse(SYS_membarrier, false, MEMBARRIER_CMD_GLOBAL,
			      EPERM);
	case CHILD_HIDDEN_MEMBARRIER:
		return refuse(SYS_membarrier, true, 0, ENOSYS);
	case CHILD_NO_PERF:
		return refuse(SYS_perf_event_open, true, 0, EACCES);
	default:
		return 0;
	}
}

static const char *perfclock_path(void)
{
	static char path[PATH_MAX];
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	ASSERT_OP(n, >, 0);
	self[n] = '\0';
	dirname(self);
	snprintf(path, sizeof(path), "%.4000s/../../perfclock", self);
	if (access(path, X_OK))
		snprintf(path, sizeof(path), "%.4000s/perfclock", self);
	if (access(path, X_OK))
		SKIP("no perfclock beside this test");
	return path;
}

static void exec_info(const char *path, int out, enum child_kind kind,
		      const char *clock)
{
	dup2(out, STDOUT_FILENO);
	alarm(60);
	if (!become(kind))
		execl(path, "perfclock", "info", "--json", "--clock", clock,
		      NULL);
	_exit(77);
}

/* perfclock info --json as such a child; its output in output[]. */
static void run_info(enum child_kind kind, const char *clock)
{
	const char *path = perfclock_path();
	size_t used = 0;
	int p[2], status;
	ssize_t n;
	pid_t pid;

	ASSERT_EQ(pipe(p), 0);
	fflush(stdout);
	pid = fork();
	if (!pid)
		exec_info(path, p[1], kind, clock);
	close(p[1]);
	while ((n = read(p[0], output + used, sizeof(output) - 1 - used)) > 0)
		used += n;
	output[used] = '\0';
	close(p[0]);
	ASSERT_EQ(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		SKIP("can't become such a process here");
	EXPECT_EQ(status, 0);
}

/* Value of a key in the entry of that name, up to its end of line. */
static const char *value_of(const char *name, const char *key)
{
	static char value[512];
	char want[64];
	const char *s;

	snprintf(want, sizeof(want), "\"name\": \"%s\"", name);
	s = strstr(strstr(output, "\"providers\"") ?: "", want);
	snprintf(want, sizeof(want), "\"%s\": ", key);
	s = s ? strstr(s, want) : NULL;
	if (!s)
		return "(none)";
	snprintf(value, sizeof(value), "%.*s",
		 (int)strcspn(s + strlen(want), "\n"), s + strlen(want));
	return value;
}

static bool says(const char *text)
{
	return strstr(output, text) != NULL;
}

static bool module_here(void)
{
	return !access("/dev/perf_clock", R_OK);
}

static bool membarrier_here(void)
{
	int got = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);

	return got > 0 && got & MEMBARRIER_CMD_GLOBAL;
}

static void info_names_what_is_here(void)
{
	run_info(CHILD_PLAIN, "monotonic");
	EXPECT_STREQ(value_of("module", "available"),
		     module_here() ? "true," : "false,");
	EXPECT_STREQ(value_of("membarrier", "available"),
		     membarrier_here() ? "true," : "false,");
	EXPECT_STREQ(value_of("backoff", "proven"), "false,");
	EXPECT_STREQ(value_of("cpu-visit", "available"), "true,");
	EXPECT(strtoull(value_of("cpu-visit", "lag_ns"), NULL, 10) > 0);
	EXPECT(says(module_here() ? "\"chosen\": \"module\"" :
		    membarrier_here() ? "\"chosen\": \"membarrier\"" :
		    "\"chosen\": \"cpu-visit\""));
	EXPECT(says("\n  \"proven\": true"));
}

static bool nohz_full(void)
{
	char text[64] = "";
	FILE *f = fopen("/sys/devices/system/cpu/nohz_full", "re");

	if (f) {
		if (!fgets(text, sizeof(text), f))
			text[0] = '\0';
		fclose(f);
	}
	return text[0] >= '0' && text[0] <= '9';
}

static void nohz_full_is_why_membarrier_is_not_there(void)
{
	if (!nohz_full())
		SKIP("not booted with nohz_full");
	run_info(CHILD_PLAIN, "monotonic");
	EXPECT_STREQ(value_of("membarrier", "available"), "false,");
	EXPECT(strstr(value_of("membarrier", "reason"), "nohz_full"));
	EXPECT(says("\n  \"proven\": true"));
}

static void without_membarrier(enum child_kind kind, const char *why)
{
	if (!membarrier_here())
		SKIP("no membarrier to refuse");
	run_info(kind, "monotonic_raw");
	EXPECT_STREQ(value_of("membarrier", "available"), "false,");
	EXPECT(strstr(value_of("membarrier", "reason"), why));
	EXPECT(strstr(value_of("membarrier", "reason"), "seccomp"));
	EXPECT_STREQ(value_of("membarrier", "lag_ns"), "null");
	EXPECT(says(module_here() ? "\"chosen\": \"module\"" :
				    "\"chosen\": \"cpu-visit\""));
}

static void a_filter_that_refuses_membarrier_is_named(void)
{
	without_membarrier(CHILD_NO_MEMBARRIER, "refused");
}

static void a_filter_that_refuses_only_the_barrier_is_named(void)
{
	without_membarrier(CHILD_NO_BARRIER, "refused");
}

static void a_filter_that_hides_membarrier_is_suspected(void)
{
	without_membarrier(CHILD_HIDDEN_MEMBARRIER, "has no membarrier");
}

/* The perf clock then needs the module; another clock needs nothing. */
static void without_perf_events_the_perf_clock_needs_the_module(void)
{
	run_info(CHILD_NO_PERF, "perf");
	if (module_here()) {
		EXPECT(says("\"chosen\": \"module\""));
		return;
	}
	EXPECT(says("\"chosen\": null"));
	EXPECT(says("perf_event_paranoid"));
	EXPECT(says("--clock monotonic_raw"));
	run_info(CHILD_NO_PERF, "monotonic_raw");
	EXPECT(!says("\"chosen\": null"));
}

static void a_user_without_rights_is_told_as_much(void)
{
	if (geteuid())
		SKIP("needs root to drop rights");
	run_info(CHILD_NOBODY, "monotonic");
	EXPECT(!says("\"chosen\": null"));
	EXPECT(says("\n  \"proven\": true"));
}

static const struct tap_test tests[] = {
	{ "info_names_what_is_here", info_names_what_is_here },
	{ "nohz_full_is_why_membarrier_is_not_there",
	  nohz_full_is_why_membarrier_is_not_there },
	{ "a_filter_that_refuses_membarrier_is_named",
	  a_filter_that_refuses_membarrier_is_named },
	{ "a_filter_that_refuses_only_the_barrier_is_named",
	  a_filter_that_refuses_only_the_barrier_is_named },
	{ "a_filter_that_hides_membarrier_is_suspected",
	  a_filter_that_hides_membarrier_is_suspected },
	{ "without_perf_events_the_perf_clock_needs_the_module",
	  without_perf_events_the_perf_clock_needs_the_module },
	{ "a_user_without_rights_is_told_as_much",
	  a_user_without_rights_is_told_as_much },
};

TAP_MAIN(tests)
