# SPDX-License-Identifier: GPL-2.0
#
# One run, summarised, with the reasons that make it void; and what a system achieved in a
# cell over one run or several.  results.py judges and shows it.
"""What a system achieved."""

import math
from array import array
from collections import Counter
from functools import cached_property

from figures import (INFINITE, Estimate, Figures, fraction_interval, from_call,
                     mean_interval, quantile, quantile_interval, read_requests)
from tries import Tries

BIN_S = 1.0                 # goodput's interval comes from stretches this long
STEP_BIN_S = 0.25           # and how a change is looked at
STEADY_BINS = 4             # so many in a row in bounds: adapted
BUCKETS = ("1ms", "4ms", "16ms", "64ms", "256ms", "1s", "4s", "longer")
FLOOD_LATE_MS = 50.0        # p99 of one that has a CPU, beyond which all is void
UNSENT_SLACK_S = 0.5        # due so shortly before the end: need not have begun


def overtaken(requests, tolerance_ms):
    """How many were clearly connected before one that was clearly answered earlier.

    Connections that are overtaken count, not those that overtake: if one late packet lets
    a hundred pass, one is overtaken.  The client's clock is not the queue's, and
    connections of the same moment have no order: that much is tolerated at either end.
    """
    slack = 1000 * tolerance_ms
    ordered = sorted((r.due + r.connect, r.due + r.first) for r in requests)
    later, soonest, found = len(ordered), math.inf, 0
    for connected, answered in reversed(ordered):
        while later and ordered[later - 1][0] > connected + slack:
            later -= 1
            soonest = min(soonest, ordered[later][1])
        found += soonest < answered - slack
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
        self.overtaken = {}     # by group
        self.waits = {}         # (when, how long in the accept queue), s, by group
        self.tries = Tries(cell.deadline_s, facts.get("syn_linear_timeouts", 0))
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
        late = quantile([r.late for r in requests if r.late >= 0], .99) / 1e3
        self.late_ms = max(late, getattr(self, "late_ms", 0.0))
        if late > cell.late_ms:
            self.problems.append(
                f"{self.facts['system']}: {group} generator late by {late:.1f} ms "
                f"at p99 (at most {cell.late_ms:g} ms)")
        if cell.ordinary_s:
            self.tries.add(requests)
        if cell.from_call:
            requests = [from_call(r) for r in requests]
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
                self.waits.setdefault(group, []).append(
                    (at, (r.first - r.connect) / 1e6))
        self.good[group] = counts
        # A generator that is late with what is due is with what it sees, too.
        self.overtaken[group] = overtaken(
            [r for r in requests if r.status == "ok"],
            max(cell.service_ms, late))
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
        name = f"{self.facts['system']}: {group}"
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
        cell = self.cell
        if cell.closed and cell.closed[group == "preferred"]:
            return
        if group == "preferred":
            want, have = self.facts["schedule"]["preferred_count"], len(requests)
            slack = 0
        else:
            want = self.facts["schedule"]["ordinary_per_s"] * \
                cell.ordinary_until(self.end)
            have = sum(r.due / 1e6 < self.end for r in requests)
            slack = 5 * math.sqrt(want)
            if cell.bursts:
                # Each is of as many as chance will have it.
                least, most = map(int, cell.burst_size.split("-"))
                n = cell.bursts * self.end
                want += n * (least + most) / 2
                slack += 5 * most * math.sqrt(n)
        if abs(have - want) > slack:
            self.problems.append(f"{name} clients: {have} instead of "
                                 f"{want:.0f}")

    def check_flood(self):
        """As many spoofed SYNs as planned, and no later."""
        flood = self.facts["flood"]
        if not flood:
            return
        name = self.facts["system"]
        if flood["sent"] < flood["wanted"]:
            self.problems.append(
                f"{name}: {flood['sent']:.0f} spoofed SYNs in time instead of "
                f"{flood['wanted']:.0f}")
        late = flood["late_p99_us"] / 1e3
        if self.cell.flood and late > FLOOD_LATE_MS:
            self.problems.append(f"{name}: flood late by {late:.1f} ms at p99 (at "
                                 f"most {FLOOD_LATE_MS:g} ms)")

    def adapt_s(self):
        """(from, to, seconds until back in bounds) of each capacity change."""
        changes = self.facts["changes"]
        before = 1.0
        for i, (at, part) in enumerate(changes):
            until = changes[i + 1][0] if i + 1 < len(changes) else self.end
            if part != before:
                yield before, part, self.adapted_after(at, until, part)
            before = part

    def longest_wait_s(self, part):
        """How long ordinary clients may wait if the server has that fraction of C.

        Their class's max-wait counts connections queued before them; preferred ones arrive
        meanwhile, and the answer takes a round trip.  A tenth for chance.
        """
        cell = self.cell
        waited = cell.max_wait_s / max(1 - cell.preferred / part, .1)
        return 1.1 * waited + cell.rtt_ms / 1e3 + 2 * cell.service_ms / part / 1e3

    def adapted_after(self, at, until, part):
        """Until goodput is what the server can do and waits are in bounds."""
        n = int((until - at) / STEP_BIN_S)
        served, waits = [0] * n, [[] for _ in range(n)]
        for group, found in self.waits.items():
            for when, wait in found:
                i = int((when - at) / STEP_BIN_S) if when >= at else n
                if i >= n:
                    continue
                served[i] += 1
                if group == "ordinary":
                    waits[i].append(wait)
        load = self.cell.ordinary + self.cell.preferred
        want = .9 * min(part, load) * self.capacity * STEP_BIN_S
        longest = self.longest_wait_s(part)
        good = [served[i] >= want and
                (not waits[i] or quantile(waits[i], .5) <= longest)
                for i in range(n)]
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

    def request_interval(self, q, group="preferred"):
        """A quantile of the whole request's time, us."""
        return quantile_interval(self.times(group), q)

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
        """Connections refused or held by synq."""
        return self.of_classes("seen") - sum(self.of_classes(key) for key in (
            "admitted", "excess_passed", "cookie_sent", "excess_cookie")) + \
            self.of_classes("held") + self.of_classes("cookie_refused")

    def cookies(self, *classes):
        """SYNs that synq answered by a cookie."""
        return sum(self.of_classes(key, classes)
                   for key in ("cookie_sent", "excess_cookie"))

    def answers_seen(self):
        """Answers that synq has seen, of those in the server's own log; 0 without one."""
        logged = sum(r.facts.get("answers") or 0 for r in self.runs)
        return logged and \
            sum(self.of_classes(f"answered_{b}") for b in BUCKETS) / logged

    def moved(self):
        """Connections that synq has moved in the queue."""
        return self.of_classes("moved")

    def part_of_promoted(self, key, *classes):
        """A counter of synq's as a part of the connections let in."""
        return self.of_classes(key, classes) / \
            max(1, self.of_classes("promoted", classes))

    def held(self, *classes):
        """Connections held, of those let in.

        Those of SYN cookies have no request to be held: those that found no slot count.
        """
        return self.part_of_promoted("held", *classes) + \
            self.part_of_promoted("cookie_refused", *classes)

    def not_released(self, *classes):
        """Connections held for whom there was no room in time, of those let in."""
        return self.part_of_promoted("hold_flushed", *classes) + \
            self.part_of_promoted("hold_full", *classes)

    def changes(self):
        """(from, to, seconds) of each change of capacity."""
        return [c for r in self.runs for c in r.adapt_s()]

    def adapt_s(self):
        """Seconds after each change of capacity until back in bounds."""
        return [seconds for _, _, seconds in self.changes()]

    def again(self):
        """(SYNs sent again when the overload was over, of those refused)."""
        return tuple(map(sum, zip(*(r.tries.again(
            self.cell.ordinary_s, self.cell.rtt_ms / 1e3) for r in self.runs))))

    def overtaken(self, group):
        """The part of a group that was answered after a later one."""
        return sum(r.overtaken.get(group, 0) for r in self.runs) / \
            max(1, sum(r.group[group].n for r in self.runs))

    def share(self, group):
        """The part of the goodput that a group has."""
        return self.goodput(group) / max(self.goodput(), 1e-9)

    def syncookies_recv(self):
        """Connections made by SYN cookies."""
        return self.counter("SyncookiesRecv")

    def first_within(self, seconds, group="preferred"):
        """The part of a group that read the first byte in that time."""
        times = self.times(group, "first")
        return sum(t <= seconds * 1e6 for t in times) / max(1, len(times))

    def connect_interval(self, q, group="preferred"):
        """A quantile of the time of connect(), us."""
        return quantile_interval(self.times(group, "connect"), q)

    def mean_ms(self, group="preferred"):
        """The mean time of a whole request; one that was never served counts fully."""
        times = self.times(group)
        return sum(times) / max(1, len(times)) / 1e3

    def flood_sum(self, key):
        """Of the flood's own figures."""
        return sum(r.facts["flood"][key] for r in self.runs if r.facts["flood"])

    def answers(self, kind):
        """(packets, bytes) that came to forged sources."""
        return tuple(map(sum, zip((0, 0), *(
            r.facts["flood"]["answers"][kind] for r in self.runs
            if r.facts["flood"]))))

    def synacks_per_syn(self):
        """SYN-ACKs to forged sources for each forged SYN."""
        return self.answers("synacks")[0] / max(1, self.flood_sum("sent"))

    def bytes_out_in(self):
        """All bytes of IP that went to forged sources, for each that came."""
        out = sum(self.answers(k)[1] for k in ("synacks", "resets", "others"))
        return out / max(1, self.flood_sum("bytes"))

    def flood_per_s(self):
        """What the flood really was."""
        return self.flood_sum("sent") / max(self.flood_sum("seconds"), 1e-9)

    def flood_s(self):
        """How long it lasted."""
        return self.flood_sum("seconds")

    def options(self, end, group="preferred"):
        """What was agreed on, and with how many; end: client or server."""
        found = Counter()
        for r in self.runs:
            found.update(r.group[group].options if end == "client" else
                         r.facts["options"][group])
        return found

    def options_as(self, other, end, group="preferred"):
        """The fraction of a group that negotiated what is usual in the other."""
        usual, mine = other.options(end, group), self.options(end, group)
        return sum(n for o, n in mine.items() if o in usual) / \
            max(1, sum(mine.values()))

    def realised(self):
        """Ordinary goodput, as a part of the rate that they are policed to."""
        return self.goodput("ordinary") / (self.cell.policed * self.capacity)

    def cpu_ms_per_hit(self):
        """Time of the guest's CPUs for each answer in time, all that runs included."""
        hits = sum(r.group[g].served for r in self.runs for g in r.group)
        return 1e3 * sum(r.facts["cpu_busy_s"] for r in self.runs) / max(1, hits)

    def cpu_idle(self):
        """The part of the guest's CPUs that had nothing to do."""
        return sum(r.facts["cpu_idle"] for r in self.runs) / len(self.runs)

    def late_ms(self):
        """How far the generators fell behind, p99 of the worst."""
        return max(r.late_ms for r in self.runs)


def figures_of(o):
    """What there is to say about an outcome; see Outcome.figures."""
    c = o.capacity
    good = o.goodput_interval()
    yield "all", {}, "capacity_per_s", c, "1/s"
    yield "all", {}, "goodput_per_s", good, "1/s"
    yield "all", {}, "goodput_of_capacity", Estimate(*(x / c for x in good)), "1"
    yield "all", {}, "listen_overflows", o.counter("ListenOverflows"), "1"
    yield "all", {}, "syncookies_recv", o.syncookies_recv(), "1"
    yield from flood_figures(o)
    yield "all", {}, "lateness_p99_ms", o.late_ms(), "ms"
    yield "all", {}, "cpu_idle", o.cpu_idle(), "1"
    for before, after, seconds in o.changes():
        yield "all", {"from": before, "to": after}, "adapt_s", seconds, "s"
    for g in o.groups():
        n = {"clients": o.n(g)}
        yield g, n, "served_fraction", o.served_interval(g), "1"
        good = o.goodput_interval(g)
        yield g, n, "goodput_per_s", good, "1/s"
        yield g, n, "goodput_of_capacity", Estimate(*(x / c for x in good)), "1"
        for q in (50, 99):
            yield g, n, f"connect_p{q}_us", \
                quantile_interval(o.times(g, "connect"), q / 100), "us"
            yield g, n, f"request_p{q}_ms", Estimate(*(
                t / 1e3 for t in quantile_interval(o.times(g), q / 100))), "ms"
        yield g, n, "first_byte_p99_us", \
            quantile_interval(o.times(g, "first"), .99), "us"
    for name in sorted({row["class"] for r in o.runs if r.stats
                        for row in r.stats["stats"]}):
        for key in ("held", "hold_flushed", "hold_full", "cookie_refused"):
            yield name, {}, f"{key}_fraction", o.part_of_promoted(key, name), "1"


def flood_figures(o):
    """What there is to say about an outcome under a flood."""
    if o.cell.policed:
        yield "ordinary", {}, "realised_fraction", o.realised(), "1"
    if not o.cell.flood:
        return
    yield "all", {}, "cpu_ms_per_hit", o.cpu_ms_per_hit(), "ms"
    if o.flood_sum("sent"):
        yield "hostile", {}, "syns_per_s", o.flood_per_s(), "1/s"
        yield "hostile", {}, "synacks_per_syn", o.synacks_per_syn(), "1"
        yield "hostile", {}, "bytes_out_in", o.bytes_out_in(), "1"
