# SPDX-License-Identifier: GPL-2.0
# The module's kselftests, static so that they run in any guest. The Makefile
# beside this file is for a kernel tree instead.

KS := selftests/perf_clock
KSELFTESTS := $(patsubst $(KS)/%.c,$(BUILD)/tests/perf_clock/%, \
			 $(wildcard $(KS)/test_*.c))
GUEST_TESTS += $(KSELFTESTS)
TAP_TOGETHER += $(KS)/test_packaging

KS_FLAGS := -D_GNU_SOURCE -Iuapi -isystem $(BUILD)/kselftest/perf_clock \
	    -std=gnu11 -O2 -g -Wall -static
KS_LIBS := -lpthread
KS_CC = $(CC)
ifeq ($(HAVE_LIBURING),y)
$(BUILD)/tests/perf_clock/test_uring: KS_FLAGS += -DHAVE_LIBURING
$(BUILD)/tests/perf_clock/test_uring: KS_LIBS += -luring
endif
# CC32: a compiler of 32-bit programs, which x86 does without.
ifneq ($(CC32),)
$(BUILD)/tests/perf_clock/test_compat: KS_CC = $(CC32)
endif

# A link into the cache, where the kernel's own test harness is.
$(BUILD)/kselftest: $(KS)/fetch-harness
	@mkdir -p $(BUILD)
	@where=$$($(KS)/fetch-harness) && ln -sfn "$$where" $@

$(BUILD)/tests/perf_clock/%: $(KS)/%.c $(KS)/perf_clock_test.h \
		$(KS)/disturb.h $(KS)/settings uapi/linux/perf_clock.h | $(BUILD)/kselftest
	@mkdir -p $(@D)
	$(KS_CC) $(KS_FLAGS) $(CPPFLAGS) $(LDFLAGS) -o $@ $< $(KS_LIBS)
	@cp $(KS)/settings $@.settings

.PHONY: kselftests check-module
kselftests: $(KSELFTESTS) ## build the module's kselftests
check-module: $(KSELFTESTS) ## kselftests in a guest, and if they can fail (KERNEL=6.12)
	selftests/vm/run --name kselftests --timeout 600 \
		--env PERF_CLOCK_TEST_SUSPEND=nearly \
		$(if $(KERNEL),--kernel $(KERNEL)) --tap $(KSELFTESTS)
	$(KS)/test_teeth $(BUILD)

# What the doors cost and how far the watermark lags, on one kernel.
$(BUILD)/bench/bench_doors: selftests/bench/bench_doors.c
	@mkdir -p $(@D)
	$(CC) -D_GNU_SOURCE -Iuapi -std=gnu11 -O2 -g -Wall -Wextra -static \
		-o $@ $<

# For another architecture, as in "make bench-doors KERNEL=6.1-arm64".
$(BUILD)/arm64/bench/bench_doors: selftests/bench/bench_doors.c
	@mkdir -p $(@D)
	aarch64-linux-gnu-gcc -D_GNU_SOURCE -Iuapi -std=gnu11 -O2 -g -Wall \
		-Wextra -static -o $@ $<

# One thread of the host runs all CPUs of the guest. With a thread each, on a
# host of no more CPUs than that, the host lets a CPU of the guest wait for its
# turn, in the middle of a grace period too: that would be measured.
BENCH_DOORS := $(BUILD)/$(if $(findstring arm64,$(KERNEL)),arm64/)bench/bench_doors
.PHONY: bench-doors
bench-doors: $(BENCH_DOORS) ## cost and lag in a guest (KERNEL=6.12)
	selftests/vm/run --name bench-doors --threads single \
		$(if $(KERNEL),--kernel $(KERNEL)) -- $<
