# SPDX-License-Identifier: GPL-2.0
# Live tests: this machine's own perf events; each skips with its reason.
# test_*.c, one program each.

LIVE_SRCS := $(wildcard selftests/live/test_*.c)
LIVE_BINS := $(LIVE_SRCS:selftests/live/%.c=$(BUILD)/tests/live/%)
TAP_PROGRAMS += $(LIVE_BINS)

# The same in a guest without the module and without membarrier.
TAP_PROGRAMS += selftests/live/test_guest_nohz

$(BUILD)/tests/live/%: selftests/live/%.c selftests/tap.h $(LIB_A)
	@mkdir -p $(@D)
	$(CC) $(PC_CPPFLAGS) -Iselftests $(CPPFLAGS) $(PC_CFLAGS) $(CFLAGS) \
		$(LDFLAGS) -MMD -MP -o $@ $< $(LIB_A) $(PC_LDLIBS)

.PHONY: live-tests check-live
live-tests: $(LIVE_BINS)
check-live: $(LIVE_BINS) ## run the live tests only (root, or perf_event_paranoid -1)
	scripts/with-tracefs scripts/tap-run --log $(BUILD)/check $(LIVE_BINS)

-include $(LIVE_BINS:=.d)
