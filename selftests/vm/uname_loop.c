// SPDX-License-Identifier: GPL-2.0
/*
 * uname_loop CPU [PAUSE_US]: call uname as fast as one CPU can, or with a sleep
 * between two calls, until killed. Two of these, each on a CPU of its own,
 * first showed records out of order.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct utsname uts;
	cpu_set_t cpus;

	if (argc < 2 || argc > 3) {
		fprintf(stderr, "usage: uname_loop CPU [PAUSE_US]\n");
		return 2;
	}
	CPU_ZERO(&cpus);
	CPU_SET(atoi(argv[1]), &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus)) {
		perror("uname_loop: sched_setaffinity");
		return 1;
	}
	for (;;) {
		uname(&uts);
		if (argc > 2)
			usleep(atoi(argv[2]));
	}
}
