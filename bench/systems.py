# SPDX-License-Identifier: GPL-2.0
#
# What is compared: the stock kernel, what an operator uses today, and synq.  Each
# has on() and off(); off() returns what it has to say about the run.
"""The systems that protect an overloaded server, or do not."""

import json
import os

from guest import (PORT, PREFERRED, adapt, fill_in, inside, load_rules, load_text,
                   sh)
from servers import SECOND_PORT


class Stock:
    """Nothing but the kernel; argument, if any: tcp_syncookies."""

    name = "stock"
    second_listener = False     # what it wants of the server
    limited_server = False
    flooded = True              # whether a flood, if the cell has one, comes

    def __init__(self, capacity, argument=None, cell=None):
        """capacity: of the server, per second; argument: as its name has it;
        cell: of an experiment, if it is for one."""
        self.capacity, self.argument, self.cell = capacity, argument, cell

    def sysctl(self, *words):
        """Set in the server's namespace."""
        sh(*inside("server", "sysctl", "-qw", *words))

    def on(self):
        """Switch the system on in the server's namespace."""
        if self.argument is not None:
            self.sysctl(f"net.ipv4.tcp_syncookies={self.argument}")

    def off(self):
        """Switch it off; return what it has to say about the run."""
        return None


class Idle(Stock):
    """The same clients, and no flood."""

    name = "idle"
    flooded = False


class NftRules(Stock):
    """A ruleset in this directory; @WORDS@ in it are filled in."""

    rules = None

    def words(self):
        """What stands for what."""
        return {"PREFERRED4": PREFERRED.prefix4, "PREFERRED6": PREFERRED.prefix6,
                "PORT": PORT}

    def on(self):
        load_rules("server", self.rules, self.words())

    def off(self):
        sh(*inside("server", "nft", "flush", "ruleset"))


class NftFile(NftRules):
    """A ruleset of nft/, which operators copy; other values than its examples."""

    def words(self):
        return {"203.0.113.0/24": PREFERRED.prefix4,
                "2001:db8:cafe::/48": PREFERRED.prefix6,
                "port = 80": f"port = {PORT}"}

    def on(self):
        load_text("server", adapt(self.rules, self.words()))


class IngressDrop(NftRules):
    """The flood goes nowhere: how fast this machine is while one comes."""

    name = "ingress-drop"
    rules = "ingress-drop.nft"


# What the rivals let through of one source: a /24 or a /56.
METER = {"RATE": 10, "BURST": 8}


class NftMeter(NftFile):
    """A bucket for each source, in nft."""

    name = "nft-meter"
    rules = "limit-sources.nft"

    def words(self):
        return {**super().words(),
                "10/second burst 8": "{RATE}/second burst {BURST}".format(**METER)}


class Hashlimit(Stock):
    """A bucket for each source, in iptables."""

    name = "hashlimit"

    def on(self):
        for program, prefix, length in (("iptables", PREFERRED.prefix4, 24),
                                        ("ip6tables", PREFERRED.prefix6, 56)):
            sh(*inside("server", f"{program}-restore"), text=fill_in(
                "hashlimit.rules", {**METER, "PORT": PORT, "PREFERRED": prefix,
                                    "LENGTH": length}))


class NftSynproxy(NftRules):
    """nft answers for the server."""

    name = "nft-synproxy"
    rules = "nft-synproxy.nft"

    def on(self):
        super().on()
        self.sysctl("net.netfilter.nf_conntrack_tcp_loose=0")


class NftLimit(NftFile):
    """The best rate limit that nft can be given; argument: rate / capacity."""

    name = "nft-limit"
    rules = "limit-others.nft"

    def words(self):
        rate = max(1, round(float(self.argument) * self.capacity))
        return {**super().words(), "80/second": f"{rate}/second"}


class NftHash(NftRules):
    """Refusal per connection; argument: the part of them that is let in."""

    name = "nft-hash"
    rules = "nft-hash.nft"

    def words(self):
        return {**super().words(),
                "ADMITTED": round(10000 * float(self.argument))}


class SecondListener(NftRules):
    """Preferred clients have a listener of their own, which the server polls first."""

    name = "second-listener"
    second_listener = True
    rules = "second-listener.nft"

    def words(self):
        return {**super().words(), "SECOND": SECOND_PORT}


class ServerLimit(Stock):
    """The server limits itself, to twice as many as its workers: what its manual offers."""

    name = "server-limit"
    limited_server = True


class Synq(Stock):
    """The module with classes; argument, if any: tcp_syncookies."""

    name = "synq"

    def words(self):
        """What stands for what in the configuration."""
        return {}

    def on(self):
        super().on()
        sh("insmod", os.environ["SYNQ_KO"])
        config = self.cell.config if self.cell else "two-class.synq"
        sh(*inside("server", "synq", "apply", "-"),
           text=fill_in(config, self.words()))

    def off(self):
        stats = sh(*inside("server", "synq", "stats", "-j"))
        sh(*inside("server", "synq", "flush"))
        sh("rmmod", "synq")
        return json.loads(stats)


class SynqRate(Synq):
    """Others policed; argument: rate / capacity, with half a second of burst."""

    name = "synq-rate"
    part, burst_s = None, .5

    def __init__(self, capacity, argument=None, cell=None):
        super().__init__(capacity, None, cell)
        self.part = float(argument)

    def words(self):
        rate = max(1, round(self.part * self.capacity))
        return {"RATE": rate, "BURST": max(1, round(rate * self.burst_s))}


class SynqBurst(SynqRate):
    """Others policed to the cell's rate; argument: the burst, in seconds of it."""

    name = "synq-burst"

    def __init__(self, capacity, argument=None, cell=None):
        super().__init__(capacity, cell.policed, cell)
        self.burst_s = float(argument)


SYSTEMS = {c.name: c for c in (Stock, Idle, IngressDrop, NftLimit, NftHash,
                               NftMeter, Hashlimit, NftSynproxy, SecondListener, ServerLimit,
                               Synq, SynqRate, SynqBurst)}


def system_class(word):
    """The class of a system's word, NAME or NAME:ARGUMENT, and the argument."""
    name, _, argument = word.partition(":")
    return SYSTEMS[name], argument or None


def make_system(word, capacity, cell=None):
    """A system by its word."""
    kind, argument = system_class(word)
    return kind(capacity, argument, cell)
