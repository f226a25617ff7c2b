// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* A perf event on oneself: see self_event.h. */
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock/fail.h"
#include "clock/futex.h"
#include "clock/perf_page.h"
#include "clock/self_event.h"
#include "clock/source.h"

static int refused(const struct perfclock_open_opts *o, int err)
{
	switch (err) {
	case -EACCES:
	case -EPERM:
		return clock_fail(o, err,
				  "perf_event_open is refused (%s): it needs kernel.perf_event_paranoid <= 2 or CAP_PERFMON, and a seccomp filter that allows it",
				  strerror(-err));
	case -ENOSYS:
	case -ENOENT:
		return clock_fail(o, -ENODEV,
				  "the kernel has no perf events, or a seccomp filter hides them");
	default:
		return clock_fail(o, err, "perf_event_open: %s",
				  strerror(-err));
	}
}

static int map_ring(struct self_event *e, const struct perfclock_open_opts *o)
{
	int err;

	e->here = wiped_on_fork_new(sizeof(*e->here));
	if (!e->here)
		return clock_fail(o, -ENOMEM, "out of memory");
	atomic_store(e->here, 1);
	e->map_size = 2 * sysconf(_SC_PAGESIZE);
	e->page = mmap(NULL, e->map_size, PROT_READ | PROT_WRITE, MAP_SHARED,
		       e->fd, 0);
	if (e->page != MAP_FAILED)
		return 0;
	err = -errno;
	e->page = NULL;
	if (err == -EPERM)
		return clock_fail(o, err,
				  "no memory for a perf ring: raise kernel.perf_event_mlock_kb or RLIMIT_MEMLOCK");
	return clock_fail(o, err, "mmap of a perf event: %s", strerror(-err));
}

int self_event_open(struct self_event *e, const struct perfclock_open_opts *o)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		.comm = 1,
		.exclude_kernel = 1,	/* what everyone may */
		.exclude_hv = 1,
	};
	int err;

	if (o->clock != PERFCLOCK_PERF) {
		attr.use_clockid = 1;
		attr.clockid = source_clockid(o->clock);
	}
	e->page = NULL;
	e->here = NULL;
	e->fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1,
			PERF_FLAG_FD_CLOEXEC);
	if (e->fd < 0)
		return refused(o, -errno);
	err = map_ring(e, o);
	if (err)
		self_event_close(e);
	return err;
}

void self_event_close(struct self_event *e)
{
	/* In a fork's child something else may be in the mapping's place. */
	if (e->page && self_event_here(e))
		munmap(e->page, e->map_size);
	if (e->here)
		munmap(e->here, sizeof(*e->here));
	if (e->fd >= 0)
		close(e->fd);
	e->page = NULL;
	e->here = NULL;
	e->fd = -1;
}

/* Bytes at pos of the ring, which wraps at its end. */
static void ring_copy(const struct self_event *e, uint64_t pos, void *to,
		      size_t len)
{
	const char *data = (const char *)e->page + e->map_size / 2;
	size_t size = e->map_size / 2, at = pos & (size - 1), part;

	part = len < size - at ? len : size - at;
	memcpy(to, data + at, part);
	memcpy((char *)to + part, data, len - part);
}

int self_event_stamp(struct self_event *e, const char *name, uint64_t *ns)
{
	struct perf_event_header header;
	uint64_t head, tail;
	int err = -EIO;

	if (!self_event_here(e))
		return -ECHILD;
	tail = e->page->data_tail;
	if (prctl(PR_SET_NAME, name))
		return -errno;
	/* Acquire: the records up to head are written. */
	head = __atomic_load_n(&e->page->data_head, __ATOMIC_ACQUIRE);
	while (tail < head) {
		ring_copy(e, tail, &header, sizeof(header));
		if (header.size < sizeof(header) + sizeof(*ns) ||
		    header.size > head - tail)
			return -EIO;
		tail += header.size;
		/* The trailer is all that sample_type asks for: the time. */
		if (header.type == PERF_RECORD_COMM) {
			ring_copy(e, tail - sizeof(*ns), ns, sizeof(*ns));
			err = 0;
		}
	}
	/* Release: we have read what the kernel may now overwrite. */
	__atomic_store_n(&e->page->data_tail, head, __ATOMIC_RELEASE);
	return err;
}

bool self_event_stable(const struct self_event *e)
{
	struct page_time pt;

	/* The page is written when something happens to the event. */
	if (!self_event_here(e) || ioctl(e->fd, PERF_EVENT_IOC_RESET, 0))
		return false;
	return page_time_get(e->page, &pt);
}
