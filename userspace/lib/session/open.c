// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Opening events, mapping rings, enabling. A ring a CPU, whatever is watched:
 * the kernel maps no ring for inherited events of a task on every CPU, and a
 * ring with one writer at a time is what a round relies on.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "session/internal.h"

#define RINGS_MOST	((size_t)512 << 20)	/* all together */
#define RING_LEAST	((size_t)64 << 10)	/* that we choose ourselves */

static int sys_perf_event_open(struct perf_event_attr *attr, pid_t pid,
			       int cpu, int group, unsigned long flags)
{
	int fd = syscall(SYS_perf_event_open, attr, pid, cpu, group, flags);

	return fd < 0 ? -errno : fd;
}

static int add_file(struct perfclock_session *s, int fd, int event,
		    struct pc_session_ring *r)
{
	struct pc_file *f;

	if (s->nr_files == s->max_files) {
		unsigned int max = s->max_files ? s->max_files * 2 : 16;

		f = realloc(s->files, max * sizeof(*f));
		if (!f)
			return pc_session_no_memory(s);
		s->files = f;
		s->max_files = max;
	}
	f = &s->files[s->nr_files++];
	f->fd = fd;
	f->event = event;
	f->ring = r;
	return 0;
}

static int map_ring(struct perfclock_session *s, struct pc_session_ring *r,
		    int fd)
{
	size_t size = s->ring_bytes + sysconf(_SC_PAGESIZE);
	void *base;

	/* A ring mapped read-only is one that overwrites. */
	base = mmap(NULL, size, s->flags & PERFCLOCK_SESSION_OVERWRITE ?
		    PROT_READ : PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (base == MAP_FAILED) {
		int err = -errno;

		s->map_refused = err == -EPERM;
		return pc_map_failed(s, err, r->cpu);
	}
	if (pc_ring_init(&r->ring, base, size)) {
		munmap(base, size);
		return pc_session_fail(s, -EPROTO,
			"ring of CPU %d: the kernel's page makes no sense",
			r->cpu);
	}
	r->map_size = size;
	r->fd = fd;
	return 0;
}

/* Into the ring: mapped by its first event, shared by the others. */
static int join_ring(struct perfclock_session *s, struct pc_session_ring *r,
		     int fd, int event)
{
	if (!r->map_size) {
		r->event = r->first_event = event;
		return map_ring(s, r, fd);
	}
	if (r->event != event)
		r->event = -1;
	if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, r->fd))
		return pc_session_fail(s, -errno,
			"event %s on CPU %d: cannot share the ring: %s",
			s->events[event].name, r->cpu, strerror(errno));
	return 0;
}

static int set_up(struct perfclock_session *s, int fd, int event,
		  struct pc_session_ring *r)
{
	struct pc_event *e = &s->events[event];
	uint64_t id;
	int err;

	err = join_ring(s, r, fd, event);
	if (err)
		return err;
	if (ioctl(fd, PERF_EVENT_IOC_ID, &id))
		return pc_session_fail(s, -errno, "event %s on CPU %d: id: %s",
				       e->name, r->cpu, strerror(errno));
	if (pc_ids_add(&r->ids, id, event))
		return pc_session_no_memory(s);
	if (e->filter && ioctl(fd, PERF_EVENT_IOC_SET_FILTER, e->filter))
		return pc_session_fail(s, -errno,
			"event %s: the kernel refuses the filter '%s': %s",
			e->name, e->filter, strerror(errno));
	return 0;
}

static void attr_for_tasks(const struct perfclock_session *s,
			   struct perf_event_attr *attr)
{
	bool command = s->target.child > 0;

	attr->inherit = 1;
	attr->enable_on_exec = command;
	if (!command && !(s->flags & PERFCLOCK_SESSION_INHERIT))
		attr->inherit_thread = 1;
}

/* *leader: of the group that a grouped event joins; becomes this event. */
static int open_event(struct perfclock_session *s, int event, pid_t pid,
		      struct pc_session_ring *r, int *leader)
{
	struct pc_event *e = &s->events[event];
	struct perf_event_attr attr = e->attr;
	unsigned long flags = PERF_FLAG_FD_CLOEXEC;
	int fd, err, group = e->grouped ? *leader : -1;

	attr.wakeup_watermark = s->wakeup_bytes ? s->wakeup_bytes :
						  s->ring_bytes / 4;
	if (pc_target_is_tasks(s)) {
		attr_for_tasks(s, &attr);
	} else if (s->target.cgroup_fd >= 0) {
		flags |= PERF_FLAG_PID_CGROUP;
		pid = s->target.cgroup_fd;
	}
	fd = sys_perf_event_open(&attr, pid, r->cpu, group, flags);
	if (fd == -EINVAL && attr.inherit_thread) {
		/* Kernels before 5.13 cannot follow threads alone. */
		attr.inherit_thread = attr.inherit = 0;
		fd = sys_perf_event_open(&attr, pid, r->cpu, group, flags);
	}
	if (fd < 0)
		return pc_open_failed(s, fd, e->name, pid, r->cpu);
	err = add_file(s, fd, event, r);
	if (err) {
		close(fd);
		return err;
	}
	if (!e->grouped)
		*leader = fd;
	return set_up(s, fd, event, r);
}

/* All events on one task, or (pid -1) on all that the CPU runs. */
static int open_events(struct perfclock_session *s, pid_t pid,
		       struct pc_session_ring *r)
{
	unsigned int i;
	int err, leader = -1;

	for (i = 0; i < s->nr_events; i++) {
		if (s->events[i].adopted)
			continue;
		err = open_event(s, i, pid, r, &leader);
		if (err)
			return err;
	}
	return 0;
}

static int open_tasks(struct perfclock_session *s, struct pc_session_ring *r)
{
	unsigned int i, opened = 0;
	int err = -ESRCH;

	for (i = 0; i < s->target.nr_tids; i++) {
		err = open_events(s, s->target.tids[i], r);
		/* A thread may have ended since it was listed. */
		if (err && err != -ESRCH)
			return err;
		opened += !err;
	}
	return opened ? 0 : err;
}

int pc_open_cpu(struct perfclock_session *s, int cpu)
{
	struct pc_session_ring *r;
	int err = pc_ring_new(s, &r);

	if (err)
		return err;
	r->cpu = r->stats.cpu = cpu;
	err = pc_target_is_tasks(s) ? open_tasks(s, r) :
				      open_events(s, -1, r);
	if (!err)
		err = pc_wait_add_ring(s, r);
	if (!err)
		err = pc_ring_assign(s, r);
	if (err)
		pc_ring_abandon(s, r);
	return err;
}

/*
 * Tasks get a ring on each CPU there is, online or not: their events live on
 * when a CPU goes, and work again when it comes back.
 */
static int find_cpus(struct perfclock_session *s)
{
	const char *path = pc_target_is_tasks(s) ? PC_CPUS_PRESENT :
						   s->online_path;
	int *cpus, nr;

	if (s->nr_cpus)
		return 0;
	nr = pc_cpus_read(path, &cpus);
	if (nr <= 0)
		return pc_session_fail(s, nr ? nr : -ENODEV,
			"cannot tell which CPUs there are from %s: %s%s", path,
			nr ? strerror(-nr) : "empty", nr == -EMFILE ?
			": raise ulimit -n" : "; is sysfs mounted?");
	s->cpus = cpus;
	s->nr_cpus = nr;
	s->all_cpus = true;
	return 0;
}

int pc_enable_ring(struct perfclock_session *s,
		   const struct pc_session_ring *r)
{
	unsigned int i;

	for (i = 0; i < s->nr_files; i++) {
		if (r && s->files[i].ring != r)
			continue;
		if (ioctl(s->files[i].fd, PERF_EVENT_IOC_ENABLE, 0))
			return pc_session_fail(s, -errno,
				"event %s: enable: %s",
				s->events[s->files[i].event].name,
				strerror(errno));
	}
	return 0;
}

/* With very many CPUs each gets a smaller ring, where the caller left it. */
static void bound_rings(struct perfclock_session *s)
{
	while (s->ring_auto && s->ring_bytes > RING_LEAST &&
	       s->ring_bytes * s->nr_cpus > RINGS_MOST)
		s->ring_bytes /= 2;
}

static int open_all(struct perfclock_session *s)
{
	unsigned int i;
	int err;

	for (i = 0; i < s->nr_events && s->events[i].adopted; i++)
		;
	if (i == s->nr_events)
		return 0;
	err = find_cpus(s);
	if (err)
		return err;
	bound_rings(s);
	for (i = 0; i < s->nr_cpus && !err; i++)
		err = pc_open_cpu(s, s->cpus[i]);
	return err;
}

void pc_session_close_ours(struct perfclock_session *s)
{
	unsigned int i;

	for (i = 0; i < s->nr_rings; i++) {
		struct pc_session_ring *r = s->rings[i];

		if (!r || !r->map_size)
			continue;
		pc_reader_forget(s, r);
		pc_ring_abandon(s, r);
		s->stats.rings--;
	}
}

int pc_session_open(struct perfclock_session *s)
{
	int err;

	for (;;) {
		err = open_all(s);
		if (!err)
			break;
		pc_session_close_ours(s);
		/* More than this user may lock: so be it, with less. */
		if (err != -EPERM || !s->map_refused || !s->ring_auto ||
		    s->ring_bytes < 2 * RING_LEAST)
			return err;
		s->ring_bytes /= 2;
		s->map_refused = false;
	}
	return s->target.child ? 0 : pc_enable_ring(s, NULL);
}

int perfclock_session_event_fd(const struct perfclock_session *s, int index,
			       int cpu)
{
	unsigned int i;

	for (i = 0; i < s->nr_files; i++)
		if (s->files[i].event == index && s->files[i].ring->cpu == cpu)
			return s->files[i].fd;
	return -ENOENT;
}

void pc_session_disable(struct perfclock_session *s)
{
	unsigned int i;

	for (i = 0; i < s->nr_files; i++)
		ioctl(s->files[i].fd, PERF_EVENT_IOC_DISABLE, 0);
}

void pc_close_files(struct perfclock_session *s,
		    const struct pc_session_ring *r)
{
	unsigned int i, kept = 0;

	for (i = 0; i < s->nr_files; i++) {
		if (r && s->files[i].ring != r)
			s->files[kept++] = s->files[i];
		else
			close(s->files[i].fd);
	}
	s->nr_files = kept;
}

void pc_session_close(struct perfclock_session *s)
{
	unsigned int i;

	for (i = 0; i < s->nr_rings; i++)
		pc_ring_free(s->rings[i]);
	pc_close_files(s, NULL);
	free(s->rings);
	free(s->files);
	s->rings = NULL;
	s->files = NULL;
	s->nr_rings = s->nr_files = s->max_files = 0;
}
