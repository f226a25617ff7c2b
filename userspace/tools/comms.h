/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names of tasks at the moment of a record: kept up to date by the COMM and
 * FORK records of the stream itself, begun from /proc.
 */
#ifndef TOOLS_COMMS_H
#define TOOLS_COMMS_H

#include <stdint.h>
#include <sys/types.h>

#include <perfclock/session.h>

struct comms;

#define COMM_MAX	16

struct comm {
	pid_t tid, pid;		/* pid 0: not known */
	unsigned char len;
	char name[COMM_MAX];	/* NUL-terminated */
	char column[COMM_MAX];	/* the same, blanks in front */
};

struct comms *comms_new(void);
void comms_free(struct comms *c);
/* Names of all tasks there are now, so that even short-lived ones have one. */
void comms_load_all(struct comms *c);
/* Never NULL; an unknown task is ":TID". Valid until the next call. */
const struct comm *comms_find(struct comms *c, pid_t tid);
void comms_set(struct comms *c, pid_t tid, const char *name, size_t max);
/* All of them, in no order. */
void comms_each(const struct comms *c,
		void (*fn)(const struct comm *comm, void *ctx), void *ctx);
/* Side-band records change names; others are left alone. */
void comms_take_record(struct comms *c, const struct perfclock_event *ev);

#endif /* TOOLS_COMMS_H */
