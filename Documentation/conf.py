# SPDX-License-Identifier: GPL-2.0
#
# Sphinx: make docs.
"""Settings of the documentation."""

# pylint: disable=invalid-name
project = "synq"
root_doc = "index"
html_theme = "alabaster"
html_copy_source = False
html_show_copyright = False
exclude_patterns = ["examples", "netlink"]
nitpicky = True
