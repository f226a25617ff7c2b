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
check-attack: all ## attacks on the promise, in guests (about 8 minutes)
	@scripts/install-deps build vm
	scripts/tap-run --log $(BUILD)/check --timeout 900 selftests/inject/attack

$(BUILD)/tests/inject/fuzz_node: selftests/inject/fuzz_node.c
	@mkdir -p $(@D)
	$(CC) -D_GNU_SOURCE -Iuapi -std=gnu11 -O2 -g -Wall -Wextra -static \
		-o $@ $< -lpthread

# As nobody and as root, half of the time each; without line breaks.
fuzz_node = chmod 755 $(1); su nobody -s /bin/sh -c "$(1) $(2) 1" && $(1) $(2) 2

.PHONY: fuzz-node
fuzz-node: SECONDS = 600
fuzz-node: $(BUILD)/tests/inject/fuzz_node ## SECONDS=600: senseless calls on the nodes
	@scripts/install-deps build vm debug
	selftests/vm/run --kernel debug --name fuzz-node \
		--timeout $$(($(SECONDS) + 300)) --file $<:/test/fuzz_node -- \
		sh -c '$(call fuzz_node,/test/fuzz_node,$(shell expr $(SECONDS) / 2))'
