# SPDX-License-Identifier: GPL-2.0
# The module's kselftests, static so that they run in any guest. The Makefile
# beside this file is for a kernel tree instead.

KS := selftests/perf_clock
KS_SRCS := $(wildcard $(KS)/test_*.c)
ifneq ($(HAVE_LIBURING),y)
KS_SRCS := $(filter-out %/test_uring.c,$(KS_SRCS))
endif
KSELFTESTS := $(KS_SRCS:$(KS)/%.c=$(BUILD)/tests/perf_clock/%)
# There is no liburing of another architecture to link with.
KSELFTESTS_ARM64 := $(patsubst $(KS)/%.c,$(BUILD)/tests/perf_clock-arm64/%, \
			$(filter-out %/test_uring.c,$(KS_SRCS)))

KS_FLAGS := -D_GNU_SOURCE -Iuapi -isystem $(BUILD)/kselftest/perf_clock \
	    -std=gnu11 -O2 -g -Wall -static

# A link into the cache, where the kernel's own test harness is.
$(BUILD)/kselftest: $(KS)/fetch-harness
	@mkdir -p $(BUILD)
	@where=$$($(KS)/fetch-harness) && ln -sfn "$$where" $@

$(BUILD)/tests/perf_clock/%: $(KS)/%.c $(KS)/perf_clock_test.h \
		uapi/linux/perf_clock.h | $(BUILD)/kselftest
	@mkdir -p $(@D)
	$(CC) $(KS_FLAGS) -o $@ $< -lpthread $(if $(findstring uring,$@),-luring)
	@cp $(KS)/settings $@.settings

$(BUILD)/tests/perf_clock-arm64/%: $(KS)/%.c $(KS)/perf_clock_test.h \
		uapi/linux/perf_clock.h | $(BUILD)/kselftest
	@mkdir -p $(@D)
	aarch64-linux-gnu-gcc $(KS_FLAGS) -o $@ $< -lpthread
	@cp $(KS)/settings $@.settings

.PHONY: kselftests kselftests-arm64
kselftests: $(KSELFTESTS) ## build the module's kselftests
kselftests-arm64: $(KSELFTESTS_ARM64)
