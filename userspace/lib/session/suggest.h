/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/* Internal: the names that come closest to one that does not exist. */
#ifndef PERFCLOCK_LIB_SUGGEST_H
#define PERFCLOCK_LIB_SUGGEST_H

#define PC_SUGGEST_NAMES	3
#define PC_SUGGEST_LENGTH	64

struct pc_suggest {
	const char *wanted;
	int n;
	int distance[PC_SUGGEST_NAMES];		/* ascending */
	char name[PC_SUGGEST_NAMES][PC_SUGGEST_LENGTH];
	char text[256];
};

void pc_suggest_init(struct pc_suggest *sg, const char *wanted);
void pc_suggest_try(struct pc_suggest *sg, const char *name);
/* "; did you mean A, B?", or "" if nothing comes close. */
const char *pc_suggest_text(struct pc_suggest *sg);

#endif /* PERFCLOCK_LIB_SUGGEST_H */
