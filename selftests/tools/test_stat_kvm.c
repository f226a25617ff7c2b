// SPDX-License-Identifier: GPL-2.0
/*
 * The kvm preset of "perfclock stat", on synthetic kvm_exit and kvm_entry
 * records: the machines that test this have no KVM. The records go through
 * the order core as two rings read in the worst of orders.
 */
#include <linux/perf_event.h>
#include <stdint.h>

#include <perfclock/order.h>

#include "common.h"
#include "stat_run.h"
#include "stat_table.h"
#include "tap.h"

#define COMMON								\
	"format:\n"							\
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

static const char exit_format[] = "name: kvm_exit\nID: 11\n" COMMON
	"\tfield:unsigned int exit_reason;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:unsigned long guest_rip;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:u32 isa;\toffset:24;\tsize:4;\tsigned:0;\n"
	"\tfield:unsigned int vcpu_id;\toffset:28;\tsize:4;\tsigned:0;\n"
	"\nprint fmt: \"reason %u\", REC->exit_reason\n";

static const char entry_format[] = "name: kvm_entry\nID: 12\n" COMMON
	"\tfield:unsigned int vcpu_id;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\nprint fmt: \"vcpu %u\", REC->vcpu_id\n";

struct exit_record {
	uint16_t type, pad;
	int32_t pid;
	uint32_t reason, pad2;
	uint64_t rip;
	uint32_t isa, vcpu;
};

struct entry_record {
	uint16_t type, pad;
	int32_t pid;
	uint32_t vcpu;
};

/* What is pushed into the order core: a record with its task and CPU. */
struct record {
	int32_t tid, cpu;
	bool is_exit;
	union {
		struct exit_record exit;
		struct entry_record entry;
	};
};

struct guest {
	struct tep_handle *tep;
	struct live_tracepoint exit, entry;
	struct stat_def *def;
	struct comms *comms;
	struct stat_run run;
	struct perfclock_order *order;
};

static void guest_init(struct guest *g, const char *per)
{
	memset(g, 0, sizeof(*g));
	g->tep = tep_alloc();
	ASSERT(!tep_parse_event(g->tep, exit_format, strlen(exit_format),
				"kvm"));
	ASSERT(!tep_parse_event(g->tep, entry_format, strlen(entry_format),
				"kvm"));
	g->exit.name = (char *)"kvm:kvm_exit";
	g->exit.tep = tep_find_event(g->tep, 11);
	g->entry.name = (char *)"kvm:kvm_entry";
	g->entry.tep = tep_find_event(g->tep, 12);
	g->def = stat_def_preset("kvm");
	ASSERT(g->def != NULL);
	if (per)
		ASSERT_EQ(stat_def_per(g->def, per), 0);
	g->comms = comms_new();
	comms_set(g->comms, 501, "CPU 0/KVM", 16);
	comms_set(g->comms, 502, "CPU 1/KVM", 16);
	stat_run_init(&g->run, g->def, g->comms);
	ASSERT_EQ(stat_run_event(&g->run, 0, &g->exit, STAT_BEGIN), 0);
	ASSERT_EQ(stat_run_event(&g->run, 1, &g->entry, STAT_END), 0);
	ASSERT_EQ(perfclock_order_new(&g->order, 2, NULL), 0);
}

static void guest_free(struct guest *g)
{
	perfclock_order_free(g->order);
	stat_run_free(&g->run);
	comms_free(g->comms);
	stat_def_free(g->def);
	tep_free(g->tep);
}

static void push(struct guest *g, int cpu, uint64_t stamp,
		 const struct record *rec)
{
	ASSERT_EQ(perfclock_order_push(g->order, cpu, stamp, rec, sizeof(*rec),
				       0, 0), 0);
	read_order_read(&g->run.order, cpu, stamp);
}

static void vm_exit(struct guest *g, int cpu, uint64_t stamp, int tid,
		    uint32_t reason, uint32_t isa)
{
	struct record rec = { .tid = tid, .cpu = cpu, .is_exit = true,
		.exit = { 11, 0, tid, reason, 0, 0x1000, isa, tid - 501 } };

	push(g, cpu, stamp, &rec);
}

static void vm_entry(struct guest *g, int cpu, uint64_t stamp, int tid)
{
	struct record rec = { .tid = tid, .cpu = cpu,
		.entry = { 12, 0, tid, tid - 501 } };

	push(g, cpu, stamp, &rec);
}

static int deliver(const struct perfclock_record *r, void *ctx)
{
	struct guest *g = ctx;
	struct record rec;
	struct perfclock_event ev = {
		.stamp = r->stamp, .type = PERF_RECORD_SAMPLE, .ring = r->ring,
	};

	memcpy(&rec, r->data, sizeof(rec));
	ev.tid = ev.pid = rec.tid;
	ev.cpu = rec.cpu;
	ev.raw = &rec.exit;
	ev.raw_size = rec.is_exit ? sizeof(rec.exit) : sizeof(rec.entry);
	ev.user = rec.is_exit ? &g->exit : &g->entry;
	stat_run_take(&g->run, &ev);
	return 0;
}

static const struct pair_group *group(struct guest *g, const char *name)
{
	unsigned int i;

	for (i = 0; i < g->run.pairs.nr_groups; i++)
		if (!strcmp(g->run.pairs.groups[i].name, name))
			return &g->run.pairs.groups[i];
	tap_fail(__FILE__, __LINE__, "no group %s", name);
	return NULL;
}

static void exits_pair_with_the_next_entry_of_their_vcpu(void)
{
	const struct pair_group *hlt;
	struct guest g;

	guest_init(&g, NULL);
	/* Two virtual CPUs at once; ring 1 is read first. */
	vm_entry(&g, 1, 1500, 502);
	vm_exit(&g, 1, 2000, 502, 12, 1);
	vm_entry(&g, 1, 9000, 502);
	vm_exit(&g, 0, 1000, 501, 12, 1);
	vm_entry(&g, 0, 1300, 501);
	vm_exit(&g, 0, 1400, 502, 1, 1);
	perfclock_order_end(g.order, deliver, &g);
	hlt = group(&g, "HLT");
	ASSERT(hlt != NULL);
	EXPECT_EQ(hlt->time.count, 2);
	EXPECT_EQ(hlt->time.min, 300);
	EXPECT_EQ(hlt->time.max, 7000);
	EXPECT_EQ(g.run.pairs.paired, 3);
	EXPECT_EQ(g.run.pairs.lone_begins + g.run.pairs.lone_ends, 0);
	guest_free(&g);
}

static void a_vcpu_that_migrates_is_paired_across_rings(void)
{
	const struct pair_group *irq;
	struct guest g;

	guest_init(&g, NULL);
	/* Exit on CPU 1, entry on CPU 0, whose ring was read before. */
	vm_entry(&g, 0, 5000, 501);
	vm_exit(&g, 1, 4000, 501, 1, 1);
	perfclock_order_end(g.order, deliver, &g);
	irq = group(&g, "EXTERNAL_INTERRUPT");
	ASSERT(irq != NULL);
	EXPECT_EQ(irq->time.sum, 1000);
	EXPECT_EQ(g.run.pairs.mispaired, 1);
	guest_free(&g);
}

static void reasons_are_named_by_the_maker_of_the_processor(void)
{
	struct guest g;

	guest_init(&g, NULL);
	vm_exit(&g, 0, 10, 501, 0x78, 2);	/* AMD: hlt */
	vm_entry(&g, 0, 20, 501);
	vm_exit(&g, 0, 30, 501, 9999, 1);	/* of no name */
	vm_entry(&g, 0, 40, 501);
	perfclock_order_end(g.order, deliver, &g);
	EXPECT(group(&g, "hlt") != NULL);
	EXPECT(group(&g, "9999") != NULL);
	guest_free(&g);
}

static void rows_per_vcpu(void)
{
	struct guest g;

	guest_init(&g, "vcpu");
	vm_exit(&g, 0, 10, 501, 12, 1);
	vm_exit(&g, 1, 11, 502, 12, 1);
	vm_entry(&g, 0, 20, 501);
	vm_entry(&g, 1, 31, 502);
	perfclock_order_end(g.order, deliver, &g);
	EXPECT(group(&g, "vcpu_id=0 HLT") != NULL);
	EXPECT_EQ(group(&g, "vcpu_id=1 HLT")->time.sum, 20);
	guest_free(&g);
}

/* Beside a name of twelve, each column of nine comes as soon as it fits. */
static void expect_columns(const char *heading, const char *end, int width)
{
	static const char *const wanted[] = {
		"count", "mean", "max", "total", "p99", "p50", "min",
	};
	unsigned int i;

	for (i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		const char *title = strstr(heading, wanted[i]);

		EXPECT_EQ(title && title < end, width >= 22 + 9 * (int)i);
	}
}

static void the_table_fits_any_width(void)
{
	struct stat_view view = { .selected = ~0U };
	struct text t = { 0 };
	struct guest g;
	const char *line, *end;
	int lines;

	guest_init(&g, "task");
	vm_exit(&g, 0, 10, 501, 12, 1);
	vm_entry(&g, 0, 123456789, 501);
	perfclock_order_end(g.order, deliver, &g);
	for (view.columns = 20; view.columns < 120; view.columns++) {
		t.used = 0;
		stat_table(&t, &g.run, &view);
		text_char(&t, '\0');
		lines = 0;
		for (line = t.buf; *line; line = end + 1) {
			end = strchr(line, '\n');
			ASSERT(end != NULL);
			EXPECT_OP(end - line, <=, view.columns);
			if (!lines++ && view.columns >= 22)
				expect_columns(line, end, view.columns);
		}
		/* The heading and a row, which begins with its name. */
		EXPECT_EQ(lines, 2);
		EXPECT(strstr(t.buf, "\nCPU 0/KVM") != NULL);
	}
	text_free(&t);
	guest_free(&g);
}

static const struct tap_test tests[] = {
	{ "exits_pair_with_the_next_entry_of_their_vcpu",
	  exits_pair_with_the_next_entry_of_their_vcpu },
	{ "a_vcpu_that_migrates_is_paired_across_rings",
	  a_vcpu_that_migrates_is_paired_across_rings },
	{ "reasons_are_named_by_the_maker_of_the_processor",
	  reasons_are_named_by_the_maker_of_the_processor },
	{ "rows_per_vcpu", rows_per_vcpu },
	{ "the_table_fits_any_width", the_table_fits_any_width },
};

TAP_MAIN(tests)
