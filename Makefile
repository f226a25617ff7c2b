# SPDX-License-Identifier: GPL-2.0
#
# One make for everything but the module (which Kbuild builds). Every room of
# the house has its own fragment (*.mk), included below; targets of a fragment
# that people should know carry a "## text" comment, which "make help" shows.

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

VERSION := 0.1.0
BUILD ?= build
CC ?= cc
ifeq ($(origin CC),default)
CC := cc
endif
AR ?= ar
ifeq ($(origin AR),default)
AR := ar
endif
PKG_CONFIG ?= pkg-config
PYTHON ?= python3
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
DESTDIR ?=

CFLAGS ?= -O2 -g
WARNINGS := -Wall -Wextra -Wstrict-prototypes -Wmissing-prototypes \
	    -Wold-style-definition -Wshadow -Wno-unused-parameter
PC_CPPFLAGS := -D_GNU_SOURCE -Iuapi -Iuserspace/lib/include -Iuserspace/lib
PC_CFLAGS := -std=gnu11 -fno-strict-aliasing $(WARNINGS)
PC_LDLIBS := -lpthread

# SANITIZE=address,undefined or thread: a build of its own, in its own folder.
# What a sanitizer finds ends the program: a test that goes on would pass.
ifneq ($(SANITIZE),)
PC_CFLAGS += -fsanitize=$(SANITIZE) -fno-omit-frame-pointer \
	     -fno-sanitize-recover=all
LDFLAGS += -fsanitize=$(SANITIZE)
endif
ifneq ($(WERROR),)
PC_CFLAGS += -Werror
endif

# Optional libraries: used where pkg-config (or the header) finds them;
# HAVE_X=n leaves one out. README.md says what each is for.
have_pkg = $(if $(shell $(PKG_CONFIG) --exists '$(1)' 2>/dev/null && echo y),y,n)
HAVE_LIBURING ?= $(call have_pkg,liburing >= 2.2)
HAVE_LIBZSTD ?= $(call have_pkg,libzstd)
HAVE_LIBPFM ?= $(if $(shell echo '\#include <perfmon/pfmlib.h>' | \
	$(CC) -E - >/dev/null 2>&1 && echo y),y,n)
HAVE_TRACEFS ?= $(call have_pkg,libtraceevent libtracefs)

ifeq ($(HAVE_LIBURING),y)
PC_CPPFLAGS += -DHAVE_LIBURING $(shell $(PKG_CONFIG) --cflags liburing)
PC_LDLIBS += $(shell $(PKG_CONFIG) --libs liburing)
endif
ifeq ($(HAVE_LIBZSTD),y)
PC_CPPFLAGS += -DHAVE_LIBZSTD $(shell $(PKG_CONFIG) --cflags libzstd)
PC_LDLIBS += $(shell $(PKG_CONFIG) --libs libzstd)
endif
ifeq ($(HAVE_LIBPFM),y)
PC_CPPFLAGS += -DHAVE_LIBPFM
PC_LDLIBS += -lpfm
endif

# Fragments add to these.
ALL :=		# what "make" builds
TAP_PROGRAMS :=	# test programs of "make check", each printing TAP
TAP_TOGETHER :=	# of these, those that may run beside others: nothing is timed
# Expanded when used: some entries are the output of a script.
INSTALL_FILES =	# MODE:SOURCE:DESTINATION, see scripts/install-files

FRAGMENTS := userspace/lib/lib.mk userspace/tools/tools.mk \
	     userspace/examples/examples.mk module/module.mk \
	     selftests/unit/unit.mk selftests/live/live.mk \
	     selftests/perf_clock/perf_clock.mk \
	     selftests/bench/bench.mk selftests/fuzz/fuzz.mk \
	     Documentation/doc.mk scripts/quality.mk \
	     selftests/vm/vm.mk selftests/inject/inject.mk selftests/soak/soak.mk
include $(wildcard $(FRAGMENTS))

# A machine without a compiler is told what helps.
ifeq ($(shell command -v $(firstword $(CC)) 2>/dev/null),)
$(LIB_OBJS) $(TOOL_OBJS) $(SYSCALL_NAMES): | need-cc
.PHONY: need-cc
need-cc:
	@echo "no C compiler '$(firstword $(CC))': run 'make setup'" \
		"(Debian: gcc, libc6-dev), or say CC=..." >&2
	@exit 1
endif

.PHONY: all help setup check clean install uninstall
all: $(ALL) ## build user space into build/ (no root, no network)

setup: ## install the Debian packages that building and testing need
	scripts/install-deps build test vm lint doc

check: ## set up, build, and run all tests; needs root or sudo, and a network
	scripts/install-deps build test vm lint doc
	$(MAKE) --no-print-directory -j$$(nproc) -Otarget check-programs
	$(MAKE) --no-print-directory check-run

.PHONY: check-programs check-run
check-programs: all $(TAP_PROGRAMS) $(TAP_TOGETHER)
check-run: check-programs ## the tests of "check" alone
	LINT_FETCH=1 scripts/with-tracefs scripts/tap-run --log $(BUILD)/check \
		$(TAP_PROGRAMS) --together $(TAP_TOGETHER)

install: all ## install library, command, manual (DESTDIR, PREFIX)
	@scripts/install-files install '$(DESTDIR)' $(INSTALL_FILES)
	@echo "installed to $(DESTDIR)$(PREFIX)"

uninstall: ## remove what "make install" put there (DESTDIR, PREFIX)
	@scripts/install-files uninstall '$(DESTDIR)' $(INSTALL_FILES)
	@echo "removed from $(DESTDIR)$(PREFIX)"

clean: ## remove build/
	rm -rf $(BUILD)

help: ## list the targets
	@grep -hE '^[a-z][a-z-]*:.*## ' Makefile $(wildcard $(FRAGMENTS)) | \
		sort | awk -F':.*## ' '{ printf "  %-16s %s\n", $$1, $$2 }'
	@echo
	@echo "Variables: BUILD CC CFLAGS PREFIX DESTDIR KDIR SANITIZE WERROR"
