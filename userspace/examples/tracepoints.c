// SPDX-License-Identifier: GPL-2.0
/*
 * Tracepoints of all CPUs, in order.
 *
 *	tracepoints [SECONDS [EVENT...]]
 *
 * Prints the stamp, CPU, thread and event of each record, by default the
 * context switches of three seconds. Works with and without the module.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <perfclock.h>

static int show(const struct perfclock_event *ev, void *ctx)
{
	printf("%" PRIu64 ".%09" PRIu64 " cpu %d tid %d %s\n",
	       ev->stamp / 1000000000, ev->stamp % 1000000000, ev->cpu,
	       ev->tid, ev->user ? (const char *)ev->user : "");
	return 0;
}

int main(int argc, char **argv)
{
	char why[256] = "";
	struct perfclock_session_opts opts = {
		.sz = sizeof(opts), .flags = PERFCLOCK_SESSION_CLOCK_AUTO,
		.interval_ns = 10000000, .error = why,
		.error_size = sizeof(why),
	};
	char *events[] = { "sched:sched_switch", NULL };
	char **name = argc > 2 ? argv + 2 : events;
	time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 3);
	struct perfclock_session *s;

	if (perfclock_session_new(&s, &opts)) {
		fprintf(stderr, "%s\n", why);
		return 1;
	}
	for (; *name; name++) {
		struct perfclock_event_opts ev = {
			.sz = sizeof(ev), .user = *name,
		};

		if (perfclock_session_add(s, *name, &ev) < 0)
			goto fail;
	}
	if (perfclock_session_start(s))
		goto fail;
	while (time(NULL) < end)
		if (perfclock_session_poll(s, 100, show, NULL) < 0)
			goto fail;
	perfclock_session_finish(s, show, NULL);
	perfclock_session_free(s);
	return 0;
fail:
	fprintf(stderr, "%s\n", perfclock_session_error(s));
	perfclock_session_free(s);
	return 1;
}
