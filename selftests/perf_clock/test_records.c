// SPDX-License-Identifier: GPL-2.0
/*
 * The promise itself: perf records of all CPUs, under a load of system calls
 * and page faults, against the watermark of the page. A round loads W, then
 * every data_head, and takes all records up to it. A record that turns up in
 * a later round with a stamp below that W is late: there must be none.
 *
 * It has to hold while CPUs go and come, across suspend and resume, and while
 * the clocksource changes.
 *
 * Also counted, to show that the test could see some: records late against
 * the clock at a round's start, what tools without a watermark go by.
 */
#include <linux/perf_event.h>

#include "perf_clock_test.h"
#include "disturb.h"

#define MAX_CPUS	64
#define DATA_PAGES	256
#define PAGE		4096

struct ring {
	int fd;
	long cpu;
	size_t size;
	struct perf_event_mmap_page *meta;
	uint64_t seen, lost;
};

FIXTURE(records) {
	struct ring rings[MAX_CPUS];
	pid_t load[MAX_CPUS + 1];
	int n, loads, fd;
	const struct perf_clock_page *page;
	uint64_t late, late_by, early;	/* below W; below the round's start */
	uint64_t last, start;		/* W, clock of the round before */
};

FIXTURE_VARIANT(records) {
	int clock, mode;
	clockid_t id;
	const struct disturbance *disturb;
};

FIXTURE_VARIANT_ADD(records, perf_normal) {
	.clock = PERF_CLOCK_PERF, .id = -1,
};

FIXTURE_VARIANT_ADD(records, perf_expedited) {
	.clock = PERF_CLOCK_PERF, .id = -1, .mode = PERF_CLOCK_MODE_EXPEDITED,
};

FIXTURE_VARIANT_ADD(records, perf_hotplug) {
	.clock = PERF_CLOCK_PERF, .id = -1, .mode = PERF_CLOCK_MODE_EXPEDITED,
	.disturb = &hotplug,
};

FIXTURE_VARIANT_ADD(records, perf_clocksource) {
	.clock = PERF_CLOCK_PERF, .id = -1, .mode = PERF_CLOCK_MODE_EXPEDITED,
	.disturb = &clocksource,
};

FIXTURE_VARIANT_ADD(records, monotonic) {
	.clock = PERF_CLOCK_MONOTONIC, .id = CLOCK_MONOTONIC,
	.mode = PERF_CLOCK_MODE_EXPEDITED,
};

FIXTURE_VARIANT_ADD(records, monotonic_clocksource) {
	.clock = PERF_CLOCK_MONOTONIC, .id = CLOCK_MONOTONIC,
	.mode = PERF_CLOCK_MODE_EXPEDITED, .disturb = &clocksource,
};

FIXTURE_VARIANT_ADD(records, monotonic_raw) {
	.clock = PERF_CLOCK_MONOTONIC_RAW, .id = CLOCK_MONOTONIC_RAW,
	.mode = PERF_CLOCK_MODE_EXPEDITED,
};

FIXTURE_VARIANT_ADD(records, boottime) {
	.clock = PERF_CLOCK_BOOTTIME, .id = CLOCK_BOOTTIME,
	.mode = PERF_CLOCK_MODE_EXPEDITED,
};

/*
 * Last: QEMU's q35 comes back from a true S3 with a PM timer that stands
 * still, and no test that takes it for clocksource would end.
 */
FIXTURE_VARIANT_ADD(records, perf_suspend) {
	.clock = PERF_CLOCK_PERF, .id = -1, .disturb = &suspend,
};

FIXTURE_VARIANT_ADD(records, monotonic_suspend) {
	.clock = PERF_CLOCK_MONOTONIC, .id = CLOCK_MONOTONIC,
	.mode = PERF_CLOCK_MODE_EXPEDITED, .disturb = &suspend,
};

FIXTURE_VARIANT_ADD(records, boottime_suspend) {
	.clock = PERF_CLOCK_BOOTTIME, .id = CLOCK_BOOTTIME,
	.mode = PERF_CLOCK_MODE_EXPEDITED, .disturb = &suspend,
};

static int tracepoint_id(const char *name)
{
	static const char * const roots[] = {
		"/sys/kernel/tracing", "/sys/kernel/debug/tracing",
	};
	char path[256];
	size_t i;
	int id;

	for (i = 0; i < ARRAY_LEN(roots); i++) {
		FILE *f;

		snprintf(path, sizeof(path), "%s/events/%s/id", roots[i], name);
		f = fopen(path, "re");
		if (!f)
			continue;
		if (fscanf(f, "%d", &id) != 1)
			id = -1;
		fclose(f);
		return id;
	}
	return -1;
}

/* BOOTTIME is refused for all but software events: not safe in an NMI. */
static void describe(struct perf_event_attr *attr, clockid_t id)
{
	int tp = id == CLOCK_BOOTTIME ? -1 :
		 tracepoint_id("raw_syscalls/sys_enter");

	memset(attr, 0, sizeof(*attr));
	attr->size = sizeof(*attr);
	attr->type = tp < 0 ? PERF_TYPE_SOFTWARE : PERF_TYPE_TRACEPOINT;
	attr->config = tp < 0 ? PERF_COUNT_SW_PAGE_FAULTS : tp;
	attr->sample_period = 1;
	attr->sample_type = PERF_SAMPLE_TIME;
	attr->wakeup_watermark = DATA_PAGES * PAGE / 2;
	attr->watermark = 1;
	if (id >= 0) {
		attr->use_clockid = 1;
		attr->clockid = id;
	}
}

static int open_ring(struct ring *ring, long cpu, struct perf_event_attr *attr)
{
	void *map;

	ring->fd = syscall(SYS_perf_event_open, attr, -1, cpu, -1,
			   PERF_FLAG_FD_CLOEXEC);
	if (ring->fd < 0)
		return -1;
	ring->cpu = cpu;
	ring->size = DATA_PAGES * page_size();
	map = mmap(NULL, ring->size + page_size(), PROT_READ | PROT_WRITE,
		   MAP_SHARED, ring->fd, 0);
	if (map == MAP_FAILED) {
		close(ring->fd);
		return -1;
	}
	ring->meta = map;
	return 0;
}

/* System calls and page faults on one CPU until the parent is gone. */
static pid_t start_load(long cpu)
{
	pid_t parent = getpid(), pid = fork();
	char *page;

	if (pid)
		return pid;
	pin_to(cpu);
	page = mmap(NULL, page_size(), PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	while (getppid() == parent) {
		*(volatile char *)page = 1;
		madvise(page, page_size(), MADV_DONTNEED);
	}
	_exit(0);
}

FIXTURE_SETUP(records)
{
	struct perf_event_attr attr;
	long cpu, configured = sysconf(_SC_NPROCESSORS_CONF);

	describe(&attr, variant->id);
	for (cpu = 0; cpu < configured && self->n < MAX_CPUS; cpu++) {
		if (!open_ring(&self->rings[self->n], cpu, &attr))
			self->n++;
		else if (errno == EACCES || errno == EPERM)
			SKIP(return, "no permission for perf events of a CPU");
	}
	if (!self->n)
		SKIP(return, "no ring: %s", strerror(errno));
	self->fd = open(NODE, O_RDONLY | O_CLOEXEC);
	ASSERT_GE(self->fd, 0);
	self->page = map_page(self->fd);
	ASSERT_NE(MAP_FAILED, self->page);
	if (set_mode(self->fd, variant->mode))
		SKIP(return, "mode: %s", strerror(errno));
	for (cpu = 0; cpu < self->n; cpu++) {
		self->load[self->loads] = start_load(self->rings[cpu].cpu);
		ASSERT_GT(self->load[self->loads], 0);
		self->loads++;
	}
}

FIXTURE_TEARDOWN(records)
{
	int i, status;

	for (i = 0; i < self->loads; i++) {
		kill(self->load[i], SIGKILL);
		waitpid(self->load[i], &status, 0);
	}
}

static void judge(FIXTURE_DATA(records) *self, uint64_t stamp)
{
	if (stamp < self->start)
		self->early++;
	if (stamp >= self->last)
		return;
	self->late++;
	if (self->last - stamp > self->late_by)
		self->late_by = self->last - stamp;
}

static void take(FIXTURE_DATA(records) *self, struct ring *ring)
{
	const char *data = (char *)ring->meta + page_size();
	uint64_t head = __atomic_load_n(&ring->meta->data_head,
					__ATOMIC_ACQUIRE);
	uint64_t tail = ring->meta->data_tail;

	while (tail < head) {
		/* Records are multiples of 8 bytes: a word never wraps. */
		const struct perf_event_header *header =
			(const void *)(data + tail % ring->size);
		const uint64_t *word = (const void *)
			(data + (tail + sizeof(*header)) % ring->size);

		if (header->type == PERF_RECORD_SAMPLE) {
			judge(self, *word);
			ring->seen++;
		} else if (header->type == PERF_RECORD_LOST) {
			ring->lost += *(const uint64_t *)(data + (tail + 16) %
							  ring->size);
		}
		tail += header->size;
	}
	__atomic_store_n(&ring->meta->data_tail, tail, __ATOMIC_RELEASE);
}

static void one_round(FIXTURE_DATA(records) *self, int clock)
{
	struct perf_clock_snapshot snap;
	uint64_t w = watermark(self->page, clock);
	int i;

	snapshot(self->fd, &snap);
	for (i = 0; i < self->n; i++)
		take(self, &self->rings[i]);
	/* All below w has been taken now: whatever is below it is late. */
	self->last = w;
	self->start = snap.now[clock];
}

static uint64_t seen_of_all(FIXTURE_DATA(records) *self)
{
	uint64_t seen = 0;
	int i;

	for (i = 0; i < self->n; i++)
		seen += self->rings[i].seen;
	return seen;
}

static void report(FIXTURE_DATA(records) *self,
		   struct __test_metadata *_metadata)
{
	uint64_t seen = seen_of_all(self), lost = 0;
	int i;

	for (i = 0; i < self->n; i++)
		lost += self->rings[i].lost;
	TH_LOG("%d rings: %llu records, %llu lost, %llu late (by up to %llu ns); against the round's start %llu",
	       self->n, (unsigned long long)seen, (unsigned long long)lost,
	       (unsigned long long)self->late,
	       (unsigned long long)self->late_by,
	       (unsigned long long)self->early);
}

/* What a look at a disturbance needs to say anything. */
#define ENOUGH_RECORDS	100	/* of each CPU */
#define ENOUGH_TIMES	2

static int seen_enough(FIXTURE_DATA(records) *self, int *times)
{
	int i;

	for (i = 0; i < self->n; i++)
		if (self->rings[i].seen < ENOUGH_RECORDS)
			return 0;
	return !times ||
	       __atomic_load_n(times, __ATOMIC_ACQUIRE) >= ENOUGH_TIMES;
}

/* Read for so long, and longer on a machine too busy for enough of it. */
static void read_on(FIXTURE_DATA(records) *self, int clock, int *times,
		    int64_t ns)
{
	int64_t begin = now_ns(), end = begin + ns;
	int64_t limit = begin + 40 * NSEC;

	while (now_ns() < end ||
	       (now_ns() < limit && !seen_enough(self, times)))
		one_round(self, clock);
}

TEST_F_TIMEOUT(records, none_is_late, 120)
{
	const struct disturbance *d = variant->disturb;
	int i, *times = NULL;
	uint64_t begin, before;

	if (d && d->why_not())
		SKIP(return, "%s", d->why_not());
	ASSERT_TRUE(await_watermark(self->page, variant->clock, 0, 10000));
	/* An event does not come back with its CPU: records come before. */
	read_on(self, variant->clock, NULL, 0);
	begin = self->last;
	before = seen_of_all(self);
	if (d) {
		times = mmap(NULL, page_size(), PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		ASSERT_NE(MAP_FAILED, times);
		self->load[self->loads] = start_disturbance(d, times);
		ASSERT_GT(self->load[self->loads], 0);
		self->loads++;
	}
	read_on(self, variant->clock, times, 4 * NSEC);
	report(self, _metadata);

	EXPECT_EQ(0, self->late);
	EXPECT_GT(self->last, begin);
	for (i = 0; i < self->n; i++)
		EXPECT_GE(self->rings[i].seen, ENOUGH_RECORDS);
	if (d) {
		TH_LOG("%s: %d times", d->name, *times);
		EXPECT_GE(*times, ENOUGH_TIMES);
		/* Those of before were not disturbed. */
		EXPECT_GE(seen_of_all(self) - before, ENOUGH_RECORDS);
		kill(self->load[--self->loads], SIGKILL);
		waitpid(self->load[self->loads], NULL, 0);
		d->restore();
		/* It goes on. */
		EXPECT_TRUE(await_watermark(self->page, variant->clock,
					    self->last, 10000));
	}
}

TEST_HARNESS_MAIN
