#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
#
# Unit tests of the reports, on made-up runs: what holds must be said to hold, what
# does not must fail, and a measurement that proves nothing must not pass for one.
# Prints TAP.
"""Test figures.py, experiment.py, results.py and the experiments."""

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import experiment
import figures
import results
from experiment import Cell, at_least, at_most

TMP = tempfile.TemporaryDirectory(prefix="synq-results-")
C = 100.0                   # capacity of the made-up server
DEADLINE_US = 5_000_000

FAKE = """
from experiment import Cell, at_least
TITLE = "made up"
CELLS = [Cell("one", service_ms=10.0, repeats={repeats})]
FIGURES = [("served_fraction", "preferred", "preferred served")]
def claims(view):
    yield at_least("preferred served", view["synq"].served("preferred"),
                   .999, "%")
"""


def line(group, due_us, done_us=20_000, late_us=100, status="ok"):
    """What the generator writes about one request."""
    first = done_us - 1000 if status == "ok" else -1
    connect = 10_000 if status == "ok" else -1
    return (f"{group}\t4\t{due_us}\t{late_us}\t{connect}\t{first}\t{done_us}\t"
            f"{status}\t200\n")


def preferred(n=200, length_s=20.0, start_s=2.0, **more):
    """Evenly spaced preferred requests."""
    step = length_s / n
    return [line("preferred", int((start_s + i * step) * 1e6), **more)
            for i in range(n)]


def ordinary(cell, until_s, served=.25, capacity=C, **more):
    """Evenly spaced ordinary requests, the first of each few served."""
    n = int(cell.ordinary * capacity * until_s)
    every = round(1 / served)
    return [line("ordinary", int(i * until_s / n * 1e6), **more)
            if i % every == 0 else
            line("ordinary", int(i * until_s / n * 1e6), DEADLINE_US,
                 status="timeout") for i in range(n)]


class Made:
    """A directory with runs, as run-guest leaves it."""

    def __init__(self, cell, name="made", capacity=C):
        self.cell, self.name, self.capacity = cell, name, capacity
        self.directory = Path(tempfile.mkdtemp(dir=TMP.name))
        self.runs = []

    def add(self, system, lines, repeat=1, stats=None, changes=(), n=None):
        """One run; lines by group."""
        files = []
        for group, text in lines.items():
            files.append(f"{system}-{repeat}-{group}.tsv".replace(":", "-"))
            (self.directory / files[-1]).write_text("".join(text))
        schedule = self.cell.schedule(self.capacity, True)
        schedule["preferred_count"] = n if n is not None else \
            len(lines.get("preferred", ()))
        self.runs.append({
            "cell": self.cell.name, "system": system, "repeat": repeat,
            "capacity": self.capacity, "schedule": schedule, "files": files,
            "stopped_s": schedule["end_s"], "changes": list(changes),
            "stats": stats, "cpu_idle": .5, "spoofed": [0, 0],
            "counters": {"ListenOverflows": 7}})

    def usual(self, repeat=1, **more):
        """Both systems, all preferred clients served."""
        end = self.cell.schedule(self.capacity, True)["end_s"]
        length = end - self.cell.ramp_s
        for system in ("stock", "synq"):
            self.add(system, {"ordinary": ordinary(self.cell, end),
                              "preferred": preferred(length_s=length, **more)},
                     repeat)

    def save(self):
        """Write what belongs to all runs; return the directory."""
        (self.directory / "runs.json").write_text(json.dumps({
            "experiment": self.name, "kernel": "6.1", "fast": True, "slow": 1,
            "capacity": {self.cell.kind(): self.capacity}, "runs": self.runs}))
        return self.directory


def judged(made, repeats=1):
    """(exit status, what was printed) for the made-up experiment."""
    experiments = made.directory / "experiments"
    experiments.mkdir(exist_ok=True)
    (experiments / "made.py").write_text(FAKE.format(repeats=repeats))
    r = results.Results(made.save(), experiments)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        results.print_table(r)
        status = results.verdicts(r)
    return status, out.getvalue()


ONE = Cell("one", service_ms=10.0)


class Judging(unittest.TestCase):
    """results.py"""

    def test_what_holds_passes(self):
        made = Made(ONE)
        made.usual()
        status, text = judged(made)
        self.assertEqual(status, 0, text)
        self.assertIn("holds   preferred served 100.00 %", text)

    def test_what_does_not_hold_fails(self):
        made = Made(ONE)
        made.usual()
        length = made.runs[-1]["schedule"]["length_s"]
        bad = preferred(length_s=length)
        bad[7] = line("preferred", 3_000_000, DEADLINE_US, status="timeout")
        made.runs.pop()
        end = made.cell.schedule(C, True)["end_s"]
        made.add("synq", {"ordinary": ordinary(ONE, end), "preferred": bad})
        status, text = judged(made)
        self.assertEqual(status, 1)
        self.assertIn("FAILS   preferred served 99.50 %", text)

    def test_the_worst_repeat_counts(self):
        made = Made(ONE)
        made.usual(repeat=1)
        made.usual(repeat=2, status="timeout", done_us=DEADLINE_US)
        made.usual(repeat=3)
        status, text = judged(made, repeats=3)
        self.assertEqual(status, 1)
        self.assertIn("FAILS   preferred served 0.00 %", text)

    def test_a_late_generator_voids_the_cell(self):
        made = Made(ONE)
        made.usual(late_us=11_000)
        status, text = judged(made)
        self.assertEqual(status, 1)
        self.assertIn("generator late by 11.0 ms", text)
        self.assertIn("void    preferred served 100.00 %", text)
        self.assertNotIn("holds", text.split("verdict")[0])

    def test_a_few_late_requests_do_not(self):
        made = Made(ONE)
        made.usual()
        path = made.directory / made.runs[0]["files"][1]
        lines = path.read_text().splitlines(True)
        lines[3] = line("preferred", 3_000_000, late_us=90_000)
        path.write_text("".join(lines))
        self.assertEqual(judged(made)[0], 0)

    def test_missing_requests_void_the_cell(self):
        for group, words in (("preferred", "199 instead of 200"),
                             ("ordinary", "instead of")):
            made = Made(ONE)
            made.usual()
            i = ("ordinary", "preferred").index(group)
            path = made.directory / made.runs[0]["files"][i]
            lines = path.read_text().splitlines(True)
            path.write_text("".join(lines[1:] if i else lines[::2]))
            status, text = judged(made)
            self.assertEqual(status, 1)
            self.assertIn(words, text)

    def test_unsent_and_broken_requests_void_the_cell(self):
        for more, words in (({"late_us": -1}, "never sent"),
                            ({"status": "local-error"}, "own machine")):
            made = Made(ONE)
            made.usual()
            path = made.directory / made.runs[1]["files"][1]
            lines = path.read_text().splitlines(True)
            lines[3] = line("preferred", 3_000_000, **more)
            path.write_text("".join(lines))
            status, text = judged(made)
            self.assertEqual(status, 1)
            self.assertIn(words, text)

    def test_a_slow_flood_voids_the_cell(self):
        made = Made(ONE)
        made.usual()
        made.runs[1]["spoofed"] = [1000, 990]
        status, text = judged(made)
        self.assertEqual(status, 1)
        self.assertIn("synq: 990 spoofed SYNs in time instead of 1000", text)

    def test_overtaking_is_seen(self):
        def requests(*lines):
            return [figures.Request("preferred", 4, due, 0, connect, first,
                                    first, "ok")
                    for due, connect, first in lines]

        self.assertEqual(results.overtakes([], 10.0), 0)
        fifo = requests((0, 20_000, 30_000), (5_000, 19_000, 35_000),
                        (20_000, 20_000, 44_000), (40_000, 20_000, 80_000))
        self.assertEqual(results.overtakes(fifo, 10.0), 0)
        together = requests((45_000, 24_000, 60_000))
        self.assertEqual(results.overtakes([*fifo, *together], 10.0), 0)
        for first, found in (55_000, 0), (45_000, 1):
            later = requests((60_000, 20_000, first))
            self.assertEqual(results.overtakes([*fifo, *later], 10.0), found)

    def test_a_slow_server_voids_the_cell(self):
        made = Made(ONE, capacity=90.0)
        made.usual()
        status, text = judged(made)
        self.assertEqual(status, 1)
        self.assertIn("capacity was 90.0/s, not 100.0/s", text)

    def test_a_missing_system_voids_the_cell(self):
        made = Made(ONE)
        made.usual()
        made.runs.pop()
        status, text = judged(made)
        self.assertEqual(status, 1)
        self.assertIn("not all systems", text)

    def test_goodput_has_neither_ramp_nor_drain(self):
        cell = Cell("one", preferred=0.0, ramp_s=2.0, settle_s=1.0,
                    shortest_s=10.0, service_ms=10.0)
        made = Made(cell)
        inside = [line("ordinary", int(t * 1e6)) for t in (3.1, 5, 11.9)]
        outside = [line("ordinary", int(t * 1e6)) for t in (.5, 2.9, 12.1)]
        late = [line("ordinary", 4_000_000, DEADLINE_US + 1)]
        made.add("stock", {"ordinary": inside + outside + late})
        run = results.Run(cell, made.runs[0], made.directory)
        self.assertEqual(run.good, {"ordinary": 3})
        self.assertAlmostEqual(results.Outcome([run]).goodput(), 3 / 9)

    def test_rows_are_as_designed(self):
        made = Made(ONE)
        made.usual(status="timeout", done_us=DEADLINE_US)
        (made.directory / "experiments").mkdir()
        (made.directory / "experiments" / "made.py").write_text(
            FAKE.format(repeats=1))
        r = results.Results(made.save(), made.directory / "experiments")
        rows = list(results.json_rows(r))
        for row in rows:
            self.assertLessEqual({"experiment", "system", "kernel", "group",
                                  "parameter", "metric", "value", "unit"},
                                 set(row))
            json.dumps(row, allow_nan=False)
        self.assertEqual(results.plot(r).count("<circle"), 2)
        p99 = [w for w in rows if w["metric"] == "request_p99_ms"
               and w["group"] == "preferred"]
        self.assertEqual([(w["value"], w["bound"]) for w in p99],
                         [(5000.0, "at least")] * 2)


class Changing(unittest.TestCase):
    """Adaptation to a changed capacity."""

    CELL = Cell("c", preferred=0.0, steps=(.5, 1), step_s=6.0, service_ms=10.0)

    def adapt(self, per_s):
        """Seconds, with per_s(t) completions a second at time t."""
        made = Made(self.CELL)
        lines, t = [], 0.0
        while t < 14:
            lines.append(line("ordinary", int(t * 1e6) - 20_000))
            t += 1 / per_s(t)
        made.add("synq", {"ordinary": lines}, changes=[[2.0, .5], [8.0, 1]])
        run = results.Run(self.CELL, made.runs[0], made.directory)
        return [round(s, 2) for _, _, s in run.adapt_s()]

    def test_at_once(self):
        self.assertEqual(self.adapt(lambda t: 51 if 2 <= t < 8 else 101),
                         [0, 0])

    def test_after_a_while(self):
        def per_s(t):
            if 2 <= t < 9.5:
                return 51
            return 101
        self.assertEqual(self.adapt(per_s), [0, 1.5])

    def test_never(self):
        self.assertEqual(self.adapt(lambda t: 51), [0, figures.INFINITE])


class Statistics(unittest.TestCase):
    """figures.py"""

    def test_fraction(self):
        e = figures.fraction_interval(1000, 1000)
        self.assertEqual((e.value, e.high), (1.0, 1.0))
        self.assertAlmostEqual(e.low, .99617, 4)
        self.assertEqual(figures.fraction_interval(0, 10).low, 0.0)

    def test_quantile(self):
        e = figures.quantile_interval(range(1, 1001), .5)
        self.assertEqual(e.value, 500)
        self.assertTrue(465 <= e.low <= 470 and 531 <= e.high <= 536, e)
        self.assertEqual(figures.quantile([], .5), figures.INFINITE)

    def test_mean(self):
        e = figures.mean_interval([9, 11] * 50)
        self.assertEqual(e.value, 10)
        self.assertAlmostEqual(e.high - e.value, .197, 2)

    def test_who_was_not_served_waited_for_ever(self):
        rows = [figures.Request("g", "4", 0, 0, 1, 2, t, s) for t, s in (
            (10, "ok"), (5_000_001, "ok"), (20, "reset"))]
        f = figures.Figures(rows, 5.0)
        self.assertAlmostEqual(f.fraction, 1 / 3)
        self.assertEqual(sorted(f.request)[1:], [figures.INFINITE] * 2)

    def test_claims(self):
        self.assertTrue(at_least("x", 1.0, .999).holds)
        self.assertFalse(at_least("x", .998, .999).holds)
        self.assertFalse(at_most("x", figures.INFINITE, 9).holds)
        self.assertFalse(at_least("x", float("nan"), 0).holds)
        self.assertFalse(at_most("x", float("nan"), 0).holds)


class Experiments(unittest.TestCase):
    """Every experiment in experiments/ can be planned and judged."""

    def test_all(self):
        for path in experiment.EXPERIMENTS.glob("*.py"):
            e = experiment.load(path.stem)
            self.assertTrue(experiment.chosen(e, "", True))
            for cell in e.CELLS:
                with self.subTest(experiment=path.stem, cell=cell.name):
                    self.judge(e, cell)

    @staticmethod
    def judge(e, cell):
        """A cell in which all is well with synq, but for its counters."""
        made = Made(cell, capacity=C / 10)
        end = cell.schedule(made.capacity, True)["end_s"]
        names = ("excess_dropped", "queue_refused", "wait_refused", "promoted",
                 "moved", "withheld", "withheld_expired")
        stats = {"stats": [{"class": c, "counters": dict.fromkeys(names, 1)}
                           for c in ("gold", "normal", "everyone")]}
        for system in cell.systems:
            lines = {"ordinary": ordinary(cell, end, capacity=C / 10)}
            if cell.preferred:
                lines["preferred"] = preferred(
                    length_s=end - cell.ramp_s, start_s=cell.ramp_s)
            made.add(system, lines, stats=stats if system == "synq" else None,
                     changes=[[cell.ramp_s + i * cell.step_s, part]
                              for i, part in enumerate(cell.steps)])
        runs = [results.Run(cell, r, made.directory) for r in made.runs]
        if not results.CellResult(cell, runs).claims(e.claims):
            raise AssertionError("nothing is claimed")

    def test_some_systems_are_not_repeated(self):
        cell = Cell("x", repeats=2, systems=("stock", "rival", "synq"),
                    once=("rival",))
        self.assertEqual(cell.in_repeat(1), ["stock", "rival", "synq"])
        self.assertEqual(cell.in_repeat(2), ["stock", "synq"])

    def test_unknown_names_are_refused(self):
        with self.assertRaises(SystemExit):
            experiment.load("no-such")
        with self.assertRaises(SystemExit):
            experiment.chosen(experiment.load("overload"), "no-such", False)


class Generator(unittest.TestCase):
    """openload's schedule does not depend on what it meets."""

    def test_same_schedule_for_all(self):
        here = Path(__file__).resolve().parent
        with tempfile.TemporaryDirectory() as tmp:
            program = f"{tmp}/openload"
            subprocess.run([os.environ.get("CC", "cc"), "-O1", "-o", program,
                            here / "openload.c", "-lm"], check=True)
            due = []
            for port in ("9", "1"):
                out = subprocess.run(
                    [program, "group", "g", "rate", "500", "from", "0", "for",
                     "0.5", "seed", "3", "deadline", "0.2", "source",
                     "127.0.0.1", "to", "127.0.0.1", "port", port, "http",
                     "/"], check=True, capture_output=True, text=True).stdout
                due.append([row.split("\t")[2] for row in out.splitlines()])
        self.assertEqual(due[0], due[1])
        self.assertTrue(150 < len(due[0]) < 350)


class Tap(unittest.TextTestResult):
    """One TAP line a test."""

    number = 0

    def stopTest(self, test):
        super().stopTest(test)
        self.number += 1
        bad = any(t is test or getattr(t, "test_case", None) is test
                  for t, _ in self.failures + self.errors)
        print(f"{'not ok' if bad else 'ok'} {self.number} - {test.id()}",
              flush=True)


if __name__ == "__main__":
    unittest.main(testRunner=unittest.TextTestRunner(
        stream=sys.stdout, verbosity=0, resultclass=Tap))
