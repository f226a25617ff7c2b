// SPDX-License-Identifier: GPL-2.0
/*
 * uname_loop CPU: call uname as fast as one CPU can, until killed. Two of
 * these, each on a CPU of its own, first showed records out of order.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>

int main(int argc, char **argv)
{
	struct utsname uts;
	cpu_set_t cpus;

	if (argc != 2) {
		fprintf(stderr, "usage: uname_loop CPU\n");
		return 2;
	}
	CPU_ZERO(&cpus);
	CPU_SET(atoi(argv[1]), &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus)) {
		perror("uname_loop: sched_setaffinity");
		return 1;
	}
	for (;;)
		uname(&uts);
}
