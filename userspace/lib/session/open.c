// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* Opening the events, mapping the rings, enabling. All or nothing. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "session/internal.h"

#define RING_LEAST	((size_t)64 << 10)	/* that we choose ourselves */

static int sys_perf_event_open(struct perf_event_attr *attr, pid_t pid,
			       int cpu, int group, unsigned long flags)
{
	int fd = syscall(SYS_perf_event_open, attr, pid, cpu, group, flags);

	return fd < 0 ? -errno : fd;
}

static long read_setting(const char *path)
{
	FILE *f = fopen(path, "re");
	long v = -1;

	if (f) {
		if (fscanf(f, "%ld", &v) != 1)
			v = -1;
		fclose(f);
	}
	return v;
}

static int open_failed(struct perfclock_session *s, int err, const char *name,
		       int cpu, pid_t pid)
{
	char where[48];

	if (pid >= 0)
		snprintf(where, sizeof(where), "task %d, CPU %d", pid, cpu);
	else
		snprintf(where, sizeof(where), "CPU %d", cpu);
	switch (err) {
	case -EACCES:
	case -EPERM:
		return pc_session_fail(s, err, "event %s on %s: no permission "
			"(kernel.perf_event_paranoid is %ld): run as root, "
			"with CAP_PERFMON, or after: sysctl "
			"kernel.perf_event_paranoid=-1", name, where,
			read_setting("/proc/sys/kernel/perf_event_paranoid"));
	case -EMFILE:
		return pc_session_fail(s, err, "event %s on %s: %u files are "
			"open already, no more allowed: raise ulimit -n",
			name, where, s->nr_files);
	case -ENFILE:
		return pc_session_fail(s, err, "event %s on %s: the system "
			"has no more open files: raise fs.file-max", name,
			where);
	case -ENODEV:
		return pc_session_fail(s, err, "event %s on %s: the CPU is "
			"offline, or has no such event", name, where);
	case -ESRCH:
		return pc_session_fail(s, err, "event %s on %s: no such task",
			name, where);
	case -ENOENT:
	case -EOPNOTSUPP:
		return pc_session_fail(s, err, "event %s on %s: this machine "
			"has no such event (a guest may lack the hardware)",
			name, where);
	case -EINVAL:
		return pc_session_fail(s, err, "event %s on %s: the kernel "
			"does not take these settings", name, where);
	default:
		return pc_session_fail(s, err, "event %s on %s: %s", name,
			where, strerror(-err));
	}
}

static int map_failed(struct perfclock_session *s, int err, int cpu)
{
	if (err == -EPERM)
		return pc_session_fail(s, err, "ring of CPU %d: %zu KiB are "
			"more than may be locked: take less pages, or raise "
			"kernel.perf_event_mlock_kb (now %ld) or ulimit -l "
			"(RLIMIT_MEMLOCK), or have CAP_IPC_LOCK", cpu,
			s->ring_bytes >> 10,
			read_setting("/proc/sys/kernel/perf_event_mlock_kb"));
	return pc_session_fail(s, err, "ring of CPU %d: mmap of %zu KiB: %s",
			       cpu, s->ring_bytes >> 10, strerror(-err));
}

int pc_ring_slot(struct perfclock_session *s)
{
	struct pc_session_ring *r;
	int ring;

	ring = perfclock_order_ring_add(s->order);
	if (ring < 0)
		return pc_session_fail(s, ring, "order queue: ring %u: %s",
				       s->nr_rings, strerror(-ring));
	if ((unsigned int)ring >= s->max_rings) {
		unsigned int max = s->max_rings ? s->max_rings * 2 : 8;

		r = realloc(s->rings, max * sizeof(*r));
		if (!r)
			return pc_session_fail(s, -ENOMEM, "out of memory");
		s->rings = r;
		s->max_rings = max;
	}
	r = &s->rings[ring];
	memset(r, 0, sizeof(*r));
	r->fd = r->cpu = r->pid = -1;
	r->event = r->first_event = -1;
	r->dead = true;		/* until it is mapped */
	r->stats.sz = sizeof(r->stats);
	r->stats.cpu = r->stats.pid = -1;
	if ((unsigned int)ring >= s->nr_rings)
		s->nr_rings = ring + 1;
	return ring;
}

static int add_file(struct perfclock_session *s, int fd, int event, int ring)
{
	struct pc_file *f;

	if (s->nr_files == s->max_files) {
		unsigned int max = s->max_files ? s->max_files * 2 : 16;

		f = realloc(s->files, max * sizeof(*f));
		if (!f)
			return pc_session_fail(s, -ENOMEM, "out of memory");
		s->files = f;
		s->max_files = max;
	}
	f = &s->files[s->nr_files++];
	f->fd = fd;
	f->event = event;
	f->ring = ring;
	return 0;
}

static int map_ring(struct perfclock_session *s, int ring, int fd, int cpu)
{
	struct pc_session_ring *r = &s->rings[ring];
	size_t page = sysconf(_SC_PAGESIZE), size;
	void *base;

	for (;;) {
		size = s->ring_bytes + page;
		base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED,
			    fd, 0);
		if (base != MAP_FAILED)
			break;
		if (errno != EPERM || !s->ring_auto ||
		    s->ring_bytes < RING_LEAST * 2)
			return map_failed(s, -errno, cpu);
		/* More than this user may lock: so be it, with less. */
		s->ring_bytes /= 2;
	}
	if (pc_ring_init(&r->ring, base, size)) {
		munmap(base, size);
		return pc_session_fail(s, -EPROTO,
			"ring of CPU %d: the kernel's page makes no sense",
			cpu);
	}
	r->map_size = size;
	r->fd = fd;
	r->cpu = r->stats.cpu = cpu;
	r->dead = false;
	return 0;
}

/* Into the ring: mapped by its first event, shared by the others. */
static int join_ring(struct perfclock_session *s, int ring, int fd, int event,
		     int cpu)
{
	struct pc_session_ring *r = &s->rings[ring];

	if (r->dead) {
		r->event = r->first_event = event;
		return map_ring(s, ring, fd, cpu);
	}
	if (r->event != event)
		r->event = -1;
	if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, r->fd))
		return pc_session_fail(s, -errno,
			"event %s on CPU %d: cannot share the ring: %s",
			s->events[event].name, cpu, strerror(errno));
	return 0;
}

static int set_up(struct perfclock_session *s, int fd, int event, int ring,
		  int cpu)
{
	struct pc_event *e = &s->events[event];
	uint64_t id;
	int err;

	err = join_ring(s, ring, fd, event, cpu);
	if (err)
		return err;
	if (ioctl(fd, PERF_EVENT_IOC_ID, &id))
		return pc_session_fail(s, -errno, "event %s on CPU %d: id: %s",
				       e->name, cpu, strerror(errno));
	if (pc_ids_add(&s->ids, id, event))
		return pc_session_fail(s, -ENOMEM, "out of memory");
	if (e->filter && ioctl(fd, PERF_EVENT_IOC_SET_FILTER, e->filter))
		return pc_session_fail(s, -errno,
			"event %s: the kernel refuses the filter '%s': %s",
			e->name, e->filter, strerror(errno));
	return 0;
}

static int open_event(struct perfclock_session *s, int event, pid_t pid,
		      int cpu, int ring)
{
	struct pc_event *e = &s->events[event];
	int fd, err;

	fd = sys_perf_event_open(&e->attr, pid, cpu, -1,
				 PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return open_failed(s, fd, e->name, cpu, pid);
	err = add_file(s, fd, event, ring);
	if (err) {
		close(fd);
		return err;
	}
	return set_up(s, fd, event, ring, cpu);
}

/* One ring a CPU, shared by all events there. */
static int open_cpu(struct perfclock_session *s, int cpu)
{
	unsigned int i;
	int ring, err;

	ring = pc_ring_slot(s);
	if (ring < 0)
		return ring;
	for (i = 0; i < s->nr_events; i++) {
		if (s->events[i].adopted)
			continue;
		err = open_event(s, i, -1, cpu, ring);
		if (err)
			return err;
	}
	return 0;
}

static int open_cpus(struct perfclock_session *s)
{
	unsigned int i;
	int *online, nr, err;

	if (!s->nr_cpus) {
		nr = pc_cpus_online(&online);
		if (nr <= 0)
			return pc_session_fail(s, nr ? nr : -ENODEV,
				"cannot tell which CPUs are online: is sysfs "
				"mounted?");
		s->cpus = online;
		s->nr_cpus = nr;
	}
	for (i = 0; i < s->nr_cpus; i++) {
		err = open_cpu(s, s->cpus[i]);
		if (err)
			return err;
	}
	return 0;
}

static int enable(struct perfclock_session *s)
{
	unsigned int i;

	for (i = 0; i < s->nr_files; i++)
		if (ioctl(s->files[i].fd, PERF_EVENT_IOC_ENABLE, 0))
			return pc_session_fail(s, -errno,
				"event %s: enable: %s",
				s->events[s->files[i].event].name,
				strerror(errno));
	return 0;
}

int pc_session_open(struct perfclock_session *s)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < s->nr_events; i++)
		if (!s->events[i].adopted)
			break;
	if (i < s->nr_events)
		err = open_cpus(s);
	return err ? err : enable(s);
}

void pc_session_disable(struct perfclock_session *s)
{
	unsigned int i;

	for (i = 0; i < s->nr_files; i++)
		ioctl(s->files[i].fd, PERF_EVENT_IOC_DISABLE, 0);
}

void pc_session_close(struct perfclock_session *s)
{
	unsigned int i;

	for (i = 0; i < s->nr_rings; i++) {
		struct pc_session_ring *r = &s->rings[i];

		if (r->map_size)
			munmap(r->ring.page, r->map_size);
		pc_ring_fini(&r->ring);
	}
	for (i = 0; i < s->nr_files; i++)
		close(s->files[i].fd);
	free(s->rings);
	free(s->files);
	s->rings = NULL;
	s->files = NULL;
	s->nr_rings = s->max_rings = s->nr_files = s->max_files = 0;
}
