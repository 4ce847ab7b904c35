# SPDX-License-Identifier: GPL-2.0
#
# From the generator's lines to figures with 95 % confidence intervals.  A client that
# was not served in time has waited infinitely long and stays in every figure.
"""Figures of client groups, and how sure they are."""

import math
from collections import Counter, namedtuple

Request = namedtuple("Request", "group family due late connect first done status "
                     "options", defaults=("-",))
Estimate = namedtuple("Estimate", "value low high")

INFINITE = math.inf
Z95 = 1.959964


def read_requests(path):
    """The generator's lines; times in us since due, never is infinite."""
    for line in path.read_text(encoding="ascii").splitlines():
        group, family, due, late, connect, first, done, status, _, options = \
            line.split("\t")
        yield Request(group, family, int(due), int(late),
                      *(INFINITE if int(t) < 0 else int(t)
                        for t in (connect, first, done)), status, options)


def from_call(r):
    """The request with its times from when it was made, not from when it was due."""
    late = max(0, r.late)
    return r._replace(connect=r.connect - late, first=r.first - late,
                      done=r.done - late)


def quantile(values, q):
    """Nearest rank, so that it is always a value that occurred."""
    ordered = sorted(values)
    if not ordered:
        return INFINITE
    return ordered[max(0, math.ceil(q * len(ordered)) - 1)]


def quantile_interval(values, q):
    """A quantile, and the values whose ranks bound it (binomial, normal)."""
    ordered = sorted(values)
    n = len(ordered)
    if not n:
        return Estimate(INFINITE, INFINITE, INFINITE)
    half = Z95 * math.sqrt(n * q * (1 - q))
    low = max(0, math.floor(n * q - half) - 1)
    high = min(n - 1, math.ceil(n * q + half))
    return Estimate(quantile(ordered, q), ordered[low], ordered[high])


def fraction_interval(k, n):
    """k of n, with Wilson's interval: right at 0 and 1, too."""
    if not n:
        return Estimate(math.nan, 0.0, 1.0)
    p, z2 = k / n, Z95 * Z95
    middle = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = Z95 * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    return Estimate(p, max(0.0, middle - half), min(1.0, middle + half))


def mean_interval(values):
    """The mean of figures from equal stretches of time (normal)."""
    n = len(values)
    if not n:
        return Estimate(0.0, 0.0, 0.0)
    mean = sum(values) / n
    if n < 2:
        return Estimate(mean, mean, mean)
    variance = sum((v - mean) ** 2 for v in values) / (n - 1)
    half = Z95 * math.sqrt(variance / n)
    return Estimate(mean, mean - half, mean + half)


class Figures:
    """What one group of clients saw."""

    def __init__(self, requests, deadline):
        limit = deadline * 1e6
        self.n = len(requests)
        self.served = [r for r in requests
                       if r.status == "ok" and r.done <= limit]
        # A client that was not served has waited infinitely long.  Leaving it out
        # would reward a system for serving only a lucky few.
        waiting = [INFINITE] * (self.n - len(self.served))
        self.request = [r.done for r in self.served] + waiting
        self.connect = [r.connect if r.connect <= limit else INFINITE
                        for r in requests]
        self.first = [r.first for r in self.served] + waiting
        self.late = [r.late for r in requests if r.late >= 0]
        self.options = Counter(r.options for r in self.served)
        self.broken = sum(r.status == "local-error" for r in requests)

    @property
    def fraction(self):
        """The part that was served in time."""
        return len(self.served) / self.n if self.n else 0.0


def ms(us, deadline):
    """A time for a person to read, in ms."""
    if us == INFINITE:
        return f">{deadline * 1e3:.0f}"
    value = us / 1e3
    return f"{value:.1f}" if value < 10 else f"{value:.0f}"


def print_cells(cells, left):
    """A table, its first columns to the left, the others to the right."""
    widths = [max(len(c[i]) for c in cells) for i in range(len(cells[0]))]
    for c in cells:
        words = [t.ljust(w) if i < left else t.rjust(w)
                 for i, (t, w) in enumerate(zip(c, widths))]
        print("  ".join(words).rstrip())
