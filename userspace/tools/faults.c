// SPDX-License-Identifier: GPL-2.0
/* Faults of a recording: see faults.h. */
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "faults.h"

#define SHOWN_OF_A_KIND	5

static const char *const levels[] = { "note", "damage", "fatal" };

void faults_init(struct faults *f, const char *file)
{
	memset(f, 0, sizeof(*f));
	f->file = !strcmp(file, "-") ? "standard input" : file;
}

void faults_free(struct faults *f)
{
	unsigned int i;

	for (i = 0; i < f->nr_kept; i++)
		free(f->kept[i].text);
}

/* How many of this kind there were, this one included. */
static uint64_t count_kind(struct faults *f, const char *kind)
{
	unsigned int i;

	for (i = 0; i < f->nr_kinds; i++)
		if (!strcmp(f->kinds[i].kind, kind))
			return ++f->kinds[i].count;
	if (i == FAULT_KINDS)
		return 1;
	f->kinds[i].kind = kind;
	f->nr_kinds++;
	return f->kinds[i].count = 1;
}

void faults_add(const struct perfclock_fault *fault, void *ctx)
{
	struct faults *f = ctx;

	f->total++;
	if (fault->level != PERFCLOCK_FAULT_NOTE)
		f->damages++;
	if (fault->level == PERFCLOCK_FAULT_FATAL)
		f->fatal = true;
	if (count_kind(f, fault->kind) > SHOWN_OF_A_KIND)
		return;
	tool_error("%s: byte %llu: %s", f->file,
		   (unsigned long long)fault->offset, fault->text);
	if (f->nr_kept < FAULTS_KEPT)
		f->kept[f->nr_kept++] = (struct kept_fault){
			fault->offset, fault->level, fault->kind,
			tool_strdup(fault->text)
		};
}

void faults_finish(struct faults *f)
{
	unsigned int i;

	for (i = 0; i < f->nr_kinds; i++)
		if (f->kinds[i].count > SHOWN_OF_A_KIND)
			tool_error("%s: %llu more faults of the kind '%s'",
				   f->file, (unsigned long long)
				   f->kinds[i].count - SHOWN_OF_A_KIND,
				   f->kinds[i].kind);
}

void faults_json(const struct faults *f, struct json *j)
{
	const struct kept_fault *k;

	json_object_begin(j, "faults");
	json_u64(j, "total", f->total);
	json_u64(j, "damages", f->damages);
	json_array_begin(j, "shown");
	for (k = f->kept; k < f->kept + f->nr_kept; k++) {
		json_object_begin(j, NULL);
		json_u64(j, "offset", k->offset);
		json_string(j, "level", levels[k->level]);
		json_string(j, "kind", k->kind);
		json_string(j, "text", k->text);
		json_object_end(j);
	}
	json_array_end(j);
	json_object_end(j);
}

int faults_open(struct faults *f, struct perfclock_perfdata **pp,
		const char *path)
{
	char error[256] = "";
	struct perfclock_perfdata_opts opts = {
		.sz = sizeof(opts), .fault = faults_add, .ctx = f,
		.error = error, .error_size = sizeof(error),
	};
	int err;

	err = perfclock_perfdata_open(pp, path, &opts);
	if (!err)
		return TOOL_DONE;
	if (!f->fatal)
		tool_error("%s: %s", f->file, error[0] ? error :
			   strerror(-err));
	return TOOL_FAILED;
}

int faults_status(const struct faults *f, uint64_t good_records)
{
	if (!f->damages)
		return TOOL_DONE;
	return good_records ? TOOL_PARTIAL : TOOL_FAILED;
}
