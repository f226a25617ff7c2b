# SPDX-License-Identifier: GPL-2.0
# Guests under QEMU; selftests/vm/README says how they work. This fragment
# comes after those that add to GUEST_TESTS: TAP programs that are to be run in
# a guest with the module loaded.

VM := selftests/vm
GUEST_TESTS += $(LIVE_BINS)

VM_TESTS := $(VM)/test_harness $(BUILD)/tests/vm/test_guest
TAP_PROGRAMS += $(VM_TESTS)

$(BUILD)/tests/vm/test_guest: $(GUEST_TESTS) $(VM)/vm.mk
	@mkdir -p $(@D)
	printf '#!/bin/sh\nexec $(VM)/run --name guest --mem 2G --timeout 500 \\\n\t--tap $(GUEST_TESTS)\n' > $@
	echo timeout=600 > $@.settings
	chmod +x $@

.PHONY: demo check-vm
demo: ## a stock Debian kernel in QEMU, 4 CPUs, one stream in true order
	@scripts/install-deps build vm
	@$(MAKE) --no-print-directory -s all
	@$(VM)/demo

check-vm: all $(VM_TESTS) ## the tests that need a guest
	scripts/tap-run --log $(BUILD)/check $(VM_TESTS)
