# SPDX-License-Identifier: GPL-2.0
#
# What is compared: the stock kernel, what an operator uses today, and synq.  Each
# has on() and off(); off() returns what it has to say about the run.
"""The systems that protect an overloaded server, or do not."""

import json
import os

from guest import HERE, PORT, PREFERRED, inside, sh
from servers import SECOND_PORT


class Stock:
    """Nothing but the kernel."""

    name = "stock"
    second_listener = False     # what it wants of the server

    def __init__(self, capacity, argument=None, config="two-class.synq"):
        """capacity: of the server, per second; argument: as its name has it;
        config: for those that know classes, in this directory."""
        self.capacity, self.argument, self.config = capacity, argument, config

    def on(self):
        """Switch the system on in the server's namespace."""

    def off(self):
        """Switch it off; return what it has to say about the run."""
        return None


class NftRules(Stock):
    """A ruleset in this directory; @WORDS@ in it are filled in."""

    rules = None

    def words(self):
        """What stands for what."""
        return {"PREFERRED4": PREFERRED.prefix4, "PREFERRED6": PREFERRED.prefix6,
                "PORT": PORT}

    def on(self):
        rules = (HERE / self.rules).read_text()
        for key, value in self.words().items():
            rules = rules.replace(f"@{key}@", str(value))
        sh(*inside("server", "nft", "-f", "-"), text=rules)

    def off(self):
        sh(*inside("server", "nft", "flush", "ruleset"))


class NftLimit(NftRules):
    """The best rate limit that nft can be given; argument: rate / capacity."""

    name = "nft-limit"
    rules = "nft-limit.nft"

    def words(self):
        rate = max(1, round(float(self.argument) * self.capacity))
        return {**super().words(), "RATE": rate}


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


class Synq(Stock):
    """The module with classes and no rate."""

    name = "synq"

    def on(self):
        sh("insmod", os.environ["SYNQ_KO"])
        sh(*inside("server", "synq", "apply", str(HERE / self.config)))

    def off(self):
        stats = sh(*inside("server", "synq", "stats", "-j"))
        sh(*inside("server", "synq", "flush"))
        sh("rmmod", "synq")
        return json.loads(stats)


SYSTEMS = {c.name: c for c in (Stock, NftLimit, NftHash, SecondListener,
                                 Synq)}


def make_system(word, capacity, config="two-class.synq"):
    """A system by its word: NAME or NAME:ARGUMENT."""
    name, _, argument = word.partition(":")
    return SYSTEMS[name](capacity, argument or None, config)
