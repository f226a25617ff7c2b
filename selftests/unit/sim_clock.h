/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A clock whose time and watermark the test sets, in place of the library's
 * (the linker takes these before the archive's).
 */
#ifndef SELFTESTS_SIM_CLOCK_H
#define SELFTESTS_SIM_CLOCK_H

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include <perfclock.h>

static _Atomic uint64_t sim_now, sim_watermark;
static bool sim_unproven;
static const char *sim_provider = "simulated";
static _Atomic int sim_watermark_error;
/* Called on each load of the watermark: what happens just before a round. */
static void (*_Atomic sim_on_watermark)(void);

int perfclock_open(struct perfclock **clkp,
		   const struct perfclock_open_opts *opts)
{
	(void)opts;
	*clkp = (struct perfclock *)1;
	return 0;
}

void perfclock_close(struct perfclock *clk)
{
	(void)clk;
}

int perfclock_now(struct perfclock *clk, uint64_t *ns)
{
	(void)clk;
	*ns = sim_now;
	return 0;
}

int perfclock_watermark(struct perfclock *clk, uint64_t *ns)
{
	void (*hook)(void) = sim_on_watermark;

	(void)clk;
	*ns = sim_watermark;
	if (hook)
		hook();
	return sim_watermark_error;
}

int perfclock_watermark_wait(struct perfclock *clk, uint64_t stamp,
			     int64_t timeout_ns)
{
	(void)clk;
	(void)timeout_ns;
	return sim_watermark > stamp ? 0 : -ETIMEDOUT;
}

int perfclock_watermark_fd(struct perfclock *clk)
{
	(void)clk;
	return -EOPNOTSUPP;
}

int perfclock_watermark_ack(struct perfclock *clk)
{
	(void)clk;
	return 0;
}

void perfclock_watermark_observe(struct perfclock *clk, uint64_t stamp)
{
	(void)clk;
	(void)stamp;
}

int perfclock_get_info(struct perfclock *clk, struct perfclock_info *info)
{
	(void)clk;
	memset(info, 0, sizeof(*info));
	info->sz = sizeof(*info);
	info->source = "simulated";
	info->provider = sim_provider;
	info->proven = !sim_unproven;
	return 0;
}

int perfclock_probe_provider(unsigned int i,
			     const struct perfclock_open_opts *opts,
			     struct perfclock_choice *c)
{
	(void)i;
	(void)opts;
	(void)c;
	return 0;
}

int perfclock_probe_source(unsigned int i,
			   const struct perfclock_open_opts *opts,
			   struct perfclock_choice *c)
{
	(void)i;
	(void)opts;
	(void)c;
	return 0;
}

#endif /* SELFTESTS_SIM_CLOCK_H */
