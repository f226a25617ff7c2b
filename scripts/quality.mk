# SPDX-License-Identifier: GPL-2.0
# Checks of the tree itself. The programs print TAP and run in "make check" as
# well, where a tool that is not installed is a skip.

TAP_PROGRAMS += scripts/lint scripts/check-abi

.PHONY: lint check-abi check-docs
lint: ## static checks: format, analysers, shell, spelling, licences
	scripts/install-deps lint
	scripts/tap-run --log $(BUILD)/check 'scripts/lint --all'

check-abi: all ## exported symbols = symbol map = headers; headers stand alone
	BUILD=$(BUILD) scripts/tap-run --log $(BUILD)/check scripts/check-abi

check-docs: all ## manual pages, examples, links, figures, Sphinx
	scripts/install-deps doc
	BUILD=$(BUILD) scripts/tap-run --log $(BUILD)/check scripts/check-docs

.PHONY: deb check-packages
deb: ## build the Debian packages into build/deb/
	scripts/install-deps build deb
	scripts/build-deb $(BUILD)/deb

check-packages: deb ## install, use and remove them in a fresh Debian 12
	scripts/tap-run --log $(BUILD)/check --timeout 900 \
		'scripts/check-packages $(BUILD)/deb'
