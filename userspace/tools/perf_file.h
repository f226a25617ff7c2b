/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writing a perf.data file: the records of a session, in the order they were
 * delivered, with all that perf needs to read them.
 */
#ifndef TOOLS_PERF_FILE_H
#define TOOLS_PERF_FILE_H

#include <perfclock/session.h>

#include "comms.h"
#include "live.h"
#include "output.h"

struct perf_file {
	const char *path;
	struct output out;
	uint64_t data_bytes, round_bytes;
	uint64_t *ids;			/* open-addressed set; 0: empty */
	int *id_events;
	size_t ids_mask, nr_ids;
};

/* TOOL_FAILED: told. */
int perf_file_open(struct perf_file *f, const char *path);
/* Names of the tasks there are, before the first record. */
void perf_file_tasks(struct perf_file *f, const struct comms *comms);
/* 0, or -errno. */
int perf_file_record(struct perf_file *f, const struct perfclock_event *ev);
/*
 * Attributes, ids, formats of the tracepoints; then the file is whole.
 * TOOL_FAILED: told.
 */
int perf_file_close(struct perf_file *f, struct live *l);

#endif /* TOOLS_PERF_FILE_H */
