# SPDX-License-Identifier: GPL-2.0
# Measurements. bench_*.c, one program each; none of them is part of "check".

BENCH_SRCS := $(wildcard selftests/bench/bench_*.c)
BENCH_BINS := $(BENCH_SRCS:selftests/bench/%.c=$(BUILD)/bench/%)

$(BUILD)/bench/%: selftests/bench/%.c $(LIB_A)
	@mkdir -p $(@D)
	$(CC) $(PC_CPPFLAGS) $(CPPFLAGS) $(PC_CFLAGS) $(CFLAGS) \
		$(LDFLAGS) -MMD -MP -o $@ $< $(LIB_A) $(PC_LDLIBS)

.PHONY: bench-programs bench-session
bench-programs: $(BENCH_BINS)
bench-session: $(BUILD)/bench/bench_session_read ## CPU cost of a live session, against perf record's (root)
	selftests/bench/bench_session --build $(BUILD)

-include $(BENCH_BINS:=.d)
