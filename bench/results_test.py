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
import unittest.mock
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import cdf
import experiment
import figures
import guest
import outcome
import results
import systems
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


def line(group, due_us, done_us=20_000, late_us=100, status="ok",
         options="7,7,7", connect_us=10_000):
    """What the generator writes about one request."""
    first = done_us - 1000 if status == "ok" else -1
    connect = connect_us if status == "ok" else -1
    return (f"{group}\t4\t{due_us}\t{late_us}\t{connect}\t{first}\t{done_us}\t"
            f"{status}\t200\t{options if status == 'ok' else '-'}\n")


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


def flooded(schedule, **more):
    """What a flood that was as planned leaves: one SYN-ACK for each SYN."""
    n = round(schedule["spoofed_per_s"] * schedule["flood_s"])
    return {"wanted": n, "sent": n, "bytes": 60 * n, "late_p99_us": 900,
            "late_most_us": 2000, "seconds": schedule["flood_s"],
            "answers": {"synacks": [n, 60 * n], "resets": [0, 0],
                        "others": [0, 0]}, **more}


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
            "stats": stats, "cpu_idle": .5, "cpu_busy_s": 1.0,
            "flood": flooded(schedule) if self.cell.forged() else None,
            "options": {g: {"7,7,7": len(text)} for g, text in lines.items()},
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
        made.runs[1]["flood"] = flooded(made.runs[1]["schedule"], wanted=1000,
                                        sent=990)
        status, text = judged(made)
        self.assertEqual(status, 1)
        self.assertIn("synq: 990 spoofed SYNs in time instead of 1000", text)

    def test_overtaking_is_seen(self):
        def requests(*lines):
            return [figures.Request("preferred", 4, due, 0, connect, first,
                                    first, "ok")
                    for due, connect, first in lines]

        self.assertEqual(outcome.overtaken([], 10.0), 0)
        fifo = requests((0, 20_000, 30_000), (5_000, 19_000, 35_000),
                        (20_000, 20_000, 44_000), (40_000, 20_000, 80_000))
        self.assertEqual(outcome.overtaken(fifo, 10.0), 0)
        together = requests((45_000, 24_000, 60_000))
        self.assertEqual(outcome.overtaken([*fifo, *together], 10.0), 0)
        for first, found in (55_000, 0), (45_000, 1):
            later = requests((60_000, 20_000, first))
            self.assertEqual(outcome.overtaken([*fifo, *later], 10.0), found)
        # Overtaken connections count, not those that overtake.
        straggler = requests((0, 1_000, 200_000))
        self.assertEqual(outcome.overtaken([*fifo, *straggler], 10.0), 1)

    def test_a_late_generator_may_err_about_the_order(self):
        cell = replace(ONE, service_ms=2.5)
        for late_us, found in (100, 1), (4_000, 0):
            lines = preferred(late_us=late_us)
            # The next, 0.1 s later, is answered 3 ms before.
            lines[3] = line("preferred", 2_300_000, 123_000, late_us)
            made = Made(cell)
            made.add("synq", {"preferred": lines})
            run = outcome.Run(cell, made.runs[0], made.directory)
            self.assertEqual(run.overtaken["preferred"], found)

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
        run = outcome.Run(cell, made.runs[0], made.directory)
        self.assertEqual(run.good, {"ordinary": 3})
        self.assertAlmostEqual(outcome.Outcome([run]).goodput(), 3 / 9)

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

    def adapt(self, per_s, done_us=20_000):
        """Seconds, with per_s(t) completions a second at time t."""
        made = Made(self.CELL)
        lines, t = [], 0.0
        while t < 14:
            lines.append(line("ordinary", int(t * 1e6) - done_us, done_us))
            t += 1 / per_s(t)
        made.add("synq", {"ordinary": lines}, changes=[[2.0, .5], [8.0, 1]])
        run = outcome.Run(self.CELL, made.runs[0], made.directory)
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

    def test_a_wait_that_is_steady_and_too_long(self):
        def per_s(t):
            return 51 if 2 <= t < 8 else 101
        self.assertEqual(self.adapt(per_s, done_us=350_000), [0, 0])
        self.assertEqual(self.adapt(per_s, done_us=500_000), [figures.INFINITE] * 2)

    def test_the_preferred_may_make_others_wait(self):
        cell = replace(self.CELL, preferred=.25)
        made = Made(cell)
        made.add("synq", {}, changes=[])
        run = outcome.Run(cell, made.runs[0], made.directory)
        self.assertAlmostEqual(run.longest_wait_s(.5), 1.1 * .6 + .04 + .04)
        self.assertAlmostEqual(run.longest_wait_s(1), 1.1 * .4 + .04 + .02)


FLOODED = Cell("f", systems=("idle", "ingress-drop", "stock:1", "synq:1"),
               service_ms=10.0, ordinary=0.0, flood=1000.0, spoofed_in="world",
               options=True, from_call=True, rtt_ms=0.0)


class Flooding(unittest.TestCase):
    """What a flood does."""

    @staticmethod
    def flooded(cell=FLOODED, flood=None, options=None, **more):
        """One run with something of its own."""
        made = Made(cell)
        if options:
            more["options"] = options
        made.add("synq:1", {"preferred": preferred(**more)})
        if flood:
            made.runs[0]["flood"].update(flood)
        if options:
            made.runs[0]["options"]["preferred"] = {options: 200}
        return outcome.Outcome([outcome.Run(cell, made.runs[0], made.directory)])

    def test_synacks_and_bytes_are_of_the_whole_run(self):
        o = self.flooded(flood={
            "wanted": 100, "sent": 100, "bytes": 6000,
            "answers": {"synacks": [200, 12000], "resets": [5, 200],
                        "others": [1, 100]}})
        self.assertEqual(o.synacks_per_syn(), 2.0)
        self.assertAlmostEqual(o.bytes_out_in(), 12300 / 6000)

    def test_times_from_the_call(self):
        o = self.flooded(late_us=4_000)
        self.assertEqual(o.connect_interval(.99).value, 6_000)
        due = self.flooded(replace(FLOODED, from_call=False), late_us=4_000)
        self.assertEqual(due.connect_interval(.99).value, 10_000)

    def test_a_late_client_is_late_whatever_counts(self):
        cell = replace(FLOODED, late_ms=3.0)
        made = Made(cell)
        made.add("synq:1", {"preferred": preferred(late_us=4_000)})
        run = outcome.Run(cell, made.runs[0], made.directory)
        self.assertIn("late by 4.0 ms", run.problems[0])

    def test_a_late_flood_is_void(self):
        for cell, late_us, n in ((FLOODED, 49_000, 0), (FLOODED, 60_000, 1),
                                 (Cell("no CPU of its own", spoofed=1.0), 60_000, 0)):
            o = self.flooded(cell, flood={"late_p99_us": late_us})
            self.assertEqual(len([p for p in o.runs[0].problems
                                  if "flood late" in p]), n)

    def test_first_byte_in_time(self):
        self.assertEqual(self.flooded().first_within(1), 1.0)
        late = self.flooded(done_us=1_100_000)
        self.assertEqual(late.first_within(1), 0.0)
        never = self.flooded(status="timeout", done_us=DEADLINE_US)
        self.assertEqual(never.first_within(10), 0.0)

    def test_options_that_are_missing_are_seen_at_both_ends(self):
        idle, plain = self.flooded(), self.flooded(options="0,0,0")
        self.assertEqual(self.flooded().options_as(idle, "client"), 1.0)
        self.assertEqual(plain.options_as(idle, "client"), 0.0)
        self.assertEqual(plain.options_as(idle, "server"), 0.0)

    def test_nobody_served_is_not_as_on_an_idle_server(self):
        none = self.flooded(status="timeout", done_us=DEADLINE_US)
        self.assertEqual(none.options_as(self.flooded(), "client"), 0.0)

    def test_a_guest_that_carries_less_gets_less(self):
        for carries, named, rate in (
                (None, 8000, 8000), (1e6, 8000, 8000),
                (4000, 8000, 4000 * experiment.FLOOD_PART),
                (4000, 3000, 3000), (1000, 8000, 1000), (10, 100, 100)):
            cell = replace(FLOODED, flood=float(named))
            self.assertEqual(cell.schedule(C, True, carries)["spoofed_per_s"], rate)
        cell = replace(FLOODED, flood=8000.0, drain_s=1.0)
        self.assertEqual(cell.schedule(C, True, 4000)["spoofed_per_s"],
                         4000 * experiment.FLOOD_COUNTED)

    def test_clients_never_leave_a_worker_idle(self):
        cell = Cell("c", workers=2, service_ms=2.5, rtt_ms=40.0)
        self.assertEqual(cell.busy_clients(), 128)
        self.assertEqual(replace(cell, workers=1, rtt_ms=0.0).busy_clients(), 64)
        # Workers that wait for the client are many, and serve few.
        self.assertEqual(replace(cell, workers=24, requests=3).busy_clients(), 80)

    def test_floods_of_one_family(self):
        self.assertEqual(replace(FLOODED, families="4").forged(),
                         ("10.0.0.0/8",))
        self.assertEqual(Cell("x").forged(), ())

    def test_realised(self):
        cell = Cell("x", preferred=0.0, ordinary=.1, policed=.2, rtt_ms=0.0)
        made = Made(cell)
        end = cell.schedule(C, True)["end_s"]
        made.add("synq", {"ordinary": ordinary(cell, end, served=1.0)})
        run = outcome.Run(cell, made.runs[0], made.directory)
        self.assertAlmostEqual(outcome.Outcome([run]).realised(), .5, 1)

    def test_cookies_that_find_no_slot_are_held(self):
        cell = Cell("x", preferred=0.0, ordinary=.1, rtt_ms=0.0)
        made = Made(cell)
        end = cell.schedule(C, True)["end_s"]
        made.add("synq", {"ordinary": ordinary(cell, end, served=1.0)},
                 stats={"stats": [{"class": "normal", "counters": {
                     "promoted": 1000, "held": 1, "cookie_refused": 2}}]})
        run = outcome.Run(cell, made.runs[0], made.directory)
        self.assertAlmostEqual(outcome.Outcome([run]).held("normal"), .003)

    def test_answers_seen(self):
        cell = Cell("x", preferred=0.0, ordinary=.1, rtt_ms=0.0)
        made = Made(cell)
        end = cell.schedule(C, True)["end_s"]
        counters = dict.fromkeys((f"answered_{b}" for b in outcome.BUCKETS), 10)
        made.add("synq", {"ordinary": ordinary(cell, end, served=1.0)},
                 stats={"stats": [{"class": "normal", "counters": counters}]})
        for answers, seen in ((None, 0), (100, .8), (40, 2)):
            made.runs[0]["answers"] = answers
            run = outcome.Run(cell, made.runs[0], made.directory)
            self.assertAlmostEqual(outcome.Outcome([run]).answers_seen(), seen)

    def test_curve(self):
        never = [figures.INFINITE] * 2
        self.assertEqual(cdf.curve([20, 10, *never]), [(10, .25), (20, .5)])
        many = cdf.curve(range(10_000))
        self.assertLess(len(many), 2 * cdf.POINTS)
        self.assertEqual(many[-1], (9999, 1.0))
        self.assertEqual(cdf.curve(never), [])


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
        names = ("seen", "admitted", "excess_passed", "excess_cookie",
                 "cookie_sent", "promoted", "moved", "held",
                 "hold_flushed", "hold_full", "cookie_refused")
        stats = {"stats": [{"class": c, "counters": dict.fromkeys(names, 1)}
                           for c in ("gold", "normal", "everyone")]}
        for system in cell.systems:
            lines = {}
            if cell.ordinary or cell.closed:
                lines["ordinary"] = ordinary(replace(cell, ordinary=max(
                    cell.ordinary, .1)), end, capacity=C / 10)
            if cell.preferred or cell.closed:
                lines["preferred"] = preferred(
                    length_s=end - cell.ramp_s, start_s=cell.ramp_s)
            made.add(system, lines, stats=stats if system == "synq" else None,
                     changes=[[cell.ramp_s + i * cell.step_s, part]
                              for i, part in enumerate(cell.steps)])
        runs = [outcome.Run(cell, r, made.directory) for r in made.runs]
        c = results.CellResult(cell, runs)
        if bool(c.claims(e.claims)) == getattr(e, "REPORT", False):
            raise AssertionError("claims, in a report, or none elsewhere")
        r = SimpleNamespace(cells=[c], experiment=e, kernel="6.1", name=e.TITLE)
        results.plot(r)
        list(results.table_lines(r))
        for row in results.json_rows(r):
            json.dumps(row, allow_nan=False)
        if getattr(e, "CDFS", None):
            cdf.plot_cdfs(r)

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


class FloodClaims(unittest.TestCase):
    """experiments/flood.py: what is wrong has to be found wrong."""

    FLOOD = experiment.load("flood")

    def failing(self, name, spoil):
        """What fails in a cell that is well but for one thing, and how often."""
        cell = next(c for c in self.FLOOD.CELLS if c.name == name)
        made = Made(cell)
        end = cell.schedule(C, True)["end_s"]
        for system in cell.systems:
            late = {"done_us": 1_020_000} if cell.lose_ack else {}
            lines = {"preferred": preferred(
                length_s=end - cell.ramp_s, start_s=cell.ramp_s, **late)}
            if cell.ordinary:
                lines["ordinary"] = ordinary(cell, end, served=1.0)
            made.add(system, lines)
            if system == "synq:1":
                spoil(made, made.runs[-1])
        runs = [outcome.Run(cell, r, made.directory) for r in made.runs]
        return [c.what for c in results.CellResult(cell, runs).claims(
            self.FLOOD.claims) if not c.holds]

    @staticmethod
    def rewrite(made, run, group, **more):
        """The clients of a group once more."""
        path = made.directory / next(f for f in run["files"] if group in f)
        dues = [int(row.split("\t")[2]) for row in path.read_text().splitlines()]
        path.write_text("".join(line(group, due, **more) for due in dues))

    def test_all_well(self):
        for name in ("backlog-128", "T7", "amplify-100", "inside-ordinary"):
            self.assertEqual(self.failing(name, lambda *a: None), [])

    def test_each_fault_is_found(self):
        def slow(made, run):
            self.rewrite(made, run, "preferred", done_us=1_100_000)

        def later(made, run):
            self.rewrite(made, run, "preferred", connect_us=10_600)

        def plain(made, run):
            self.rewrite(made, run, "preferred", options="0,0,0")

        def cookies(_, run):
            run["counters"]["SyncookiesRecv"] = 1

        def unlost(made, run):
            self.rewrite(made, run, "preferred")

        def hung(made, run):
            self.rewrite(made, run, "preferred", done_us=2_100_000)

        def cookie_sent(_, run):
            run["stats"] = {"stats": [
                {"class": name, "counters": {"cookie_sent": n, "excess_cookie": n}}
                for name, n in (("gold", 1), ("normal", 1000))]}

        def far_end(_, run):
            run["options"]["preferred"] = {"7,7,7": 199, "0,0,0": 1}

        def twice(_, run):
            run["flood"]["answers"]["synacks"] = [
                2 * run["flood"]["sent"], 120 * run["flood"]["sent"]]

        def unserved(made, run):
            self.rewrite(made, run, "ordinary", status="timeout",
                         done_us=DEADLINE_US)

        for name, spoil, words in (
                ("backlog-128", slow, ["first byte within 1 s",
                                       "preferred p99 at least"]),
                ("backlog-128", later, ["and at least, against 1.05 times stock's"]),
                ("backlog-128", plain, ["seen by the client"]),
                ("backlog-128", far_end, ["seen by the server"]),
                ("backlog-128", cookies, ["SyncookiesRecv"]),
                ("inside-ordinary", cookie_sent, ["answered by cookies"]),
                ("T7", unlost, ["before the SYN-ACK comes again"]),
                ("T7", hung, ["within 1.2 s"]),
                ("amplify-100", twice, ["SYN-ACKs per", "bytes out"]),
                ("inside-ordinary", unserved, ["ordinary served"])):
            with self.subTest(cell=name, fault=words):
                found = self.failing(name, spoil)
                self.assertEqual(len(found), len(words), found)
                for f, w in zip(found, words):
                    self.assertIn(w, f)


class PolicedClaims(unittest.TestCase):
    """V1 and V2 of experiments/flood.py, on made-up outcomes."""

    FLOOD = experiment.load("flood")

    @staticmethod
    def failing(claims, *outcomes):
        """What fails; outcomes: preferred and whole goodput, and part of the rate."""
        view = {i: SimpleNamespace(
            goodput=lambda group=None, o=o: o[0] if group else o[1],
            realised=lambda o=o: o[2]) for i, o in enumerate(outcomes)}
        return [c.what for c in claims(view) if not c.holds]

    def test_policing(self):
        def failing(*preferred):
            return self.failing(self.FLOOD.policing, *((p, 9, 0) for p in preferred))

        self.assertEqual(failing(1, 2, 4), [])
        self.assertEqual(failing(1, 1, 1), ["and policed most, against policed least"])
        self.assertEqual(failing(1, 4, 3), ["preferred goodput, against that with the "
                                            "others policed less"])

    def test_bursts(self):
        def failing(*outcomes):
            return self.failing(self.FLOOD.bursts, *outcomes)

        least, most = (50, 80, .75), (30, 70, .95)
        self.assertEqual(failing(least, (40, 75, .85), most), [])
        for outcomes, word in (
                (((50, 80, .85), most), "burst 0.1 s"),
                ((least, (30, 70, .9)), "burst 1 s"),
                ((least, (55, 75, .8), most), "with the burst before"),
                ((least, (40, 70, .95)), "preferred goodput's fall"),
                ((least, (10, 70, .95)), "and no more"),
                ((least, (30, 90, .95)), "total goodput")):
            with self.subTest(word):
                found = failing(*outcomes)
                self.assertEqual(len(found), 1, found)
                self.assertIn(word, found[0])


def built(name, directory, *libraries):
    """A program of this directory."""
    here = Path(__file__).resolve().parent
    program = f"{directory}/{name}"
    subprocess.run([os.environ.get("CC", "cc"), "-O1", "-o", program,
                    *sorted(here.glob(f"{name}*.c")), "-lm", *libraries], check=True)
    return program


class FloodGenerator(unittest.TestCase):
    """synflood keeps to what it was asked for."""

    IN_A_NETNS = ["unshare", "-rn", "sh", "-c", 'ip link set lo up && exec "$@"',
                  "sh"]

    def test_as_many_as_asked_for(self):
        if subprocess.run([*self.IN_A_NETNS, "true"], capture_output=True,
                          check=False).returncode:
            self.skipTest("no network namespace")
        with tempfile.TemporaryDirectory() as tmp:
            out = subprocess.run(
                [*self.IN_A_NETNS, built("synflood", tmp), "device", "lo",
                 "gateway", "00:00:00:00:00:00", "port", "9", "rate", "2000", "for",
                 "0.25", "source", "198.18.1.128/25", "to", "127.0.0.1",
                 "source", "2001:db8::/36", "to", "::1"], check=True,
                capture_output=True, text=True).stdout.split()
        did = dict(zip(out[::2], map(float, out[1::2])))
        self.assertEqual(did["wanted"], 500)
        # 60 and 80 bytes in turn.
        self.assertAlmostEqual(did["bytes"], 70 * did["sent"], delta=10)

    def test_what_is_not_bounded_is_refused(self):
        with tempfile.TemporaryDirectory() as tmp:
            program = built("synflood", tmp)
            for words in (["for", "0"], ["for", "100000"], ["rate", "1e9"], []):
                r = subprocess.run(
                    [program, "device", "lo", "gateway", "0:0:0:0:0:0", "port", "9",
                     "source", "10.0.0.0/8", "to", "127.0.0.1", *words],
                    check=False, capture_output=True)
                self.assertEqual(r.returncode, 1)


class Generator(unittest.TestCase):
    """openload's schedule does not depend on what it meets."""

    def test_bursts_come_at_once(self):
        with tempfile.TemporaryDirectory() as tmp:
            out = subprocess.run(
                [built("openload", tmp, "-lssl", "-lcrypto"), "group", "g", "rate", "20", "bursts", "5",
                 "size", "7-7", "from", "0", "for", "1", "seed", "3", "deadline",
                 "0.2", "source", "127.0.0.1", "to", "127.0.0.1", "port", "1",
                 "http", "/"], check=True, capture_output=True, text=True).stdout
        due = [row.split("\t")[2] for row in out.splitlines()]
        at_once = [n for n in map(due.count, set(due)) if n > 1]
        self.assertTrue(at_once)
        self.assertEqual(set(at_once), {7})

    def test_same_schedule_for_all(self):
        with tempfile.TemporaryDirectory() as tmp:
            program = built("openload", tmp, "-lssl", "-lcrypto")
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


class Rivals(unittest.TestCase):
    """The rivals of nft/ are measured with other values than their examples."""

    def adapted(self, word):
        """The ruleset of a system."""
        rival = systems.make_system(word, C)
        place = str(Path(__file__).resolve().parent.parent / "nft")
        with unittest.mock.patch.dict(os.environ, {"PATH": place}):
            text = guest.adapt(rival.rules, rival.words())
        self.assertIn(f"preferred4 = {guest.PREFERRED.prefix4}\n", text)
        self.assertIn(f"preferred6 = {guest.PREFERRED.prefix6}\n", text)
        return text

    def test_limit(self):
        self.assertIn("limit rate over 20/second burst 5 packets",
                      self.adapted("nft-limit:0.2"))

    def test_meter(self):
        self.assertEqual(self.adapted("nft-meter").count(
            "limit rate over {RATE}/second burst {BURST} packets".format(
                **systems.METER)), 2)


class TestCapacity(unittest.TestCase):
    """Of clients each of which asks again at once."""

    CLIENTS, TURN_S = 64, 3.4

    def in_step(self):
        """They came at once, and keep their connections: all are through together."""
        for turn in range(4):
            for i in range(self.CLIENTS):
                early = .5 * (1 - i / self.CLIENTS)
                due = turn * self.TURN_S - (early if turn else 0)
                done = (turn + 1) * self.TURN_S - early
                yield line("preferred", int(1e6 * due), int(1e6 * (done - due)))

    def test_in_step(self):
        with tempfile.TemporaryDirectory() as tmp:
            tsv = Path(tmp) / "capacity.tsv"
            tsv.write_text("".join(self.in_step()))
            for end in (7.4, 8.5, 10.6):
                self.assertAlmostEqual(guest.turns_per_s(tsv, self.CLIENTS, 1, end),
                                       self.CLIENTS / self.TURN_S, delta=.1)

    def test_none(self):
        self.assertEqual(guest.turns_per_s(Path(os.devnull), self.CLIENTS, 1, 5), 0)


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
