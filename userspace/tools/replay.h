/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A recording, replayed through a live session: simulated rings, one for each
 * ring of the recorder, are adopted by the session, and filled pass by pass
 * (FINISHED_ROUND to FINISHED_ROUND) between its rounds. So a live session's
 * own code orders the file, as it would have live, with a watermark that is
 * guessed from the stamps (provider backoff): a file has no clock to prove
 * one with.
 */
#ifndef TOOLS_REPLAY_H
#define TOOLS_REPLAY_H

#include "live.h"

#define REPLAY_PROVIDER	"backoff=100000000"

struct replay;

/* Options as a replay needs them: clock, provider, no sleep. */
int replay_options(struct live_options *o);
/* Open, and have the session adopt the rings. TOOL_FAILED, told, or 0. */
int replay_open(struct replay **rp, struct live *l, const char *path);
/* The next pass into the rings; at the end the session is told to stop. */
int replay_feed(struct replay *r);
/* One line on stderr, and "replay": { } in JSON if j is given. */
void replay_report(const struct replay *r, const struct live *l);
void replay_json(const struct replay *r, const struct live *l,
		 struct json *j);
/* What the faults of the file make of an exit status. */
int replay_status(struct replay *r, int status);
void replay_close(struct replay *r);

#endif /* TOOLS_REPLAY_H */
