# SPDX-License-Identifier: GPL-2.0
#
# An overloaded server: which clients are served, how fast, and how much gets done.
#
# Set-up.  A server of capacity C, measured first; ordinary clients offer 4 C,
# preferred ones 0.25 C; each leaves after 5 s.  A base cell with all systems, then
# one factor at a time with stock and synq.  synq loads the same file of two classes
# in every cell, without a rate (one class where the name says so).
#
# Source.  The overload runs of Voigt et al., USENIX 2001 (their low class offers
# several times C); the rivals are what an operator has today: a rate limit, of
# which the right value has to be guessed, and a second listener, for which the
# application has to be changed.
#
# nft-hash refuses connections for good, by a hash, and not SYNs; it lets in the fraction
# that the server can serve, which is unknown outside a benchmark.
#
# Expected result.  Stock serves preferred clients no better than others.  A limit of
# 1.5 C does not help, one of 0.8 C does, one of 0.2 C leaves the server idle.  The
# second listener serves all preferred at once and wastes nothing; synq does the
# same with the unchanged application, whatever the factor.  Where the server talks
# first, stock strands clients whose handshake ended in a SYN cookie.  With long
# queues stock works for clients that have left; synq's useful goodput does not
# depend on the backlog.
#
# Deviations from "one factor at a time", and why:
# - From a backlog of 511 on, clients leave after 1 s: a full queue is then longer
#   than they wait from 511 on (2.5 s), not only from 1000 on.
# - Keep-alive, three requests a connection, has 16 workers: a worker of an accept
#   loop waits out the RTT between two requests.
# - The real servers have 4 workers of 20 ms; what their code costs lowers C.
# - The real servers have a lower C; preferred clients offer 0.3 C or more there, for
#   1000 of them in half a minute or so.  Where they offer 0.05 C they come in two runs.
# - The rivals that need to know C are not repeated.
# - With preferred clients at 1.5 C the server is slower, so that no more arrive per second.
# - A minimum share, 10 %, has a file of its own, and so has the cell without clients in
#   the preferred class.
# - A minimum share counts once the queue before it has grown to its length: a connection
#   that is due waits for those that are queued already, so while the queue grows the
#   share is smaller.
# - "light" is 100,000 connections to a faster server with time to spare; all of one
#   class, since a preferred one is moved if it meets another.  Some are late and arrive
#   together, which makes it harder.
# - In "overload-ends" ordinary clients arrive for 10 s only, and none leaves for 20 s, so
#   that refused ones come again when the overload is over (tries.py).
# - At 0.01 C there are only as many preferred clients as arrive in a minute.
"""The overload experiment."""

from dataclasses import replace

from experiment import Cell, at_least, at_most

TITLE = "An overloaded server: which clients are served, and how much gets done"

MIN_SHARE = "min-share.synq"

RIVALS = ("nft-limit:0.2", "nft-limit:0.8", "nft-limit:1.5", "nft-hash:0.1875")
BASE = Cell("base", repeats=3, fast=True, once=RIVALS, service_ms=5.0,
            preferred=0.25, systems=("stock", *RIVALS, "second-listener", "synq"))


def vary(name, fast=False, **factors):
    """The base cell with something else, for stock and synq only."""
    return replace(BASE, **{"name": name, "systems": ("stock", "synq"),
                            "repeats": 1, "fast": fast, **factors})


def flood(name, **factors):
    """The base cell under a flood of spoofed SYNs, sent by the same machine."""
    return vary(name, spoofed=10.0, late_ms=20.0, **factors)


def real(server, preferred=.3, **factors):
    """The base cell with a real server."""
    return vary(server, server=server, workers=4, service_ms=20.0,
                preferred=preferred, **factors)


CELLS = [
    BASE,
    vary("light", systems=("synq",), ordinary=0.5, workers=2, service_ms=3.0,
         preferred=0.0, shortest_s=310.0, late_ms=20.0),
    vary("ordinary-0.5", ordinary=0.5),
    vary("ordinary-1.5", ordinary=1.5),
    vary("preferred-1", preferred=0.01),
    vary("preferred-5", preferred=0.05, count=500, repeats=2),
    vary("preferred-75", preferred=0.75),
    vary("preferred-150", fast=True, preferred=1.5, service_ms=6.0),
    vary("preferred-150-min-share", preferred=1.5, service_ms=6.0,
         config=MIN_SHARE, settle_s=2.5, shortest_s=32.0),
    vary("rtt-0", rtt_ms=0.0),
    vary("rtt-200", fast=True, rtt_ms=200.0),
    vary("loss-1", fast=True, loss_percent=1.0),
    vary("backlog-16", fast=True, backlog=16),
    *(vary(f"backlog-{n}", fast=n == 4096, backlog=n, deadline_s=1.0,
           ramp_s=4.0) for n in (511, 1024, 4096, 65535)),
    *(vary(f"one-class-{n}", fast=n == 4096, backlog=n, deadline_s=1.0,
           ramp_s=4.0, preferred=0.0, config="one-class.synq")
      for n in (511, 1024, 4096, 65535)),
    flood("spoofed-10", fast=True),
    flood("spoofed-10-ordinary-0.5", ordinary=0.5),
    flood("spoofed-10-preferred", spoofed_in="preferred"),
    vary("unmatched", preferred=0.0, config="unmatched.synq"),
    vary("server-first", fast=True, banner=True),
    vary("keep-alive", fast=True, requests=3, workers=16),
    vary("capacity-steps", steps=(.5, 1, 2, 1, .5, 1, 2, 1, .5, 1)),
    vary("overload-ends", systems=("synq",), ordinary=1.5, ordinary_s=10.0,
         deadline_s=20.0, shortest_s=28.0, longest_s=28.0),
    real("apache-prefork", .4, fast=True),
    real("haproxy-maxconn"),
    real("go-limitlistener", fast=True),
    real("gunicorn-sync"),
]


def claims(view):
    """What is claimed in a cell; view shows it one repeat at a time."""
    cell, stock, synq = view.cell, view.get("stock"), view["synq"]
    overload = cell.ordinary + cell.preferred > 1
    if 0 < cell.preferred < 1:
        yield at_least("preferred served", synq.served("preferred"), .999, "%")
    second = view.get("second-listener")
    if second:
        # Of a thousand it is the tenth longest, of either.
        p99, theirs = (o.request_interval(.99) for o in (synq, second))
        yield at_most("preferred p99, within a service time of the second listener's",
                      p99.low / 1e3, cell.service_ms + theirs.high / 1e3, "ms")
    if stock:
        yield at_least("whole goodput, against 98 % of stock's", synq.goodput(),
                       .98 * stock.goodput(), "/s")
    # With long queues stock's goodput is no measure.
    if cell.deadline_s < 5:
        yield at_least("useful goodput, of C", synq.goodput()
                       / view.capacity, .95, "%")
    if cell.spoofed:
        if overload:
            left = view.capacity - synq.goodput("preferred")
            yield at_least("ordinary goodput under the flood, of what the preferred "
                           "leave", synq.goodput("ordinary") / left, .95, "%")
        else:
            yield at_least("ordinary served under the flood",
                           synq.served("ordinary"), .95, "%")
    if cell.preferred > 1:
        yield at_most("preferred clients overtaken by their like",
                      synq.overtaken("preferred"), .001, "%")
    if cell.config == MIN_SHARE:
        yield at_least("ordinary clients' min-share", synq.share("ordinary"),
                       .099, "%")
        yield at_most("and no more", synq.share("ordinary"), .101, "%")
    if not overload and not cell.spoofed:
        yield at_most("refused or held", synq.disturbed(), 0)
        if not cell.preferred:
            yield at_least("connections", synq.n("ordinary"), 100000)
            yield at_most("moved", synq.moved(), 0)
    if overload:
        yield at_most("held, of ordinary connections",
                      synq.held("normal", "everyone"), .01, "%")
        yield at_most("and not released", synq.not_released("normal", "everyone"),
                      .001, "%")
    if cell.ordinary_s:
        come, refused = synq.again()
        yield at_least("SYNs sent again when the overload is over", come, 50)
        yield at_most("of those refused", refused, 0)
    adapted = synq.adapt_s()
    if adapted:
        # No client is further from a change than a step.
        yield at_least("preferred served, around changes", synq.served("preferred"),
                       1.0, "%")
        bound = max(2.0, 20 * cell.service_ms / 1e3)
        yield at_least(f"capacity changes adapted to within {bound:g} s",
                       sum(t <= bound for t in adapted) / len(adapted), .9,
                       "%")


FIGURES = [
    ("served_fraction", "preferred", "preferred served"),
    ("request_p99_ms", "preferred", "preferred p99"),
    ("goodput_of_capacity", "all", "whole goodput, of C"),
]
