# SPDX-License-Identifier: GPL-2.0
# Attacks on the promise: selftests/inject/README.

inject_files := selftests/inject/Kbuild selftests/inject/perf_clock_inject.c

# Built as the module is (module/module.mk), out of a copy for each kernel.
.PHONY: inject-module
inject-module:
	into=$(abspath $(BUILD))/inject/$(module_release); \
	mkdir -p "$$into" && cp -u $(inject_files) "$$into" && \
	$(MAKE) -C $(KDIR) M="$$into" modules

.PHONY: check-attack
check-attack: all ## attacks on the promise, in guests (about 5 minutes)
	@scripts/install-deps build vm
	scripts/tap-run --log $(BUILD)/check --timeout 900 selftests/inject/attack
