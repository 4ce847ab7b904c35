# SPDX-License-Identifier: GPL-2.0
#
# What every measurement inside the guest needs: client groups, namespaces with
# netem between them, generators that begin together, counters, progress.  Who
# serves is in servers.py, who protects it in systems.py.
#
#   client namespace "ordinary"  ---veth, netem each way---\
#                                                           "server"
#   client namespace "preferred" ---veth, netem each way---/
#
# Each run gets fresh namespaces and a fresh server: connections of clients that
# have left go on retransmitting for minutes and would spoil the next run.
"""The network, the clients and the clock of a measurement."""

import os
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
        # What nobody answers from.
        self.nobody = f"198.18.{number}.128", f"2001:db8:{number}::8000"

    def words(self, *load, deadline, talk):
        """The generator's words for this group; talk says what is spoken."""
        return ["group", self.name, *map(str, load), "port", str(PORT),
                "deadline", str(deadline),
                "source", f"{self.first4}+{ADDRESSES}", "to", SERVER4,
                "source", f"{self.first6}+{ADDRESSES}", "to", SERVER6,
                *map(str, talk)]

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


ORDINARY, PREFERRED = Group("ordinary", 1), Group("preferred", 2)
GROUPS = (ORDINARY, PREFERRED)


def batch(netns, commands):
    """Run many ip commands in a namespace at the price of one process."""
    where = inside(netns) if netns else ()
    sh(*where, "ip", "-batch", "-", text="\n".join(commands))


class Network:
    """The namespaces of one run."""

    def __init__(self, netem, replies=None, somaxconn=4096):
        """netem: what the links do to packets, to replies if that differs."""
        self.netem, self.somaxconn = netem, somaxconn
        self.replies = netem if replies is None else replies

    def __enter__(self):
        self.remove()
        batch(None, ["netns add server",
                     *(f"netns add {g.name}" for g in GROUPS),
                     *(g.link_command() for g in GROUPS)])
        server = ["link set lo up", f"address add {SERVER4}/32 dev lo",
                  f"address add {SERVER6}/128 dev lo"]
        for g in GROUPS:
            server += g.server_commands()
            batch(g.name, g.client_commands())
        batch("server", server)
        for g in GROUPS:
            self.shape(g.name, "up0", self.netem)
            self.shape("server", f"to{g.number}", self.replies)
        # 4096 and 1 are the defaults since 5.4; stated, because the result
        # hangs on them.
        sh(*inside("server", "sysctl", "-qw",
                   f"net.core.somaxconn={self.somaxconn}",
                   "net.ipv4.tcp_syncookies=1"))
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
        for g in GROUPS:
            if Path(f"/run/netns/{g.name}").exists():
                subprocess.run(inside(g.name, "ip", "link", "del", "up0"),
                               check=False, capture_output=True)
        names = [n for n in ("server", *(g.name for g in GROUPS))
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
    """(busy, idle) of all CPUs since boot: whether the guest was short of CPU."""
    first = Path("/proc/stat").read_text(encoding="ascii").splitlines()[0]
    user, nice, system, idle, iowait, irq, softirq, *_ = (
        int(w) / os.sysconf("SC_CLK_TCK") for w in first.split()[1:])
    return user + nice + system + irq + softirq, idle + iowait


class Generators:
    """The generators of one run; they never learn which system is on."""

    def __init__(self, *todo):
        """Start one for each (group, file, words), all with the same epoch."""
        self.processes = [self.start(*t) for t in todo]
        for p in self.processes:
            if p.stdout.readline() != "ready\n":
                stop("generator does not start: " + p.communicate()[1])
        self.epoch = monotonic() + 0.2
        for p in self.processes:
            p.stdin.write(f"{int(self.epoch * 1e9)}\n")
            p.stdin.flush()

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


class Flood:
    """SYNs from addresses of a group that nobody has, half of them IPv6."""

    def __init__(self, group, per_s, seconds):
        self.wanted = round(per_s / 2 * seconds)
        self.processes = [subprocess.Popen(
            inside(group.name, "tcp_peer", "segment", "-s", source, "-S", "64",
                   "-p", "1024", "-n", str(self.wanted), "-r",
                   str(max(1, round(per_s / 2))), to, str(PORT)),
            stdout=subprocess.PIPE, text=True)
            for source, to in zip(group.nobody, (SERVER4, SERVER6))]

    def end(self):
        """(SYNs wanted, sent); one that fell behind is not waited for."""
        sent = 0
        for p in self.processes:
            try:
                words = p.communicate(timeout=1)[0].split()
                sent += int(words[1]) if p.returncode == 0 else 0
            except subprocess.TimeoutExpired:
                p.kill()
                p.communicate()
        return len(self.processes) * self.wanted, sent


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
