# SPDX-License-Identifier: GPL-2.0
# Examples: whole programs that use the public headers and nothing else. They
# are built by "make" and run by "make check".

HAVE_LIBBPF ?= $(call have_pkg,libbpf >= 1.0)

EXAMPLES := tracepoints own_rings recorder
ifeq ($(HAVE_LIBURING),y)
EXAMPLES += uring_loop
endif
ifeq ($(HAVE_LIBBPF),y)
EXAMPLES += perf_buffer
$(BUILD)/examples/perf_buffer: EXAMPLE_LDLIBS := \
	$(shell $(PKG_CONFIG) --libs libbpf)
endif
EXAMPLE_BINS := $(EXAMPLES:%=$(BUILD)/examples/%)
EXAMPLE_CPPFLAGS := -D_GNU_SOURCE -Iuapi -Iuserspace/lib/include
ALL += $(EXAMPLE_BINS)

$(BUILD)/examples/%: userspace/examples/%.c $(LIB_A)
	@mkdir -p $(@D)
	$(CC) $(EXAMPLE_CPPFLAGS) $(CPPFLAGS) $(PC_CFLAGS) $(CFLAGS) \
		$(LDFLAGS) -MMD -MP -o $@ $< $(LIB_A) $(EXAMPLE_LDLIBS) \
		$(PC_LDLIBS)

TAP_PROGRAMS += userspace/examples/check

.PHONY: examples check-examples
examples: $(EXAMPLE_BINS) ## build the examples into build/examples/
check-examples: all ## run the examples
	BUILD=$(BUILD) scripts/with-tracefs scripts/tap-run --log $(BUILD)/check \
		userspace/examples/check

-include $(EXAMPLE_BINS:=.d)
