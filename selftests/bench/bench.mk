# SPDX-License-Identifier: GPL-2.0
# Measurements. bench_*.c, one program each; none of them is part of "check".

BENCH_REFS := selftests/bench/bench_refs.c
BENCH_SRCS := $(filter-out $(BENCH_REFS),$(wildcard selftests/bench/bench_*.c))
BENCH_BINS := $(BENCH_SRCS:selftests/bench/%.c=$(BUILD)/bench/%)

$(BUILD)/bench/%: selftests/bench/%.c $(LIB_A)
	@mkdir -p $(@D)
	$(CC) $(PC_CPPFLAGS) $(CPPFLAGS) $(PC_CFLAGS) $(CFLAGS) \
		$(LDFLAGS) -MMD -MP -o $@ $< $(BENCH_EXTRA) $(LIB_A) $(PC_LDLIBS)

$(BUILD)/bench/bench_order: BENCH_EXTRA = $(BENCH_REFS)
$(BUILD)/bench/bench_order: $(BENCH_REFS) selftests/bench/bench_refs.h

.PHONY: bench bench-check bench-programs bench-session
bench: $(BUILD)/bench/bench_order ## what ordering costs: table, JSON, SVG
	$< --json $(BUILD)/bench.json
	selftests/bench/bench_order_report --plot $(BUILD)/bench.svg \
		$(BUILD)/bench.json

bench-check: bench ## bench, and whether the ratios that we promise hold
	selftests/bench/bench_order_report --check $(BUILD)/bench.json

bench-programs: $(BENCH_BINS)
bench-session: $(BUILD)/bench/bench_session_read ## CPU cost of a live session (root)
	scripts/with-tracefs selftests/bench/bench_session --build $(BUILD)

-include $(BENCH_BINS:=.d)

.PHONY: bench-trace
bench-trace: $(BUILD)/perfclock ## CPU cost of a line, against perf (root)
	scripts/with-tracefs selftests/bench/bench_trace
