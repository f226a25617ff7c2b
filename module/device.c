// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/perf_clock: read, mmap, poll, ioctl. What each promises is said in
 * <linux/perf_clock.h> and in Documentation/abi.rst.
 *
 * An open file that has used any of them asks for watermarks until it is
 * closed, but for the ioctls that show none (CAPS, SNAPSHOT of only the
 * times); opening alone costs nothing.
 */
#include <linux/capability.h>
#include <linux/compat.h>
#include <linux/fs.h>
#include <linux/hrtimer.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/uaccess.h>
#include <linux/uio.h>

#include "compat.h"
#include "perf_clock.h"

struct pc_file {
	struct pc_ask ask;
	u64 seen;		/* the PERF watermark that was looked at last */
};

static struct pc_file *pc_file(struct file *file)
{
	return file->private_data;
}

static int pc_open(struct inode *inode, struct file *file)
{
	struct pc_file *pcf;

	pcf = kzalloc(sizeof(*pcf), GFP_KERNEL_ACCOUNT);
	if (!pcf)
		return -ENOMEM;
	file->private_data = pcf;
	/* pc_read_iter() heeds IOCB_NOWAIT: io_uring need no worker. */
	file->f_mode |= FMODE_NOWAIT;
	return stream_open(inode, file);
}

static int pc_release(struct inode *inode, struct file *file)
{
	pc_engine_drop(&pc_file(file)->ask);
	kfree(pc_file(file));
	return 0;
}

/*
 * The clock is read after the watermark, so it is never below it: the read
 * of the watermark is what the floor was taken before.
 */
static ssize_t pc_read_iter(struct kiocb *iocb, struct iov_iter *to)
{
	struct pc_file *pcf = pc_file(iocb->ki_filp);
	struct perf_clock_read record;

	if (iov_iter_count(to) < sizeof(record))
		return -EINVAL;

	if (!(iocb->ki_flags & IOCB_NOWAIT))
		pc_engine_start(&pcf->ask);
	else if (!pc_engine_try_start(&pcf->ask))
		return -EAGAIN;
	record.watermark = pc_page_watermark(PERF_CLOCK_PERF);
	record.now = pc_clock_now();
	if (copy_to_iter(&record, sizeof(record), to) != sizeof(record))
		return -EFAULT;
	WRITE_ONCE(pcf->seen, record.watermark);
	return sizeof(record);
}

/*
 * Says that the watermark moved once for each move, as reading would: a
 * program that reads the page by a load has no other way to say it looked.
 */
static __poll_t pc_poll(struct file *file, poll_table *wait)
{
	struct pc_file *pcf = pc_file(file);
	u64 watermark;

	pc_engine_start(&pcf->ask);
	poll_wait(file, pc_engine_moved(), wait);
	watermark = pc_page_watermark(PERF_CLOCK_PERF);
	if (watermark == READ_ONCE(pcf->seen))
		return 0;
	WRITE_ONCE(pcf->seen, watermark);
	return EPOLLIN | EPOLLRDNORM;
}

static int pc_mmap(struct file *file, struct vm_area_struct *vma)
{
	int err;

	if (vma->vm_pgoff || vma_pages(vma) != 1)
		return -EINVAL;
	if (vma->vm_flags & (VM_WRITE | VM_EXEC))
		return -EPERM;
	/* Nor by mprotect() or mremap() later. */
	vm_flags_mod(vma, VM_DONTEXPAND, VM_MAYWRITE | VM_MAYEXEC);

	err = vm_insert_page(vma, vma->vm_start, pc_page());
	if (!err)
		pc_engine_start(&pc_file(file)->ask);
	return err;
}

static long pc_ioc_caps(void __user *arg)
{
	struct perf_clock_caps caps = {
		.size		= sizeof(struct perf_clock_page),
		.version	= PERF_CLOCK_ABI_VERSION,
		.nr_clocks	= PERF_CLOCK_NR,
		.clock_state	= pc_clock_state(),
		.modes		= BIT_ULL(PERF_CLOCK_MODE_NORMAL),
		.resolution	= 1,
	};

	if (perfmon_capable())
		caps.modes |= BIT_ULL(PERF_CLOCK_MODE_EXPEDITED);
	return copy_to_user(arg, &caps, sizeof(caps)) ? -EFAULT : 0;
}

static bool pc_all_zero(const u64 *words, unsigned int n)
{
	u64 bits = 0;

	while (n--)
		bits |= *words++;
	return !bits;
}

static void pc_snapshot_marks(struct perf_clock_snapshot *snap)
{
	unsigned int i;

	snap->gp_completed = pc_page_gp_completed();
	for (i = 0; i < PERF_CLOCK_NR; i++)
		snap->watermark[i] = pc_page_watermark(i);
}

static long pc_ioc_snapshot(struct pc_file *pcf, void __user *arg)
{
	struct perf_clock_snapshot snap;
	struct pc_times now;
	bool marks;

	if (copy_from_user(&snap, arg, sizeof(snap)))
		return -EFAULT;
	if (snap.flags & ~PERF_CLOCK_SNAPSHOT_NOW ||
	    !pc_all_zero(snap.reserved, ARRAY_SIZE(snap.reserved)))
		return -EINVAL;

	marks = !(snap.flags & PERF_CLOCK_SNAPSHOT_NOW);
	memset(&snap, 0, sizeof(snap));
	if (marks) {
		pc_engine_start(&pcf->ask);
		/* As in pc_read_iter(): the watermarks first. */
		pc_snapshot_marks(&snap);
	}
	preempt_disable();
	snap.cpu = smp_processor_id();
	pc_clock_now_all(&now);
	preempt_enable();
	memcpy(snap.now, now.ns, sizeof(now.ns));

	if (copy_to_user(arg, &snap, sizeof(snap)))
		return -EFAULT;
	if (marks)
		WRITE_ONCE(pcf->seen, snap.watermark[PERF_CLOCK_PERF]);
	return 0;
}

static bool pc_passed(const struct perf_clock_wait *wait)
{
	return pc_page_watermark(wait->clock) > wait->stamp;
}

/* 0: it passed. -ETIMEDOUT, -EINTR, -ERESTARTSYS. */
static int pc_wait(const struct perf_clock_wait *wait)
{
	wait_queue_head_t *moved = pc_engine_moved();
	int ret;

	if (wait->timeout < 0)
		return wait_event_interruptible(*moved, pc_passed(wait));
	if (!wait->timeout)
		return pc_passed(wait) ? 0 : -ETIMEDOUT;

	ret = wait_event_interruptible_hrtimeout(*moved, pc_passed(wait),
						 ns_to_ktime(wait->timeout));
	if (ret == -ETIME)
		return -ETIMEDOUT;
	/* A restart would begin the time-out anew. */
	return ret ? -EINTR : 0;
}

static long pc_ioc_wait(struct pc_file *pcf, void __user *arg)
{
	struct perf_clock_wait __user *uwait = arg;
	struct perf_clock_wait wait;
	int ret;

	if (copy_from_user(&wait, arg, sizeof(wait)))
		return -EFAULT;
	if (wait.clock >= PERF_CLOCK_NR || wait.flags ||
	    !pc_all_zero(wait.reserved, ARRAY_SIZE(wait.reserved)))
		return -EINVAL;

	pc_engine_start(&pcf->ask);
	ret = pc_wait(&wait);
	wait.watermark = pc_page_watermark(wait.clock);
	if (put_user(wait.watermark, &uwait->watermark))
		return -EFAULT;
	if (wait.clock == PERF_CLOCK_PERF)
		WRITE_ONCE(pcf->seen, wait.watermark);
	return ret;
}

static long pc_ioc_set_mode(struct pc_file *pcf, void __user *arg)
{
	struct perf_clock_mode mode;

	if (copy_from_user(&mode, arg, sizeof(mode)))
		return -EFAULT;
	if (mode.mode > PERF_CLOCK_MODE_EXPEDITED || mode.flags ||
	    !pc_all_zero(mode.reserved, ARRAY_SIZE(mode.reserved)))
		return -EINVAL;
	/* An expedited grace period interrupts every busy CPU. */
	if (mode.mode == PERF_CLOCK_MODE_EXPEDITED && !perfmon_capable())
		return -EPERM;

	pc_engine_set_mode(&pcf->ask, mode.mode);
	return 0;
}

static long pc_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct pc_file *pcf = pc_file(file);
	void __user *uarg = (void __user *)arg;

	switch (cmd) {
	case PERF_CLOCK_IOC_CAPS:
		return pc_ioc_caps(uarg);
	case PERF_CLOCK_IOC_SNAPSHOT:
		return pc_ioc_snapshot(pcf, uarg);
	case PERF_CLOCK_IOC_WAIT:
		return pc_ioc_wait(pcf, uarg);
	case PERF_CLOCK_IOC_SET_MODE:
		return pc_ioc_set_mode(pcf, uarg);
	default:
		return -ENOTTY;
	}
}

static const struct file_operations pc_fops = {
	.owner		= THIS_MODULE,
	.open		= pc_open,
	.release	= pc_release,
	.read_iter	= pc_read_iter,
	.poll		= pc_poll,
	.mmap		= pc_mmap,
	.unlocked_ioctl	= pc_ioctl,
	.compat_ioctl	= compat_ptr_ioctl,
};

static struct miscdevice pc_miscdev = {
	.minor		= MISC_DYNAMIC_MINOR,
	.name		= pc_name,
	.fops		= &pc_fops,
	.groups		= pc_attribute_groups,
	.mode		= 0444,
};

int pc_device_init(void)
{
	return misc_register(&pc_miscdev);
}

void pc_device_exit(void)
{
	misc_deregister(&pc_miscdev);
}
