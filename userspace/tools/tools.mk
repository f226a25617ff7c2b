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

$(TOOL): $(TOOL_OBJS) $(LIB_A)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(TOOL_OBJS) $(LIB_A) \
		$(TOOL_LDLIBS) $(PC_LDLIBS) -lm

INSTALL_FILES += 755:$(TOOL):$(PREFIX)/bin/perfclock

-include $(TOOL_OBJS:.o=.d)
