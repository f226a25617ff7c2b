# SPDX-License-Identifier: GPL-2.0
# The module, built by the kernel's own Kbuild out of a copy of its sources in
# build/module/RELEASE/, so that one tree serves several kernels. The copy is
# renewed only where files differ: Kbuild then rebuilds only what it must.

KDIR ?= /lib/modules/$(shell uname -r)/build
# As the tests build it: MODULE_W=1 (more warnings), MODULE_WERROR=1 (each is
# an error); MODULE_C=2 runs sparse. Not kernel-doc, which W=1 starts as well:
# there are no such comments here, and 6.12's wants all of Perl.
MODULE_W ?=
MODULE_WERROR ?=
MODULE_C ?=
# For tests only: a module that publishes without waiting for grace periods.
MODULE_NO_GP ?=

# Not "make kernelrelease": Debian's headers answer that with another name.
module_release = $(shell sed -n 's/^\#define UTS_RELEASE "\(.*\)".*/\1/p' \
	$(KDIR)/include/generated/utsrelease.h 2>/dev/null)
module_files := $(wildcard module/*.c module/*.h module/probes/*.c) \
		module/Kbuild uapi/linux/perf_clock.h

module_cflags := $(strip $(if $(MODULE_WERROR),-Werror) \
		 $(if $(MODULE_NO_GP),-DPERF_CLOCK_TEST_NO_GP))

.PHONY: module modules_install
module: ## build the module for the running kernel, or for KDIR=...
	@test -e $(KDIR)/Makefile || { \
		echo "make module: no kernel headers in $(KDIR);" \
		     "install linux-headers-$$(uname -r), or say KDIR=..." >&2; \
		exit 1; }
	@release='$(module_release)'; \
	test -n "$$release" || { \
		echo "make module: $(KDIR) does not tell its release" >&2; \
		exit 1; }; \
	into=$(abspath $(BUILD))/module/$$release; \
	scripts/module-copy "$$into" $(module_files) && \
	$(MAKE) -C $(KDIR) M="$$into" $(if $(MODULE_W),W=$(MODULE_W) cmd_checkdoc=) \
		$(if $(MODULE_C),C=$(MODULE_C)) \
		$(if $(module_cflags),KCFLAGS='$(module_cflags)') modules && \
	echo "built $(BUILD)/module/$$release/perf_clock.ko"

modules_install: module ## install the module for that kernel (root)
	$(MAKE) -C $(KDIR) M=$(abspath $(BUILD))/module/$(module_release) \
		modules_install
