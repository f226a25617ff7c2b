// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* The shape of perf records: see sample.h. */
#include <errno.h>
#include <linux/perf_event.h>

#include "bytes.h"
#include "perfdata/sample.h"

/* Newer than some of the headers that we build with. */
#define READ_LOST		(1u << 4)
#define BRANCH_HW_INDEX		(1u << 17)
#define BRANCH_COUNTERS		(1u << 19)
#define SAMPLE_CGROUP		(1u << 21)
#define SAMPLE_DATA_PAGE_SIZE	(1u << 22)
#define SAMPLE_CODE_PAGE_SIZE	(1u << 23)
#define SAMPLE_WEIGHT_STRUCT	(1u << 24)

#define HEADER_SIZE		sizeof(struct perf_event_header)

void sample_layout_init(struct sample_layout *l,
			const struct sample_format *format)
{
	struct perf_event_attr attr = {
		.sample_type = format->sample_type,
		.read_format = format->read_format,
		.sample_id_all = format->sample_id_all,
	};

	l->format = *format;
	pc_layout_init(&l->places, &attr);
}

uint32_t sample_record_min(uint32_t type)
{
	static const uint8_t min[] = {
		[PERF_RECORD_MMAP]		= 40,
		[PERF_RECORD_LOST]		= 24,
		[PERF_RECORD_COMM]		= 16,
		[PERF_RECORD_EXIT]		= 32,
		[PERF_RECORD_THROTTLE]		= 32,
		[PERF_RECORD_UNTHROTTLE]	= 32,
		[PERF_RECORD_FORK]		= 32,
		[PERF_RECORD_READ]		= 24,
		[PERF_RECORD_SAMPLE]		= 8,
		[10 /* MMAP2 */]		= 72,
		[11 /* AUX */]			= 32,
		[12 /* ITRACE_START */]		= 16,
		[13 /* LOST_SAMPLES */]		= 16,
		[14 /* SWITCH */]		= 8,
		[15 /* SWITCH_CPU_WIDE */]	= 16,
		[16 /* NAMESPACES */]		= 24,
		[17 /* KSYMBOL */]		= 24,
		[18 /* BPF_EVENT */]		= 24,
		[19 /* CGROUP */]		= 16,
		[20 /* TEXT_POKE */]		= 20,
		[21 /* AUX_OUTPUT_HW_ID */]	= 16,
		[22 /* CALLCHAIN_DEFERRED */]	= 24,
	};

	return type < sizeof(min) ? min[type] : 0;
}

int sample_get_fields(const struct sample_layout *l, const void *record,
		      uint32_t size, struct sample_fields *f)
{
	const bool big = l->format.big_endian;
	const struct pc_sample_layout *in = &l->places.sample;
	const struct pc_trailer_layout *after = &l->places.trailer;
	const uint8_t *p = record, *m;
	uint32_t type;

	*f = (struct sample_fields){ .cpu = -1, .pid = -1, .tid = -1 };
	if (size < HEADER_SIZE)
		return -EBADMSG;
	type = get_u32(p, big);

/* The address of a member: counted from the start, or back from the end. */
#define MEMBER(name) (type == PERF_RECORD_SAMPLE ?			\
		      (in->name ? p + in->name : NULL) :		\
		      (after->name ? p + size - after->name : NULL))

	if (type == PERF_RECORD_SAMPLE) {
		if (size < in->fixed)
			return -EBADMSG;
	} else if (size < sample_record_min(type) + after->size) {
		return -EBADMSG;
	}
	m = MEMBER(time);
	if (m) {
		f->stamp = get_u64(m, big);
		f->have |= PERF_SAMPLE_TIME;
	}
	m = MEMBER(id);
	if (m) {
		f->id = get_u64(m, big);
		f->have |= PERF_SAMPLE_ID;
	}
	m = MEMBER(cpu);
	if (m) {
		f->cpu = (int32_t)get_u32(m, big);
		f->have |= PERF_SAMPLE_CPU;
	}
	m = MEMBER(tid);
	if (m) {
		f->pid = (int32_t)get_u32(m, big);
		f->tid = (int32_t)get_u32(m + 4, big);
		f->have |= PERF_SAMPLE_TID;
	}
#undef MEMBER
	return 0;
}

/* What is left of a sample; every step takes from the front. */
struct walk {
	const uint8_t *at;
	uint64_t left;
	bool big;
};

static bool walk_skip(struct walk *w, uint64_t bytes)
{
	if (bytes > w->left)
		return false;
	w->at += bytes;
	w->left -= bytes;
	return true;
}

static bool walk_u64(struct walk *w, uint64_t *v)
{
	if (w->left < 8)
		return false;
	*v = get_u64(w->at, w->big);
	return walk_skip(w, 8);
}

/* nr entries of 'each' bytes: nr is of the record, so it may be anything. */
static bool walk_array(struct walk *w, uint64_t nr, uint64_t each)
{
	return !nr || (each && nr <= w->left / each && walk_skip(w, nr * each));
}

static bool walk_read(struct walk *w, uint64_t format)
{
	uint64_t nr = 1;
	unsigned int times = !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
			     !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	unsigned int each = 1 + !!(format & PERF_FORMAT_ID) +
			    !!(format & READ_LOST);

	if ((format & PERF_FORMAT_GROUP) && !walk_u64(w, &nr))
		return false;
	return walk_skip(w, times * 8) && walk_array(w, nr, each * 8);
}

static bool walk_callchain(struct walk *w)
{
	uint64_t nr;

	return walk_u64(w, &nr) && walk_array(w, nr, 8);
}

static bool walk_raw(struct walk *w, const void **raw, uint32_t *raw_size)
{
	uint32_t size;

	if (w->left < 4)
		return false;
	size = get_u32(w->at, w->big);
	walk_skip(w, 4);
	if (size > w->left)
		return false;
	if (raw)
		*raw = w->at;
	if (raw_size)
		*raw_size = size;
	return walk_skip(w, size);
}

static bool walk_branches(struct walk *w, uint64_t branch_type)
{
	uint64_t nr;

	if (!walk_u64(w, &nr))
		return false;
	if ((branch_type & BRANCH_HW_INDEX) && !walk_skip(w, 8))
		return false;
	return walk_array(w, nr, 24) &&
	       (!(branch_type & BRANCH_COUNTERS) || walk_array(w, nr, 8));
}

static bool walk_regs(struct walk *w, uint64_t mask)
{
	uint64_t abi;

	if (!walk_u64(w, &abi))
		return false;
	return !abi || walk_array(w, __builtin_popcountll(mask), 8);
}

static bool walk_stack(struct walk *w)
{
	uint64_t size;

	if (!walk_u64(w, &size))
		return false;
	return !size || (walk_skip(w, size) && walk_skip(w, 8));
}

static bool walk_aux(struct walk *w)
{
	uint64_t size;

	return walk_u64(w, &size) && walk_skip(w, size);
}

int sample_walk(const struct sample_layout *l, const void *record,
		uint32_t size, const char **what, const void **raw,
		uint32_t *raw_size)
{
	const struct sample_format *f = &l->format;
	const uint64_t type = f->sample_type;
	struct walk w = { .big = f->big_endian };

	if (raw)
		*raw = NULL;
	if (raw_size)
		*raw_size = 0;

#define STEP(bit, name, step) do {					\
	if ((type & (bit)) && !(step)) {				\
		*what = name;						\
		return -EBADMSG;					\
	}								\
} while (0)

	*what = "fixed part";
	if (size < l->places.sample.fixed)
		return -EBADMSG;
	w.at = (const uint8_t *)record + l->places.sample.fixed;
	w.left = size - l->places.sample.fixed;
	STEP(PERF_SAMPLE_READ, "counter values", walk_read(&w, f->read_format));
	STEP(PERF_SAMPLE_CALLCHAIN, "callchain", walk_callchain(&w));
	STEP(PERF_SAMPLE_RAW, "raw data", walk_raw(&w, raw, raw_size));
	STEP(PERF_SAMPLE_BRANCH_STACK, "branch stack",
	     walk_branches(&w, f->branch_sample_type));
	STEP(PERF_SAMPLE_REGS_USER, "user registers",
	     walk_regs(&w, f->sample_regs_user));
	STEP(PERF_SAMPLE_STACK_USER, "user stack", walk_stack(&w));
	STEP(PERF_SAMPLE_WEIGHT | SAMPLE_WEIGHT_STRUCT, "weight",
	     walk_skip(&w, 8));
	STEP(PERF_SAMPLE_DATA_SRC, "data source", walk_skip(&w, 8));
	STEP(PERF_SAMPLE_TRANSACTION, "transaction", walk_skip(&w, 8));
	STEP(PERF_SAMPLE_REGS_INTR, "interrupt registers",
	     walk_regs(&w, f->sample_regs_intr));
	STEP(PERF_SAMPLE_PHYS_ADDR, "physical address", walk_skip(&w, 8));
	STEP(SAMPLE_CGROUP, "cgroup", walk_skip(&w, 8));
	STEP(SAMPLE_DATA_PAGE_SIZE, "data page size", walk_skip(&w, 8));
	STEP(SAMPLE_CODE_PAGE_SIZE, "code page size", walk_skip(&w, 8));
	STEP(PERF_SAMPLE_AUX, "AUX data", walk_aux(&w));
#undef STEP
	/* Members that are newer than this library, and padding, may follow. */
	*what = NULL;
	return 0;
}
