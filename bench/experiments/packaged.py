# SPDX-License-Identifier: GPL-2.0
#
# Servers as Debian packages them: does synq help them, and with which line?
#
# Set-up.  As in the eager experiment: the capacity C of a server is measured first;
# ordinary clients offer 4 C, preferred ones 0.25 C; each leaves after 5 s.  A client of
# PostgreSQL asks for one of 4 locks; one of OpenSSH leaves when the server has signed the
# key exchange; Postfix looks each client up for a second, in 20 processes.  Where a server leaves connections in its accept queue
# synq has two classes and nothing else; where it accepts everything, "inside auto" besides.
#
# Source.  What operators have.  The rival is the server's own limit, where it has one that
# is not the number of its workers: limit_conn, max_connections, MaxStartups.
#
# Expected result.  Preferred served wherever connections wait, in the accept queue or
# inside.
"""The experiment with servers from packages."""

from experiment import Cell, at_least

TITLE = "Servers from packages: are the preferred clients served?"

BASE = {"workers": 4, "service_ms": 20.0, "preferred": .25, "rtt_ms": 20.0,
        "late_ms": 50.0, "fast": True}
INSIDE = {"config": "inside.synq", "systems": ("stock", "server-limit", "synq")}


def cell(name, **factors):
    """A server of that name with something of its own."""
    return Cell(name, **{"server": name, **BASE, **factors})


CELLS = [
    cell("gunicorn"),
    cell("nginx-gunicorn", **INSIDE),
    cell("uwsgi"),
    cell("puma"),
    cell("postgresql", **INSIDE),
    cell("openssh", service_ms=0.0, **INSIDE),
    cell("postfix", workers=20, service_ms=1000.0, deadline_s=10.0),
]


def claims(view):
    """What is claimed in a cell; view shows it one repeat at a time."""
    stock, synq = view["stock"], view["synq"]
    yield at_least("preferred served", synq.served("preferred"), .999, "%")
    yield at_least("goodput, of stock's", synq.goodput() / stock.goodput(), .95, "%")


FIGURES = [
    ("served_fraction", "preferred", "preferred served"),
    ("request_p99_ms", "preferred", "preferred p99"),
    ("goodput_of_capacity", "all", "whole goodput, of C"),
]
