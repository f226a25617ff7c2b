# SPDX-License-Identifier: GPL-2.0
# The fuzzer of the reader of recordings: libFuzzer of Debian's clang, with
# ASan and UBSan. Findings, once mended, stay in findings/ and are replayed.

FUZZ_CC ?= clang
SECONDS ?= 60
FUZZ_DIR := $(BUILD)/fuzz
FUZZ_GEN := $(FUZZ_DIR)/gen
FUZZ_BIN := $(FUZZ_DIR)/fuzz_perfdata
FUZZ_SRCS := selftests/fuzz/fuzz_perfdata.c \
	     $(wildcard userspace/lib/perfdata/*.c) \
	     userspace/lib/ring/layout.c
FUZZ_FINDINGS := $(wildcard selftests/fuzz/findings/*)
FUZZ_CFLAGS := -std=gnu11 -g -O1 -fno-strict-aliasing -Wall -Wextra \
	       -Wno-unused-parameter -fno-omit-frame-pointer \
	       -fsanitize=fuzzer,address,undefined \
	       -fno-sanitize-recover=undefined \
	       -DPD_INPUT_BUFFER=65536u -DOUTPUT_BUFFER=4096u \
	       -DPD_MAX_STREAMS=64u

TAP_TOGETHER += selftests/fuzz/test-recordings selftests/fuzz/test-fuzz
selftests/fuzz/test-recordings: $(TOOL) $(FUZZ_GEN)
selftests/fuzz/test-fuzz: $(FUZZ_GEN)
ifeq ($(SANITIZE),)
TAP_TOGETHER += selftests/fuzz/test-malformed
selftests/fuzz/test-malformed: asan-build $(FUZZ_GEN)
endif

$(FUZZ_GEN): selftests/fuzz/gen.c selftests/fuzz/gen.h \
	     userspace/lib/include/perfclock/perfdata.h
	@mkdir -p $(@D)
	$(CC) $(PC_CPPFLAGS) -Iselftests $(CPPFLAGS) $(PC_CFLAGS) $(CFLAGS) \
		$(LDFLAGS) -o $@ $< $(PC_LDLIBS)

$(FUZZ_BIN): $(FUZZ_SRCS) $(wildcard userspace/lib/perfdata/*.h) \
	     userspace/lib/include/perfclock/perfdata.h
	@mkdir -p $(@D)
	$(FUZZ_CC) $(PC_CPPFLAGS) $(FUZZ_CFLAGS) -o $@ $(FUZZ_SRCS) \
		$(PC_LDLIBS)

.PHONY: fuzz fuzz-build
fuzz-build: $(FUZZ_BIN) $(FUZZ_GEN)

fuzz: fuzz-build ## fuzz the reader of recordings for SECONDS=60
	selftests/fuzz/run $(FUZZ_DIR) $(SECONDS)

# The same target by AFL++ (Debian: afl++), in a build of its own.
.PHONY: fuzz-afl
fuzz-afl: ## fuzz the reader of recordings with AFL++ for SECONDS=60
	@command -v afl-fuzz >/dev/null || \
		{ echo "fuzz-afl needs AFL++ (Debian: afl++)" >&2; exit 1; }
	$(MAKE) --no-print-directory -s BUILD=$(BUILD)/afl \
		FUZZ_CC=afl-clang-fast fuzz-build
	selftests/fuzz/run-afl $(BUILD)/afl/fuzz $(SECONDS)

.PHONY: bench-sort
bench-sort: $(TOOL) $(FUZZ_GEN) ## speed of perfclock sort beside cat, 4 GiB
	selftests/bench/bench_sort
