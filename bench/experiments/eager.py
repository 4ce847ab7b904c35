# SPDX-License-Identifier: GPL-2.0
#
# Servers that accept everything, and queue inside themselves first come, first served.
#
# Set-up.  As in the overload experiment: a server of capacity C, measured first, with 4
# workers of 40 ms behind it; ordinary clients offer 4 C, preferred ones 0.25 C; each
# leaves after 5 s.  (With 20 ms two emulated CPUs have 5 % of their time left.  Then the CPUs are
# what all wait for, and not the workers.)  synq loads the same file of two classes for every server, with
# "inside auto" and no number.
#
# Source.  What most people run; the rival is the limit that each server has of its own
# (limit_conn, MaxRequestWorkers, maxconn, maxConnections, LimitListener,
# --limit-concurrency), set by hand to twice the number of workers, which somebody has to
# know.
#
# Expected result.  Stock serves the preferred no better than others, and works for those
# who have left.  Its own limit saves the server's goodput, where what exceeds it waits in
# the accept queue, or is answered by an error; but it prefers nobody.  With synq the
# preferred are served, at full goodput.
#
# Where ordinary clients keep their connections and are always busy, each request counts:
# with "requests on" those of the preferred come first.
"""The experiment with servers that accept everything."""

from dataclasses import replace

from experiment import Cell, at_least, at_most

TITLE = "Servers that accept everything: which clients are served, and how much gets done"

BASE = Cell("base", server="node", workers=4, service_ms=40.0, preferred=.25, count=700, fast_count=250,
            config="inside.synq", systems=("stock", "server-limit", "synq"), rtt_ms=20.0,
            late_ms=20.0)


def vary(name, fast=False, **factors):
    """The base cell with something else."""
    return replace(BASE, **{"name": name, "fast": fast, **factors})


CELLS = [
    vary("node", fast=True),
    vary("nginx-fpm", server="nginx-fpm", fast=True),
    vary("nginx-fpm-multi", server="nginx-fpm-multi"),
    vary("nginx-fpm-reuseport", server="nginx-fpm-reuseport"),
    vary("nginx-fpm-cpu", server="nginx-fpm-cpu", workers=1, service_ms=100.0),
    # An emulated CPU needs 10 ms or more for a handshake of TLS.
    vary("nginx-fpm-tls", server="nginx-fpm-tls", service_ms=400.0, late_ms=50.0,
         deadline_s=10.0),
    vary("apache-event-fpm", server="apache-event-fpm", fast=True),
    vary("go", server="go", fast=True),
    vary("haproxy", server="haproxy", fast=True),
    vary("uvicorn", server="uvicorn", fast=True),
    vary("ordinary-0.5", ordinary=.5, fast=True, systems=("stock", "synq")),
    vary("ordinary-1.5", ordinary=1.5),
    vary("preferred-5", preferred=.05),
    vary("rtt-200", rtt_ms=200.0, fast=True),
    vary("keep-alive", requests=5, fast_count=100, fast=True),
    vary("kept-busy", requests=5, closed=(48, 0), preferred=.02, config="requests.synq",
         fast_count=12, systems=("stock", "synq"), fast=True),
]


def idle_ms(cell):
    """How long a connection takes where nobody else is served."""
    return (1 + cell.requests) * cell.rtt_ms + cell.requests * cell.service_ms


def claims(view):
    """What is claimed in a cell; view shows it one repeat at a time."""
    cell, stock, synq = view.cell, view["stock"], view["synq"]
    p50, p99 = (synq.request_interval(q) for q in (.5, .99))
    yield at_least("preferred served", synq.served("preferred"), .999, "%")
    if cell.closed:
        yield at_most("preferred p50, of stock's",
                      p50.value / stock.request_interval(.5).value, .25, "%")
        yield at_least("goodput, of stock's", synq.goodput() / stock.goodput(), .95, "%")
        return
    yield at_most("preferred p50, of an idle server's", p50.low / 1e3 / idle_ms(cell), 3)
    limit = view.get("server-limit")
    if limit:
        yield at_most("preferred p99, within a service time of the server's own limit's",
                      p99.low / 1e3,
                      limit.request_interval(.99).high / 1e3 + cell.service_ms, "ms")
        # With its limit a server may serve nobody in time.
        yield at_least("useful goodput, of that of the server's own limit",
                       synq.goodput() / max(limit.goodput(), 1e-3), .95, "%")
    seen = synq.answers_seen()
    # With TLS the server's hello is one, too, whether a request comes or not.
    if seen and "tls" not in cell.server:
        yield at_most("answers that synq has seen, off the server's own log by",
                      abs(seen - 1), .02, "%")
    if cell.ordinary + cell.preferred < 1:
        yield at_least("goodput, of stock's", synq.goodput() / stock.goodput(), .98, "%")


FIGURES = [
    ("served_fraction", "preferred", "preferred served"),
    ("request_p99_ms", "preferred", "preferred p99"),
    ("goodput_of_capacity", "all", "whole goodput, of C"),
]
