// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * /dev/perf_clock: opening, and the question whether the module that answers
 * speaks the ABI that this library was built for. A field is present if it
 * lies within the size that the kernel reports, so a module that is newer but
 * of the same version is fine, and an older one serves the clocks it has.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock/device.h"
#include "clock/fail.h"

static const char *device_path(const struct perfclock_open_opts *o)
{
	return o->device ? o->device : DEVICE_DEFAULT;
}

int device_open(struct device *d, const struct perfclock_open_opts *o)
{
	int err;

	d->page = NULL;
	d->fd = open(device_path(o), O_RDONLY | O_CLOEXEC);
	if (d->fd >= 0)
		return 0;
	err = -errno;
	switch (err) {
	case -ENOENT:
	case -ENXIO:
	case -ENODEV:
		return clock_fail(o, -ENODEV,
				  "no %s: the module perf_clock is not loaded",
				  device_path(o));
	case -EACCES:
	case -EPERM:
		return clock_fail(o, -EACCES, "%s: %s: give read permission",
				  device_path(o), strerror(-err));
	default:
		return clock_fail(o, err, "%s: %s", device_path(o),
				  strerror(-err));
	}
}

void device_close(struct device *d)
{
	if (d->page)
		munmap((void *)d->page, d->map_size);
	if (d->fd >= 0)
		close(d->fd);
	d->page = NULL;
	d->fd = -1;
}

static int not_ours(const struct perfclock_open_opts *o)
{
	return clock_fail(o, -EPROTO, "%s: not a perf_clock device",
			  device_path(o));
}

/* What both the page and the ioctl say about the ABI. */
static int check_abi(const struct perfclock_open_opts *o, uint32_t version,
		     uint32_t size, uint32_t nr_clocks)
{
	size_t first = offsetof(struct perf_clock_page, mark[1]);
	size_t need = offsetof(struct perf_clock_page, mark) +
		      (o->clock + 1) * sizeof(struct perf_clock_mark);

	if (version > PERF_CLOCK_ABI_VERSION)
		return clock_fail(o, -EPROTO,
				  "%s: module too new: its ABI is version %u, the library knows %u: update the library",
				  device_path(o), version,
				  PERF_CLOCK_ABI_VERSION);
	if (version < PERF_CLOCK_ABI_VERSION || size < first || !nr_clocks)
		return clock_fail(o, -EPROTO,
				  "%s: module too old: its ABI is version %u with %u bytes, the library needs version %u with %zu: update the module",
				  device_path(o), version, size,
				  PERF_CLOCK_ABI_VERSION, first);
	if (nr_clocks <= o->clock || size < need)
		return clock_fail(o, -EOPNOTSUPP,
				  "%s: module too old: it has no clock '%s': update the module",
				  device_path(o),
				  perfclock_clock_name(o->clock));
	return 0;
}

int device_caps(struct device *d, const struct perfclock_open_opts *o,
		struct perf_clock_caps *caps)
{
	memset(caps, 0, sizeof(*caps));
	if (ioctl(d->fd, PERF_CLOCK_IOC_CAPS, caps))
		return not_ours(o);
	return check_abi(o, caps->version, caps->size, caps->nr_clocks);
}

/* A plain file in the device's place must not end in SIGBUS. */
static bool too_short(int fd)
{
	struct stat st;

	return fstat(fd, &st) ||
	       (S_ISREG(st.st_mode) &&
		st.st_size < (off_t)offsetof(struct perf_clock_page, mark[1]));
}

int device_map(struct device *d, const struct perfclock_open_opts *o)
{
	const struct perf_clock_page *page;

	if (too_short(d->fd))
		return not_ours(o);
	d->map_size = sysconf(_SC_PAGESIZE);
	page = mmap(NULL, d->map_size, PROT_READ, MAP_SHARED, d->fd, 0);
	if (page == MAP_FAILED)
		return errno == ENOMEM || errno == EAGAIN ?
		       clock_fail(o, -ENOMEM, "%s: mmap: %s", device_path(o),
				  strerror(errno)) : not_ours(o);
	d->page = page;
	if (page->magic != PERF_CLOCK_MAGIC)
		return not_ours(o);
	return check_abi(o, page->version, page->size, page->nr_clocks);
}
