// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Records of perf itself: is each long enough for its type, and for the
 * number of entries that it claims? A count is compared by division, so that
 * no product can overflow.
 */
#include "perfdata/internal.h"

typedef unsigned long long ull;

static const uint8_t least_size[] = {
	[PERFCLOCK_PERFDATA_HEADER_ATTR]	= 8,
	[PERFCLOCK_PERFDATA_EVENT_TYPE]		= 16,
	[PERFCLOCK_PERFDATA_TRACING_DATA]	= 12,
	[PERFCLOCK_PERFDATA_BUILD_ID]		= 36,
	[PERFCLOCK_PERFDATA_FINISHED_ROUND]	= 8,
	[PERFCLOCK_PERFDATA_ID_INDEX]		= 16,
	[PERFCLOCK_PERFDATA_AUXTRACE_INFO]	= 16,
	[PERFCLOCK_PERFDATA_AUXTRACE]		= 48,
	[PERFCLOCK_PERFDATA_AUXTRACE_ERROR]	= 40,
	[PERFCLOCK_PERFDATA_THREAD_MAP]		= 16,
	[PERFCLOCK_PERFDATA_CPU_MAP]		= 12,
	[PERFCLOCK_PERFDATA_STAT_CONFIG]	= 16,
	[PERFCLOCK_PERFDATA_STAT]		= 48,
	[PERFCLOCK_PERFDATA_STAT_ROUND]		= 24,
	[PERFCLOCK_PERFDATA_EVENT_UPDATE]	= 24,
	[PERFCLOCK_PERFDATA_TIME_CONV]		= 32,
	[PERFCLOCK_PERFDATA_HEADER_FEATURE]	= 16,
	[PERFCLOCK_PERFDATA_COMPRESSED]		= 8,
	[PERFCLOCK_PERFDATA_FINISHED_INIT]	= 8,
	[PERFCLOCK_PERFDATA_COMPRESSED2]	= 16,
};

/* nr entries of 'each' bytes, from 'at' to the record's end. */
static bool fits(struct perfclock_perfdata *p, const struct pd_raw *r,
		 uint64_t nr, uint32_t at, uint32_t each)
{
	if (at <= r->size && nr <= (r->size - at) / each)
		return true;
	pd_fault(p, PERFCLOCK_FAULT_DAMAGE, r->offset, "count",
		 "%s count %llu larger than its record of %u bytes",
		 perfclock_perfdata_record_name(r->type), (ull)nr, r->size);
	return false;
}

static bool too_short(struct perfclock_perfdata *p, const struct pd_raw *r,
		      uint32_t need)
{
	pd_fault(p, PERFCLOCK_FAULT_DAMAGE, r->offset, "short",
		 "%s too short for its type: %u bytes, need %u",
		 perfclock_perfdata_record_name(r->type), r->size, need);
	return false;
}

static bool check_cpu_map(struct perfclock_perfdata *p, const struct pd_raw *r)
{
	const bool big = p->info.big_endian;
	uint16_t kind = get_u16(r->data + 8, big);
	uint16_t nr = get_u16(r->data + 10, big), word;

	switch (kind) {
	case 0:		/* CPU numbers */
		return fits(p, r, nr, 12, 2);
	case 1:		/* bit mask, of words of 4 or 8 bytes */
		if (r->size < 14)
			return too_short(p, r, 14);
		word = get_u16(r->data + 12, big);
		if (word == 4 || word == 8)
			return fits(p, r, nr, 16, word);
		pd_fault(p, PERFCLOCK_FAULT_DAMAGE, r->offset, "count",
			 "CPU_MAP with words of %u bytes", word);
		return false;
	case 2:		/* first and last CPU */
		return r->size >= 16 || too_short(p, r, 16);
	}
	return true;
}

static bool check_attr(struct perfclock_perfdata *p, const struct pd_raw *r)
{
	uint32_t size;

	if (r->size < PD_RECORD_HEADER + PD_ATTR_SIZE_0)
		return too_short(p, r, PD_RECORD_HEADER + PD_ATTR_SIZE_0);
	size = get_u32(r->data + PD_RECORD_HEADER + 4, p->info.big_endian);
	if (size <= r->size - PD_RECORD_HEADER)
		return true;
	pd_fault(p, PERFCLOCK_FAULT_DAMAGE, r->offset, "short",
		 "HEADER_ATTR too short: attr.size %u in a record of %u bytes",
		 size, r->size);
	return false;
}

bool pd_check_user_record(struct perfclock_perfdata *p, const struct pd_raw *r)
{
	const bool big = p->info.big_endian;

	if (r->type >= sizeof(least_size))
		return true;
	if (r->size < least_size[r->type])
		return too_short(p, r, least_size[r->type]);
	switch (r->type) {
	case PERFCLOCK_PERFDATA_HEADER_ATTR:
		return check_attr(p, r);
	case PERFCLOCK_PERFDATA_ID_INDEX:
		return fits(p, r, get_u64(r->data + 8, big), 16, 32);
	case PERFCLOCK_PERFDATA_THREAD_MAP:
		return fits(p, r, get_u64(r->data + 8, big), 16, 24);
	case PERFCLOCK_PERFDATA_STAT_CONFIG:
		return fits(p, r, get_u64(r->data + 8, big), 16, 16);
	case PERFCLOCK_PERFDATA_CPU_MAP:
		return check_cpu_map(p, r);
	}
	return true;
}
