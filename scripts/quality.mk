# SPDX-License-Identifier: GPL-2.0
# Checks of the tree itself. The programs print TAP and run in "make check" as
# well, where a tool that is not installed is a skip.

TAP_TOGETHER += scripts/lint scripts/check-abi scripts/check-docs \
		scripts/check-tap-run

.PHONY: lint check-abi check-docs
lint: ## static checks: format, analysers, shell, spelling, licences
	scripts/install-deps lint
	scripts/tap-run --log $(BUILD)/check --timeout 7200 \
		'scripts/lint --all'

check-abi: all ## exported symbols = symbol map = headers; headers stand alone
	BUILD=$(BUILD) scripts/tap-run --log $(BUILD)/check scripts/check-abi

check-docs: all ## manual pages, examples, links, figures, Sphinx
	scripts/install-deps doc
	BUILD=$(BUILD) scripts/tap-run --log $(BUILD)/check scripts/check-docs

.PHONY: deb rpm check-packages
deb: ## build the Debian packages into build/deb/
	scripts/install-deps build deb
	scripts/build-deb $(BUILD)/deb

rpm: ## build the RPM packages into build/rpm/ (on Debian too)
	scripts/install-deps build rpm
	scripts/build-rpm $(BUILD)/rpm

check-packages: deb ## install, use and remove them in a fresh Debian 12
	scripts/tap-run --log $(BUILD)/check --timeout 900 \
		'scripts/check-packages $(BUILD)/deb'

COVERAGE := $(BUILD)/coverage-build
.PHONY: coverage
coverage: ## line coverage of the library by unit and live tests (gcov)
	rm -rf $(COVERAGE)
	LDFLAGS=--coverage $(MAKE) -s BUILD=$(COVERAGE) EXAMPLES= \
		CFLAGS='-O1 -g --coverage -fprofile-update=atomic' \
		all unit-tests live-tests $(COVERAGE)/fuzz/gen
	-BUILD=$(COVERAGE) scripts/with-tracefs scripts/tap-run \
		--log $(COVERAGE)/check \
		selftests/unit/test_order_tables.py selftests/fuzz/test-recordings \
		$(patsubst $(BUILD)/%,$(COVERAGE)/%,$(filter-out \
		%/test_explore,$(UNIT_BINS)) $(LIVE_BINS))
	scripts/coverage $(COVERAGE)

.PHONY: check-portability check-arm64
check-portability: ## unit tests with clang, with musl, and for arm64 in qemu
	scripts/install-deps port
	scripts/tap-run --log $(BUILD)/check --timeout 1800 \
		'scripts/check-portability $(BUILD)'

check-arm64: ## of these, those for arm64
	scripts/install-deps port
	scripts/tap-run --log $(BUILD)/check --timeout 1800 \
		'scripts/check-portability $(BUILD) arm64'
