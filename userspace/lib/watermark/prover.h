/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * Internal: a thread that proves watermarks, one after another, at a pace.
 * What the providers membarrier and cpu-visit share.
 */
#ifndef PERFCLOCK_WATERMARK_PROVER_H
#define PERFCLOCK_WATERMARK_PROVER_H

#include "clock/worker.h"
#include "watermark/bound.h"
#include "watermark/mark.h"
#include "watermark/provider.h"

/*
 * The default pace: no faster than this, and no more than one part in
 * PROVER_SHARE of a CPU's time.
 */
#define PROVER_PACE_NS		1000000
#define PROVER_SHARE		8
#define PROVER_RETRY_NS		10000000	/* after a failure, at least */

struct prover {
	struct worker worker;
	struct mark *mark;
	struct source src;		/* these two: of the worker only */
	struct bound bound;
	struct perfclock_open_opts o;	/* valid until begun */
	bool visit;			/* always visit the CPUs */
	pid_t tid;
	_Atomic int fd;			/* as handed out: the mark's own note
					 * of it is wiped in a fork's child */
	uint64_t pace;			/* 0: the default */
	/* Find a proven watermark: read, wait for what makes it safe. */
	int (*prove)(struct prover *pv, uint64_t *ns);
};

/*
 * Start the thread; it proves one watermark before this returns, so whoever
 * is refused is refused here. Sets p->priv.
 */
int prover_open(struct provider *p, const struct perfclock_open_opts *o,
		int (*prove)(struct prover *pv, uint64_t *ns), bool visit);
void prover_close(struct provider *p);
int prover_watermark(struct provider *p, uint64_t *ns);
int prover_wait(struct provider *p, uint64_t stamp, int64_t timeout_ns);
int prover_fd(struct provider *p);
int prover_ack(struct provider *p);
void prover_info(struct provider *p, struct perfclock_info *info);

/* What the provider_ops of all who have such a thread share. */
#define PROVER_OPS						\
	.proven = true, .close = prover_close,			\
	.watermark = prover_watermark, .wait = prover_wait,	\
	.fd = prover_fd, .ack = prover_ack, .info = prover_info

#endif /* PERFCLOCK_WATERMARK_PROVER_H */
