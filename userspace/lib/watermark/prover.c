// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* A thread that proves watermarks, one after another, at a pace. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "clock/fail.h"
#include "watermark/prover.h"

static int prove_once(struct prover *pv)
{
	uint64_t begin = mono_ns(), ns;
	int err;

	err = pv->prove(pv, &ns);
	mark_fail(pv->mark, err);
	if (err)
		return err;
	atomic_store_explicit(&pv->mark->margin, pv->bound.margin,
			      memory_order_relaxed);
	atomic_store_explicit(&pv->mark->gp_duration, mono_ns() - begin,
			      memory_order_relaxed);
	mark_publish(pv->mark, ns);
	return 0;
}

static int explain(const struct prover *pv, int err)
{
	if (err == -EPERM && pv->bound.visited)
		return clock_fail(&pv->o, err,
				  "this process may not run on every CPU (cpuset, CPU affinity of its container), and %s",
				  pv->visit ? "must" :
				  "the perf clock is not known to agree between CPUs: use another clock, or the module");
	if (err == -EBUSY)
		return clock_fail(&pv->o, err,
				  "a CPU that counts as online takes no tasks (see hotplug/state of each in /sys/devices/system/cpu)");
	return clock_fail(&pv->o, err, "reading the %s clock (%s): %s",
			  perfclock_clock_name(pv->o.clock), pv->o.source,
			  strerror(-err));
}

/* In the thread, as a source may belong to the thread that opens it. */
static int prover_begin(void *arg)
{
	struct prover *pv = arg;
	int err;

	pv->tid = gettid();
	pv->src.own_thread = true;
	err = source_open(&pv->src, &pv->o);
	if (err)
		return err;
	err = bound_init(&pv->bound, &pv->src, &pv->worker, pv->visit, &pv->o);
	if (!err) {
		err = prove_once(pv);
		if (!err)
			return 0;
		bound_free(&pv->bound);
		explain(pv, err);
	}
	source_close(&pv->src);
	return err;
}

static uint64_t thread_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

static uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Prove once; when to do so again. */
static uint64_t prove_paced(struct prover *pv)
{
	uint64_t begin = mono_ns(), cpu = thread_ns(), next;
	int err = prove_once(pv);

	if (pv->pace)
		next = begin + pv->pace;
	else
		next = begin + max_u64(PROVER_PACE_NS, PROVER_SHARE *
				       (thread_ns() - cpu));
	return err ? max_u64(next, begin + PROVER_RETRY_NS) : next;
}

static void prover_run(void *arg)
{
	struct prover *pv = arg;
	uint64_t next = mono_ns();

	next += pv->pace ? pv->pace : PROVER_PACE_NS;
	while (!worker_pause(&pv->worker, next))
		next = prove_paced(pv);
}

/* On a CPU that is never given to it, it would not see that it shall end. */
static void prover_unblock(void *arg)
{
	const struct prover *pv = arg;
	cpu_set_t anywhere;

	memset(&anywhere, 0xff, sizeof(anywhere));
	sched_setaffinity(pv->tid, sizeof(anywhere), &anywhere);
}

int prover_open(struct provider *p, const struct perfclock_open_opts *o,
		int (*prove)(struct prover *pv, uint64_t *ns), bool visit)
{
	struct prover *pv = calloc(1, sizeof(*pv));
	int err;

	if (pv)
		pv->mark = mark_new();
	if (!pv || !pv->mark) {
		free(pv);
		return clock_fail(o, -ENOMEM, "out of memory");
	}
	atomic_store(&pv->fd, -1);
	pv->o = *o;
	pv->o.source = p->source;
	pv->pace = o->pace_ns;
	pv->prove = prove;
	pv->visit = visit;
	pv->worker.begin = prover_begin;
	pv->worker.run = prover_run;
	pv->worker.unblock = prover_unblock;
	pv->worker.arg = pv;
	err = worker_start(&pv->worker, "perfclock");
	if (err == -EAGAIN)
		err = clock_fail(o, err, "no more threads may be started");
	if (err) {
		mark_free(pv->mark);
		free(pv);
		return err;
	}
	p->priv = pv;
	return 0;
}

void prover_close(struct provider *p)
{
	struct prover *pv = p->priv;

	worker_stop(&pv->worker);
	/* Not in the thread: a fork's child closes its copies, too. */
	bound_free(&pv->bound);
	source_close(&pv->src);
	if (!atomic_load(&pv->mark->alive) && atomic_load(&pv->fd) >= 0)
		close(atomic_load(&pv->fd));
	mark_free(pv->mark);
	free(pv);
}

int prover_watermark(struct provider *p, uint64_t *ns)
{
	const struct prover *pv = p->priv;

	return mark_load(pv->mark, ns);
}

int prover_wait(struct provider *p, uint64_t stamp, int64_t timeout_ns)
{
	const struct prover *pv = p->priv;

	return mark_wait(pv->mark, stamp, timeout_ns);
}

int prover_fd(struct provider *p)
{
	struct prover *pv = p->priv;
	int fd = mark_fd(pv->mark);

	if (fd >= 0)
		atomic_store(&pv->fd, fd);
	return fd;
}

int prover_ack(struct provider *p)
{
	const struct prover *pv = p->priv;

	return mark_ack(pv->mark);
}

void prover_info(struct provider *p, struct perfclock_info *info)
{
	const struct prover *pv = p->priv;

	info->moves = atomic_load(&pv->mark->moves);
	info->gp_duration = atomic_load(&pv->mark->gp_duration);
	info->margin = atomic_load(&pv->mark->margin);
}
