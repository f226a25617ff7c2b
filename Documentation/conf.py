# SPDX-License-Identifier: GPL-2.0
# Sphinx: "make doc" builds Documentation/ as HTML into build/doc.
import os
import re

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..',
                       'Makefile'), encoding='utf-8') as makefile:
    release = re.search(r'^VERSION := (\S+)', makefile.read(), re.M).group(1)

project = 'perf_clock and libperfclock'
author = 'The perf_clock authors'
copyright = author  # pylint: disable=redefined-builtin
version = release
extensions = []
root_doc = 'index'
exclude_patterns = ['ABI', 'man', 'model']
nitpicky = True
# C functions are named in prose, not declared here: the headers declare them.
primary_domain = None
highlight_language = 'c'
html_theme = 'alabaster'
html_theme_options = {'page_width': '64em', 'show_powered_by': False}
html_show_sourcelink = False
