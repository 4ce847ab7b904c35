# SPDX-License-Identifier: GPL-2.0
#
# Event-driven servers at CPU saturation: what is left to order in the queue?
#
# Set-up.  nginx and Apache's event module, each with a CPU of its own and a page that is
# compressed for every answer, with and without a connection limit of their own.
# Ordinary clients offer 4 C, preferred ones 0.1 C.
#
# Source.  "When it does not help" in README: a server that accepts faster than it serves
# has an empty accept queue.
#
# Expected result.  A server that hands each connection to a thread, or finishes a round
# of its loop at once, queues inside itself, where no client is preferred, with synq or
# not.  A server that computes in its loop takes one connection per round, so the accept
# queue fills even without a limit.  Nothing is claimed: these are the servers' properties.
"""Event-driven servers at CPU saturation, a report."""

from experiment import Cell

TITLE = "Event-driven servers out of CPU time, with and without a limit of their own"

REPORT = True       # nothing is claimed
LIMIT = 8


def cell(server, limit):
    """A server with a limit of connections, or without one: 0."""
    return Cell(server + ("-limit" if limit else ""), server=server,
                workers=limit, service_ms=0.0, backlog=511, preferred=0.1,
                fast=True, count=300, fast_count=100, longest_s=40.0,
                late_ms=50.0)


CELLS = [cell(s, n) for s in ("nginx", "apache-event") for n in (0, LIMIT)]


def claims(_view):
    """Nothing."""
    return ()


FIGURES = [
    ("served_fraction", "preferred", "preferred served"),
    ("request_p99_ms", "preferred", "preferred p99"),
    ("goodput_of_capacity", "all", "whole goodput, of C"),
]
