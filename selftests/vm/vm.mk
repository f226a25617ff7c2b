# SPDX-License-Identifier: GPL-2.0
# Guests under QEMU; selftests/vm/README says how they work. This fragment
# comes after those that add to GUEST_TESTS: TAP programs that are to be run in
# a guest with the module loaded.

VM := selftests/vm

VM_TESTS := $(VM)/test_harness $(BUILD)/tests/vm/guest_module \
	    $(BUILD)/tests/vm/guest_live
TAP_PROGRAMS += $(VM_TESTS)

# $(call guest_script,NAME,SECONDS,PROGRAMS[,OPTIONS]): a TAP program that runs
# others. SECONDS are those of the guest; up to two boots that came to nothing
# may go before.
define guest_script
@mkdir -p $(@D)
printf '#!/bin/sh\nexec $(VM)/run --name $(1) --mem 2G --timeout $(2) \\\n\t$(4) --tap $(3)\n' > $@
echo timeout=$$(($(2) + 400)) > $@.settings
chmod +x $@
endef

# Without suspend, which check-matrix and check-module have: make check is to
# take a quarter of an hour.
$(BUILD)/tests/vm/guest_module: $(GUEST_TESTS) $(VM)/vm.mk
	$(call guest_script,module,500,$(GUEST_TESTS),\
		--threads single)

$(BUILD)/tests/vm/guest_live: $(LIVE_BINS) $(BUILD)/perfclock $(VM)/vm.mk
	$(call guest_script,live,420,$(LIVE_BINS),\
		--file $(BUILD)/perfclock:/test/perfclock \
		--env PERFCLOCK_TEST_HOTPLUG=1)

.PHONY: demo check-providers check-vm check-matrix check-debug guest-tests
guest-tests: $(GUEST_TESTS)

demo: ## a stock Debian kernel in QEMU, 4 CPUs, one stream in true order
	@scripts/install-deps build vm
	@$(MAKE) --no-print-directory -s all
	@$(VM)/demo

check-providers: all ## each provider in guests of 1 to 16 CPUs (15 minutes)
	@scripts/install-deps build vm
	scripts/tap-run --log $(BUILD)/check --timeout 2400 $(VM)/test_providers

check-vm: all $(VM_TESTS) ## the tests that need a guest
	scripts/tap-run --log $(BUILD)/check $(VM_TESTS)

check-matrix: ## the guest tests on every kernel and architecture (MATRIX=6.12)
	@scripts/install-deps build vm matrix
	@$(MAKE) --no-print-directory -s guest-tests
	@$(VM)/matrix --build $(BUILD) $(MATRIX:%=--kernel %) -- $(GUEST_TESTS)

check-debug: ## the guest tests under KASAN, lockdep, kmemleak and more
	@scripts/install-deps build vm debug
	@$(MAKE) --no-print-directory -s guest-tests
	@$(VM)/matrix --build $(BUILD) --kernel debug -- $(GUEST_TESTS)
