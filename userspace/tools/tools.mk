# SPDX-License-Identifier: GPL-2.0
# The command, build/perfclock. It carries libperfclock within itself, so that
# it runs where it was built.

TOOL_SRCS := $(wildcard userspace/tools/*.c)
TOOL_OBJS := $(TOOL_SRCS:%.c=$(BUILD)/obj/%.o)
TOOL := $(BUILD)/perfclock
TOOL_CPPFLAGS := -DPERFCLOCK_VERSION='"$(VERSION)"' -I$(BUILD)/gen
TOOL_LDLIBS :=
ALL += $(TOOL)

ifeq ($(HAVE_TRACEFS),y)
TOOL_CPPFLAGS += $(shell $(PKG_CONFIG) --cflags libtraceevent libtracefs)
TOOL_LDLIBS += $(shell $(PKG_CONFIG) --libs libtraceevent libtracefs)
$(TOOL_OBJS): PC_CPPFLAGS += $(TOOL_CPPFLAGS)
else
$(TOOL_OBJS): | need-tracefs
.PHONY: need-tracefs
need-tracefs:
	@echo "perfclock needs libtraceevent and libtracefs:" \
		"run 'make setup' (Debian: libtraceevent-dev, libtracefs-dev)" >&2
	@exit 1
endif

# Names of system calls, as this machine's headers number them.
SYSCALL_NAMES := $(BUILD)/gen/syscall_names.h
$(SYSCALL_NAMES):
	@mkdir -p $(@D)
	echo '#include <asm/unistd.h>' | $(CC) $(CPPFLAGS) -E -dM - | \
		sed -n 's/^#define __NR_\([a-z0-9_]*\) \([0-9]*\)$$/[\2] = "\1",/p' \
		> $@
$(BUILD)/obj/userspace/tools/syscalls.o: $(SYSCALL_NAMES)

$(TOOL): $(TOOL_OBJS) $(LIB_A)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(TOOL_OBJS) $(LIB_A) \
		$(TOOL_LDLIBS) $(PC_LDLIBS) -lm

# Tests of the command's parts: no privileges.
TOOL_TEST_SRCS := $(wildcard selftests/tools/test_*.c)
TOOL_TEST_BINS := $(TOOL_TEST_SRCS:selftests/tools/%.c=$(BUILD)/tests/tools/%)
TOOL_PARTS := $(filter-out %/main.o,$(TOOL_OBJS))
TAP_PROGRAMS += $(TOOL_TEST_BINS)
# Once more under the address sanitizer: see unit.mk.
ASAN_TESTS += $(TOOL_TEST_SRCS:selftests/%.c=%)

$(BUILD)/tests/tools/%: selftests/tools/%.c selftests/tap.h $(TOOL_PARTS) $(LIB_A)
	@mkdir -p $(@D)
	$(CC) $(PC_CPPFLAGS) $(TOOL_CPPFLAGS) -Iselftests -Iuserspace/tools \
		$(CPPFLAGS) $(PC_CFLAGS) $(CFLAGS) $(LDFLAGS) -MMD -MP -o $@ $< \
		$(TOOL_PARTS) $(LIB_A) $(TOOL_LDLIBS) $(PC_LDLIBS) -lm

-include $(TOOL_TEST_BINS:=.d)

# Tests of the whole command, on this machine's events.
TOOL_DRIVERS := $(wildcard selftests/live/test_cmd_*.py)
TAP_PROGRAMS += $(TOOL_DRIVERS)

# What test_cmd_faults.py preloads, and the recordings that tests read.
STORM := $(BUILD)/tests/tools/storm.so
$(STORM): selftests/tools/storm.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -std=gnu11 $(WARNINGS) $(CFLAGS) -fPIC -shared -o $@ \
		$< -ldl
selftests/live/test_cmd_faults.py: $(STORM)
$(TOOL_DRIVERS): $(BUILD)/fuzz/gen

.PHONY: check-tools
check-tools: $(TOOL) $(TOOL_TEST_BINS) $(TOOL_DRIVERS) ## run the command's tests only
	scripts/with-tracefs scripts/tap-run --log $(BUILD)/check \
		$(TOOL_TEST_BINS) $(TOOL_DRIVERS)

COMPLETION := userspace/tools/completion
INSTALL_FILES += 755:$(TOOL):$(PREFIX)/bin/perfclock \
	644:$(COMPLETION)/perfclock.bash:$(PREFIX)/share/bash-completion/completions/perfclock \
	644:$(COMPLETION)/_perfclock:$(PREFIX)/share/zsh/site-functions/_perfclock

-include $(TOOL_OBJS:.o=.d)
