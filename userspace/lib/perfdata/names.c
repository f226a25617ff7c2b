// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* Names of record types and features, as perf spells them. */
#include "perfdata/internal.h"

static const char *const kernel_names[] = {
	[1] = "MMAP", [2] = "LOST", [3] = "COMM", [4] = "EXIT",
	[5] = "THROTTLE", [6] = "UNTHROTTLE", [7] = "FORK", [8] = "READ",
	[9] = "SAMPLE", [10] = "MMAP2", [11] = "AUX", [12] = "ITRACE_START",
	[13] = "LOST_SAMPLES", [14] = "SWITCH", [15] = "SWITCH_CPU_WIDE",
	[16] = "NAMESPACES", [17] = "KSYMBOL", [18] = "BPF_EVENT",
	[19] = "CGROUP", [20] = "TEXT_POKE", [21] = "AUX_OUTPUT_HW_ID",
	[22] = "CALLCHAIN_DEFERRED",
};

static const char *const user_names[] = {
	"HEADER_ATTR", "EVENT_TYPE", "TRACING_DATA", "BUILD_ID",
	"FINISHED_ROUND", "ID_INDEX", "AUXTRACE_INFO", "AUXTRACE",
	"AUXTRACE_ERROR", "THREAD_MAP", "CPU_MAP", "STAT_CONFIG", "STAT",
	"STAT_ROUND", "EVENT_UPDATE", "TIME_CONV", "HEADER_FEATURE",
	"COMPRESSED", "FINISHED_INIT", "COMPRESSED2", "BPF_METADATA",
	"SCHEDSTAT_CPU", "SCHEDSTAT_DOMAIN",
};

/* simpleperf counts from SIMPLEPERF + 1. */
static const char *const simpleperf_names[] = {
	"simpleperf:KERNEL_SYMBOL", "simpleperf:DSO", "simpleperf:SYMBOL",
	"simpleperf:SPLIT", "simpleperf:SPLIT_END", "simpleperf:EVENT_ID",
	"simpleperf:CALLCHAIN", "simpleperf:UNWINDING_RESULT",
	"simpleperf:TRACING_DATA", "simpleperf:DEBUG",
};

static const char *const feature_names[] = {
	NULL, "TRACING_DATA", "BUILD_ID", "HOSTNAME", "OSRELEASE", "VERSION",
	"ARCH", "NRCPUS", "CPUDESC", "CPUID", "TOTAL_MEM", "CMDLINE",
	"EVENT_DESC", "CPU_TOPOLOGY", "NUMA_TOPOLOGY", "BRANCH_STACK",
	"PMU_MAPPINGS", "GROUP_DESC", "AUXTRACE", "STAT", "CACHE",
	"SAMPLE_TIME", "MEM_TOPOLOGY", "CLOCKID", "DIR_FORMAT",
	"BPF_PROG_INFO", "BPF_BTF", "COMPRESSED", "CPU_PMU_CAPS",
	"CLOCK_DATA", "HYBRID_TOPOLOGY", "PMU_CAPS",
};

#define NAME(table, i) \
	((i) < sizeof(table) / sizeof((table)[0]) ? (table)[i] : NULL)

const char *perfclock_perfdata_record_name(uint32_t type)
{
	if (type < PERFCLOCK_PERFDATA_HEADER_ATTR)
		return NAME(kernel_names, type);
	if (type <= PERFCLOCK_PERFDATA_SIMPLEPERF)
		return NAME(user_names, type - PERFCLOCK_PERFDATA_HEADER_ATTR);
	return NAME(simpleperf_names, type - PERFCLOCK_PERFDATA_SIMPLEPERF - 1);
}

const char *perfclock_perfdata_feature_name(unsigned int feature)
{
	return NAME(feature_names, feature);
}
