# SPDX-License-Identifier: GPL-2.0
#
# What an experiment is: a file in experiments/ that names its cells and what is
# claimed about each.  run-guest measures the cells, results.py judges them; both
# read the experiment through this file, and neither knows any experiment.
#
# An experiment file has
#   TITLE           one line
#   CELLS           a list of Cell
#   claims(view)    yields a Claim for each thing that ought to hold in a cell
#   REPORT          True if there is none
#   FIGURES         what the plot shows: (metric, group, heading) each
# and says at its top where the set-up comes from and which shape is expected.
"""Experiments, their cells and their claims."""

import importlib.util
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from guest import FORGED
from servers import Service

CAPACITY_SLACK = 0.97       # of the nominal capacity: what has to be measured
EXPERIMENTS = Path(__file__).resolve().parent / "experiments"


# A flood is no more than this part of what the guest carries, SYNs a second that it
# answers by cookies, more where only packets are counted; but what any guest carries
# comes.
FLOOD_PART, FLOOD_COUNTED, FLOOD_SMALL = 0.75, 0.9, 1000.0


@dataclass(frozen=True)
class Cell:
    """One point of an experiment; loads are parts of the server's capacity C."""

    name: str
    systems: tuple = ("stock", "synq")
    repeats: int = 1
    once: tuple = ()            # systems that are not repeated
    fast: bool = False          # is measured with FAST=1, too (once)

    server: str = "accept-loop"
    workers: int = 1
    service_ms: float = 2.5     # 0: as long as it computes
    backlog: int = 128
    banner: bool = False        # the server talks first
    requests: int = 1           # on each connection
    config: str = "two-class.synq"

    ordinary: float = 4.0
    preferred: float = 0.05
    ordinary_s: float = 0.0     # ordinary clients come for so long only
    closed: tuple = ()          # (ordinary, preferred) clients kept busy instead
    bursts: float = 0.0         # of ordinary clients, besides: so many a second,
    burst_size: str = "50-80"   # of so many at once
    costly: float = 0.0         # an ordinary request costs so many service times
    policed: float = 0.0        # rate of the ordinary, for systems that want one
    families: str = "46"

    spoofed: float = 0.0        # SYNs from unused addresses,
    spoofed_in: str = "ordinary"    # in the prefix of this group, or of the world
    flood: float = 0.0          # the same, but in SYNs a second, as far as the
                                # guest carries them; from a CPU of its own
    flood_s: float = 0.0        # for so long only
    synack_retries: int = -1    # the server's sysctl
    drain_s: float = 0.0        # wait for SYN-ACKs so long after the load
    lose_ack: bool = False      # the ACK that ends a preferred handshake is lost
    options: bool = False       # look at what both ends agreed on
    from_call: bool = False     # times count from connect(), not from when it was due
    deadline_s: float = 5.0
    rtt_ms: float = 40.0
    loss_percent: float = 0.0   # each way

    count: int = 1000           # preferred connections,
    fast_count: int = 300       # unless that takes less than
    shortest_s: float = 10.0    # or more than
    longest_s: float = 60.0
    ramp_s: float = 2.0         # ordinary clients come this much before
    settle_s: float = 0.5       # and this much later goodput counts
    max_wait_s: float = 0.3     # of the ordinary class, where capacity changes
    steps: tuple = ()           # parts of C that the capacity is changed to,
    step_s: float = 6.0         # each for so long
    late_ms: float = 10.0       # the generator's p99 beyond which all is void

    def service(self, second=False, limited=False):
        """What the server is asked for."""
        return Service(self.workers, self.service_ms, self.backlog,
                       self.requests, self.banner, second, limited, self.costly,
                       self.options)

    def in_repeat(self, repeat):
        """The systems that are measured in a repeat, the first of which is 1."""
        return [s for s in self.systems if repeat == 1 or s not in self.once]

    def kind(self):
        """Cells with the same kind of server have the same capacity."""
        if not self.service_ms:
            return self.server
        return (f"{self.server}, {self.workers} x {self.service_ms:g} ms"
                + (", server first" if self.banner else "")
                + (", costly requests" if self.costly else "")
                + (f", {self.requests} requests a connection, RTT "
                   f"{self.rtt_ms:g} ms" if self.requests > 1 else ""))

    def nominal(self):
        """What C ought to be, where the server's code costs no time."""
        if self.server != "accept-loop" or self.requests > 1:
            return None
        return 1e3 * self.workers / self.service_ms

    def lacks(self, capacity):
        """Whether a measured capacity says that the machine was too busy."""
        nominal = self.nominal()
        return bool(nominal) and capacity < CAPACITY_SLACK * nominal

    def guess(self):
        """C before it has been measured; for the progress line only."""
        if not self.service_ms:
            return 100.0
        return 1e3 * self.workers / self.service_ms / self.requests

    def busy_clients(self):
        """So many, each of which asks again at once, never leave a worker idle.

        A client is away for two RTTs, one to connect and one for the answer.
        """
        away = (self.nominal() or 0) * 2 * self.rtt_ms / 1e3
        return max(64, 2 * self.workers + 32, round(2 * away))

    def netem(self):
        """What happens to packets on their way to the server, and back.

        All of the RTT is on the way back: TCP cannot tell, and the refused SYNs,
        most of the packets, cost the guest less.
        """
        there, back = [], []
        if self.rtt_ms:
            back += [f"delay {self.rtt_ms:g}ms"]
        for way in (there, back) if self.loss_percent else ():
            way += [f"loss {self.loss_percent:g}%"]
        return tuple(" ".join([*way, "limit 100000"]) if way else ""
                     for way in (there, back))

    def ordinary_until(self, end):
        """When the last ordinary client comes, if the load lasts until end."""
        return min(self.ordinary_s or end, end)

    def forged(self):
        """Prefixes of the sources that a flood forges; none without one."""
        if not self.spoofed and not self.flood:
            return ()
        return tuple(FORGED[self.spoofed_in][f] for f in self.families)

    def sysctls(self):
        """Of the server; a flood meets a SYN queue of the backlog's length."""
        words = []
        if self.flood:
            words.append(f"net.ipv4.tcp_max_syn_backlog={max(self.backlog, 128)}")
        if self.synack_retries >= 0:
            words.append(f"net.ipv4.tcp_synack_retries={self.synack_retries}")
        return words

    def schedule(self, capacity, fast, carries=None):
        """Which clients arrive when: the loaded part begins at ramp_s, lasts length_s;
        carries: SYNs that the guest can answer in a second."""
        rate = self.preferred * capacity
        if self.steps:
            length = self.step_s * len(self.steps)
        elif rate:
            length = (self.fast_count if fast else self.count) / rate
            length = min(max(length, self.shortest_s), self.longest_s)
        else:
            length = self.shortest_s
        end = self.ramp_s + length
        flood = self.flood
        if carries:
            part = FLOOD_COUNTED if self.drain_s else FLOOD_PART
            flood = min(flood, max(part * carries, FLOOD_SMALL))
        return {"ordinary_per_s": self.ordinary * capacity,
                "preferred_per_s": rate,
                "preferred_count": round(rate * length),
                "spoofed_per_s": self.spoofed * capacity + flood,
                "flood_s": min(self.flood_s or end, end),
                "length_s": length, "end_s": end}

    def parameters(self):
        """What names the cell in a row of results."""
        p = {"cell": self.name, "load": self.ordinary,
             "preferred_load": self.preferred}
        if self.spoofed:
            p.update(spoofed_load=self.spoofed, spoofed_in=self.spoofed_in)
        if self.flood:
            p.update(flood=self.flood, spoofed_in=self.spoofed_in,
                     families=self.families, synack_retries=self.synack_retries)
        p.update((k, v) for k, v in asdict(self).items() if v and k in (
            "ordinary_s", "closed", "bursts", "costly", "policed", "lose_ack"))
        p.update((k, v) for k, v in asdict(self).items() if k in (
            "server", "workers", "service_ms", "backlog", "rtt_ms",
            "loss_percent", "deadline_s", "banner", "requests", "config"))
        return p


@dataclass(frozen=True)
class Claim:
    """Something that ought to hold: value at least, or at most, the bound."""

    what: str
    value: float
    bound: float
    most: bool = False
    unit: str = ""              # "%": value and bound are fractions of one

    @property
    def holds(self):
        """Whether it does; a value that is not a number never holds."""
        return self.value <= self.bound if self.most else \
            self.value >= self.bound

    @property
    def margin(self):
        """How far it holds: the smallest of several is the worst."""
        return self.bound - self.value if self.most else \
            self.value - self.bound

    def words(self):
        """What is claimed, with figures."""
        def show(x):
            return f"{100 * x:.2f} %" if self.unit == "%" else \
                f"{x:.2f} {self.unit}".rstrip()
        return (f"{self.what} {show(self.value)} (at "
                f"{'most' if self.most else 'least'} {show(self.bound)})")


def at_least(what, value, bound, unit=""):
    """A claim about something that ought to be large."""
    return Claim(what, value, bound, False, unit)


def at_most(what, value, bound, unit=""):
    """A claim about something that ought to be small."""
    return Claim(what, value, bound, True, unit)


def load(name, directory=EXPERIMENTS):
    """The experiment of that name."""
    path = Path(directory) / f"{name}.py"
    if not path.exists():
        names = sorted(p.stem for p in Path(directory).glob("*.py"))
        raise SystemExit(f"no experiment '{name}'; there is: "
                         + ", ".join(names))
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    names = [c.name for c in module.CELLS]
    if len(set(names)) < len(names):
        raise SystemExit(f"{name}: two cells of one name")
    return module


def slowed(cell, times):
    """The cell with a slower server: for a machine short of CPU."""
    return replace(cell, service_ms=times * cell.service_ms)


def chosen(experiment, words, fast):
    """The cells to measure: those named, else all, or those of a FAST run."""
    wanted = [w for w in words.replace(",", " ").split() if w]
    known = {c.name: c for c in experiment.CELLS}
    for w in wanted:
        if w not in known:
            raise SystemExit(f"no cell '{w}'; there is: " + ", ".join(known))
    if wanted:
        return [known[w] for w in wanted]
    return [c for c in experiment.CELLS if c.fast or not fast]
