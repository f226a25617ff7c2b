// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Provider "membarrier": MEMBARRIER_CMD_GLOBAL is synchronize_rcu() for
 * everyone. Read t, let a whole grace period pass, publish t: whatever was
 * stamped below t was stamped inside a section that this grace period waited
 * for, so its data_head is stored.
 *
 * With one CPU online the call returns at once. That is as good: we run on
 * that CPU, so no section with preemption off is under way anywhere.
 *
 * One thread, one grace period after the other: a second thread, staggered,
 * does not bring the watermark nearer. Grace periods don't overlap; a call in
 * the middle of one has to wait for its end and for the whole next one, so
 * that the t of both threads get older (measured on two CPUs: mean lag 14 to
 * 16 ms with one thread, 22 to 23 ms with two or three).
 *
 * MEMBARRIER_CMD_GLOBAL_EXPEDITED is no replacement: it sends interrupts to
 * CPUs and waits for those, not for sections.
 */
#include <errno.h>
#include <linux/membarrier.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock/fail.h"
#include "watermark/prover.h"

static int grace_period(void)
{
	int got;

	do {
		got = syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
	} while (got && errno == EINTR);
	return got ? -errno : 0;
}

static int refused(const struct perfclock_open_opts *o, int err)
{
	switch (err) {
	case -ENOSYS:
		return clock_fail(o, -ENODEV,
				  "the kernel has no membarrier (CONFIG_MEMBARRIER), or a seccomp filter hides it");
	case -EPERM:
	case -EACCES:
		return clock_fail(o, -EPERM,
				  "membarrier is refused (%s): a seccomp filter must allow it",
				  strerror(-err));
	case -EINVAL:
		return clock_fail(o, -ENODEV,
				  "membarrier offers no global barrier, as on a kernel booted with nohz_full");
	default:
		return clock_fail(o, err, "membarrier: %s", strerror(-err));
	}
}

/* A filter may let the question pass and refuse the call: make the call. */
static int membarrier_check(const struct perfclock_open_opts *o)
{
	int got = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);

	if (got < 0)
		return refused(o, -errno);
	if (!(got & MEMBARRIER_CMD_GLOBAL))
		return refused(o, -EINVAL);
	got = grace_period();
	return got ? refused(o, got) : 0;
}

static int membarrier_prove(struct prover *pv, uint64_t *ns)
{
	uint64_t t;
	int err;

	err = bound_read(&pv->bound, &t);
	if (!err)
		err = grace_period();
	if (!err)
		*ns = bound_finish(&pv->bound, t);
	return err;
}

static int membarrier_open(struct provider *p,
			   const struct perfclock_open_opts *o,
			   const char *arg)
{
	int err = membarrier_check(o);

	return err ? err : prover_open(p, o, membarrier_prove, false);
}

const struct provider_ops provider_membarrier = {
	.name = "membarrier",
	.open = membarrier_open,
	PROVER_OPS,
};
