#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
#
# Turns what cost-guest printed into a table, JSON rows and verdicts:
#
#   cost.py KERNEL ROWS <RAW
#
# Exit status 1 when a claim does not hold, or cannot be judged since a measurement
# that it needs is missing.
"""Report on what it costs to refuse a SYN."""

import json
import sys
from collections import namedtuple

from figures import print_cells

# How SYNs were refused; each has a cost, in instructions per SYN.
Way = namedtuple("Way", "system refusal aggregates prefixes payload")
Claim = namedtuple("Claim", "text value limit")

LIVE = 65536                # sources that are limited just now
MANY = 100_000              # prefixes
GROWTH_KB = 4096            # much less than the least that a million sources could take

NULL = Way("null-hook", "drop", 0, 0, 0)
METER = Way("nft-meter", "source-rate", LIVE, 0, 0)
HASHLIMIT = Way("hashlimit", "source-rate", LIVE, 0, 0)
SYNQ = Way("synq", "source-rate", LIVE, MANY, 0)
CLASS = Way("synq", "class-rate", 0, MANY, 0)


def read(lines, kind):
    """Instructions per SYN of that kind by way, less those of a drop at netdev ingress."""
    taken = {}
    for line in lines:
        words = line.split()
        if words[:1] != [kind]:
            continue
        numbers = [int(w) for w in words[3:]]
        taken[Way(words[1], words[2], *numbers[:3])] = numbers[4] / numbers[3]
    base = {w.payload: taken[w] for w in taken if w.system == "ingress"}
    return {w: taken[w] - base[w.payload] for w in taken
            if w.system != "ingress"}


def growth(lines, kind):
    """By how much the kernel's own memory grows, in kB, by number of sources."""
    found = {}
    for line in lines:
        words = line.split()
        if words[:1] == [kind]:
            found[int(words[1])] = int(words[2])
    return found


def spread(values):
    """How much the highest exceeds the lowest; none: not known."""
    values = list(values)
    return max(values) / min(values) - 1 if len(values) > 1 else None


def claims(cost, grown):
    """What ought to hold; a value of None could not be measured."""
    def ratio(a, b, less=0.0):
        if a not in cost or b not in cost:
            return None
        return (cost[a] - less) / (cost[b] - less)

    empty = cost.get(NULL)
    for way in SYNQ, CLASS:
        name = way.refusal
        yield Claim(f"{name}: of nft's meter", ratio(way, METER), 1.0)
        yield Claim(f"{name}: of hashlimit", ratio(way, HASHLIMIT), 1.0)
        yield Claim(f"{name}: of the meter, both above an empty hook",
                    empty and ratio(way, METER, empty), 0.5)
        yield Claim(f"{name}: by payload",
                    spread(cost[w] for w in cost
                           if w._replace(payload=0) == way), 0.05)
    yield Claim("by number of sources",
                spread(cost[w] for w in cost
                       if w.refusal == "source-rate-host"), 0.10)
    yield Claim("kB of memory, whatever the number of sources",
                max(grown.values(), default=None), GROWTH_KB)


def holds(claim):
    """Whether a claim does."""
    return claim.value is not None and claim.value <= claim.limit


def rows(kernel, family, cost):
    """As in out/bench/*.jsonl."""
    for way, value in cost.items():
        parameter = {"family": family, **way._asdict()}
        yield {"experiment": "cost", "system": parameter.pop("system"),
               "kernel": kernel, "group": "hostile", "parameter": parameter,
               "metric": "instructions_per_syn", "value": round(value, 1),
               "unit": "1"}


def show(cost):
    """The table."""
    empty = cost.get(NULL)
    cells = [("system", "refuses by", "sources", "prefixes", "payload", "X",
              "X - hook")]
    for way, value in sorted(cost.items(), key=lambda item: item[1]):
        cells.append((way.system, way.refusal,
                      *(str(n) if n else "-" for n in way[2:4]),
                      str(way.payload), f"{value:.0f}",
                      "?" if empty is None else f"{value - empty:.0f}"))
    print_cells(cells, 2)


def judge(cost, grown):
    """Says of each claim whether it holds, and returns whether all do."""
    good = True
    for claim in claims(cost, grown):
        good = holds(claim) and good
        value = "not measured" if claim.value is None else f"{claim.value:.3f}"
        print(f"{'holds' if holds(claim) else 'FAILS':6} {claim.text}: {value} "
              f"(at most {claim.limit})")
    return good


def main():
    """Command line: the kernel's release, and where the rows go."""
    if len(sys.argv) != 3:
        sys.exit("usage: cost.py KERNEL ROWS <RAW")
    lines = list(sys.stdin)
    good = True
    with open(sys.argv[2], "w", encoding="ascii") as out:
        for family in 4, 6:
            cost = read(lines, f"cost{family}")
            for row in rows(sys.argv[1], family, cost):
                print(json.dumps(row), file=out)
            print(f"IPv{family}: instructions per refused SYN, less those of a "
                  "drop at netdev ingress")
            show(cost)
            good = judge(cost, growth(lines, f"memory{family}")) and good
    sys.exit(not good)


if __name__ == "__main__":
    main()
