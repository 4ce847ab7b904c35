# SPDX-License-Identifier: GPL-2.0
#
# A short queue and distant clients: more handshakes are under way than there are slots.
#
# Set-up.  A backlog of 16 and an RTT of 200 ms at a server of 400/s: 80 handshakes are
# under way for 16 slots, so the present queue says nothing about who may come in.
# Ordinary clients offer 4 C, preferred ones 0.05 or 0.75 C, as in "overload", of which
# this is the corner that none of its cells reaches by one factor.
#
# Expected result.  Admission has to predict the queue to a few slots, a round trip ahead,
# as far as the server works evenly.  16 slots are 40 ms, and an emulated machine on its
# host's clock now and then stalls for as long: some 1 % of the ordinary clients are held
# there (stock drops what finds no slot).  So an emulated machine's clock counts
# instructions here, as in "flood".
"""The experiment on short queues and far clients."""

from experiment import Cell, at_least, at_most

TITLE = "A short queue and distant clients: what can be predicted"


def cell(name, preferred, **factors):
    """At 4 C of ordinary load; for thousands of those let in."""
    return Cell(name, systems=("stock", "synq"), preferred=preferred, rtt_ms=200.0,
                backlog=16, shortest_s=30.0, fast=True, **factors)


CELLS = [cell("far-5", .05), cell("far-75", .75, repeats=3)]


def claims(view):
    """What is claimed in a cell; view shows it one repeat at a time."""
    stock, synq = view["stock"], view["synq"]
    yield at_least("preferred served", synq.served("preferred"), .999, "%")
    # A queue that lasts for less than a handshake cannot be kept full by admission:
    # how many slots will become free is not known so early, and a held connection
    # has waited for a handshake already.
    yield at_least("whole goodput, against 95 % of stock's", synq.goodput(),
                   .95 * stock.goodput(), "/s")
    yield at_most("held, of ordinary connections", synq.held("normal"),
                  .01, "%")
    yield at_most("and not released", synq.not_released("normal"), .001, "%")


FIGURES = [
    ("served_fraction", "preferred", "preferred served"),
    ("goodput_of_capacity", "all", "whole goodput, of C"),
]
