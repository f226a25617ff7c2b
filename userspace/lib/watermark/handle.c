// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* The handle: a source and a provider of one clock, joined. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <perfclock/clock.h>

#include "clock/fail.h"
#include "clock/source.h"
#include "opts.h"
#include "watermark/provider.h"

struct perfclock {
	struct source src;
	struct provider prov;
};

#define OPEN_FLAGS	(PERFCLOCK_OPEN_EXPEDITED | PERFCLOCK_OPEN_NO_WATERMARK)

/* What can be checked without looking at the machine. */
static int check_opts(const struct perfclock_open_opts *o)
{
	unsigned int i;

	if (o->error && o->error_size)
		o->error[0] = '\0';
	if ((unsigned int)o->clock >= PERFCLOCK_CLOCKS)
		return clock_fail(o, -EINVAL, "no clock has number %d",
				  (int)o->clock);
	if (o->flags & ~OPEN_FLAGS)
		return clock_fail(o, -EINVAL, "unknown flags %#x",
				  o->flags & ~OPEN_FLAGS);
	if (o->nr_cpus && !o->cpus)
		return clock_fail(o, -EINVAL, "nr_cpus is %u, cpus is NULL",
				  o->nr_cpus);
	for (i = 0; i < o->nr_cpus; i++)
		if (o->cpus[i] < 0)
			return clock_fail(o, -EINVAL, "no CPU has number %d",
					  o->cpus[i]);
	return 0;
}

int perfclock_open(struct perfclock **clkp,
		   const struct perfclock_open_opts *opts)
{
	struct perfclock_open_opts o;
	struct perfclock *clk;
	int err;

	if (!clkp)
		return -EINVAL;
	*clkp = NULL;
	err = opts_copy(&o, sizeof(o), opts);
	if (!err)
		err = check_opts(&o);
	if (err)
		return err;
	clk = calloc(1, sizeof(*clk));
	if (!clk)
		return clock_fail(&o, -ENOMEM, "out of memory");
	err = source_open(&clk->src, &o);
	if (!err && !(o.flags & PERFCLOCK_OPEN_NO_WATERMARK))
		err = provider_open(&clk->prov, &clk->src, &o);
	if (err) {
		perfclock_close(clk);
		return err;
	}
	*clkp = clk;
	return 0;
}

void perfclock_close(struct perfclock *clk)
{
	if (!clk)
		return;
	provider_close(&clk->prov);
	source_close(&clk->src);
	free(clk);
}

int perfclock_now(struct perfclock *clk, uint64_t *ns)
{
	return source_read(&clk->src, ns);
}

int perfclock_watermark(struct perfclock *clk, uint64_t *ns)
{
	if (!clk->prov.ops)
		return -ENODATA;
	return clk->prov.ops->watermark(&clk->prov, ns);
}

int perfclock_watermark_wait(struct perfclock *clk, uint64_t stamp,
			     int64_t timeout_ns)
{
	if (!clk->prov.ops)
		return -ENODATA;
	return clk->prov.ops->wait(&clk->prov, stamp, timeout_ns);
}

int perfclock_watermark_fd(struct perfclock *clk)
{
	if (!clk->prov.ops)
		return -ENODATA;
	return clk->prov.ops->fd(&clk->prov);
}

int perfclock_watermark_ack(struct perfclock *clk)
{
	if (!clk->prov.ops)
		return -ENODATA;
	return clk->prov.ops->ack(&clk->prov);
}

void perfclock_watermark_observe(struct perfclock *clk, uint64_t stamp)
{
	if (clk->prov.ops && clk->prov.ops->observe)
		clk->prov.ops->observe(&clk->prov, stamp);
}

int perfclock_get_info(struct perfclock *clk, struct perfclock_info *info)
{
	struct perfclock_info in;

	memset(&in, 0, sizeof(in));
	in.clock = clk->src.clock;
	in.source = clk->src.ops->name;
	in.resolution = clk->src.resolution;
	in.provider = "none";
	if (clk->prov.ops) {
		in.provider = clk->prov.ops->name;
		in.proven = clk->prov.ops->proven;
		clk->prov.ops->watermark(&clk->prov, &in.watermark);
		clk->prov.ops->info(&clk->prov, &in);
	}
	return opts_return(info, &in, sizeof(in));
}

static int probe_opts(struct perfclock_open_opts *o,
		      const struct perfclock_open_opts *opts,
		      struct perfclock_choice *c)
{
	int err = opts_copy(o, sizeof(*o), opts);

	memset(c, 0, sizeof(*c));
	/* Not the caller's, which a probe leaves alone. */
	o->error = c->reason;
	o->error_size = sizeof(c->reason);
	return err ? err : check_opts(o);
}

static int probe_return(struct perfclock_choice *out,
			struct perfclock_choice *c, const char *name, int err)
{
	c->name = name;
	c->available = !err;
	if (err && !c->reason[0])
		snprintf(c->reason, sizeof(c->reason), "%s", strerror(-err));
	err = opts_return(out, c, sizeof(*c));
	return err ? err : 1;
}

/* Open it and close it again: what works now is what counts. */
static int probe_open(const struct provider_ops *ops,
		      struct perfclock_open_opts *o)
{
	struct perfclock *clk;
	int err;

	o->provider = ops->name;
	o->flags &= ~PERFCLOCK_OPEN_NO_WATERMARK;
	err = perfclock_open(&clk, o);
	perfclock_close(clk);
	return err;
}

int perfclock_probe_provider(unsigned int i,
			     const struct perfclock_open_opts *opts,
			     struct perfclock_choice *out)
{
	const struct provider_ops *ops = provider_ops_at(i);
	struct perfclock_open_opts o;
	struct perfclock_choice c;
	int err = probe_opts(&o, opts, &c);

	if (err)
		return err;
	if (!ops)
		return 0;
	c.proven = ops->proven;
	/* What proves nothing needs nothing, but a parameter. */
	err = ops->proven ? probe_open(ops, &o) : 0;
	if (ops->remark)
		snprintf(c.reason, sizeof(c.reason), "%s", ops->remark);
	return probe_return(out, &c, ops->name, err);
}

int perfclock_probe_source(unsigned int i,
			   const struct perfclock_open_opts *opts,
			   struct perfclock_choice *out)
{
	const struct source_ops *ops;
	struct perfclock_open_opts o;
	struct perfclock_choice c;
	struct source src = { 0 };
	int err = probe_opts(&o, opts, &c);

	if (err)
		return err;
	ops = source_ops_at(i, o.clock);
	if (!ops)
		return 0;
	err = source_open_ops(&src, ops, &o);
	if (!err) {
		c.resolution = src.resolution;
		c.cost_ns = source_cost(&src);
		source_close(&src);
	}
	return probe_return(out, &c, ops->name, err);
}
