#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
#
# Turns what run-guest left into a table, JSON rows, a plot and verdicts:
#
#   results.py DIR OUT     reads DIR/runs.json and the files it names, writes
#                          OUT/NAME.jsonl and OUT/NAME.svg, NAME the experiment
#
# Repeats are pooled for the figures and judged one by one: the worst counts.  A
# cell whose generators did not keep their schedule proves nothing: void.  Exit
# status 1 when a claim fails or is void.
"""Report on an experiment."""

import json
import math
import sys
from array import array
from functools import cached_property
from pathlib import Path

import experiment
from figures import (INFINITE, Estimate, Figures, fraction_interval,
                     mean_interval, ms, print_cells, quantile,
                     quantile_interval, read_requests)
from svg import Svg

BIN_S = 1.0                 # goodput's interval comes from stretches this long
STEP_BIN_S = 0.25           # and how a change is looked at
STEADY_BINS = 4             # so many in a row in bounds: adapted
CAPACITY_SLACK = 0.97       # of the known capacity: what has to be measured
UNSENT_SLACK_S = 0.5        # due so shortly before the end: need not have begun


def overtakes(requests, service_ms):
    """How many were answered clearly before one that was clearly connected earlier.

    The client's clock is not the queue's, and who connects at one moment is in no
    order: a service time is tolerated at either end.
    """
    slack = 1000 * service_ms
    ordered = sorted((r.due + r.connect, r.due + r.first) for r in requests)
    earlier = latest = found = 0
    for connected, answered in ordered:
        while ordered[earlier][0] < connected - slack:
            latest = max(latest, ordered[earlier][1])
            earlier += 1
        found += answered < latest - slack
    return found


class Run:
    """One system in one repeat of a cell, boiled down."""

    def __init__(self, cell, facts, directory):
        self.cell, self.facts = cell, facts
        self.capacity, self.stats = facts["capacity"], facts["stats"]
        schedule = facts["schedule"]
        self.start, self.end = cell.ramp_s, schedule["end_s"]
        good_from = self.start + cell.settle_s
        self.bins = {}          # completions in each stretch, by group
        self.n_bins = max(1, int((self.end - good_from) / BIN_S))
        self.seconds = self.end - good_from
        self.good = {}
        self.overtakes = {}     # by group
        self.waits = []         # (when, how long in the accept queue), s
        self.problems = []
        self.group = {}
        for name in facts["files"]:
            self.take(list(read_requests(directory / name)), good_from)
        self.check_flood()

    def take(self, requests, good_from):
        """Take in one generator's requests."""
        if not requests:
            return
        cell, group = self.cell, requests[0].group
        limit = cell.deadline_s * 1e6
        counts = self.good.setdefault(group, 0)
        bins = self.bins.setdefault(group, [0] * self.n_bins)
        for r in requests:
            if r.status != "ok" or r.done > limit:
                continue
            at = (r.due + r.done) / 1e6
            if good_from <= at < self.end:
                counts += 1
                i = int((at - good_from) / BIN_S)
                if i < self.n_bins:
                    bins[i] += 1
            if cell.steps:
                self.waits.append((at, (r.first - r.connect) / 1e6))
        self.good[group] = counts
        self.overtakes[group] = overtakes(
            [r for r in requests if r.status == "ok"], cell.service_ms)
        # All of a request's time has to lie under full load.
        last = self.end if group == "preferred" else self.end - cell.deadline_s
        counted = [r for r in requests
                   if self.start * 1e6 <= r.due <= max(last, self.start) * 1e6]
        f = self.group[group] = Figures(counted, cell.deadline_s)
        f.served = len(f.served)
        # An hour's requests have to fit into memory.
        for name in ("request", "connect", "first", "late"):
            setattr(f, name, array("d", getattr(f, name)))
        self.inspect(group, requests, f)

    def inspect(self, group, requests, f):
        """Note what makes the run worthless."""
        late = quantile([r.late for r in requests if r.late >= 0], .99) / 1e3
        self.late_ms = max(late, getattr(self, "late_ms", 0.0))
        name = f"{self.facts['system']}: {group}"
        if late > self.cell.late_ms:
            self.problems.append(
                f"{name} generator late by {late:.1f} ms at p99 (at most "
                f"{self.cell.late_ms:g} ms)")
        if f.broken:
            self.problems.append(f"{name} clients: {f.broken} failed in the "
                                 "generator's own machine")
        unsent = sum(r.late < 0 for r in requests
                     if r.due / 1e6 < self.facts["stopped_s"] - UNSENT_SLACK_S)
        if unsent:
            self.problems.append(f"{name} clients: {unsent} never sent")
        self.check_rate(name, group, requests)

    def check_rate(self, name, group, requests):
        """The offered load has to be the planned one, up to chance."""
        if group == "preferred":
            want, have = self.facts["schedule"]["preferred_count"], len(requests)
            slack = 0
        else:
            want = self.facts["schedule"]["ordinary_per_s"] * self.end
            have = sum(r.due / 1e6 < self.end for r in requests)
            slack = 5 * math.sqrt(want)
        if abs(have - want) > slack:
            self.problems.append(f"{name} clients: {have} instead of "
                                 f"{want:.0f}")

    def check_flood(self):
        """As many spoofed SYNs as planned, and no later."""
        wanted, sent = self.facts["spoofed"]
        if sent < wanted:
            self.problems.append(f"{self.facts['system']}: {sent} spoofed SYNs "
                                 f"in time instead of {wanted}")

    def adapt_s(self):
        """(from, to, seconds until back in bounds) of each capacity change."""
        changes = self.facts["changes"]
        before = 1.0
        for i, (at, part) in enumerate(changes):
            until = changes[i + 1][0] if i + 1 < len(changes) else self.end
            if part != before:
                yield before, part, self.adapted_after(at, until, part)
            before = part

    def adapted_after(self, at, until, part):
        """Until goodput is what the server can do and waits are steady."""
        n = int((until - at) / STEP_BIN_S)
        bins = [[] for _ in range(n)]
        for when, wait in self.waits:
            i = int((when - at) / STEP_BIN_S) if when >= at else n
            if i < n:
                bins[i].append(wait)
        load = self.cell.ordinary + self.cell.preferred
        want = .9 * min(part, load) * self.capacity * STEP_BIN_S
        late = [w for b in bins[n // 2:] for w in b]
        longest = 1.5 * quantile(late, .5) + .02
        good = [len(b) >= want and quantile(b, .5) <= longest for b in bins]
        for i in range(n - STEADY_BINS + 1):
            if all(good[i:i + STEADY_BINS]):
                return i * STEP_BIN_S
        return INFINITE


class Outcome:
    """What a system achieved in a cell, over one run or several pooled."""

    def __init__(self, runs):
        self.runs = runs
        self.cell, self.capacity = runs[0].cell, runs[0].capacity

    @cached_property
    def figures(self):
        """Everything about it: group, more parameters, metric, estimate, unit."""
        return list(figures_of(self))

    def groups(self):
        """The client groups that there were."""
        return [g for g in ("preferred", "ordinary") if g in self.runs[0].group]

    def n(self, group):
        """How many clients count."""
        return sum(r.group[group].n for r in self.runs)

    def served_interval(self, group):
        """The part of a group served in time."""
        return fraction_interval(sum(r.group[group].served for r in self.runs),
                                 self.n(group))

    def served(self, group):
        """The same without interval."""
        return self.served_interval(group).value

    def times(self, group, what="request"):
        """request, connect or first times of a group, us."""
        return [t for r in self.runs for t in getattr(r.group[group], what)]

    def request_ms(self, q, group="preferred"):
        """A quantile of the whole request's time."""
        return quantile(self.times(group), q) / 1e3

    def goodput_interval(self, group=None):
        """Completions in time per second inside the loaded window."""
        groups = [group] if group else self.groups()
        bins = [sum(r.bins[g][i] for g in groups) / BIN_S
                for r in self.runs for i in range(r.n_bins)]
        e = mean_interval(bins)
        value = self.goodput(group)
        return Estimate(value, value - (e.value - e.low),
                        value + (e.high - e.value))

    def goodput(self, group=None):
        """The same without interval."""
        groups = [group] if group else self.groups()
        return sum(r.good[g] for r in self.runs for g in groups) / \
            sum(r.seconds for r in self.runs)

    def counter(self, name):
        """A TCP counter of the server, or 0."""
        return sum(r.facts["counters"].get(name, 0) for r in self.runs)

    def of_classes(self, key, classes=()):
        """A counter of synq's, summed over classes, or over all."""
        return sum(row["counters"][key] for r in self.runs if r.stats
                   for row in r.stats["stats"]
                   if not classes or row["class"] in classes)

    def disturbed(self):
        """Connections refused or withheld by synq."""
        return sum(self.of_classes(key) for key in (
            "excess_dropped", "queue_refused", "wait_refused", "withheld"))

    def moved(self):
        """Connections that synq has moved in the queue."""
        return self.of_classes("moved")

    def part_of_promoted(self, key, *classes):
        """A counter of synq's as a part of the connections let in."""
        return self.of_classes(key, classes) / \
            max(1, self.of_classes("promoted", classes))

    def withheld(self, *classes):
        """Connections withheld, of those let in."""
        return self.part_of_promoted("withheld", *classes)

    def expired(self, *classes):
        """Connections withheld until they expired, of those let in."""
        return self.part_of_promoted("withheld_expired", *classes)

    def changes(self):
        """(from, to, seconds) of each change of capacity."""
        return [c for r in self.runs for c in r.adapt_s()]

    def adapt_s(self):
        """Seconds after each change of capacity until back in bounds."""
        return [seconds for _, _, seconds in self.changes()]

    def overtakes(self, group):
        """The part of a group that was answered before an earlier one."""
        return sum(r.overtakes.get(group, 0) for r in self.runs) / \
            max(1, sum(r.group[group].n for r in self.runs))

    def share(self, group):
        """The part of the goodput that a group has."""
        return self.goodput(group) / max(self.goodput(), 1e-9)

    def cpu_idle(self):
        """The part of the guest's CPUs that had nothing to do."""
        return sum(r.facts["cpu_idle"] for r in self.runs) / len(self.runs)

    def late_ms(self):
        """How far the generators fell behind, p99 of the worst."""
        return max(r.late_ms for r in self.runs)


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
        nominal = cell.nominal()
        if nominal and self.capacity < CAPACITY_SLACK * nominal:
            self.problems.append(f"the server's capacity was {self.capacity:.1f}"
                                 f"/s, not {nominal:.1f}/s")
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


def figures_of(o):
    """What there is to say about an outcome; see Outcome.figures."""
    c = o.capacity
    good = o.goodput_interval()
    yield "all", {}, "capacity_per_s", c, "1/s"
    yield "all", {}, "goodput_per_s", good, "1/s"
    yield "all", {}, "goodput_of_capacity", Estimate(*(x / c for x in good)), "1"
    yield "all", {}, "listen_overflows", o.counter("ListenOverflows"), "1"
    yield "all", {}, "syncookies_recv", o.counter("SyncookiesRecv"), "1"
    yield "all", {}, "lateness_p99_ms", o.late_ms(), "ms"
    yield "all", {}, "cpu_idle", o.cpu_idle(), "1"
    for before, after, seconds in o.changes():
        yield "all", {"from": before, "to": after}, "adapt_s", seconds, "s"
    for g in o.groups():
        n = {"clients": o.n(g)}
        yield g, n, "served_fraction", o.served_interval(g), "1"
        yield g, n, "goodput_per_s", o.goodput_interval(g), "1/s"
        for q in (50, 99):
            yield g, n, f"connect_p{q}_us", \
                quantile_interval(o.times(g, "connect"), q / 100), "us"
            yield g, n, f"request_p{q}_ms", Estimate(*(
                t / 1e3 for t in quantile_interval(o.times(g), q / 100))), "ms"
        yield g, n, "first_byte_p99_us", \
            quantile_interval(o.times(g, "first"), .99), "us"
    for name in sorted({row["class"] for r in o.runs if r.stats
                        for row in r.stats["stats"]}):
        for key in ("withheld", "withheld_expired"):
            yield name, {}, f"{key}_fraction", o.part_of_promoted(key, name), "1"


# --- the plot ---

COLOUR = {"stock": "#b3362b", "nft-limit": "#d98c10", "nft-hash": "#8a5a9e",
          "second-listener": "#5b7fa6", "synq": "#0b6e4f"}
GREY, LIGHT = "#60656c", "#e4e6e9"
LEFT, COLUMN, WIDTH, TOP, STEP, GAP = 250, 300, 240, 110, 15, 9


class Axis:
    """One column of the plot: from a figure to a place."""

    def __init__(self, unit, limit_s, left):
        self.left = left
        self.is_time = unit == "ms"
        self.low, self.high = (10.0, limit_s * 1e3) if self.is_time else (0, 1.1)
        self.ticks = [(10, "10 ms"), (100, "0.1 s"), (1000, "1 s")] \
            if self.is_time else [(x / 4, f"{25 * x} %") for x in range(5)]

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
        unit = "ms" if metric.endswith("_ms") else "1"
        axis = Axis(unit, limit, LEFT + COLUMN * i)
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
                 colour=COLOUR.get(system.partition(":")[0], GREY))


def plot_column(svg, results, metric, group, axis):
    """A figure of all cells."""
    for c, system, o, y in plot_lines(results):
        for g, _, name, e, _ in o.figures:
            if (g, name) != (group, metric):
                continue
            colour = LIGHT if c.problems else \
                COLOUR.get(system.partition(":")[0], GREY)
            svg.line([(axis.place(e.low), y - 4), (axis.place(e.high), y - 4)],
                     colour, 2)
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
    print_table(results)
    sys.exit(verdicts(results))


if __name__ == "__main__":
    main()
