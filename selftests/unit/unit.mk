# SPDX-License-Identifier: GPL-2.0
# Unit tests: no privileges, no kernel features. test_*.c, one program each.

UNIT_SRCS := $(wildcard selftests/unit/test_*.c)
UNIT_BINS := $(UNIT_SRCS:selftests/unit/%.c=$(BUILD)/tests/unit/%)
TAP_PROGRAMS += $(UNIT_BINS)

$(BUILD)/tests/unit/%: selftests/unit/%.c selftests/tap.h $(LIB_A)
	@mkdir -p $(@D)
	$(CC) $(PC_CPPFLAGS) -Iselftests $(CPPFLAGS) $(PC_CFLAGS) $(CFLAGS) \
		$(LDFLAGS) $(UNIT_WRAP:%=-Wl,--wrap=%) -MMD -MP -o $@ $< \
		$(UNIT_EXTRA) $(LIB_A) $(PC_LDLIBS)

# A program made of more than its one file.
EXPLORER := selftests/unit/explore.c
$(BUILD)/tests/unit/test_explore: UNIT_EXTRA = $(EXPLORER)
$(BUILD)/tests/unit/test_explore: $(EXPLORER) selftests/unit/explore.h

# Allocations that fail on demand.
$(BUILD)/tests/unit/test_order_nomem: UNIT_WRAP = malloc calloc realloc \
	aligned_alloc

# Pass tables through the command; the order core broken on purpose.
TAP_TOGETHER += selftests/unit/test_order_tables.py
TAP_TOGETHER += selftests/unit/test_order_mutations.py
# The rule itself, as a model for spin.
TAP_TOGETHER += Documentation/model/test_model

# Have the allocators' place taken, to let each call fail in turn.
FAULTY := selftests/unit/test_alloc_faults.c selftests/unit/test_perfdata_nomem.c
$(FAULTY:selftests/%.c=$(BUILD)/tests/%): UNIT_WRAP = malloc calloc realloc \
	posix_memalign aligned_alloc strdup strndup free

# Tests with threads once more, library and all under the thread sanitizer, in
# a build of its own. Other rooms: add yours here.
TSAN_TESTS += unit/test_watermark unit/test_session unit/test_session_threads \
	      unit/test_session_wait unit/test_perfdata_sort \
	      live/test_clock_sources
ifeq ($(SANITIZE),)
TSAN_BINS = $(TSAN_TESTS:%=$(BUILD)/tsan/tests/%.tsan)
TAP_PROGRAMS += $(TSAN_BINS)

.PHONY: tsan-build
tsan-build:
	+$(MAKE) --no-print-directory -s BUILD=$(BUILD)/tsan SANITIZE=thread \
		$(TSAN_TESTS:%=$(BUILD)/tsan/tests/%)

$(BUILD)/tsan/tests/%.tsan: tsan-build
	ln -sf $(notdir $*) $@
endif

# The same with the address and undefined behaviour sanitizers; not those
# that have the allocators' place themselves, nor the long one, which is more
# of what the others do.
ASAN_TESTS += $(patsubst selftests/%.c,%,$(filter-out \
	$(FAULTY) %/test_explore.c,$(UNIT_SRCS)))
ifeq ($(SANITIZE),)
ASAN_BINS = $(ASAN_TESTS:%=$(BUILD)/asan/tests/%.asan)
TAP_PROGRAMS += $(ASAN_BINS)

.PHONY: asan-build
asan-build:
	+$(MAKE) --no-print-directory -s BUILD=$(BUILD)/asan \
		SANITIZE=address,undefined \
		$(ASAN_TESTS:%=$(BUILD)/asan/tests/%) $(BUILD)/asan/perfclock

$(BUILD)/asan/tests/%.asan: asan-build
	ln -sf $(notdir $*) $@
endif

.PHONY: unit-tests check-unit
unit-tests: $(UNIT_BINS)
check-unit: $(UNIT_BINS) ## run the unit tests only
	scripts/tap-run --log $(BUILD)/check $(UNIT_BINS)

-include $(UNIT_BINS:=.d)
