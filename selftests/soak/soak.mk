# SPDX-License-Identifier: GPL-2.0
# Long runs under all the load a machine gives; "check" has a short one.

SOAK := $(BUILD)/tests/soak/soak
MINUTES ?= 10

$(SOAK): selftests/soak/soak.c selftests/live/live.h selftests/tap.h $(LIB_A)
	@mkdir -p $(@D)
	$(CC) $(PC_CPPFLAGS) -Iselftests $(CPPFLAGS) $(PC_CFLAGS) $(CFLAGS) \
		$(LDFLAGS) -MMD -MP -o $@ $< $(LIB_A) $(PC_LDLIBS)

$(BUILD)/tests/soak/test_soak: $(SOAK)
	printf '#!/bin/sh\nexec $(SOAK) 120\n' > $@
	chmod +x $@

TAP_PROGRAMS += $(BUILD)/tests/soak/test_soak

# The guest's CPUs in one thread: the emulator may leave one stuck on code that
# another patches, and the soak turns tracepoints on and off all the time.
.PHONY: soak
soak: $(SOAK) all ## MINUTES=10: sessions of every kind under load (root), here and in a guest
	scripts/with-tracefs $(SOAK) $$(($(MINUTES) * 60))
	selftests/vm/run --name soak --mem 3G --threads single \
		--timeout $$(($(MINUTES) * 60 + 900)) -- \
		$(SOAK) $$(($(MINUTES) * 60))

-include $(SOAK:=.d)
