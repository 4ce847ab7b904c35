#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
#
# Turns what the guests of experiments/classes.sh printed into tables, JSON rows and
# verdicts:
#
#   classes.py NUMBER KERNEL EMULATED DIRECTORY ROWS
#
# NUMBER of prefixes; KERNEL of what has times, EMULATED that of the rest.  A part whose
# file is not in DIRECTORY was not asked for.  Exit status 1 when a claim does not hold,
# or cannot be judged since a measurement that it needs is missing.
"""Report on tables of prefixes."""

import json
import re
import sys
from pathlib import Path

import cost
from cost import Claim
from figures import print_cells

FAMILIES = (4, 6)
SYSTEMS = ("synq", "synq-new", "nft", "ipset")
SAME = {"synq-new": "synq"}     # where nothing is classified
METRICS = ("load_s", "replace_s", "one_more_s", "nothing_s", "changes_per_s",
           "prefix_bytes", "command_bytes")
# At most so much, of synq
LIMITS = {"replace_s": 2, "prefix_bytes": 200, "command_bytes": 200e6}
ONE_MORE = .01              # s, beside what a command takes that does nothing
CHANGES_PER_S = 100_000     # at least
GROWTH = 1.5                # from the fewest prefixes to the most


def read_times(lines):
    """Figures by system and metric."""
    found = {}
    for line in lines:
        words = line.split()
        if len(words) == 3 and words[0] != "#":
            found[words[0], words[1]] = float(words[2])
    return found


def read_instructions(lines):
    """What a SYN takes above one that is dropped at netdev ingress, by family, system,
    number of prefixes and how: classified, or plain."""
    return {(family, way.system, way.prefixes, way.refusal): value
            for family in FAMILIES
            for way, value in cost.read(lines, f"cost{family}").items()}


def whole(taken, family, system, prefixes):
    """All of one that is classified; None: not known."""
    return taken.get((family, system, prefixes, "classified"))


def classify(taken, family, system, prefixes):
    """What of it is classification."""
    plain = taken.get((family, SAME.get(system, system), prefixes, "plain"))
    value = whole(taken, family, system, prefixes)
    return None if None in (plain, value) else value - plain


def sizes_of(taken):
    """Numbers of prefixes that were measured."""
    return sorted({key[2] for key in taken})


def times_claims(times):
    """What ought to hold of synq."""
    whole, empty = (times.get(("synq", m)) for m in ("one_more_s", "nothing_s"))
    yield Claim("one_more_s, less nothing_s",
                None if None in (whole, empty) else whole - empty, ONE_MORE)
    for metric, limit in LIMITS.items():
        yield Claim(metric, times.get(("synq", metric)), limit)
    rate = times.get(("synq", "changes_per_s"))
    yield Claim(f"{CHANGES_PER_S} changes, s", rate and CHANGES_PER_S / rate, 1)


def growth(taken, family, of):
    """From the fewest prefixes to the most."""
    few, many = (of(taken, family, "synq", sizes_of(taken)[i]) for i in (0, -1))
    return few and many and many / few


def instructions_claims(taken):
    """What ought to hold; where nft does not take the table there is nothing to
    compare with."""
    sizes = sizes_of(taken)
    for family in FAMILIES:
        for what, of in (("a SYN", whole), ("classifying", classify)):
            yield Claim(f"IPv{family}: {what} at {sizes[-1]} prefixes, of the same "
                        f"at {sizes[0]}", growth(taken, family, of), GROWTH)
        for size in sizes:
            ours, theirs = (classify(taken, family, s, size)
                            for s in ("synq", "nft"))
            if theirs is not None:
                yield Claim(f"IPv{family}, {size} prefixes: classifying, of nft's "
                            "map", ours and ours / theirs, 1.0)


def snapshots_claims(lines):
    """A selftest's output."""
    planned = next((int(m[1]) for line in lines
                    if (m := re.match(r"1\.\.([0-9]+)$", line))), None)
    passed = sum(line.startswith("ok ") for line in lines)
    yield Claim("tests of whole snapshots that failed",
                None if planned is None else planned - passed, 0)


def text(value):
    """For a person to read."""
    if value is None:
        return "-"
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def show_times(times, emulated):
    """Systems side by side; what is emulated beside the same of synq."""
    systems = list(dict.fromkeys(system for system, _ in times))
    cells = [("", *systems, "emulated", "ratio")]
    for metric in METRICS:
        ours, slow = times.get(("synq", metric)), emulated.get(("synq", metric))
        cells.append((metric, *(text(times.get((s, metric))) for s in systems),
                      text(slow), text(slow / ours if slow and ours else None)))
    print_cells(cells, 1)


def show_instructions(taken):
    """A SYN's, and what of it is classification."""
    cells = [("", "prefixes", *(word for s in SYSTEMS
                                for word in (s, "classifying")))]
    for family in FAMILIES:
        for size in sizes_of(taken):
            cells.append((f"IPv{family}", str(size), *(
                text(value) for s in SYSTEMS
                for value in (whole(taken, family, s, size),
                              classify(taken, family, s, size)))))
    print_cells(cells, 1)


def row(system, kernel, parameter, metric, value):
    """As in out/bench/*.jsonl."""
    return {"experiment": "classes", "system": system, "kernel": kernel,
            "parameter": parameter, "metric": metric, "value": value}


def rows(number, kernel, emulated_kernel, parts):
    """All of them."""
    for part, release in (("times", kernel), ("emulated", emulated_kernel)):
        for (system, metric), value in parts[part].items():
            yield row(system, release, {"prefixes": number}, metric, value)
    taken = parts["instructions"]
    for (family, system, size, how), value in taken.items():
        parameter = {"prefixes": size, "family": family, "how": how}
        yield row(system, emulated_kernel, parameter, "instructions_per_syn",
                  round(value, 1))
        alone = classify(taken, family, system, size)
        if how == "classified" and alone is not None:
            yield row(system, emulated_kernel, parameter, "classify_instructions",
                      round(alone, 1))


def judge(claims):
    """How many do not hold, each with a line."""
    bad = 0
    for claim in claims:
        bad += not cost.holds(claim)
        value = "not measured" if claim.value is None else f"{claim.value:.4g}"
        print(f"{'holds' if cost.holds(claim) else 'FAILS':6} {claim.text}: "
              f"{value} (at most {claim.limit:g})")
    return bad


def main():
    """Command line: see the top."""
    if len(sys.argv) != 6:
        sys.exit("usage: classes.py NUMBER KERNEL EMULATED DIRECTORY ROWS")
    raw = {}
    for part in "times", "emulated", "instructions", "snapshots":
        path = Path(sys.argv[4], f"{part}.txt")
        raw[part] = path.read_text("ascii").splitlines() if path.exists() else []
    parts = {part: read_times(raw[part]) for part in ("times", "emulated")}
    parts["instructions"] = read_instructions(raw["instructions"])
    bad = 0
    if raw["times"]:
        print(f"A table of {sys.argv[1]} prefixes; nft's without those inside others")
        show_times(parts["times"], parts["emulated"])
        bad += judge(times_claims(parts["times"]))
    if raw["instructions"]:
        print("Instructions per SYN, less those of a drop at netdev ingress")
        show_instructions(parts["instructions"])
        bad += judge(instructions_claims(parts["instructions"]))
    if raw["snapshots"]:
        bad += judge(snapshots_claims(raw["snapshots"]))
    for line in (line for part in raw.values() for line in part):
        if line.startswith(("# nft-", "# ipset ", "# synq ", "lost ", "# G:")):
            print(line)
    with open(sys.argv[5], "w", encoding="ascii") as out:
        for each in rows(int(sys.argv[1]), *sys.argv[2:4], parts):
            print(json.dumps(each), file=out)
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
