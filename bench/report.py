#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
#
# Turns what demo-guest left into a table, JSON rows, a plot and a verdict:
#
#   report.py DIR OUT      reads DIR/runs.json and the files it names,
#                          writes OUT/demo.jsonl and OUT/demo.svg
#
# Exit status 1 when a claim about synq does not hold.  What its rivals do is
# shown, but never decides.
"""Report on a demonstration run."""

import json
import math
import sys
from pathlib import Path

from figures import (INFINITE, Figures, ms, print_cells, quantile,
                     read_requests)
from svg import Svg

PAGE_MS = 40                # what demo-guest has servers wait for
LABEL = {"stock": "stock", "nft-limit": "nft limit", "synq": "synq"}
SERVERS = {"apache-prefork": "Apache prefork", "nginx-fpm": "nginx + php-fpm"}
SHORT = {"apache-prefork": "Apache", "nginx-fpm": "nginx"}
# The claims are about this backlog.
MAIN_BACKLOG = {"apache-prefork": 128, "nginx-fpm": 511}


# --- figures ---

class Row:
    """All runs of one system before one server at one backlog, pooled."""

    def __init__(self, server, system, backlog):
        self.server, self.system, self.backlog = server, system, backlog
        self.overflows = 0
        self.good, self.seconds = {}, 0.0
        self.requests = {}
        self.rounds = 0

    def add(self, run, directory, deadline):
        """Take in one run."""
        start, end = (1e6 * t for t in run["window"])
        self.rounds += 1
        self.seconds += (end - start) / 1e6
        self.overflows += run["counters"]["ListenOverflows"]
        for name in run["files"]:
            for r in read_requests(directory / name):
                if r.status == "ok" and r.done <= deadline * 1e6 and \
                        start <= r.due + r.done < end:
                    self.good[r.group] = self.good.get(r.group, 0) + 1
                if self.counts(r, run, start, end - deadline * 1e6):
                    self.requests.setdefault(r.group, []).append(r)

    @staticmethod
    def counts(r, run, start, last):
        """Whether all of a request's time lay under full load."""
        if r.group == "preferred":
            start = 1e6 * run["preferred_from"]
        return start <= r.due <= last

    def finish(self, deadline):
        """Compute what is printed."""
        self.group = {name: Figures(reqs, deadline)
                      for name, reqs in self.requests.items()}

    def goodput(self, group=None):
        """Answers in time per second inside the loaded window."""
        n = self.good.get(group, 0) if group else sum(self.good.values())
        return n / self.seconds


class Demo:
    """Everything that was measured."""

    def __init__(self, directory):
        raw = json.loads((directory / "runs.json").read_text(encoding="utf-8"))
        self.kernel, self.capacity = raw["kernel"], raw["capacity"]
        self.deadline, self.load = raw["deadline"], raw["load"]
        self.addresses = raw["addresses"]
        self.rows, self.idle = [], {}
        for run in raw["runs"]:
            if run["phase"] == "idle":
                self.idle[run["server"]] = Figures(
                    [r for r in read_requests(directory / run["files"][0])
                     if r.group == "preferred"], self.deadline)
            elif run["phase"] == "loaded":
                self.row(run["server"], run["system"], run["backlog"]).add(
                    run, directory, self.deadline)
        self.rows.sort(key=lambda r: (list(SERVERS).index(r.server), r.backlog,
                                      list(LABEL).index(r.system)))
        for r in self.rows:
            r.finish(self.deadline)

    def row(self, server, system, backlog):
        """The row of a system at a backlog, a new one if need be."""
        r = self.find(server, system, backlog)
        if not r:
            r = Row(server, system, backlog)
            self.rows.append(r)
        return r

    def find(self, server, system, backlog):
        """The row of a system at a backlog, or None."""
        for r in self.rows:
            if (r.server, r.system, r.backlog) == (server, system, backlog):
                return r
        return None

    def part(self, row):
        """Useful goodput of what the server can do."""
        return row.goodput() / self.capacity[row.server]


# --- the table ---

HEAD = ("server", "system", "backlog", "clients", "requests", "served",
        "connect p50", "p99", "request p50", "p99", "useful/s", "overflows",
        "late p99")


def table_lines(demo):
    """Cells of the table, one list per system and group."""
    server = None
    for row in demo.rows:
        for name in ("preferred", "ordinary"):
            f = row.group[name]
            first = name == "preferred"
            yield [SHORT[row.server] if row.server != server else "",
                   LABEL[row.system] if first else "",
                   str(row.backlog) if first else "", name, str(f.n),
                   f"{100 * f.fraction:.1f} %",
                   *(ms(quantile(v, q), demo.deadline)
                     for v in (f.connect, f.request) for q in (.5, .99)),
                   f"{row.goodput(name):.1f}",
                   str(row.overflows) if first else "",
                   ms(quantile(f.late, .99), demo.deadline)]
            server = row.server


def print_table(demo):
    """The table and what one has to know to read it."""
    print(f"\nkernel {demo.kernel}; 4 workers, page of {PAGE_MS} ms")
    for server, idle in demo.idle.items():
        print(f"{SERVERS[server]}: C = {demo.capacity[server]:.1f} requests/s; idle: "
              f"connect p50 {ms(quantile(idle.connect, .5), 5)} ms, "
              f"request p50 {ms(quantile(idle.request, .5), 5)} ms "
              f"({idle.n} requests)")
    print(f"load: ordinary {demo.load:g} C, preferred 0.05 C, Poisson; "
          f"deadline {demo.deadline:g} s; RTT 20 ms; {demo.addresses} "
          "addresses a group, half of them IPv6")
    print("times in ms from the moment a request was due, over all requests, "
          "served or not\n")
    cells = [list(HEAD), *table_lines(demo)]
    print_cells(cells, 4)


# --- JSON rows ---

def json_rows(demo):
    """One row a figure, as the project's other measurements write them."""
    def row(system, group, parameter, metric, value, unit):
        # A time that never came is at least the deadline.
        if value == INFINITE:
            value = demo.deadline * (1e6 if unit == "us" else 1e3)
            parameter = {**parameter, "bound": "at least"}
        return {"experiment": "demo", "system": system, "kernel": demo.kernel,
                "group": group, "parameter": parameter, "metric": metric,
                "value": round(value, 4), "unit": unit}

    def times(system, group, parameter, f):
        for q in (50, 99):
            yield row(system, group, parameter, f"connect_p{q}_us",
                      quantile(f.connect, q / 100), "us")
            yield row(system, group, parameter, f"request_p{q}_ms",
                      quantile(f.request, q / 100) / 1e3, "ms")
        yield row(system, group, parameter, "lateness_p99_ms",
                  quantile(f.late, .99) / 1e3, "ms")

    for server, idle in demo.idle.items():
        at = {"server": server, "backlog": MAIN_BACKLOG[server]}
        yield row("stock", "all", {"load": 1.0, **at}, "capacity_per_s",
                  demo.capacity[server], "1/s")
        yield from times("stock", "preferred", {"load": 0.0, **at, "requests": idle.n},
                         idle)
    for r in demo.rows:
        base = {"load": demo.load, "server": r.server, "backlog": r.backlog}
        yield row(r.system, "all", base, "goodput_per_s", r.goodput(), "1/s")
        yield row(r.system, "all", base, "listen_overflows", r.overflows, "1")
        for name, f in r.group.items():
            p = {**base, "requests": f.n}
            yield row(r.system, name, p, "served_fraction", f.fraction, "1")
            yield row(r.system, name, p, "goodput_per_s", r.goodput(name),
                      "1/s")
            yield from times(r.system, name, p, f)


# --- the plot ---

COLOUR = {"preferred": "#0b6e4f", "ordinary": "#c9cdd2", "stock": "#b3362b",
          "nft-limit": "#d98c10", "synq": "#0b6e4f", "idle": "#60656c"}
DASH = {("apache-prefork", 128): "", ("apache-prefork", 511): "7 4",
        ("nginx-fpm", 511): "2 3"}


def row_name(row):
    """How the plot calls a row."""
    return f"{SHORT[row.server]}, {LABEL[row.system]}, {row.backlog}"


def plot_bars(svg, demo, left, top, height):
    """Served fraction of both groups, and useful goodput, a row a system."""
    label, width, gap = 150, 190, 70
    x0, x1 = left + label, left + label + width + gap
    step = height / len(demo.rows)
    svg.text(x0, top - 32, "Clients served in time", weight="bold")
    svg.text(x0, top - 14, "% of each group", size=11, colour="#60656c")
    svg.text(x1, top - 32, "Useful work", weight="bold")
    svg.text(x1, top - 14, "answers in time, % of C", size=11,
             colour="#60656c")
    for x in (x0, x1):
        svg.line([(x, top), (x, top + height)], "#60656c")
    for i, row in enumerate(demo.rows):
        y = top + i * step
        bar = min(16, step * 0.36)
        svg.text(x0 - 10, y + step / 2 + 4, row_name(row), anchor="end",
                 weight="bold" if row.system == "synq" else "normal")
        for j, name in enumerate(("preferred", "ordinary")):
            part = row.group[name].fraction
            yb = y + step / 2 + (j - 1) * bar
            svg.rect(x0, yb, width * part, bar - 1, COLOUR[name])
            svg.text(x0 + width * part + 5, yb + bar - 4,
                     f"{100 * part:.0f} %", size=11)
        part = demo.part(row)
        svg.rect(x1, y + step / 2 - bar, 110 * min(part, 1.2), 2 * bar - 1,
                 "#5b7fa6")
        svg.text(x1 + 110 * min(part, 1.2) + 5, y + step / 2 + 4,
                 f"{100 * part:.0f} %", size=11)
    y = top + height + 28
    for x, name in ((x0, "preferred"), (x0 + 105, "ordinary")):
        svg.rect(x, y - 10, 12, 12, COLOUR[name])
        svg.text(x + 18, y, name)


def plot_cdf(svg, demo, left, top, width, height):
    """How long the preferred waited, all of them, on a log axis."""
    low, high = 50.0, demo.deadline * 1e3

    def x_of(t):
        t = min(max(t, low), high)
        return left + width * math.log(t / low) / math.log(high / low)

    def y_of(part):
        return top + height * (1 - part)

    svg.text(left, top - 32, "How long the preferred clients wait",
             weight="bold")
    svg.text(left, top - 14,
             "% of all preferred requests answered within this time",
             size=11, colour="#60656c")
    for part in (0, .25, .5, .75, 1):
        svg.line([(left, y_of(part)), (left + width, y_of(part))], "#e4e6e9")
        svg.text(left - 8, y_of(part) + 4, f"{100 * part:.0f}", anchor="end",
                 size=11)
    for t, name in ((50, "50 ms"), (100, "0.1 s"), (200, "0.2"), (500, "0.5"),
                    (1000, "1"), (2000, "2"), (5000, "5 s")):
        svg.line([(x_of(t), top), (x_of(t), top + height)], "#e4e6e9")
        svg.text(x_of(t), top + height + 18, name, anchor="middle", size=11)
    curves = [(f"{SHORT[server]}, idle", idle, COLOUR["idle"],
               DASH[server, MAIN_BACKLOG[server]]) for server, idle in demo.idle.items()]
    curves += [(row_name(r), r.group["preferred"], COLOUR[r.system],
                DASH[r.server, r.backlog]) for r in demo.rows]
    for _, f, colour, dash in curves:
        points, part = [(left, y_of(0))], 0.0
        for t in sorted(t / 1e3 for t in f.request if t != INFINITE):
            points.append((x_of(t), y_of(part)))
            part += 1 / f.n
            points.append((x_of(t), y_of(part)))
        points.append((left + width, y_of(part)))
        svg.line(points, colour, 2.2, dash)
    for i, (name, _, colour, dash) in enumerate(curves):
        x = left + (i % 3) * width / 3
        y = top + height + 44 + (i // 3) * 20
        svg.line([(x, y - 4), (x + 28, y - 4)], colour, 2.4, dash)
        svg.text(x + 34, y, name)


def plot(demo):
    """The whole picture."""
    svg = Svg(1180, 516)
    svg.text(24, 32, "Overloaded servers, and who gets served", size=18,
             weight="bold")
    capacity = ", ".join(f"{SERVERS[s]} {c:.0f} requests/s"
                         for s, c in demo.capacity.items())
    svg.text(24, 54, f"4 workers, a page of {PAGE_MS} ms; capacity C: {capacity}.  Load: "
             f"ordinary clients {demo.load:g} C, preferred 0.05 C.  Clients leave "
             f"after {demo.deadline:g} s.", size=12, colour="#60656c")
    svg.text(24, 72, "The number after each name is the listen backlog.", size=12,
             colour="#60656c")
    plot_bars(svg, demo, 24, 140, 270)
    plot_cdf(svg, demo, 680, 140, 460, 240)
    counts = ", ".join(f"{row_name(r)}: {r.group['preferred'].n}" for r in demo.rows
                       if r.system == "synq")
    svg.text(24, 502, f"Linux {demo.kernel}; open-loop Poisson clients, IPv4 "
             f"and IPv6, RTT 20 ms; preferred requests: {counts}.", size=11,
             colour="#60656c")
    return str(svg)


# --- the verdict ---

def claims(demo, synq, stock):
    """(holds, words) for each claim about synq before one server, at one backlog."""
    f = synq.group["preferred"]
    most = 2 if synq.server == "apache-prefork" else 3
    yield (f.fraction >= .99, f"served {100 * f.fraction:.1f} % of the "
           f"preferred (at least 99 %; {f.n} requests)")
    idle = quantile(demo.idle[synq.server].request, .5)
    p50 = quantile(f.request, .5)
    yield (p50 <= most * idle, f"request p50 {p50 / idle:.2f} x an idle "
           f"server's (at most {most})")
    p99, most = quantile(f.request, .99) / 1e3, 3 * idle / 1e3 + PAGE_MS
    yield (p99 <= most, f"request p99 {p99:.0f} ms (at most {most:.0f}: 3 x an idle "
           "server's p50, and a page)")
    # So much would be served at a load that the server can bear.
    mine, borne = synq.goodput(), .95 * demo.capacity[synq.server]
    yield (mine >= .9 * borne, f"useful goodput {mine:.1f}/s (at least 90 % of "
           f"0.95 C, {.9 * borne:.1f}/s)")
    if stock:
        theirs = stock.goodput()
        yield (mine >= theirs, f"useful goodput {mine:.1f}/s against stock's "
               f"{theirs:.1f}/s (at least as much)")


def trouble(demo):
    """(row, words) for what would make a row's figures worthless."""
    for row in demo.rows:
        for name, f in row.group.items():
            if f.broken:
                yield row, (f"{row_name(row)}: {f.broken} {name} requests "
                            "failed in the generator's own machine")


LATE_MS = 50


def schedule_words(demo):
    """Whether the generators kept their schedule."""
    late = max(quantile(f.late, .99) for r in demo.rows
               for f in r.group.values()) / 1e3
    words = f"generator lateness p99 {late:.1f} ms at worst"
    if late <= LATE_MS:
        return f"shown   {words}: it kept its schedule"
    return f"note    {words}: the machine was too busy for exact figures"


def verdict(demo):
    """Print which claims hold; return the exit status."""
    print()
    bad = 0
    for row, words in trouble(demo):
        print(f"BROKEN  {words}")
        bad += row.system in ("stock", "synq")
    if demo.rows:
        print(schedule_words(demo))
    for row in demo.rows:
        if row.system == "stock":
            part = 100 * row.group["preferred"].fraction
            print(f"{'shown' if part <= 40 else 'note':7} {row_name(row)}: "
                  f"served {part:.1f} % of the preferred "
                  "(40 % or less is the trouble that synq is for)")
        if row.system != "synq":
            continue
        for holds, words in claims(demo, row, demo.find(
                row.server, "stock", row.backlog)):
            main = row.backlog == MAIN_BACKLOG[row.server]
            print(f"{'holds' if holds else 'FAILS' if main else 'misses':7} "
                  f"{row_name(row)}: {words}")
            bad += main and not holds
        part = demo.part(row)
        if part < .5:
            print(f"note    {row_name(row)}: useful goodput is only "
                  f"{100 * part:.0f} % of C")
    if not any(r.system == "synq" for r in demo.rows):
        print("FAILS   synq was not measured")
        bad += 1
    print("verdict: synq's claims " + ("do not hold" if bad else
                                       "hold, with no rate configured"))
    return 1 if bad else 0


def main():
    """Command line."""
    if len(sys.argv) != 3:
        sys.exit("usage: report.py DIR OUT")
    directory, out = map(Path, sys.argv[1:])
    demo = Demo(directory)
    out.mkdir(parents=True, exist_ok=True)
    with (out / "demo.jsonl").open("w", encoding="utf-8") as f:
        for row in json_rows(demo):
            f.write(json.dumps(row) + "\n")
    (out / "demo.svg").write_text(plot(demo), encoding="utf-8")
    print_table(demo)
    sys.exit(verdict(demo))


if __name__ == "__main__":
    main()
