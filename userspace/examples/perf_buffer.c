// SPDX-License-Identifier: GPL-2.0
/*
 * A BPF program sends records through libbpf's perf_buffer; libperfclock
 * adopts the rings and delivers them in order.
 *
 *	perf_buffer [SECONDS]
 *
 * perf_buffer hands over records as it reads them, ring by ring, so records
 * of different CPUs come out of order. Two things change here: the events get
 * a stamp on CLOCK_MONOTONIC, the clock of bpf_ktime_get_ns(), and the rings
 * are read by a session instead of perf_buffer__poll(). The BPF program is
 * written out as instructions, so that no BPF compiler is needed; yours comes
 * from a skeleton.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <perfclock.h>

#define PAGES	64

struct payload {
	uint64_t time;		/* bpf_ktime_get_ns() */
	uint64_t pid_tgid;
};

struct counts {
	uint64_t records, late, last_time, back;
};

#define INSN(c, d, s, o, i) \
	((struct bpf_insn){ .code = (c), .dst_reg = (d), .src_reg = (s), \
			    .off = (o), .imm = (i) })
#define CALL(fn)	INSN(BPF_JMP | BPF_CALL, 0, 0, 0, fn)
#define MOV(d, s)	INSN(BPF_ALU64 | BPF_MOV | BPF_X, d, s, 0, 0)
#define MOV_IMM(d, i)	INSN(BPF_ALU64 | BPF_MOV | BPF_K, d, 0, 0, i)
#define MOV32_IMM(d, i)	INSN(BPF_ALU | BPF_MOV | BPF_K, d, 0, 0, i)
#define ADD_IMM(d, i)	INSN(BPF_ALU64 | BPF_ADD | BPF_K, d, 0, 0, i)
#define STORE(o, s)	INSN(BPF_STX | BPF_DW | BPF_MEM, BPF_REG_10, s, o, 0)

/* On every context switch: send { time, pid_tgid } through the map. */
static int load_program(int map)
{
	struct bpf_insn insns[] = {
		MOV(BPF_REG_6, BPF_REG_1),
		CALL(BPF_FUNC_ktime_get_ns),
		STORE(-16, BPF_REG_0),
		CALL(BPF_FUNC_get_current_pid_tgid),
		STORE(-8, BPF_REG_0),
		MOV(BPF_REG_1, BPF_REG_6),
		/* r2 = map, a 64-bit constant in two instructions */
		INSN(BPF_LD | BPF_DW | BPF_IMM, BPF_REG_2, BPF_PSEUDO_MAP_FD,
		     0, map),
		INSN(0, 0, 0, 0, 0),
		MOV32_IMM(BPF_REG_3, -1),	/* BPF_F_CURRENT_CPU */
		MOV(BPF_REG_4, BPF_REG_10),
		ADD_IMM(BPF_REG_4, -16),
		MOV_IMM(BPF_REG_5, sizeof(struct payload)),
		CALL(BPF_FUNC_perf_event_output),
		MOV_IMM(BPF_REG_0, 0),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};

	return bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "on_switch", "GPL",
			     insns, sizeof(insns) / sizeof(insns[0]), NULL);
}

static int show(const struct perfclock_event *ev, void *ctx)
{
	struct counts *c = ctx;
	struct payload p;

	if (ev->type != PERF_RECORD_SAMPLE || ev->raw_size < sizeof(p))
		return 0;
	memcpy(&p, ev->raw, sizeof(p));
	printf("%" PRIu64 " cpu %d tid %" PRIu32 "\n", p.time, ev->cpu,
	       (uint32_t)p.pid_tgid);
	c->records++;
	c->late += !!(ev->flags & PERFCLOCK_RECORD_LATE);
	/*
	 * The order is that of the kernel's stamps. The program's own time is
	 * a little earlier, so between CPUs it may step back by less than the
	 * program runs.
	 */
	if (p.time < c->last_time)
		c->back++;
	c->last_time = p.time;
	return 0;
}

/* What perf_buffer opens, plus stamps on the clock of the watermark. */
static const struct perf_event_attr stamped = {
	.size = sizeof(stamped),
	.type = PERF_TYPE_SOFTWARE,
	.config = PERF_COUNT_SW_BPF_OUTPUT,
	.sample_period = 1,
	.wakeup_events = 64,
	.sample_type = PERF_SAMPLE_RAW | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
	.sample_id_all = 1,
	.use_clockid = 1,
	.clockid = CLOCK_MONOTONIC,
};

static enum bpf_perf_event_ret unused(void *ctx, int cpu,
				      struct perf_event_header *event)
{
	return LIBBPF_PERF_EVENT_CONT;
}

static int adopt_all(struct perfclock_session *s, struct perf_buffer *pb)
{
	struct perfclock_adopt_opts o = { .sz = sizeof(o), .attr = &stamped };
	size_t i;
	int err;

	for (i = 0; i < perf_buffer__buffer_cnt(pb); i++) {
		err = perf_buffer__buffer(pb, i, &o.base, &o.size);
		if (err)
			return err;
		/* libbpf counts the data pages only. */
		o.size += sysconf(_SC_PAGESIZE);
		o.fd = perf_buffer__buffer_fd(pb, i);
		o.cpu = -1;	/* PERF_SAMPLE_CPU tells */
		err = perfclock_session_adopt(s, &o);
		if (err < 0)
			return err;
	}
	return perfclock_session_start(s);
}

static int trace(struct perf_buffer *pb, int prog, int seconds)
{
	char why[256] = "";
	struct perfclock_session_opts opts = {
		.sz = sizeof(opts), .clock = PERFCLOCK_MONOTONIC,
		.interval_ns = 10000000, .error = why,
		.error_size = sizeof(why),
	};
	time_t end = time(NULL) + seconds;
	struct perfclock_session *s;
	struct counts c = { 0 };
	long n;
	int link;

	if (perfclock_session_new(&s, &opts)) {
		fprintf(stderr, "%s\n", why);
		return 1;
	}
	n = adopt_all(s, pb);
	link = bpf_raw_tracepoint_open("sched_switch", prog);
	if (n >= 0 && link < 0)
		n = -errno;
	while (n >= 0 && time(NULL) < end)
		n = perfclock_session_poll(s, 100, show, &c);
	if (link >= 0)
		close(link);
	if (n >= 0)
		n = perfclock_session_finish(s, show, &c);
	if (n < 0)
		fprintf(stderr, "%s (%s)\n", perfclock_session_error(s),
			strerror((int)-n));
	fprintf(stderr, "%" PRIu64 " records in order, %" PRIu64 " late; the "
		"program's own time stepped back %" PRIu64 " times\n",
		c.records, c.late, c.back);
	perfclock_session_free(s);
	return n < 0 || c.late;
}

int main(int argc, char **argv)
{
	struct perf_event_attr attr = stamped;
	struct perf_buffer *pb;
	int map, prog, ret;

	map = bpf_map_create(BPF_MAP_TYPE_PERF_EVENT_ARRAY, "events", 4, 4,
			     libbpf_num_possible_cpus(), NULL);
	if (map < 0) {
		fprintf(stderr, "BPF map: %s: run as root or with CAP_BPF and "
			"CAP_PERFMON\n", strerror(errno));
		return 1;
	}
	prog = load_program(map);
	if (prog < 0) {
		fprintf(stderr, "BPF program: %s\n", strerror(errno));
		return 1;
	}
	pb = perf_buffer__new_raw(map, PAGES, &attr, unused, NULL, NULL);
	if (!pb) {
		fprintf(stderr, "perf_buffer: %s\n", strerror(errno));
		return 1;
	}
	ret = trace(pb, prog, argc > 1 ? atoi(argv[1]) : 3);
	perf_buffer__free(pb);
	close(prog);
	close(map);
	return ret;
}
