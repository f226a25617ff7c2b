// SPDX-License-Identifier: GPL-2.0
/*
 * PID 1 of a test guest: mounts, loads modules, runs jobs, reports, powers
 * off.
 *
 * What is to be done stands in files of the initramfs:
 *
 *	/vm/drivers	a module file a line: what the report's port needs
 *	/vm/modules	a module file and its parameters a line, in order
 *	/vm/jobs	name TAB seconds TAB shell command a line, in order
 *	/vm/back	files to send to the host in the end, a path a line
 *
 * The report goes through a port of its own, never through the console: a
 * virtio port, or the serial line that the kernel's parameter perfclock_report
 * names. It goes in frames: a letter, the length of the payload (32 bits, least
 * byte first), the payload. The host believes in a result only if it comes in
 * its frame, and in a run only if it ends with Z; so nothing that a test or
 * the kernel prints, no panic and no hang, can be taken for success.
 *
 *	H release cpus	the guest is up
 *	B name		a job begins
 *	O bytes		what it writes to stdout and stderr
 *	E text		how it ended: "exit N", "signal N", "timeout"
 *	D path NUL data	a piece of a file of /vm/back
 *	F text		init itself failed: the run counts as failed
 *	Z		all done
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define PORT_NAME	"perfclock.report"
#define LINE_MAX_LEN	8192

static int port = -1;

static void write_all(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;	/* nobody to tell: the host misses the Z */
		p += n;
		len -= n;
	}
}

static void report(char kind, const void *data, uint32_t len)
{
	unsigned char head[5] = { kind, len, len >> 8, len >> 16, len >> 24 };

	if (port < 0)
		return;
	write_all(port, head, sizeof(head));
	write_all(port, data, len);
}

static void __attribute__((format(printf, 2, 3)))
report_text(char kind, const char *fmt, ...)
{
	char text[1024];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (n >= (int)sizeof(text))
		n = sizeof(text) - 1;
	report(kind, text, n);
	if (kind == 'F')
		fprintf(stderr, "init: %s\n", text);	/* the console */
}

static void power_off(void)
{
	if (port >= 0) {
		report('Z', NULL, 0);
		tcdrain(port);
		close(port);
	}
	sync();
	reboot(RB_POWER_OFF);
	reboot(RB_AUTOBOOT);	/* no way to power off: QEMU's -no-reboot */
	for (;;)
		pause();
}

static void mount_one(const char *type, const char *where, const char *opts)
{
	mkdir(where, 0755);
	if (mount(type, where, type, 0, opts) && errno != EBUSY)
		fprintf(stderr, "init: mount %s: %s\n", where, strerror(errno));
}

/* As far as it goes: what depends on it will say so. */
static void write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, text, strlen(text)) < 0)
		fprintf(stderr, "init: %s: %s\n", path, strerror(errno));
	close(fd);
}

static void mount_all(void)
{
	mount_one("proc", "/proc", NULL);
	mount_one("sysfs", "/sys", NULL);
	mount_one("devtmpfs", "/dev", NULL);
	mkdir("/dev/pts", 0755);
	mount_one("devpts", "/dev/pts", NULL);
	mount_one("tmpfs", "/dev/shm", "mode=1777");
	mount_one("tmpfs", "/tmp", "mode=1777");
	mount_one("tmpfs", "/run", "mode=0755");
	mount_one("tracefs", "/sys/kernel/tracing", NULL);
	mount_one("debugfs", "/sys/kernel/debug", NULL);
	mount_one("cgroup2", "/sys/fs/cgroup", NULL);
	/*
	 * As any real init does. Until somebody has written here, new cgroups
	 * lack perf_event, though it needs no turning on.
	 */
	write_text("/sys/fs/cgroup/cgroup.subtree_control", "+pids");
}

/* Line by line through a file of /vm; false at its end. */
static int next_line(FILE *f, char *line)
{
	if (!f || !fgets(line, LINE_MAX_LEN, f))
		return 0;
	line[strcspn(line, "\n")] = '\0';
	return 1;
}

static void load_modules(const char *list)
{
	FILE *f = fopen(list, "re");
	char line[LINE_MAX_LEN];

	while (next_line(f, line)) {
		char *params = strchr(line, ' ');
		int fd;

		if (params)
			*params++ = '\0';
		fd = open(line, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || syscall(SYS_finit_module, fd,
				      params ? params : "", 0))
			report_text('F', "load %s: %s", line, strerror(errno));
		if (fd >= 0)
			close(fd);
	}
	if (f)
		fclose(f);
}

/* The virtio port of our name; it turns up a moment after its driver. */
static int open_port(void)
{
	char path[320], name[64];
	int fd = -1, tries;

	for (tries = 0; fd < 0 && tries < 1000; tries++) {
		DIR *dir = opendir("/sys/class/virtio-ports");
		struct dirent *entry;

		while (dir && fd < 0 && (entry = readdir(dir))) {
			FILE *f;

			snprintf(path, sizeof(path),
				 "/sys/class/virtio-ports/%s/name",
				 entry->d_name);
			f = fopen(path, "r");
			if (!f)
				continue;
			if (fgets(name, sizeof(name), f) &&
			    !strncmp(name, PORT_NAME, strlen(PORT_NAME))) {
				snprintf(path, sizeof(path), "/dev/%s",
					 entry->d_name);
				fd = open(path, O_RDWR | O_CLOEXEC);
			}
			fclose(f);
		}
		if (dir)
			closedir(dir);
		if (fd < 0)
			usleep(10000);
	}
	return fd;
}

/* The serial line that the kernel's command line names, nothing changed there. */
static int open_line(const char *name)
{
	struct termios t;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/dev/%s", name);
	fd = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 || tcgetattr(fd, &t))
		return -1;
	cfmakeraw(&t);
	return tcsetattr(fd, TCSANOW, &t) ? -1 : fd;
}

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

static pid_t start_job(const char *command, int *out)
{
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC))
		return -1;
	pid = fork();
	if (pid == 0) {
		int null = open("/dev/null", O_RDONLY);

		setsid();
		signal(SIGPIPE, SIG_DFL);
		dup2(null, 0);
		dup2(fds[1], 1);
		dup2(fds[1], 2);
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	close(fds[1]);
	*out = fds[0];
	return pid;
}

/*
 * Forward the job's output until it has ended and every holder of its stdout
 * has closed it, or the time is up. Returns false if the time is up.
 */
static int forward(pid_t pid, int out, int64_t deadline, int *status)
{
	struct pollfd p = { .fd = out, .events = POLLIN };
	int ended = 0, grace = 0;
	static char buf[65536];

	for (;;) {
		int n = poll(&p, 1, 50);

		if (n > 0) {
			ssize_t len = read(out, buf, sizeof(buf));

			if (len > 0) {
				report('O', buf, len);
				grace = 0;
			} else if (ended) {
				return 1;
			} else {
				p.fd = -1;
			}
		}
		if (!ended && waitpid(pid, status, WNOHANG) == pid)
			ended = 1;
		/* A daemon left behind may hold stdout open: 1 s, no more. */
		if (ended && (p.fd < 0 || (n == 0 && ++grace > 20)))
			return 1;
		if (now_ms() > deadline)
			return 0;
	}
}

static void run_job(const char *name, int seconds, const char *command)
{
	int out = -1, status = 0;
	pid_t pid;

	report('B', name, strlen(name));
	pid = start_job(command, &out);
	if (pid < 0) {
		report_text('F', "start %s: %s", name, strerror(errno));
		return;
	}
	if (!forward(pid, out, now_ms() + seconds * 1000LL, &status))
		report_text('E', "timeout");
	else if (WIFSIGNALED(status))
		report_text('E', "signal %d", WTERMSIG(status));
	else
		report_text('E', "exit %d", WEXITSTATUS(status));
	/* Nothing of one job may disturb the next. */
	kill(-1, SIGKILL);
	while (wait(NULL) > 0 || errno == EINTR)
		;
	close(out);
}

static void run_jobs(void)
{
	FILE *f = fopen("/vm/jobs", "re");
	char line[LINE_MAX_LEN];

	while (next_line(f, line)) {
		char *seconds = strchr(line, '\t');
		char *command = seconds ? strchr(seconds + 1, '\t') : NULL;

		if (!command) {
			report_text('F', "/vm/jobs: bad line: %s", line);
			continue;
		}
		*seconds++ = '\0';
		*command++ = '\0';
		run_job(line, atoi(seconds), command);
	}
	if (f)
		fclose(f);
}

static void send_back(void)
{
	FILE *f = fopen("/vm/back", "r");
	char line[LINE_MAX_LEN];
	static char piece[LINE_MAX_LEN + 65536];

	while (next_line(f, line)) {
		size_t head = strlen(line) + 1;
		FILE *from = fopen(line, "r");
		size_t len;

		if (!from) {
			report_text('F', "send %s: %s", line, strerror(errno));
			continue;
		}
		memcpy(piece, line, head);
		do {
			len = fread(piece + head, 1, 65536, from);
			report('D', piece, head + len);
		} while (len);
		fclose(from);
	}
	if (f)
		fclose(f);
}

/*
 * A clean end: what the run loaded last can be unloaded again. Newer kernels
 * close the files of a dead process's io_uring a moment later: be patient.
 */
static void unload_module(void)
{
	int tries;

	if (access("/sys/module/perf_clock", F_OK))
		return;
	for (tries = 0; tries < 100; tries++) {
		if (!syscall(SYS_delete_module, "perf_clock", O_NONBLOCK))
			return;
		if (errno != EWOULDBLOCK)
			break;
		usleep(100000);
	}
	report_text('F', "unload perf_clock: %s", strerror(errno));
}

int main(void)
{
	struct rlimit core = { 0, 0 };
	const char *line = getenv("perfclock_report");
	struct utsname uts;

	mount_all();
	setrlimit(RLIMIT_CORE, &core);
	setenv("PATH", "/bin:/sbin:/usr/bin:/usr/sbin", 1);
	setenv("HOME", "/tmp", 1);
	setenv("TMPDIR", "/tmp", 1);
	setenv("LC_ALL", "C", 1);
	signal(SIGPIPE, SIG_IGN);
	chdir("/tmp");

	load_modules("/vm/drivers");
	port = line ? open_line(line) : open_port();
	if (port < 0) {
		fprintf(stderr, "init: no port for the report: %s\n",
			line ? line : "virtio, " PORT_NAME);
		power_off();
	}
	uname(&uts);
	report_text('H', "%s %ld", uts.release,
		    sysconf(_SC_NPROCESSORS_ONLN));
	load_modules("/vm/modules");
	run_jobs();
	send_back();
	unload_module();
	power_off();
	return 0;
}
