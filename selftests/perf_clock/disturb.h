/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What can befall a machine while records are read: CPUs go and come, it is
 * suspended and resumed, the clocksource changes. Each is done over and over
 * by a child of the test, which counts in memory that both share.
 */
#ifndef PERF_CLOCK_DISTURB_H
#define PERF_CLOCK_DISTURB_H

#include "perf_clock_test.h"

#define CPUS		"/sys/devices/system/cpu/"
#define CLOCKSOURCE	"/sys/devices/system/clocksource/clocksource0/"
#define WAKE_ALARM	"/sys/class/rtc/rtc0/wakealarm"

struct disturbance {
	const char *name;
	const char *(*why_not)(void);	/* NULL: it can be done here */
	int (*once)(void);		/* true: done */
	void (*restore)(void);		/* what a killed child leaves behind */
};

/* 0, or -errno. */
static inline int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		err = -errno;
	close(fd);
	return err;
}

/* The first line of a file, "" if there is none. */
static inline char *read_text(const char *path)
{
	static char text[512];
	FILE *f = fopen(path, "re");

	text[0] = '\0';
	if (f && !fgets(text, sizeof(text), f))
		text[0] = '\0';
	if (f)
		fclose(f);
	text[strcspn(text, "\n")] = '\0';
	return text;
}

/* The upper half of the CPUs goes and comes. */

static inline int set_upper_half(const char *online)
{
	long cpu, n = sysconf(_SC_NPROCESSORS_CONF);
	char path[128];
	int good = 1;

	for (cpu = n / 2; cpu < n; cpu++) {
		snprintf(path, sizeof(path), CPUS "cpu%ld/online", cpu);
		/* EBUSY, EINVAL: it is as wanted already, or nearly so. */
		good &= cpu == 0 || !write_text(path, online);
	}
	return good;
}

static inline const char *hotplug_why_not(void)
{
	return access(CPUS "cpu1/online", W_OK) ?
	       "CPU 1 cannot be set on or off line" : NULL;
}

static inline int hotplug_once(void)
{
	return set_upper_half("0") && set_upper_half("1");
}

static inline void hotplug_restore(void)
{
	set_upper_half("1");
}

/*
 * PERF_CLOCK_TEST_SUSPEND=nearly: all steps of a suspend to memory (or, where
 * there is no such state, to idle) and back but for the sleep itself: user
 * space and threads frozen, devices, CPUs, the timekeeper; CONFIG_PM_DEBUG.
 * =truly: with the sleep, woken up by the real-time clock. On a machine so
 * busy that the alarm goes off before it sleeps, it sleeps on.
 */

static inline int suspend_is_true(void)
{
	return !strcmp(getenv("PERF_CLOCK_TEST_SUSPEND"), "truly");
}

static inline int has_deep_sleep(void)
{
	return strstr(read_text("/sys/power/state"), "mem") &&
	       strstr(read_text("/sys/power/mem_sleep"), "deep");
}

static inline const char *suspend_why_not(void)
{
	if (!getenv("PERF_CLOCK_TEST_SUSPEND"))
		return "suspends the machine: set PERF_CLOCK_TEST_SUSPEND=nearly";
	if (access("/sys/power/state", W_OK))
		return "no suspend in this kernel, or not root";
	if (!suspend_is_true() && access("/sys/power/pm_test", W_OK))
		return "no CONFIG_PM_DEBUG";
	if (suspend_is_true() &&
	    (!has_deep_sleep() || access(WAKE_ALARM, W_OK)))
		return "no suspend to memory, or nothing to wake up by";
	return NULL;
}

static inline int suspend_truly(void)
{
	write_text(WAKE_ALARM, "0");	/* one that is left over */
	return !write_text(WAKE_ALARM, "+3") &&
	       !write_text("/sys/power/state", "mem");
}

static inline int suspend_nearly(void)
{
	int mem = has_deep_sleep();

	write_text("/sys/module/suspend/parameters/pm_test_delay", "1");
	return !write_text("/sys/power/pm_test", mem ? "core" : "platform") &&
	       !write_text("/sys/power/state", mem ? "mem" : "freeze");
}

static inline int suspend_once(void)
{
	int done;

	sleep_ms(700);		/* some work between two of them */
	done = suspend_is_true() ? suspend_truly() : suspend_nearly();
	if (!done)
		perror("suspend");
	return done;
}

static inline void suspend_restore(void)
{
	write_text("/sys/power/pm_test", "none");
}

/* The timekeeper takes one clocksource after the other. */

static inline const char *clocksource_why_not(void)
{
	const char *space = strchr(read_text(CLOCKSOURCE
					     "available_clocksource"), ' ');

	if (!space || !space[1])	/* the kernel ends the list by one */
		return "one clocksource only";
	if (access(CLOCKSOURCE "current_clocksource", W_OK))
		return "not root: cannot change the clocksource";
	return NULL;
}

static inline int clocksource_once(void)
{
	char names[512], *name, *rest = names;
	int changes = 0;

	snprintf(names, sizeof(names), "%s",
		 read_text(CLOCKSOURCE "available_clocksource"));
	while ((name = strsep(&rest, " "))) {
		if (!*name)
			continue;
		write_text(CLOCKSOURCE "current_clocksource", name);
		changes += !strcmp(name, read_text(CLOCKSOURCE
						   "current_clocksource"));
		sleep_ms(50);
	}
	return changes > 1;
}

/* The kernel lists the best one first. */
static inline void clocksource_restore(void)
{
	char *names = read_text(CLOCKSOURCE "available_clocksource");

	names[strcspn(names, " ")] = '\0';
	write_text(CLOCKSOURCE "current_clocksource", names);
}

static const struct disturbance hotplug = {
	"hotplug", hotplug_why_not, hotplug_once, hotplug_restore,
};

static const struct disturbance suspend = {
	"suspend", suspend_why_not, suspend_once, suspend_restore,
};

static const struct disturbance clocksource = {
	"clocksource", clocksource_why_not, clocksource_once,
	clocksource_restore,
};

/* A child that disturbs until the parent is gone or kills it. */
static inline pid_t start_disturbance(const struct disturbance *d, int *times)
{
	pid_t parent = getpid(), pid = fork();

	if (pid)
		return pid;
	while (getppid() == parent) {
		if (d->once())
			__atomic_add_fetch(times, 1, __ATOMIC_RELEASE);
		else
			sleep_ms(10);
	}
	_exit(0);
}

#endif /* PERF_CLOCK_DISTURB_H */
