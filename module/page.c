// SPDX-License-Identifier: GPL-2.0
/*
 * The page that user space maps. Writers: the engine, and files that start,
 * stop or change it; pc_page_lock keeps them apart. Readers: anyone, without
 * a lock, here and in user space alike.
 */
#include <linux/build_bug.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/spinlock.h>
#include <linux/stddef.h>

#include "perf_clock.h"

/* The layout is for ever. New fields come where reserved ones are, or last. */
static_assert(offsetof(struct perf_clock_page, seq_count) == 16);
static_assert(offsetof(struct perf_clock_page, flags) == 32);
static_assert(offsetof(struct perf_clock_page, mark) == 64);
static_assert(sizeof(struct perf_clock_page) == 192);
static_assert(sizeof(struct perf_clock_read) == 16);
static_assert(sizeof(struct perf_clock_caps) == 64);
static_assert(sizeof(struct perf_clock_snapshot) == 176);
static_assert(sizeof(struct perf_clock_wait) == 48);
static_assert(sizeof(struct perf_clock_mode) == 32);

static DEFINE_SPINLOCK(pc_page_lock);
static struct perf_clock_page *pc_shown;

int pc_page_init(void)
{
	unsigned int i;

	BUILD_BUG_ON(sizeof(struct perf_clock_page) > PAGE_SIZE);
	BUILD_BUG_ON(PERF_CLOCK_NR > PERF_CLOCK_MAX);

	pc_shown = (struct perf_clock_page *)get_zeroed_page(GFP_KERNEL);
	if (!pc_shown)
		return -ENOMEM;
	pc_shown->magic = PERF_CLOCK_MAGIC;
	pc_shown->size = sizeof(*pc_shown);
	pc_shown->version = PERF_CLOCK_ABI_VERSION;
	pc_shown->nr_clocks = PERF_CLOCK_NR;
	pc_shown->clock_state = pc_clock_state();
	for (i = 0; i < PERF_CLOCK_NR; i++)
		pc_shown->mark[i].margin = pc_clock_margin(i);
	return 0;
}

/* Every mapping holds its file, the file the module: nobody looks any more. */
void pc_page_exit(void)
{
	free_page((unsigned long)pc_shown);
}

struct page *pc_page(void)
{
	return virt_to_page(pc_shown);
}

u64 pc_page_watermark(unsigned int clock)
{
	/* Pairs with the release in pc_page_publish(). */
	return smp_load_acquire(&pc_shown->mark[clock].watermark);
}

u64 pc_page_gp_completed(void)
{
	return READ_ONCE(pc_shown->gp_completed);
}

u64 pc_page_gp_duration(void)
{
	return READ_ONCE(pc_shown->gp_duration);
}

u32 pc_page_mode(void)
{
	return READ_ONCE(pc_shown->mode);
}

/*
 * What lies between is seen whole, or its reader sees an odd or a changed
 * seq_count. The barriers pair with those that the header asks of readers.
 */
static void pc_page_write_begin(void)
	__acquires(&pc_page_lock)
{
	spin_lock(&pc_page_lock);
	WRITE_ONCE(pc_shown->seq_count, pc_shown->seq_count + 1);
	smp_wmb(); /* odd before the fields change */
}

static void pc_page_write_end(void)
	__releases(&pc_page_lock)
{
	smp_wmb(); /* the fields before it is even again */
	WRITE_ONCE(pc_shown->seq_count, pc_shown->seq_count + 1);
	spin_unlock(&pc_page_lock);
}

void pc_page_set_engine(bool running, u32 mode)
{
	pc_page_write_begin();
	WRITE_ONCE(pc_shown->mode, mode);
	if (running)
		pc_shown->flags |= PERF_CLOCK_PAGE_RUNNING;
	else
		pc_shown->flags &= ~PERF_CLOCK_PAGE_RUNNING;
	pc_page_write_end();
}

/*
 * A grace period has ended. True if a watermark moved. Grace periods may end
 * out of the order they were begun in (an expedited one overtakes), so older
 * news changes nothing: a watermark never goes backwards, and what is told of
 * a grace period is of the one that moved it last.
 *
 * The release orders the end of the grace period, and with it every record
 * below the watermark, before the watermark.
 */
bool pc_page_publish(const struct pc_gp_report *gp)
{
	bool moved = false;
	unsigned int i;

	pc_page_write_begin();
	for (i = 0; i < PERF_CLOCK_NR; i++) {
		if (gp->watermark.ns[i] <= pc_shown->mark[i].watermark)
			continue;
		/* Pairs with pc_page_watermark(), and user space's acquire. */
		smp_store_release(&pc_shown->mark[i].watermark,
				  gp->watermark.ns[i]);
		moved = true;
	}
	if (moved) {
		WRITE_ONCE(pc_shown->gp_completed, pc_shown->gp_completed + 1);
		WRITE_ONCE(pc_shown->gp_duration, gp->duration);
		pc_shown->gp_start = gp->start;
		pc_shown->flags |= PERF_CLOCK_PAGE_GP_VALID;
	}
	pc_shown->clock_state = pc_clock_state();
	pc_page_write_end();
	return moved;
}
