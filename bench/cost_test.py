#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
#
# Unit tests of cost.py, on made-up figures.  Prints TAP.
"""Test the report on what it costs to refuse a SYN."""

import sys
import unittest

import cost
from results_test import Tap

NUMBER = 1000
INGRESS = 5000              # instructions of a SYN that is dropped at once

# X of each way, as it ought to be.
GOOD = {
    cost.NULL: 400,
    cost.METER: 2000,
    cost.HASHLIMIT: 2100,
    cost.SYNQ: 1100,
    cost.SYNQ._replace(payload=1400): 1110,
    cost.CLASS: 1000,
    cost.CLASS._replace(payload=1400): 1001,
    cost.Way("synq", "source-rate-host", 1024, cost.MANY, 0): 1100,
    cost.Way("synq", "source-rate-host", 1048576, cost.MANY, 0): 1150,
}

FLAT = {1024: 12, 1048576: -8}      # kB


def raw(figures, kind="cost4"):
    """What the guest prints; a packet with data takes longer to send."""
    def line(way, value):
        return (f"{kind} {way.system} {way.refusal} {way.aggregates} "
                f"{way.prefixes} {way.payload} {NUMBER} "
                f"{(value + INGRESS + way.payload) * NUMBER}\n")

    return ["TAP version 13\n", "ok 1 - whatever\n",
            line(cost.Way("ingress", "drop", 0, 0, 0), 0),
            line(cost.Way("ingress", "drop", 0, 0, 1400), 0),
            *(line(w, x) for w, x in figures.items())]


def failing(**changes):
    """Texts of the claims that fail when one figure is another."""
    figures = dict(GOOD)
    figures.update({getattr(cost, name): x for name, x in changes.items()})
    return [c.text for c in cost.claims(cost.read(raw(figures), "cost4"), FLAT)
            if not cost.holds(c)]


class Cost(unittest.TestCase):
    """What is read, and what is said of it."""

    def test_ingress_is_subtracted_by_payload(self):
        self.assertEqual(cost.read(raw(GOOD), "cost4"), GOOD)

    def test_families_apart(self):
        lines = raw({cost.NULL: 390}, "cost6") + raw(GOOD)
        self.assertEqual(cost.read(lines, "cost6"), {cost.NULL: 390})
        self.assertEqual(cost.read(lines, "cost4"), GOOD)

    def test_all_holds(self):
        self.assertEqual(failing(), [])

    def test_dearer_than_a_rival(self):
        self.assertEqual(failing(HASHLIMIT=1050), ["source-rate: of hashlimit"])
        self.assertIn("source-rate: of nft's meter", failing(METER=1099))

    def test_more_than_half_above_the_empty_hook(self):
        self.assertEqual(
            failing(METER=1700),
            ["source-rate: of the meter, both above an empty hook"])

    def test_not_flat(self):
        self.assertEqual(failing(CLASS=950), ["class-rate: by payload"])
        figures = dict(GOOD)
        figures[cost.Way("synq", "source-rate-host", 65536, cost.MANY, 0)] = 1300
        self.assertFalse(all(map(cost.holds, cost.claims(figures, FLAT))))

    def test_memory(self):
        lines = [*raw(GOOD), "memory4 1024 12\n", "memory6 1024 9\n",
                 "memory4 1048576 65536\n"]
        grown = cost.growth(lines, "memory4")
        self.assertEqual(grown, {1024: 12, 1048576: 65536})
        for found in grown, {}:
            self.assertEqual(
                [c.text for c in cost.claims(GOOD, found) if not cost.holds(c)],
                ["kB of memory, whatever the number of sources"])

    def test_what_is_missing_does_not_hold(self):
        for way in cost.NULL, cost.METER, cost.HASHLIMIT, cost.SYNQ, cost.CLASS:
            figures = {w: x for w, x in GOOD.items() if w != way}
            self.assertFalse(all(map(cost.holds, cost.claims(figures, FLAT))), way)

    def test_rows(self):
        row = next(r for r in cost.rows("6.1", 4, GOOD) if r["system"] == "synq")
        self.assertEqual(
            (row["experiment"], row["metric"], row["group"], row["value"]),
            ("cost", "instructions_per_syn", "hostile", 1100))
        self.assertEqual(row["parameter"],
                         {"family": 4, "refusal": "source-rate", "aggregates": 65536,
                          "prefixes": 100000, "payload": 0})


if __name__ == "__main__":
    unittest.main(testRunner=unittest.TextTestRunner(
        stream=sys.stdout, verbosity=0, resultclass=Tap))
