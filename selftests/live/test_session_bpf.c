// SPDX-License-Identifier: GPL-2.0
/*
 * BPF programs that write to a perf ring: their records come in order with
 * those of other events. The program is a handful of instructions, so that
 * no compiler and no library is needed:
 *
 *	if (bpf_get_current_pid_tgid() >> 32 != our process)
 *		return 1;
 *	stamp = bpf_ktime_get_ns();
 *	bpf_perf_event_output(ctx, map, BPF_F_CURRENT_CPU, &stamp, 8);
 *	return 1;
 */
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "live.h"

#define CALLS	500

static uint64_t from_bpf, from_perf, disorder, last_stamp, bad_payload;

static int note(const struct perfclock_event *ev, void *ctx)
{
	uint64_t time;

	(void)ctx;
	if (ev->type != PERF_RECORD_SAMPLE)
		return 0;
	disorder += ev->stamp < last_stamp;
	last_stamp = ev->stamp;
	if (ev->index != 0) {
		from_perf++;
		return 0;
	}
	from_bpf++;
	if (ev->raw_size < sizeof(time)) {
		bad_payload++;
		return 0;
	}
	/* Taken in the same run of the program, before the stamp. */
	memcpy(&time, ev->raw, sizeof(time));
	bad_payload += time > ev->stamp;
	return 0;
}

static int sys_bpf(int cmd, union bpf_attr *attr)
{
	return syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

static int make_map(int cpus)
{
	union bpf_attr attr = { 0 };

	attr.map_type = BPF_MAP_TYPE_PERF_EVENT_ARRAY;
	attr.key_size = attr.value_size = 4;
	attr.max_entries = cpus;
	return sys_bpf(BPF_MAP_CREATE, &attr);
}

static int put_fd(int map, uint32_t cpu, uint32_t fd)
{
	union bpf_attr attr = { 0 };

	attr.map_fd = map;
	attr.key = (uintptr_t)&cpu;
	attr.value = (uintptr_t)&fd;
	return sys_bpf(BPF_MAP_UPDATE_ELEM, &attr);
}

#define INSN(c, d, s, o, i) \
	{ .code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i) }

static int load_program(int map)
{
	struct bpf_insn insns[] = {
		/* r6 = ctx; other processes: to the end */
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, 6, 1, 0, 0),
		INSN(BPF_JMP | BPF_CALL, 0, 0, 0,
		     BPF_FUNC_get_current_pid_tgid),
		INSN(BPF_ALU64 | BPF_RSH | BPF_K, 0, 0, 0, 32),
		INSN(BPF_JMP | BPF_JNE | BPF_K, 0, 0, 10, getpid()),
		/* *(u64 *)(fp - 8) = bpf_ktime_get_ns() */
		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_ktime_get_ns),
		INSN(BPF_STX | BPF_MEM | BPF_DW, 10, 0, -8, 0),
		/* bpf_perf_event_output(r6, map, CURRENT_CPU, fp - 8, 8) */
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, 1, 6, 0, 0),
		INSN(BPF_LD | BPF_DW | BPF_IMM, 2, BPF_PSEUDO_MAP_FD, 0, map),
		INSN(0, 0, 0, 0, 0),
		INSN(BPF_ALU | BPF_MOV | BPF_K, 3, 0, 0, -1),
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, 4, 10, 0, 0),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, 4, 0, 0, -8),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 5, 0, 0, 8),
		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_perf_event_output),
		/* 0 would keep the tracepoint's record from all perf events */
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 1),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	union bpf_attr attr = { 0 };

	attr.prog_type = BPF_PROG_TYPE_TRACEPOINT;
	attr.insns = (uintptr_t)insns;
	attr.insn_cnt = sizeof(insns) / sizeof(insns[0]);
	attr.license = (uintptr_t)"GPL";
	return sys_bpf(BPF_PROG_LOAD, &attr);
}

/* The tracepoint that runs the program: an event of this process. */
static int attach(int prog)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr),
	};
	char text[32] = "";
	FILE *f = fopen("/sys/kernel/tracing/events/syscalls/"
			"sys_enter_newuname/id", "r");
	int fd;

	if (!f || !fgets(text, sizeof(text), f))
		return -1;
	fclose(f);
	attr.config = strtoull(text, NULL, 10);
	fd = syscall(SYS_perf_event_open, &attr, getpid(), -1, -1, 0);
	if (fd >= 0 && (ioctl(fd, PERF_EVENT_IOC_SET_BPF, prog) ||
			ioctl(fd, PERF_EVENT_IOC_ENABLE, 0)))
		return -1;
	return fd;
}

static void records_of_programs_come_in_order(void)
{
	int cpus = sysconf(_SC_NPROCESSORS_ONLN), map, prog, trace, i;
	struct perfclock_session_opts o = {
		.sz = sizeof(o), .clock = PERFCLOCK_MONOTONIC,
		.interval_ns = 1000000,
	};
	struct perfclock_event_opts eo = { .sz = sizeof(eo) };
	struct perfclock_session *s;
	struct utsname u;
	char filter[48];

	map = make_map(cpus);
	prog = map < 0 ? -1 : load_program(map);
	if (prog < 0)
		SKIP("no BPF here: %s", strerror(errno));
	live_new(&s, &o);
	ASSERT_EQ(perfclock_session_add(s, "bpf-output", NULL), 0);
	snprintf(filter, sizeof(filter), "common_pid == %d", getpid());
	eo.filter = filter;
	live_add_with(s, "syscalls:sys_enter_newuname", &eo);
	live_start(s);
	EXPECT_EQ(perfclock_session_event_fd(s, 0, 4000), -ENOENT);
	for (i = 0; i < cpus; i++)
		ASSERT_EQ(put_fd(map, i, perfclock_session_event_fd(s, 0, i)),
			  0);
	trace = attach(prog);
	if (trace < 0)
		SKIP("cannot attach a program: %s", strerror(errno));
	for (i = 0; i < CALLS; i++) {
		uname(&u);
		if (i % 50 == 0)
			ASSERT_OP(perfclock_session_poll(s, 1, note, NULL),
				  >=, 0);
	}
	close(trace);
	EXPECT_OP(perfclock_session_finish(s, note, NULL), >=, 0);
	EXPECT_EQ(from_bpf, CALLS);
	EXPECT_EQ(from_perf, CALLS);
	EXPECT_EQ(bad_payload, 0);
	EXPECT_EQ(disorder, 0);
	EXPECT_EQ(live_stats(s).late, 0);
	perfclock_session_free(s);
	close(prog);
	close(map);
}

static const struct tap_test tests[] = {
	{ "records_of_programs_come_in_order",
	  records_of_programs_come_in_order },
};

TAP_MAIN(tests)
