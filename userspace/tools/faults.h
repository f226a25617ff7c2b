/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Faults of a recording, told on stderr as they are found, each with its
 * byte offset: the first few of a kind, and at the end how many more.
 */
#ifndef TOOLS_FAULTS_H
#define TOOLS_FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <perfclock/perfdata.h>

#include "json.h"

#define FAULT_KINDS	32
#define FAULTS_KEPT	64

struct kept_fault {
	uint64_t offset;
	enum perfclock_fault_level level;
	const char *kind;
	char *text;
};

struct faults {
	const char *file;	/* as messages call it */
	struct {
		const char *kind;
		uint64_t count;
	} kinds[FAULT_KINDS];
	struct kept_fault kept[FAULTS_KEPT];
	unsigned int nr_kinds, nr_kept;
	uint64_t total, damages;
	bool fatal;
};

void faults_init(struct faults *f, const char *file);
void faults_free(struct faults *f);
/* The callback of perfclock_perfdata_opts; ctx: struct faults *. */
void faults_add(const struct perfclock_fault *fault, void *ctx);
/* How many were not shown. */
void faults_finish(struct faults *f);
/* "faults": { ... } */
void faults_json(const struct faults *f, struct json *j);

/*
 * Open a recording with its faults told here. 0, or TOOL_FAILED with a
 * message.
 */
int faults_open(struct faults *f, struct perfclock_perfdata **pp,
		const char *path);
/* The exit status that faults make of a reading of so many good records. */
int faults_status(const struct faults *f, uint64_t good_records);

#endif /* TOOLS_FAULTS_H */
