/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writers, grace periods and a reader, taken apart into the steps that other
 * CPUs can come between, and run through every order of these steps.
 *
 * A writer (one for each ring) takes a stamp, reserves room, publishes; a
 * nested writer (an interrupt) may begin at any point between and must end
 * before the outer one goes on; if that one has reserved, it publishes for
 * both. A grace
 * period begins (reads the clock) and may end once every writer that was at
 * work then has published. The reader loads the watermark, each ring's head,
 * delivers. The reader is the real round loop with the real order core: its
 * callbacks let the others run before each load.
 *
 * A schedule is the list of choices of who takes the next step. They are run
 * one after another, each from the beginning, depth first; one that comes to
 * a state which another came to before is cut off there.
 */
#ifndef SELFTESTS_EXPLORE_H
#define SELFTESTS_EXPLORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPLORE_RINGS	4
#define EXPLORE_RECORDS	8		/* of a ring */

struct explore_params {
	unsigned int rings, records;	/* records: of each ring */
	unsigned int nesting;		/* writers of a ring at work at most */
	unsigned int grace_periods;
	unsigned int rounds;
	/* Records read of a ring before the round is cut short; 0: any. */
	unsigned int budget;
	/* Records that fit in memory; 0: any. */
	unsigned int room;
	/* NULL: the round loop, by the watermark; else a policy's name. */
	const char *policy;
};

struct explore_result {
	unsigned long long schedules, states, steps;
	unsigned long long early;	/* delivered by rounds, not by the end */
	bool broken;			/* the output of one was out of order */
	char story[2048];		/* its steps, for people */
};

/* Every schedule, until one breaks the order. */
void explore_all(const struct explore_params *p, struct explore_result *r);
/* So many schedules by the dice. */
void explore_random(const struct explore_params *p, uint64_t seed,
		    unsigned long long schedules, struct explore_result *r);

#endif /* SELFTESTS_EXPLORE_H */
