# SPDX-License-Identifier: GPL-2.0
# Unit tests: no privileges, no kernel features. test_*.c, one program each.

UNIT_SRCS := $(wildcard selftests/unit/test_*.c)
UNIT_BINS := $(UNIT_SRCS:selftests/unit/%.c=$(BUILD)/tests/unit/%)
TAP_PROGRAMS += $(UNIT_BINS)

$(BUILD)/tests/unit/%: selftests/unit/%.c selftests/tap.h $(LIB_A)
	@mkdir -p $(@D)
	$(CC) $(PC_CPPFLAGS) -Iselftests $(CPPFLAGS) $(PC_CFLAGS) $(CFLAGS) \
		$(LDFLAGS) -MMD -MP -o $@ $< $(LIB_A) $(PC_LDLIBS)

.PHONY: unit-tests check-unit
unit-tests: $(UNIT_BINS)
check-unit: $(UNIT_BINS) ## run the unit tests only
	scripts/tap-run --log $(BUILD)/check $(UNIT_BINS)

-include $(UNIT_BINS:=.d)
