# SPDX-License-Identifier: GPL-2.0
#
# A short queue and far clients: more handshakes are under way than there are slots.
#
# Set-up.  A backlog of 16 and an RTT of 200 ms at a server of 400/s: 80 handshakes are
# under way for 16 slots, so that nobody can be let in by what is queued now.  Ordinary
# clients offer 4 C, preferred ones 0.05 or 0.75 C, as in "overload", of which this is
# the corner that none of its cells reaches by one factor.
#
# Expected shape.  Who is let in has to be foreseen to a few slots, a round trip before:
# as well as the server is even.  16 slots are 40 ms, and an emulated machine whose clock
# is its host's stands still for as long now and then: there the ordinary clients who
# are held are 1 % or so (stock drops what finds no slot).  So where a machine is
# emulated its clock counts instructions here, as in "flood".
"""The experiment on short queues and far clients."""

from experiment import Cell, at_least, at_most

TITLE = "A short queue and far clients: what can be foreseen"


def cell(name, preferred, **factors):
    """At 4 C of ordinary load; for thousands of those let in."""
    return Cell(name, systems=("stock", "synq"), preferred=preferred, rtt_ms=200.0,
                backlog=16, shortest_s=30.0, fast=True, **factors)


CELLS = [cell("far-5", .05), cell("far-75", .75, repeats=3)]


def claims(view):
    """What is claimed in a cell; view shows it one repeat at a time."""
    stock, synq = view["stock"], view["synq"]
    yield at_least("preferred served", synq.served("preferred"), .999, "%")
    # A queue that lasts for less than a handshake cannot be kept filled by those
    # who are let in: how many others will leave slots is not known so early, and
    # one that is held has waited for a handshake already.
    yield at_least("whole goodput, against 95 % of stock's", synq.goodput(),
                   .95 * stock.goodput(), "/s")
    yield at_most("held, of ordinary connections", synq.held("normal"),
                  .01, "%")
    yield at_most("and not released", synq.not_released("normal"), .001, "%")


FIGURES = [
    ("served_fraction", "preferred", "preferred served"),
    ("goodput_of_capacity", "all", "whole goodput, of C"),
]
