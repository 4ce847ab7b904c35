#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
#
# Unit tests of classes.py and prefixes.py, on made-up figures.  Prints TAP.
"""Test the report on tables of prefixes."""

import contextlib
import io
import ipaddress
import sys
import unittest
import unittest.mock

import classes
import cost
import prefixes
from results_test import Tap

SIZES = (10, 1000)
INGRESS = {4: 5000, 6: 6000}
# What a SYN takes that is not classified, and what classifying takes at each size.
SYN = {"synq": 1000, "nft": 700, "ipset": 900}
MORE = {"synq": (100, 140), "nft": (300, 500), "ipset": (400, 400)}
TIMES = ["synq one_more_s 0.037\n", "synq nothing_s 0.03\n", "synq replace_s 1.5\n", "synq prefix_bytes 66\n",
         "synq command_bytes 53e6\n", "synq changes_per_s 900000\n",
         "nft-1.0.6 load_s 8\n", "# nft-1.0.6 one_more_s nft: ends with -11\n"]


def raw(without=()):
    """What the guest prints."""
    return list(lines_of(without))


def lines_of(without):
    """One by one."""
    number = 1000
    for family, ingress in INGRESS.items():
        yield f"cost{family} ingress drop 0 0 0 {number} {ingress * number}\n"
        for system, syn in SYN.items():
            for size, more in zip(SIZES, MORE[system]):
                for how, value in ("plain", syn), ("classified", syn + more):
                    if (system, size) not in without:
                        yield (f"cost{family} {system} {how} 7 {size} 0 {number} "
                               f"{(ingress + value) * number}\n")


def failing(claims):
    """Texts of those that fail."""
    return [c.text for c in claims if not cost.holds(c)]


def of_instructions(**more):
    """The same for instructions, where classifying takes other figures."""
    with unittest.mock.patch.dict(MORE, more):
        return failing(classes.instructions_claims(
            classes.read_instructions(raw())))


class Instructions(unittest.TestCase):
    """What a SYN takes, and what of it is classification."""

    def test_ingress_is_subtracted_by_family(self):
        taken = classes.read_instructions(raw())
        self.assertEqual(taken[4, "synq", 10, "plain"], 1000)
        self.assertEqual(classes.whole(taken, 6, "nft", 1000), 1200)
        self.assertEqual(classes.classify(taken, 6, "nft", 1000), 500)

    def test_all_holds(self):
        self.assertEqual(of_instructions(), [])

    def test_grows_too_much(self):
        self.assertEqual(of_instructions(synq=(100, 160)),
                         [f"IPv{f}: classifying at 1000 prefixes, of the same at 10"
                          for f in (4, 6)])
        self.assertEqual(len(of_instructions(synq=(100, 700), nft=(800, 800))), 4)

    def test_dearer_than_nft_at_any_size(self):
        self.assertEqual(of_instructions(nft=(99, 500)),
                         [f"IPv{f}, 10 prefixes: classifying, of nft's map"
                          for f in (4, 6)])

    def test_what_nft_does_not_take_is_not_compared(self):
        taken = classes.read_instructions(raw(without=[("nft", 1000)]))
        claims = list(classes.instructions_claims(taken))
        self.assertEqual(failing(claims), [])
        self.assertFalse(any("1000 prefixes: classifying" in c.text
                             for c in claims))

    def test_what_is_missing_of_synq_does_not_hold(self):
        taken = classes.read_instructions(raw(without=[("synq", 1000)]))
        self.assertTrue(failing(classes.instructions_claims(taken)))


class Times(unittest.TestCase):
    """Loading and changing tables."""

    def test_all_holds(self):
        self.assertEqual(
            failing(classes.times_claims(classes.read_times(TIMES))), [])

    def test_too_slow_or_missing(self):
        for i in range(6):
            bad = [*TIMES[:i], *TIMES[i + 1:]]
            self.assertTrue(
                failing(classes.times_claims(classes.read_times(bad))))
        bad = [line.replace("900000", "90000") for line in TIMES]
        self.assertEqual(failing(classes.times_claims(classes.read_times(bad))),
                         ["100000 changes, s"])

    def test_table(self):
        times = classes.read_times(TIMES)
        with contextlib.redirect_stdout(io.StringIO()) as out:
            classes.show_times(times, {("synq", "one_more_s"): .37})
        self.assertIn("one_more_s", out.getvalue())
        self.assertRegex(out.getvalue(), r"one_more_s +0.037 +- +0.37 +10\n")

    def test_a_slow_command_is_not_a_slow_change(self):
        slow = [line.replace("0.03", "0.23") for line in TIMES]
        self.assertEqual(failing(classes.times_claims(classes.read_times(slow))),
                         [])
        bad = [line.replace("0.037", "0.041") for line in TIMES]
        self.assertEqual(failing(classes.times_claims(classes.read_times(bad))),
                         ["one_more_s, less nothing_s"])


class Snapshots(unittest.TestCase):
    """The selftest's output."""

    def test_verdict(self):
        good = ["TAP version 13", "1..2", "ok 1 a", "ok 2 b"]
        self.assertEqual(failing(classes.snapshots_claims(good)), [])
        for bad in (good[:3], [*good[:3], "not ok 2 b"], []):
            self.assertTrue(failing(classes.snapshots_claims(bad)))


class Prefixes(unittest.TestCase):
    """The tables themselves."""

    def test_number(self):
        for number in (10, 1000, 5000):
            nets = [ipaddress.ip_network(p) for f in prefixes.FAMILIES
                    for make in (prefixes.plain, prefixes.inner)
                    for p in make(number, f)]
            self.assertEqual(len(set(nets)), number)

    def test_inside(self):
        for family in prefixes.FAMILIES:
            plain = [ipaddress.ip_network(p) for p in prefixes.plain(200, family)]
            for a, b in zip(sorted(plain), sorted(plain)[1:]):
                self.assertFalse(a.overlaps(b))
            for p in prefixes.inner(200, family):
                inner = ipaddress.ip_network(p)
                self.assertEqual(sum(inner.subnet_of(p) for p in plain), 1)


if __name__ == "__main__":
    unittest.main(testRunner=unittest.TextTestRunner(
        stream=sys.stdout, verbosity=0, resultclass=Tap))
