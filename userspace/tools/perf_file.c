// SPDX-License-Identifier: GPL-2.0
/*
 * Writing a perf.data file: see perf_file.h. What is only known at the end
 * (the ids that turned up) lies behind the data; the header in front is
 * written last, so that a file without its end says so.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common.h"
#include "perf_file.h"
#include "perf_trace_data.h"

/* Of the kernel's attr as much as every perf since 4.1 reads. */
#define ATTR_SIZE	PERF_ATTR_SIZE_VER5
#define FINISHED_ROUND	68
#define ROUND_BYTES	(32 << 20)

enum { FEATURE_TRACING_DATA = 1, FEATURE_CLOCKID = 23 };

struct section {
	uint64_t offset, size;
};

struct file_header {
	char magic[8];
	uint64_t size, attr_size;
	struct section attrs, data, event_types;
	uint64_t features[4];
};

int perf_file_open(struct perf_file *f, const char *path)
{
	static const struct file_header unfinished;
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	memset(f, 0, sizeof(*f));
	if (fd < 0) {
		tool_error("cannot write %s: %s", path, strerror(errno));
		return TOOL_FAILED;
	}
	f->path = path;
	output_init(&f->out, fd);
	f->ids_mask = 255;
	f->ids = tool_alloc(f->ids_mask + 1, sizeof(*f->ids));
	f->id_events = tool_alloc(f->ids_mask + 1, sizeof(*f->id_events));
	text_bytes(&f->out.text, (const char *)&unfinished,
		   sizeof(unfinished));
	return TOOL_DONE;
}

static int put(struct perf_file *f, const void *data, size_t size)
{
	text_bytes(&f->out.text, data, size);
	f->data_bytes += size;
	return output_line_done(&f->out);
}

/* A COMM record as perf itself makes it up: no time, no event. */
static void put_task(const struct comm *comm, void *ctx)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		char name[COMM_MAX];
		/* sample_id: tid, time, cpu, identifier */
		uint64_t trailer[4];
	} rec = {
		.header = { PERF_RECORD_COMM, 0, sizeof(rec) },
		.pid = comm->pid ? comm->pid : comm->tid, .tid = comm->tid,
	};

	memcpy(rec.name, comm->name, COMM_MAX);
	put(ctx, &rec, sizeof(rec));
}

void perf_file_tasks(struct perf_file *f, const struct comms *comms)
{
	comms_each(comms, put_task, f);
}

/* ---- ids ---- */

static size_t id_place(const struct perf_file *f, uint64_t id)
{
	size_t i = id * 0x9e3779b97f4a7c15ULL >> 32 & f->ids_mask;

	while (f->ids[i] && f->ids[i] != id)
		i = (i + 1) & f->ids_mask;
	return i;
}

static void grow_ids(struct perf_file *f)
{
	uint64_t *ids = f->ids;
	int *events = f->id_events;
	size_t n = f->ids_mask + 1, i, at;

	f->ids = tool_alloc(n * 2, sizeof(*ids));
	f->id_events = tool_alloc(n * 2, sizeof(*events));
	f->ids_mask = n * 2 - 1;
	for (i = 0; i < n; i++) {
		if (!ids[i])
			continue;
		at = id_place(f, ids[i]);
		f->ids[at] = ids[i];
		f->id_events[at] = events[i];
	}
	free(ids);
	free(events);
}

static void note_id(struct perf_file *f, uint64_t id, int event)
{
	size_t at = id_place(f, id);

	if (f->ids[at])
		return;
	f->ids[at] = id;
	f->id_events[at] = event;
	if (++f->nr_ids * 2 > f->ids_mask)
		grow_ids(f);
}

int perf_file_record(struct perf_file *f, const struct perfclock_event *ev)
{
	static const struct perf_event_header round = {
		.type = FINISHED_ROUND, .size = sizeof(round),
	};

	if (ev->id && ev->index >= 0)
		note_id(f, ev->id, ev->index);
	put(f, ev->header, ev->header->size);
	/*
	 * The records are in order already: that lets perf give out what it
	 * has, where it would keep the whole file in memory.
	 */
	if (f->data_bytes - f->round_bytes > ROUND_BYTES) {
		f->round_bytes = f->data_bytes;
		put(f, &round, sizeof(round));
	}
	return -f->out.error;
}

/* ---- the end ---- */

static uint64_t place_now(const struct perf_file *f, uint64_t base)
{
	return base + f->out.text.used;
}

static void put_ids(struct perf_file *f, int event)
{
	size_t i;

	for (i = 0; i <= f->ids_mask; i++)
		if (f->ids[i] && f->id_events[i] == event)
			text_bytes(&f->out.text, (char *)&f->ids[i],
				   sizeof(f->ids[i]));
}

/* attr and the section of its ids, for each event; ids are written here. */
static void put_attrs(struct perf_file *f, struct live *l, uint64_t base,
		      struct section *attrs)
{
	struct perf_event_attr attr;
	struct text table = { 0 };
	struct section ids;
	int i;

	for (i = 0; !perfclock_session_get_attr(l->session, i, &attr,
						sizeof(attr)); i++) {
		attr.size = ATTR_SIZE;
		ids.offset = place_now(f, base);
		put_ids(f, i);
		ids.size = place_now(f, base) - ids.offset;
		text_bytes(&table, (char *)&attr, ATTR_SIZE);
		text_bytes(&table, (char *)&ids, sizeof(ids));
	}
	attrs->offset = place_now(f, base);
	attrs->size = table.used;
	text_bytes(&f->out.text, table.buf, table.used);
	text_free(&table);
}

/*
 * The features' sections stand right behind the data, in order of their
 * numbers; what they point to follows.
 */
static void put_features(struct perf_file *f, struct live *l, uint64_t base,
			 struct file_header *h)
{
	struct section table[2] = { 0 };
	size_t at = f->out.text.used;
	uint64_t resolution = 1;

	text_bytes(&f->out.text, (char *)table, sizeof(table));
	table[0].offset = place_now(f, base);
	perf_trace_data(&f->out.text, l);
	table[0].size = place_now(f, base) - table[0].offset;
	table[1].offset = place_now(f, base);
	text_bytes(&f->out.text, (char *)&resolution, sizeof(resolution));
	table[1].size = sizeof(resolution);
	memcpy(f->out.text.buf + at, table, sizeof(table));
	h->features[0] = 1ULL << FEATURE_TRACING_DATA | 1ULL << FEATURE_CLOCKID;
}

static int put_end(struct perf_file *f, struct live *l)
{
	struct file_header h = {
		.magic = "PERFILE2", .size = sizeof(h),
		.attr_size = ATTR_SIZE + sizeof(struct section),
		.data = { sizeof(h), f->data_bytes },
	};
	uint64_t base;

	output_flush(&f->out);
	base = sizeof(h) + f->data_bytes;
	put_features(f, l, base, &h);
	put_attrs(f, l, base, &h.attrs);
	output_flush(&f->out);
	if (f->out.error)
		return -f->out.error;
	if (pwrite(f->out.fd, &h, sizeof(h), 0) != sizeof(h))
		return -errno;
	return 0;
}

int perf_file_close(struct perf_file *f, struct live *l)
{
	int err = put_end(f, l);

	if (close(f->out.fd) && !err)
		err = -errno;
	if (err)
		tool_error("cannot write %s: %s", f->path, strerror(-err));
	output_free(&f->out);
	free(f->ids);
	free(f->id_events);
	return err ? TOOL_FAILED : TOOL_DONE;
}
