# SPDX-License-Identifier: GPL-2.0
#
# Distributions: the fraction of clients over time.  One row for each cell that an
# experiment names in CDFS, one column for connect() and one for the first byte, time on
# a logarithmic axis.  A curve that does not reach the top has clients that never got that
# far.
"""Plot cumulative distributions."""

import math

from figures import INFINITE
from palette import GREY, LIGHT, colour_of
from svg import Svg

LEFT, TOP, WIDTH, HEIGHT = 70, 90, 420, 170
COLUMN, ROW = 480, 240
LOW_US, HIGH_US = 100.0, 1e7
POINTS = 200                # of a curve, at most
TICKS = ((100, "0.1 ms"), (1e3, "1 ms"), (1e4, "10 ms"), (1e5, "0.1 s"),
         (1e6, "1 s"), (1e7, "10 s"))
WHAT = (("connect", "connect()"), ("first", "first byte"))


def curve(times):
    """(time in us, part of all that had it by then), few enough to draw."""
    ordered = sorted(t for t in times if t != INFINITE)
    step = max(1, len(ordered) // POINTS)
    last = len(ordered) - 1
    return [(t, (i + 1) / len(times)) for i, t in enumerate(ordered)
            if i % step == 0 or i == last]


def place(left, top, time, part):
    """Where a point is; what is off the axis is at its end."""
    time = min(max(time, LOW_US), HIGH_US)
    return (left + WIDTH * math.log(time / LOW_US) / math.log(HIGH_US / LOW_US),
            top + HEIGHT * (1 - part))


def plot_axes(svg, left, top):
    """The frame of one distribution."""
    for time, name in TICKS:
        x, y = place(left, top, time, 0)
        svg.line([(x, top), (x, y)], LIGHT)
        svg.text(x, y + 15, name, anchor="middle", size=10)
    for part in (0, .25, .5, .75, 1):
        x, y = place(left, top, LOW_US, part)
        svg.line([(x, y), (x + WIDTH, y)], LIGHT)
        svg.text(x - 6, y + 4, f"{100 * part:.0f} %", anchor="end", size=10)


def plot_curves(svg, outcomes, what, left, top):
    """All systems of a cell."""
    for system, o in outcomes.items():
        points = [place(left, top, t, part)
                  for t, part in curve(o.times("preferred", what))]
        if points:
            # Steps, and on to the end at the height that was reached.
            points.append((left + WIDTH, points[-1][1]))
            svg.line(points, colour_of(system), 1.5,
                     "4 3" if system in ("idle", "ingress-drop") else "")


def plot_legend(svg, systems):
    """Which colour is what."""
    x = LEFT
    for system in systems:
        svg.line([(x, 66), (x + 18, 66)], colour_of(system), 2.5)
        svg.text(x + 23, 70, system, size=11)
        x += 34 + 6.5 * len(system)


def plot_cdfs(results):
    """All cells that the experiment wants to see and that were measured."""
    cells = [c for c in results.cells
             if c.cell.name in results.experiment.CDFS]
    svg = Svg(LEFT + COLUMN * len(WHAT), TOP + ROW * max(1, len(cells)))
    svg.text(24, 32, results.experiment.TITLE + ": preferred clients", size=18,
             weight="bold")
    plot_legend(svg, dict.fromkeys(s for c in cells for s in c.pooled))
    for row, c in enumerate(cells):
        top = TOP + ROW * row + 20
        for column, (what, heading) in enumerate(WHAT):
            left = LEFT + COLUMN * column
            svg.text(left, top - 6, f"{c.cell.name}: {heading}"
                     + (" (void)" if c.problems else ""), weight="bold",
                     colour=GREY if c.problems else "#22262b")
            plot_axes(svg, left, top)
            plot_curves(svg, c.pooled, what, left, top)
    return str(svg)
