// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Provider "cpu-visit": run on each CPU in turn and read the clock there; W is
 * the least of what was read.
 *
 * Why that is a proof: a record is stamped, written and published (data_head
 * stored) without the CPU ever being given to another task: from the stamp to
 * the store preemption or interrupts are off, or it is an interrupt or NMI,
 * which returns before anything else runs. We read the clock of CPU c in user
 * mode on CPU c. So no such section is under way there, whatever was stamped
 * on c before is published, and whatever will be is stamped no lower than what
 * we read. A nested record is published by the outermost one, which has ended
 * too. This holds on PREEMPT_RT as well, where these sections are still real
 * preempt-off sections and NMIs are still NMIs.
 *
 * What it does not cover, and membarrier does, is a section that can be
 * preempted: RCU-protected only, as when a BPF program run by a trampoline
 * outputs a record on a preemptible kernel before 6.5 or so, where the helper
 * does not turn preemption off before it reads the clock. So it comes after
 * membarrier.
 *
 * A CPU that a real-time task never gives away is never visited: the watermark
 * then stands still, as it must.
 */
#include "watermark/prover.h"

static int cpu_visit_prove(struct prover *pv, uint64_t *ns)
{
	uint64_t t;
	int err = bound_read(&pv->bound, &t);

	if (!err)
		*ns = bound_finish(&pv->bound, t);
	return err;
}

static int cpu_visit_open(struct provider *p,
			  const struct perfclock_open_opts *o,
			  const char *arg)
{
	return prover_open(p, o, cpu_visit_prove, true);
}

const struct provider_ops provider_cpu_visit = {
	.name = "cpu-visit",
	.open = cpu_visit_open,
	PROVER_OPS,
};
