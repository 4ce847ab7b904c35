# SPDX-License-Identifier: GPL-2.0
#
# What every measurement inside the guest needs: client groups, namespaces with
# netem between them, generators that start together, counters, progress.
# servers.py has the servers, systems.py what protects them.
#
#   client namespace "ordinary"  ---veth, netem each way---\
#   client namespace "preferred" ---veth, netem each way--- "server"
#   "hostile", under a flood     ---veth-------------------/
#
# The replies to forged sources go to "hostile", which counts and drops them: nothing
# answers by a reset.
#
# Each run gets fresh namespaces and a fresh server: connections of clients that have left
# retransmit for minutes and would spoil the next run.
"""The network, the clients and the clock of a measurement."""

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
OUT = Path(os.environ.get("SYNQ_OUT", "."))
FAST = os.environ.get("FAST", "") not in ("", "0")

SERVER4, SERVER6, PORT = "198.18.0.1", "2001:db8::1", 80
ADDRESSES = 64              # per group and family


def say(text):
    """Print one line for the host's script to show."""
    print(text, flush=True)


def stop(text):
    """End everything: nothing true can be measured any more."""
    sys.exit(f"{Path(sys.argv[0]).name}: {text}")


def sh(*words, text=""):
    """Run a command that must succeed, with text to read; return its output."""
    try:
        return subprocess.run(words, check=True, text=True, input=text,
                              capture_output=True).stdout
    except subprocess.CalledProcessError as e:
        return stop(f"{' '.join(words)}: exit {e.returncode}\n{e.stderr}")


def inside(netns, *words):
    """A command line that runs inside a namespace."""
    return ("nsenter", f"--net=/run/netns/{netns}", *words)


def monotonic():
    """Seconds on the generator's clock."""
    return time.clock_gettime(time.CLOCK_MONOTONIC)


@contextlib.contextmanager
def one_cpu(wanted):
    """What is started here keeps to the first CPU; see Flood."""
    before = os.sched_getaffinity(0)
    if wanted:
        os.sched_setaffinity(0, {min(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


class Group:
    """A client group: its namespace, its addresses and its links' numbers."""

    def __init__(self, name, number):
        self.name, self.number = name, number
        self.prefix4 = f"198.18.{number}.0/24"
        self.prefix6 = f"2001:db8:{number}::/64"
        self.first4 = f"198.18.{number}.1"
        self.first6 = f"2001:db8:{number}::1"
        # link network: .1/::1 is the server's end
        self.link4 = f"198.18.{100 + number}."
        self.link6 = f"2001:db8:{100 + number}::"
        self.mac = f"02:00:00:00:{number:02x}:"
        # Unused sources, by family.
        self.nobody = {"4": f"198.18.{number}.128/25",
                       "6": f"2001:db8:{number}::8000/113"}

    def has(self, address):
        """Whether an address, IPv4 or mapped or IPv6, is one of this group."""
        address = address.removeprefix("::ffff:")
        return address.startswith((self.prefix4[:-4], self.prefix6[:-4] + ":"))

    def words(self, *load, deadline, talk, families="46"):
        """The generator's words for this group; talk says what is spoken."""
        ends = {"4": ("source", f"{self.first4}+{ADDRESSES}", "to", SERVER4),
                "6": ("source", f"{self.first6}+{ADDRESSES}", "to", SERVER6)}
        return ["group", self.name, *map(str, load), "port", str(PORT),
                "deadline", str(deadline),
                *(w for f in families for w in ends[f]), *map(str, talk)]

    def link_command(self):
        """ip(8) command that joins the group to the server."""
        return (f"link add to{self.number} address {self.mac}01 netns server "
                f"type veth peer name up0 address {self.mac}02 "
                f"netns {self.name}")

    def neighbour(self, dev, end):
        """The other end, known beforehand: ARP and ND are not on trial."""
        for a in (self.link4, self.link6):
            yield (f"neighbour add {a}{end} lladdr {self.mac}{end:02x} "
                   f"dev {dev} nud permanent")

    def client_commands(self):
        """ip(8) batch for the client's namespace."""
        yield "link set lo up"
        yield "link set up0 up"
        yield f"address add {self.link4}2/24 dev up0"
        yield f"address add {self.link6}2/64 dev up0 nodad"
        for i in range(ADDRESSES):
            yield f"address add 198.18.{self.number}.{i + 1}/32 dev lo"
            yield f"address add 2001:db8:{self.number}::{i + 1:x}/128 dev lo"
        yield from self.neighbour("up0", 1)
        yield f"route add {SERVER4} via {self.link4}1"
        yield f"route add {SERVER6} via {self.link6}1"

    def server_commands(self):
        """ip(8) batch for the server's namespace."""
        dev = f"to{self.number}"
        yield f"link set {dev} up"
        yield f"address add {self.link4}1/24 dev {dev}"
        yield f"address add {self.link6}1/64 dev {dev} nodad"
        yield from self.neighbour(dev, 2)
        yield f"route add {self.prefix4} via {self.link4}2"
        yield f"route add {self.prefix6} via {self.link6}2"


class Hostile(Group):
    """Where floods come from, and the replies to their sources go."""

    def client_commands(self):
        """No host is there."""
        return ["link set up0 up"]

    def routes(self, prefixes):
        """ip(8) batch for the server's namespace: the way to the forged sources."""
        for p in prefixes:
            yield f"route add {p} via {self.link6 if ':' in p else self.link4}2"


ORDINARY, PREFERRED = Group("ordinary", 1), Group("preferred", 2)
HOSTILE = Hostile("hostile", 3)
GROUPS = (ORDINARY, PREFERRED)
# Forged sources of a flood, by family: unused ones of a group, or sources outside all
# groups.
FORGED = {**{g.name: g.nobody for g in GROUPS},
          "world": {"4": "10.0.0.0/8", "6": "2001:db8:f000::/36"}}


def batch(netns, commands):
    """Run many ip commands in a namespace at the price of one process."""
    where = inside(netns) if netns else ()
    sh(*where, "ip", "-batch", "-", text="\n".join(commands))


def load_text(netns, rules):
    """Load a ruleset."""
    sh(*inside(netns, "nft", "-f", "-"), text=rules)


def load_rules(netns, name, words=None):
    """Load a ruleset of this directory; @WORDS@ in it are filled in."""
    load_text(netns, fill_in(name, words or {}))


def fill_in(name, words):
    """A file of this directory with its @WORDS@ filled in."""
    text = (HERE / name).read_text()
    for key, value in words.items():
        text = text.replace(f"@{key}@", str(value))
    return text


def adapt(name, examples):
    """A ruleset of nft/, as shipped, with other values than its examples."""
    text = Path(shutil.which(name) or stop(f"no {name}")).read_text()
    for example, value in examples.items():
        if example not in text:
            stop(f"{name}: no {example}")
        text = text.replace(example, value)
    return text


class Network:
    """The namespaces of one run."""

    def __init__(self, netem, replies=None, somaxconn=4096, forged=(),
                 sysctls=()):
        """netem: what the links do to packets, to replies if that differs;
        forged: prefixes whose replies go to the hostile; sysctls: of the server."""
        self.netem, self.somaxconn = netem, somaxconn
        self.replies = netem if replies is None else replies
        self.forged, self.sysctls = forged, sysctls

    def __enter__(self):
        self.remove()
        groups = (*GROUPS, HOSTILE) if self.forged else GROUPS
        batch(None, ["netns add server",
                     *(f"netns add {g.name}" for g in groups),
                     *(g.link_command() for g in groups)])
        server = ["link set lo up", f"address add {SERVER4}/32 dev lo",
                  f"address add {SERVER6}/128 dev lo"]
        for g in groups:
            server += g.server_commands()
            batch(g.name, g.client_commands())
        batch("server", [*server, *HOSTILE.routes(self.forged)])
        if self.forged:
            load_rules(HOSTILE.name, "sink.nft")
        for g in GROUPS:
            self.shape(g.name, "up0", self.netem)
            self.shape("server", f"to{g.number}", self.replies)
        # 4096 and 1 are the defaults since 5.4; stated, because the result
        # hangs on them.
        sh(*inside("server", "sysctl", "-qw",
                   f"net.core.somaxconn={self.somaxconn}",
                   "net.ipv4.tcp_syncookies=1", *self.sysctls))
        return self

    def __exit__(self, *exc):
        self.remove()

    @staticmethod
    def shape(netns, dev, netem):
        """What happens to the packets that leave a device."""
        if netem:
            sh(*inside(netns, "tc", "qdisc", "add", "dev", dev, "root",
                       "netem", *netem.split()))

    @staticmethod
    def remove():
        """Delete what exists, links first: orphaned sockets pin namespaces."""
        for g in (*GROUPS, HOSTILE):
            if Path(f"/run/netns/{g.name}").exists():
                subprocess.run(inside(g.name, "ip", "link", "del", "up0"),
                               check=False, capture_output=True)
        names = [n for n in ("server", *(g.name for g in GROUPS), HOSTILE.name)
                 if Path(f"/run/netns/{n}").exists()]
        if names:
            batch(None, [f"netns del {n}" for n in names])


def counters():
    """The server's TCP counters, as nstat would show them."""
    found = {}
    text = sh(*inside("server", "cat", "/proc/net/netstat", "/proc/net/snmp"))
    lines = text.splitlines()
    for names, values in zip(lines[::2], lines[1::2]):
        for name, value in zip(names.split()[1:], values.split()[1:]):
            found[name] = int(value)
    return {k: found.get(k, 0) for k in (
        "ListenOverflows", "ListenDrops", "SyncookiesSent", "SyncookiesRecv",
        "SyncookiesFailed", "TCPReqQFullDrop", "PassiveOpens")}


def cpu_seconds():
    """(busy, idle) of all CPUs: how much of the guest a run takes.

    Busy is what is not idle, which the kernel measures; the rest it only samples.
    """
    first = Path("/proc/stat").read_text(encoding="ascii").splitlines()[0]
    idle = sum(int(w) for w in first.split()[4:6]) / os.sysconf("SC_CLK_TCK")
    return monotonic() * os.cpu_count() - idle, idle


class Generators:
    """The generators of one run; they never learn which system is on."""

    def __init__(self, *todo):
        """Start one for each (group, file, words), all with the same epoch."""
        self.groups = [t[0] for t in todo]
        self.late_ms = 0.0      # p99 of the worst, when all are through
        self.processes = [self.start(*t) for t in todo]
        for p in self.processes:
            if p.stdout.readline() != "ready\n":
                stop("generator does not start: " + p.communicate()[1])
        self.epoch = monotonic() + 0.2
        for p in self.processes:
            p.stdin.write(f"{int(self.epoch * 1e9)}\n")
            p.stdin.flush()

    def of(self, group):
        """The processes of a group: one, or none."""
        return [p for g, p in zip(self.groups, self.processes) if g is group]

    @staticmethod
    def start(group, tsv, words):
        """One generator inside its group's namespace."""
        # The clients are other machines in truth: the server's load must not
        # make them late, hence the priority.
        return subprocess.Popen(
            inside(group.name, "chrt", "-f", "1", "openload", "epoch", "-",
                   "out", str(tsv), *words),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)

    def watch(self, progress, text):
        """Show progress until all are through; their failure is the end."""
        while any(p.poll() is None for p in self.processes):
            progress.show(text)
            for p in self.processes:
                try:
                    p.wait(5 / len(self.processes))
                except subprocess.TimeoutExpired:
                    pass
        self.check()

    def check(self):
        """Their failure is the end."""
        for p in self.processes:
            err = p.communicate()[1]
            if p.returncode:
                stop(f"generator failed: {err}")
            late = re.search(r"lateness p99 ([0-9.]+) ms", err)
            self.late_ms = max(self.late_ms, float(late[1]))


class Flood:
    """SYNs from forged sources, and what was answered to them.

    Apart, the flood has the last CPU, and the others keep to the first (one_cpu):
    with veth that is where the server receives it, too, as from a network card whose
    queue has a CPU of its own.
    """

    def __init__(self, forged, per_s, seconds, apart):
        """forged: prefixes; per_s 0: as many as go."""
        where = ("taskset", "-c", str(os.cpu_count() - 1), "chrt", "-f", "1")
        self.process = subprocess.Popen(
            inside(HOSTILE.name, *(where if apart else ()), "synflood", "begin",
                   "-", "device", "up0", "gateway", f"{HOSTILE.mac}01", "port",
                   str(PORT), "rate", f"{per_s:.3f}", "for", f"{seconds:.3f}", *(
                       w for p in forged for w in (
                           "source", p, "to", SERVER6 if ":" in p else SERVER4))),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        if self.process.stdout.readline() != "ready\n":
            stop("flood does not start: " + self.process.communicate()[1])

    def begin(self, at):
        """Go, at a time on the generators' clock."""
        self.process.stdin.write(f"{int(at * 1e9)}\n")
        self.process.stdin.flush()

    def end(self):
        """What it did: the words of its line, as numbers."""
        try:
            out, err = self.process.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            self.process.terminate()
            out, err = self.process.communicate()
        if self.process.returncode:
            stop(f"flood failed: {err}")
        words = out.split()
        return dict(zip(words[::2], map(float, words[1::2])))

    @staticmethod
    def answers():
        """Packets and bytes that came to the forged sources, by kind."""
        text = sh(*inside(HOSTILE.name, "nft", "-j", "list", "counters"))
        found = [c["counter"] for c in json.loads(text)["nftables"]
                 if "counter" in c]
        return {c["name"]: [c["packets"], c["bytes"]] for c in found}


class Progress:
    """Tells how far everything is, in measured seconds."""

    def __init__(self):
        self.began = monotonic()
        self.total = None

    def show(self, text):
        """One line; bench/lib.sh makes a moving one of it on a terminal."""
        done = monotonic() - self.began
        total = f"{max(self.total, done):.0f}" if self.total else "?"
        say(f"@progress {done:.0f} {total} {text}")


def check_all_served(tsv):
    """An idle server that fails is not worth measuring any further."""
    for line in tsv.read_text().splitlines():
        if line.split("\t")[7] != "ok":
            stop(f"request failed on an idle server: {line}")


def completions_per_s(tsv, start, end):
    """What a generator that kept its connections busy got between two times."""
    fields = (line.split("\t") for line in tsv.read_text().splitlines())
    done = [(int(f[2]) + int(f[6])) / 1e6 for f in fields]
    return sum(start <= t < end for t in done) / (end - start)


def turns_per_s(tsv, clients, start, end):
    """The same from how long each of so many clients took: Little's law.

    Those that keep their connections are through all at about the same time, every few
    seconds, and a count depends on whether such a moment is in it.
    """
    fields = (line.split("\t") for line in tsv.read_text().splitlines())
    took = [int(f[6]) / 1e6 for f in fields
            if int(f[2]) >= 1e6 * start and int(f[2]) + int(f[6]) < 1e6 * end]
    return clients * len(took) / sum(took) if took else 0.0
