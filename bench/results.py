#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
#
# Turns what run-guest left into a table, JSON rows, a plot and verdicts:
#
#   results.py DIR OUT     reads DIR/runs.json and the files it names, writes
#                          OUT/NAME.jsonl and OUT/NAME.svg, NAME the experiment, and
#                          OUT/NAME-cdf.svg if the experiment names CDFS
#
# Repeats are pooled for the figures and judged one by one: the worst counts.  A
# cell whose generators did not keep their schedule proves nothing: void.  Exit
# status 1 when a claim fails or is void.
"""Report on an experiment."""

import json
import math
import sys
from pathlib import Path

import experiment
from cdf import plot_cdfs
from figures import (INFINITE, Estimate, ms, print_cells, quantile,
                     quantile_interval)
from outcome import Outcome, Run
from palette import GREY, LIGHT, colour_of
from svg import Svg



class View(dict):
    """The outcomes of a cell by system, as claims see them."""

    def __init__(self, cell, capacity, outcomes):
        super().__init__(outcomes)
        self.cell, self.capacity = cell, capacity


class CellResult:
    """Everything about a cell."""

    def __init__(self, cell, runs):
        self.cell, self.runs = cell, runs
        self.capacity = runs[0].capacity
        self.pooled = {s: Outcome([r for r in runs if r.facts["system"] == s])
                       for s in cell.systems
                       if any(r.facts["system"] == s for r in runs)}
        self.problems = [p for r in runs for p in r.problems]
        if cell.lacks(self.capacity):
            self.problems.append(f"the server's capacity was {self.capacity:.1f}"
                                 f"/s, not {cell.nominal():.1f}/s")
        if set(self.pooled) != set(cell.systems):
            self.problems.append("not all systems were measured")

    def views(self):
        """One for each repeat that is complete."""
        for repeat in sorted({r.facts["repeat"] for r in self.runs}):
            by_system = {r.facts["system"]: Outcome([r]) for r in self.runs
                         if r.facts["repeat"] == repeat}
            if set(by_system) == set(self.cell.in_repeat(repeat)):
                yield View(self.cell, self.capacity, by_system)

    def claims(self, claims_of):
        """The worst of each claim over the repeats."""
        worst = {}
        for view in self.views():
            for claim in claims_of(view):
                key = claim.what
                if key not in worst or not claim.margin >= worst[key].margin:
                    worst[key] = claim
        return list(worst.values())


class Results:
    """Everything that was measured."""

    def __init__(self, directory, experiments=experiment.EXPERIMENTS):
        raw = json.loads((directory / "runs.json").read_text(encoding="utf-8"))
        self.name, self.kernel = raw["experiment"], raw["kernel"]
        self.fast, self.capacity = raw["fast"], raw["capacity"]
        self.carries = raw.get("carries")
        self.experiment = experiment.load(self.name, experiments)
        self.cells = []
        for cell in self.experiment.CELLS:
            cell = experiment.slowed(cell, raw["slow"])
            runs = [Run(cell, r, directory) for r in raw["runs"]
                    if r["cell"] == cell.name]
            if runs:
                self.cells.append(CellResult(cell, runs))


# --- the table ---

HEAD = ("cell", "system", "clients", "n", "served", "95 %", "p50", "p99",
        "95 %", "goodput/s", "95 %", "of C", "late p99", "idle")


def percent(estimate):
    """An interval of a fraction."""
    return f"{100 * estimate.low:.1f}-{100 * estimate.high:.1f}"


def table_lines(results):
    """Cells of the table, one list per cell, system and group."""
    for c in results.cells:
        for i, (system, o) in enumerate(c.pooled.items()):
            for j, g in enumerate(o.groups()):
                p99 = quantile_interval(o.times(g), .99)
                served, good = o.served_interval(g), o.goodput_interval(g)
                limit = c.cell.deadline_s
                yield [c.cell.name if i + j == 0 else "",
                       system if j == 0 else "", g, str(o.n(g)),
                       f"{100 * served.value:.1f} %", percent(served),
                       ms(quantile(o.times(g), .5), limit), ms(p99.value, limit),
                       f"{ms(p99.low, limit)}-{ms(p99.high, limit)}",
                       f"{good.value:.1f}",
                       f"+-{(good.high - good.low) / 2:.1f}",
                       f"{100 * o.goodput() / c.capacity:.1f} %" if j == 0
                       else "", f"{o.late_ms():.1f}" if j == 0 else "",
                       f"{100 * o.cpu_idle():.0f} %" if j == 0 else ""]


def print_table(results):
    """The table and what one has to know to read it."""
    print(f"\n{results.experiment.TITLE}; kernel {results.kernel}")
    for kind, capacity in results.capacity.items():
        print(f"{kind}: C = {capacity:.1f} connections/s")
    if results.carries:
        print(f"the guest carries {results.carries:.0f} SYNs/s: floods of more than "
              f"{experiment.FLOOD_PART * results.carries:.0f}/s come at that rate, "
              f"or {experiment.FLOOD_COUNTED * results.carries:.0f}/s where only "
              "SYN-ACKs are counted")
    again = sum(r.facts.get("again", False) for c in results.cells
                for r in c.runs)
    if again:
        print(f"{again} runs were measured again, since a generator was late")
    print("times in ms from the moment a client was due, over all clients, "
          "served or not; \"of C\": both groups\n")
    print_cells([list(HEAD), *table_lines(results)], 3)


# --- JSON rows ---

def json_rows(results):
    """One row a figure."""
    for c in results.cells:
        for system, o in c.pooled.items():
            name, _, argument = system.partition(":")
            parameter = c.cell.parameters()
            if argument:
                parameter["argument"] = float(argument)
            for group, more, metric, estimate, unit in o.figures:
                yield json_row(results, name, group, {**parameter, **more},
                               metric, estimate, unit, c.cell.deadline_s)


def json_row(results, system, group, parameter, metric, estimate, unit, limit):
    """A row as design has it; a time that never came is at least the deadline."""
    def finite(x):
        if x == INFINITE:
            return limit * {"ms": 1e3, "us": 1e6, "s": 1}[unit]
        return round(x, 4)

    if not isinstance(estimate, Estimate):
        estimate = Estimate(estimate, None, None)
    row = {"experiment": results.name, "system": system,
           "kernel": results.kernel, "group": group, "parameter": parameter,
           "metric": metric, "value": finite(estimate.value), "unit": unit}
    if estimate.value == INFINITE:
        row["bound"] = "at least"
    if estimate.low is not None:
        row["ci95"] = [finite(estimate.low), finite(estimate.high)]
    return row


# --- the plot ---

LEFT, COLUMN, WIDTH, TOP, STEP, GAP = 250, 300, 240, 110, 15, 9


class Axis:
    """One column of the plot: from a figure to a place."""

    def __init__(self, metric, limit_s, left):
        self.left = left
        unit = metric.rpartition("_")[2]
        self.is_time = unit in ("ms", "us")
        if self.is_time:
            # Shorter times matter where they are counted in microseconds.
            ms_, self.low = (1, 10.0) if unit == "ms" else (1000, 100.0)
            self.high = limit_s * 1e3 * ms_
            self.ticks = [(t * ms_, name) for t, name in (
                (.1, "0.1 ms"), (1, "1 ms"), (10, "10 ms"), (100, "0.1 s"),
                (1000, "1 s")) if t * ms_ >= self.low]
        elif unit == "syn":
            self.low, self.high = 0, 6.6
            self.ticks = [(x, str(x)) for x in range(7)]
        else:
            self.low, self.high = 0, 1.1
            self.ticks = [(x / 4, f"{25 * x} %") for x in range(5)]

    def place(self, value):
        """Where a figure is; what is off the axis is at its end."""
        value = min(max(value, self.low), self.high)
        part = math.log(value / self.low) / math.log(self.high / self.low) \
            if self.is_time else (value - self.low) / (self.high - self.low)
        return self.left + WIDTH * part


def plot(results):
    """A line for each cell and system, a column for each figure."""
    lines = sum(len(c.pooled) for c in results.cells)
    bottom = TOP + STEP * lines + GAP * len(results.cells)
    wanted = results.experiment.FIGURES
    svg = Svg(LEFT + COLUMN * len(wanted), bottom + 40)
    svg.text(24, 32, results.experiment.TITLE, size=18, weight="bold")
    svg.text(24, 54, f"Linux {results.kernel}.  Bars: 95 % intervals.  Cells in "
             "grey are void: their generators did not keep their schedule.",
             colour=GREY)
    limit = max(c.cell.deadline_s for c in results.cells)
    for i, (metric, group, heading) in enumerate(wanted):
        axis = Axis(metric, limit, LEFT + COLUMN * i)
        svg.text(axis.left, TOP - 24, heading, weight="bold")
        for value, name in axis.ticks:
            x = axis.place(value)
            svg.line([(x, TOP - 4), (x, bottom)], LIGHT)
            svg.text(x, bottom + 16, name, anchor="middle", size=11)
        plot_column(svg, results, metric, group, axis)
    plot_names(svg, results)
    return str(svg)


def plot_lines(results):
    """(cell result, system, outcome, y) from top to bottom."""
    y = TOP
    for c in results.cells:
        y += GAP
        for system, o in c.pooled.items():
            y += STEP
            yield c, system, o, y


def plot_names(svg, results):
    """What the lines are."""
    last = None
    for c, system, _, y in plot_lines(results):
        if c is not last:
            svg.text(24, y, c.cell.name, weight="bold",
                     colour=GREY if c.problems else "#22262b")
            last = c
        svg.text(LEFT - 10, y, system, anchor="end", size=11,
                 colour=colour_of(system))


def plot_column(svg, results, metric, group, axis):
    """A figure of all cells."""
    for c, system, o, y in plot_lines(results):
        for g, _, name, e, _ in o.figures:
            if (g, name) != (group, metric):
                continue
            colour = LIGHT if c.problems else colour_of(system)
            if isinstance(e, Estimate):
                svg.line([(axis.place(e.low), y - 4),
                          (axis.place(e.high), y - 4)], colour, 2)
            else:
                e = Estimate(e, None, None)
            svg.dot(axis.place(e.value), y - 4, GREY if c.problems else colour)


# --- the verdicts ---

def verdicts(results):
    """Print what holds; return the exit status."""
    bad = 0
    for c in results.cells:
        print(f"\n{c.cell.name}" + (f" (worst of {c.cell.repeats})"
                                    if c.cell.repeats > 1 and not results.fast
                                    else ""))
        for words in c.problems:
            print(f"  void    {words}")
        claims = c.claims(results.experiment.claims)
        for claim in claims:
            word = "void" if c.problems else "holds" if claim.holds else "FAILS"
            print(f"  {word:7} {claim.words()}")
        bad += sum(not claim.holds for claim in claims) + len(c.problems)
    print("\nverdict: " + (f"{bad} claims fail or are void" if bad else
                           "all that is claimed holds"))
    return 1 if bad else 0


def main():
    """Command line."""
    if len(sys.argv) != 3:
        sys.exit("usage: results.py DIR OUT")
    directory, out = map(Path, sys.argv[1:])
    results = Results(directory)
    out.mkdir(parents=True, exist_ok=True)
    with (out / f"{results.name}.jsonl").open("w", encoding="utf-8") as f:
        for row in json_rows(results):
            f.write(json.dumps(row) + "\n")
    (out / f"{results.name}.svg").write_text(plot(results), encoding="utf-8")
    if getattr(results.experiment, "CDFS", None):
        (out / f"{results.name}-cdf.svg").write_text(plot_cdfs(results),
                                                     encoding="utf-8")
    print_table(results)
    sys.exit(verdicts(results))


if __name__ == "__main__":
    main()
