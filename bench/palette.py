# SPDX-License-Identifier: GPL-2.0
#
# One colour for each system, the same in all plots.
"""Colours of plots."""

GREY, LIGHT = "#60656c", "#e4e6e9"

COLOUR = {"idle": "#9aa0a6", "ingress-drop": "#3b3f45",
          "stock": "#b3362b", "stock:0": "#e08a80", "stock:2": "#7a1f17",
          "nft-limit": "#d98c10", "nft-hash": "#8a5a9e", "nft-meter": "#d98c10",
          "hashlimit": "#8a5a9e", "nft-synproxy": "#5b7fa6",
          "second-listener": "#5b7fa6",
          "synq": "#0b6e4f", "synq:0": "#5cb894",
          "synq-rate": "#0b6e4f", "synq-burst": "#0b6e4f"}


def colour_of(system):
    """The colour of a system's word, or of its name."""
    return COLOUR.get(system, COLOUR.get(system.partition(":")[0], GREY))
