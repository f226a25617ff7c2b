// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * CPUs that come and go while a session runs. The kernel takes the events of
 * a CPU that goes offline away, silently, and does not bring them back: so we
 * look. A ring whose CPU is gone is drained once more and ends; a CPU that
 * came gets a ring. No order is broken by that: records of a new ring are
 * younger than every watermark that was proven before it was enabled.
 *
 * We look at the list of those online, and listen to the kernel's messages,
 * by which we hear of a CPU that went and came between two looks, too. What a
 * CPU did between its coming and our looking is not recorded; that this can be
 * so is told by rings_begun.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "session/internal.h"
#include "session/threads.h"

#define LOOK_EVERY_NS	20000000

static ssize_t read_online(struct perfclock_session *s, char *text,
			   size_t size)
{
	ssize_t n = pread(s->online_fd, text, size - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	return n;
}

/* A socket with the kernel's messages; -1 where that isn't allowed. */
static int open_messages(void)
{
	struct sockaddr_nl addr = {
		.nl_family = AF_NETLINK, .nl_groups = 1,
	};
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
			NETLINK_KOBJECT_UEVENT);

	if (fd >= 0 && bind(fd, (struct sockaddr *)&addr, sizeof(addr))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

void pc_hotplug_init(struct perfclock_session *s)
{
	/* Adopted rings are the caller's to look after; tasks': see open.c. */
	if (!s->cpus || pc_target_is_tasks(s))
		return;
	s->message_fd = open_messages();
	s->online_fd = open(s->online_path, O_RDONLY | O_CLOEXEC);
	if (s->online_fd >= 0)
		read_online(s, s->online_text, sizeof(s->online_text));
}

void pc_hotplug_fini(struct perfclock_session *s)
{
	if (s->online_fd >= 0)
		close(s->online_fd);
	if (s->message_fd >= 0)
		close(s->message_fd);
	s->online_fd = s->message_fd = -1;
}

static struct pc_session_ring *ring_of_cpu(struct perfclock_session *s,
					   int cpu)
{
	unsigned int i;

	for (i = 0; i < s->nr_rings; i++)
		if (s->rings[i] && s->rings[i]->cpu == cpu &&
		    s->rings[i]->map_size &&
		    !atomic_load(&s->rings[i]->ending))
			return s->rings[i];
	return NULL;
}

/* CPUs that went since the last look, whether or not they are back. */
static bool end_by_messages(struct perfclock_session *s)
{
	struct pc_session_ring *r;
	char text[2048];
	bool any = false;
	ssize_t n;
	int cpu;

	while ((n = recv(s->message_fd, text, sizeof(text) - 1, 0)) > 0) {
		text[n] = '\0';
		if (sscanf(text, "offline@/devices/system/cpu/cpu%d",
			   &cpu) != 1)
			continue;
		r = ring_of_cpu(s, cpu);
		if (r)
			atomic_store(&r->ending, true);
		any = true;
	}
	return any;
}

static void end_missing(struct perfclock_session *s, const int *online, int n)
{
	unsigned int i;

	for (i = 0; i < s->nr_rings; i++) {
		struct pc_session_ring *r = s->rings[i];

		if (r && r->map_size && !pc_cpus_have(online, n, r->cpu))
			atomic_store(&r->ending, true);
	}
}

static int begin_new(struct perfclock_session *s, const int *online, int n)
{
	int i, err;

	for (i = 0; i < n; i++) {
		if (ring_of_cpu(s, online[i]) ||
		    (!s->all_cpus &&
		     !pc_cpus_have(s->cpus, s->nr_cpus, online[i])))
			continue;
		err = pc_open_cpu(s, online[i]);
		/* It may be gone again; then its next coming counts. */
		if (err == -ENODEV)
			continue;
		if (!err)
			err = pc_enable_ring(s, ring_of_cpu(s, online[i]));
		if (err)
			return err;
		s->stats.rings_begun++;
	}
	return 0;
}

/* Rings that their reader has drained for good. */
static void close_drained(struct perfclock_session *s)
{
	unsigned int i;

	for (i = 0; i < s->nr_rings; i++) {
		struct pc_session_ring *r = s->rings[i];

		if (!r || !r->map_size || !atomic_load(&r->drained))
			continue;
		/* What it held is queued in the next round, at the latest. */
		if (!r->closing || !pc_threads_all_taken(s)) {
			r->closing = true;
			continue;
		}
		pc_wait_remove_ring(s, r);
		pc_reader_forget(s, r);
		pc_close_files(s, r);
		/* The rest of it stays: what is queued refers to it. */
		pc_ring_unmap(r);
		perfclock_order_ring_end(s->order, r->number);
		s->stats.rings_ended++;
		s->stats.rings--;
	}
}

int pc_hotplug_check(struct perfclock_session *s)
{
	char text[sizeof(s->online_text)];
	struct timespec ts;
	int *online, n, err;
	bool changed;
	uint64_t now;

	if (s->online_fd < 0)
		return 0;
	clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	now = ts.tv_sec * 1000000000ull + ts.tv_nsec;
	if (now - s->online_checked < LOOK_EVERY_NS)
		return 0;
	s->online_checked = now;
	close_drained(s);
	changed = s->message_fd >= 0 && end_by_messages(s);
	if (read_online(s, text, sizeof(text)) <= 0 ||
	    (!changed && !strcmp(text, s->online_text)))
		return 0;
	n = pc_cpus_parse(text, &online);
	if (n <= 0)
		return 0;
	strcpy(s->online_text, text);
	end_missing(s, online, n);
	err = begin_new(s, online, n);
	free(online);
	return err;
}
