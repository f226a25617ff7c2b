/* SPDX-License-Identifier: GPL-2.0 */
/* perfclock check: what was found in a recording (check.c fills, others show). */
#ifndef TOOLS_CHECK_H
#define TOOLS_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include <perfclock/perfdata.h>
#include <perfclock/policy.h>

#include "faults.h"

#define CHECK_TYPES	64	/* kinds of records told apart */
#define CHECK_POLICIES	16
#define CHECK_COLUMNS	1024	/* of the picture */

/* How many were behind, and by how much at worst. */
struct behind {
	uint64_t count;
	uint64_t max_ns;
};

struct check_type {
	uint32_t type;
	bool unknown;
	uint64_t stamped, unstamped;
	uint64_t first_offset;
	struct behind disorder;
};

struct check_policy {
	const char *name;
	bool applies;			/* no clock needed */
	bool by_any_stamp;		/* of LOST, too, as perf does */
	bool complete;			/* followed to the end */
	uint64_t gave_up_at;		/* file offset, if not complete */
	struct perfclock_shadow *shadow;
	struct perfclock_shadow_stats stats;
	struct behind by_type[CHECK_TYPES];
};

struct check_stream {
	uint64_t records;
	uint64_t newest;		/* greatest stamp */
	struct behind inversions;
};

/* The worst disorder in each stretch of so many records. */
struct check_picture {
	uint64_t per_column;
	uint64_t at;			/* records so far */
	uint64_t behind[CHECK_COLUMNS];
};

struct check {
	const char *path;
	struct perfclock_perfdata *data;
	struct faults faults;
	struct check_type types[CHECK_TYPES];
	unsigned int nr_types;
	struct check_policy policies[CHECK_POLICIES];
	unsigned int nr_policies;
	struct check_stream *streams;
	unsigned int nr_streams;
	struct check_picture picture;
	struct behind disorder, inversions;
	uint64_t records, stamped, bytes;
	uint64_t rounds;
	uint64_t first, last;		/* least and greatest stamp, or 0 */
	uint64_t lost_records, lost_samples;	/* how many, as LOST* say */
};

const char *check_type_name(const struct check_type *t, char *buf,
			    unsigned int size);
/* Which clock an attribute's records are stamped with. */
const char *check_clock_name(const struct perfclock_perfdata_attr *a);

void check_print(const struct check *c);
void check_json(const struct check *c, struct json *j);
/* An SVG picture. 0, or TOOL_FAILED with a message. */
int check_plot(const struct check *c, const char *path);

#endif /* TOOLS_CHECK_H */
