# SPDX-License-Identifier: GPL-2.0
# Documentation: HTML by Sphinx, figures, manual pages.

SPHINX_BUILD ?= sphinx-build
DOC_FIGURES := Documentation/figures/draw.py
MAN_PAGES := $(wildcard Documentation/man/*.[1-9])
MANDIR ?= $(PREFIX)/share/man

.PHONY: doc figures
doc: ## build Documentation/ as HTML into build/doc (needs python3-sphinx)
	$(SPHINX_BUILD) -q -W --keep-going -b html -d $(BUILD)/doc.cache \
		Documentation $(BUILD)/doc

figures: ## draw the documentation's figures anew
	$(PYTHON) $(DOC_FIGURES)

INSTALL_FILES += $(foreach page,$(MAN_PAGES),\
	644:$(page):$(MANDIR)/man$(subst .,,$(suffix $(page)))/$(notdir $(page)))
# A page that tells of several functions is found under each of their names.
INSTALL_FILES += $(shell awk 'before == ".SH NAME" { \
	sub(/ \\-.*/, ""); gsub(/,/, ""); for (i = 2; i <= NF; i++) \
	print "link:" $$1 ".3:$(MANDIR)/man3/" $$i ".3" } { before = $$0 }' \
	$(wildcard Documentation/man/*.3))
