// SPDX-License-Identifier: GPL-2.0
/*
 * Trouble on purpose, for tests only: never load this on a machine that
 * matters.
 *
 * perf stamps a record first and publishes it later. This module stretches the
 * gap between the two, by a kprobe that spins inside it:
 *
 *	begin	on entry of perf_output_begin_forward(): the stamp was taken,
 *		no room is reserved yet. An interrupt's record that comes during
 *		the delay gets a later stamp and an earlier place: an in-ring
 *		inversion.
 *	sample	on entry of perf_output_sample(): room is reserved, the record
 *		is not published; an interrupt's record is published with it.
 *
 * It can also hold off RCU grace periods, as a driver with a long
 * preempt-disabled section does.
 *
 * Everything is a parameter below /sys/module/perf_clock_inject/parameters:
 * set the others first, 'enable' last.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>

static unsigned long cpus = ~0UL;
module_param(cpus, ulong, 0644);
MODULE_PARM_DESC(cpus, "bit mask of CPUs (0..63) whose records are delayed");

static unsigned int min_us = 1;
module_param(min_us, uint, 0644);
MODULE_PARM_DESC(min_us, "shortest delay, at most 25000");

static unsigned int max_us = 1000;
module_param(max_us, uint, 0644);
MODULE_PARM_DESC(max_us, "longest delay, at most 50000");

static unsigned int one_in = 1000;
module_param(one_in, uint, 0644);
MODULE_PARM_DESC(one_in, "delay one record in so many, chosen at random");

/* 0 off, 1 begin, 2 sample, 3 both */
static unsigned int enable;
module_param(enable, uint, 0644);
MODULE_PARM_DESC(enable, "0: off, 1: before reserve, 2: after it, 3: both");

static atomic_long_t delays_done = ATOMIC_LONG_INIT(0);

static int delays_get(char *buf, const struct kernel_param *kp)
{
	return sprintf(buf, "%ld\n", atomic_long_read(&delays_done));
}

static const struct kernel_param_ops delays_ops = { .get = delays_get };
module_param_cb(delays, &delays_ops, NULL, 0444);
MODULE_PARM_DESC(delays, "delays made so far");

/*
 * Own generator: get_random_*() may take locks, and this runs in NMI too. Not
 * seeded apart by intent: CPUs start from their numbers.
 */
static DEFINE_PER_CPU(u32, inject_seed);
static DEFINE_PER_CPU(int, inject_busy);

static u32 inject_random(void)
{
	u32 x = this_cpu_read(inject_seed);

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	this_cpu_write(inject_seed, x);
	return x;
}

/*
 * From min_us to max_us, each power of two being as likely: the machine shall
 * not spend all its time in the longest ones.
 */
static unsigned int inject_us(void)
{
	unsigned int lo = clamp(READ_ONCE(min_us), 1U, 25000U);
	unsigned int hi = clamp(READ_ONCE(max_us), lo, 50000U);
	unsigned int top = lo << inject_random() % (ilog2(hi / lo) + 1);

	return min(top + inject_random() % top, hi);
}

/* Preemption is off here, by kprobes. */
static void inject_delay(void)
{
	unsigned int n = READ_ONCE(one_in);
	unsigned int cpu = smp_processor_id();
	unsigned int us;

	if (cpu >= BITS_PER_LONG || !(READ_ONCE(cpus) >> cpu & 1))
		return;
	if (!n || inject_random() % n)
		return;
	/* A record made by an interrupt during a delay is not delayed. */
	if (this_cpu_inc_return(inject_busy) == 1) {
		for (us = inject_us(); us >= 1000; us -= 1000)
			mdelay(1);
		if (us)
			udelay(us);
		atomic_long_inc(&delays_done);
	}
	this_cpu_dec(inject_busy);
}

static int begin_handler(struct kprobe *p, struct pt_regs *regs)
{
	if (READ_ONCE(enable) & 1)
		inject_delay();
	return 0;
}

static int sample_handler(struct kprobe *p, struct pt_regs *regs)
{
	if (READ_ONCE(enable) & 2)
		inject_delay();
	return 0;
}

static struct kprobe probes[] = {
	{ .symbol_name = "perf_output_begin_forward",
	  .pre_handler = begin_handler },
	{ .symbol_name = "perf_output_sample",
	  .pre_handler = sample_handler },
};

/*
 * Hold off grace periods: a thread that spins with preemption off, for the
 * milliseconds written to 'hold_ms' (at most 10 s: below the stall warning).
 */
static DEFINE_MUTEX(hold_lock);
static struct task_struct *hold_task;

static int hold_thread(void *data)
{
	unsigned long ms = (unsigned long)data;

	preempt_disable();
	rcu_read_lock();
	while (ms--)
		mdelay(1);
	rcu_read_unlock();
	preempt_enable();

	/* kthread_stop() needs it alive. */
	set_current_state(TASK_INTERRUPTIBLE);
	while (!kthread_should_stop()) {
		schedule();
		set_current_state(TASK_INTERRUPTIBLE);
	}
	__set_current_state(TASK_RUNNING);
	return 0;
}

static void hold_end(void)
{
	if (hold_task)
		kthread_stop(hold_task);
	hold_task = NULL;
}

static int hold_set(const char *val, const struct kernel_param *kp)
{
	struct task_struct *task;
	unsigned int ms;
	int ret = kstrtouint(val, 0, &ms);

	if (ret)
		return ret;
	if (ms > 10000)
		return -ERANGE;

	mutex_lock(&hold_lock);
	hold_end();
	task = kthread_create(hold_thread, (void *)(unsigned long)ms,
			      "inject_hold");
	if (IS_ERR(task)) {
		ret = PTR_ERR(task);
	} else {
		hold_task = task;
		kthread_bind(task, cpumask_last(cpu_online_mask));
		wake_up_process(task);
	}
	mutex_unlock(&hold_lock);
	return ret;
}

static const struct kernel_param_ops hold_ops = { .set = hold_set };
module_param_cb(hold_ms, &hold_ops, NULL, 0200);
MODULE_PARM_DESC(hold_ms, "hold off RCU grace periods for so long, once");

static int __init inject_init(void)
{
	int cpu, ret;
	size_t i;

	for_each_possible_cpu(cpu)
		per_cpu(inject_seed, cpu) = 2654435761U * (cpu + 1) | 1;
	for (i = 0; i < ARRAY_SIZE(probes); i++) {
		ret = register_kprobe(&probes[i]);
		if (ret) {
			pr_err("kprobe on %s: %d\n", probes[i].symbol_name,
			       ret);
			while (i--)
				unregister_kprobe(&probes[i]);
			return ret;
		}
	}
	pr_info("loaded: records can be delayed; for tests only\n");
	return 0;
}

static void __exit inject_exit(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(probes); i++)
		unregister_kprobe(&probes[i]);
	mutex_lock(&hold_lock);
	hold_end();
	mutex_unlock(&hold_lock);
}

module_init(inject_init);
module_exit(inject_exit);

MODULE_DESCRIPTION("perf_clock test: delays between stamp and publish");
MODULE_LICENSE("GPL");
