# SPDX-License-Identifier: GPL-2.0
#
# A SYN flood: what preferred clients notice of it, what it costs the ordinary ones, and
# what is sent to the forged addresses.
#
# Set-up.  A server with time to spare (C measured first; preferred clients offer half
# of it, open loop, no RTT).  A flood of SYNs with the options of a Linux client comes
# from a CPU of its own, from random sources in 10/8 and 2001:db8:f000::/36, or in
# the ordinary clients' own prefix; its replies go to a sink.  No flood is more than
# three quarters of what the guest carries, nine tenths where only SYN-ACKs are counted.
# Times of connect() count from the call.
# tcp_max_syn_backlog is the backlog.
#
# Systems.  NAME:N has net.ipv4.tcp_syncookies=N; with 2 the kernel answers every SYN by a
# cookie, with or without synq.  "idle": no flood; "ingress-drop":
# its device drops it, which shows how fast this machine is during a flood.
# The rivals let 10 SYNs/s of a /24 or /56 through; nft-synproxy answers all SYNs
# itself.  synq answers ordinary SYNs over 5/s by cookies, and the preferred have no
# rate; see flood.synq.
#
# L1 to L4.  Lemon, BSDCon 2002: 15,000 SYNs/s from 10/8, 2000 connects, backlog 128 to
# 1024; distributions of connect() and of the first byte.  His kernels, his cache and
# his cookies are here stock without cookies (L1), synq with its rate and without
# cookies (L2), and both together (L3); L4 is the other column.  Expected: stock
# without cookies connects hardly any client; stock with cookies connects all, without
# full state; synq connects all, as if there was no flood, at any backlog.
#
# T1 to T7.  Tarreau, linux-kernel, 5 February 2008.  T1 and T2: 250 hits/s and 8000
# SYNs/s, without and with cookies, synack_retries 1, long backlog; T3 and T4: 500 and
# 7800.  Here hits are 0.3 and 0.6 of C, and both of a pair are one cell.  T5 and T6:
# the flood alone, synack_retries 0 and 4 (a few clients come, so that the cell is
# like others): the SYN-ACKs that a SYN is worth.  T7: the server talks first, the ACK
# that ends the handshake is lost once: 1 s later the SYN-ACK comes again, but not if
# it was a cookie.
#
# V1, V2.  Voigt et al., USENIX 2001.  V1: one preferred client asks again as soon as
# it was answered, 250 others do, too; they are policed to ever less.  V2: 40 such
# preferred clients; the others' pages cost five times as much, come at 0.375 of the
# rate that they are policed to and in bursts of 50 to 80 besides, twice a second;
# the bucket's burst is swept.  Expected: the more fits into the bucket, the more of
# their rate the others make use of, the less is left for the preferred, and the
# total falls as costly pages take the place of cheap ones.  No order in either: the
# queue is as on the stock kernel.
#
# amplify-*.  The flood in the ordinary class, and enough time for SYN-ACKs to come
# again (synack_retries 1).  Expected: stock sends two for each SYN that has found
# room; synq one for each, and one more for what conforms to its rate.  In
# amplify-no-rate-* the class has none: one more for each SYN with full state, a quarter
# of the backlog and SYNs that arrive before the flood is detected.
"""The SYN flood experiment."""

from dataclasses import replace

from experiment import Cell, at_least, at_most

TITLE = "A SYN flood: which clients connect, how fast, and what forged sources get"

RIVALS = ("nft-meter", "hashlimit", "nft-synproxy")
SYNQ = ("synq:0", "synq:1")
CONTROLS = ("idle", "ingress-drop", "stock:0", "stock:1")
# What flood.synq says.
CLASS_RATE, CLASS_BURST, SYNACK_RETRIES = 5, 8, 1
# How much of the SYN queue a class may fill with requests that are no longer expected to
# be answered; for how long each is expected before the listener knows how long handshakes
# take; and how much one of two classes may have while the other has nothing in it.
IDLE_PART, EXPECTED_S, PART = 1 / 4, .2, 3 / 4

BASE = Cell("backlog-1024", systems=(*CONTROLS, "stock:2", *RIVALS, *SYNQ),
            fast=True, config="flood.synq", workers=2, service_ms=5.0,
            backlog=1024, ordinary=0.0, preferred=.5, rtt_ms=0.0,
            count=2000, fast_count=400, shortest_s=2.0, ramp_s=1.0,
            flood=15000.0, spoofed_in="world", options=True, from_call=True)


def vary(name, fast=False, **factors):
    """The base cell with something else."""
    return replace(BASE, **{"name": name, "fast": fast, **factors})


def backlog(n, fast=False):
    """L1 to L4 at another backlog."""
    return vary(f"backlog-{n}", fast, backlog=n, systems=(*CONTROLS, *SYNQ))


def rate(k, family, fast=False):
    """A flood of so many thousand SYNs a second, of one family."""
    return vary(f"rate-{k}k-v{family}", fast, flood=1e3 * k, families=family,
                count=1000)


def tarreau(name, fast=False, **factors):
    """Hits through a flood, without and with cookies."""
    return vary(name, fast, **{
        "systems": (*CONTROLS, "synq:0", "synq:1"), "backlog": 65535,
        "synack_retries": 1, "flood": 8000.0, **factors})


def amplify(name, flood, fast=False, **factors):
    """What a SYN is worth: the flood, a few clients, then silence."""
    return vary(name, fast, **{
        "systems": ("stock:0", "stock:1", "synq:0", "synq:1"),
        "preferred": .05, "count": 60, "fast_count": 60, "flood": float(flood),
        "synack_retries": 1, "drain_s": 4.0, **factors})


def no_rate(n):
    """The same, where the ordinary class has no rate; not so long that it is let in again."""
    return amplify(f"amplify-no-rate-{n}", n, config="flood-no-rate.synq", count=90,
                   systems=("stock:1", "synq:1"))


def policed(name, **factors):
    """Policing without order, as its authors had it.

    Clients that are kept busy begin all at once: the generator is late then.
    """
    return Cell(name, **{"config": "policed.synq", "ordinary": 0.0,
                         "preferred": 0.0, "rtt_ms": 0.0, "backlog": 1024,
                         "late_ms": 250.0, "shortest_s": 12.0, **factors})


CELLS = [
    backlog(128, fast=True), backlog(256), backlog(512), backlog(768), BASE,
    backlog(4096),
    *(rate(k, family, fast=(k, family) == (30, "6"))
      for family in "46" for k in (1, 5, 15, 30)),
    vary("inside-ordinary", fast=True, spoofed_in="ordinary", ordinary=.25,
         deadline_s=2.0, shortest_s=6.0,
         systems=(*CONTROLS, *RIVALS, "synq:0", "synq:1")),
    tarreau("T1-T2", fast=True, preferred=.3),
    tarreau("T3-T4", preferred=.6, flood=7800.0),
    amplify("T5", 15000, systems=("stock:0", "stock:1", "synq:1"),
            backlog=65535, synack_retries=0),
    amplify("T6", 15000, systems=("stock:0", "stock:1", "synq:1"),
            backlog=65535, synack_retries=4, drain_s=32.0),
    vary("T7", fast=True, banner=True, lose_ack=True, preferred=.25, count=400,
         fast_count=200, systems=(*CONTROLS, "stock:2", "nft-synproxy", *SYNQ)),
    *(amplify(f"amplify-{n}", n, fast=n in (100, 15000))
      for n in (100, 1000, 5000, 15000, 30000, 50000)),
    no_rate(1000), no_rate(15000),
    policed("V1", closed=(250, 1), systems=(
        "stock", "synq-rate:0.8", "synq-rate:0.4", "synq-rate:0.067")),
    policed("V2", fast=True, closed=(0, 40), ordinary=.375 * .147, policed=.147,
            bursts=2.0, costly=5.0, systems=(
                "synq-burst:0.1", "synq-burst:0.25", "synq-burst:0.5",
                "synq-burst:1")),
]

# What synq does for a connection takes more than a cookie does: connect() alone may take
# so many times as long as on the stock kernel with cookies.
CONNECT_TIMES = 1.05

# What the distributions are drawn of.
CDFS = [c.name for c in CELLS if c.name.startswith("backlog-")
        or c.name in ("inside-ordinary", "T7")]


def quickly(view, word, synq):
    """Preferred clients connect as if there was no flood.

    And are answered no later than by the stock kernel, as far as so many clients can
    tell: the intervals have a time in common, or synq's is before.
    """
    dropped, stock = view["ingress-drop"], view["stock:1"]
    p99 = synq.connect_interval(.99)
    yield at_least(f"{word}: preferred first byte within 1 s",
                   synq.first_within(1), 1.0, "%")
    yield at_most(f"{word}: preferred connect() p99, against 1.3 times the "
                  "flood's dropped at ingress", p99.value / 1e3,
                  1.3 * dropped.connect_interval(.99).value / 1e3, "ms")
    yield at_most(f"{word}: and at least, against {CONNECT_TIMES:g} times stock's "
                  "with cookies", p99.low / 1e3, CONNECT_TIMES
                  * stock.connect_interval(.99).value / 1e3, "ms")
    yield at_most(f"{word}: preferred p99 at least, against stock's with cookies at "
                  "most", synq.request_interval(.99).low / 1e3,
                  stock.request_interval(.99).high / 1e3, "ms")


def with_full_state(view, word, synq):
    """They have what clients of an idle server have."""
    for end in ("client", "server"):
        yield at_least(f"{word}: preferred options as on an idle server, seen by "
                       f"the {end}", synq.options_as(view["idle"], end), 1.0, "%")
    yield at_most(f"{word}: preferred SYNs answered by cookies",
                  synq.cookies("gold"), 0)
    if not view.cell.ordinary and word != "synq:0":
        yield at_most(f"{word}: SyncookiesRecv", synq.syncookies_recv(), 0)


def no_amplifier(cell, word, synq):
    """One SYN-ACK for each SYN, and retransmissions for what conforms only."""
    sent = max(1, synq.flood_sum("sent"))
    if cell.config == "flood.synq":
        conforming = min(sent, CLASS_RATE * synq.flood_s() + CLASS_BURST)
    else:
        conforming = min(sent, PART * cell.backlog,
                         IDLE_PART * cell.backlog + EXPECTED_S * cell.flood)
    yield at_most(f"{word}: SYN-ACKs per hostile SYN, one for each and "
                  f"{SYNACK_RETRIES} more for what conforms",
                  synq.synacks_per_syn(), 1 + SYNACK_RETRIES * conforming / sent)
    yield at_most(f"{word}: bytes out / in", synq.bytes_out_in(), 1.1)


def served_after_loss(word, synq):
    """The lost ACK costs one retransmission, no more and no less."""
    yield at_most(f"{word}: preferred served before the SYN-ACK comes again",
                  synq.first_within(.9), 0.0, "%")
    yield at_least(f"{word}: preferred served within 1.2 s though the ACK was lost",
                   synq.first_within(1.2), 1.0, "%")


def policing(view):
    """V1: the less the others may, the more the preferred client gets."""
    outcomes = [o.goodput("preferred") for o in view.values()]
    least = min(b / max(a, 1e-9) for a, b in zip(outcomes, outcomes[1:]))
    yield at_least("preferred goodput, against that with the others policed less",
                   least, 1.0)
    yield at_least("and policed most, against policed least",
                   outcomes[-1] / max(outcomes[0], 1e-9), 2.0)


def bursts(view):
    """V2: a deeper bucket is used better, at the expense of the preferred."""
    outcomes = list(view.values())
    preferred = [o.goodput("preferred") for o in outcomes]
    total = [o.goodput() for o in outcomes]
    fall = 1 - preferred[-1] / max(preferred[0], 1e-9)
    yield at_most("realised of the rate, burst 0.1 s", outcomes[0].realised(), .8,
                  "%")
    yield at_least("realised of the rate, burst 1 s", outcomes[-1].realised(),
                   .93, "%")
    yield at_most("preferred goodput, against that with the burst before", max(
        b / max(a, 1e-9) for a, b in zip(preferred, preferred[1:])), 1.0)
    yield at_least("preferred goodput's fall", fall, .3, "%")
    yield at_most("and no more", fall, .6, "%")
    yield at_most("total goodput, burst 1 s against 0.1 s", total[-1]
                  / max(total[0], 1e-9), 1.0)


def claims(view):
    """What is claimed in a cell; view shows it one repeat at a time."""
    cell = view.cell
    if cell.policed:
        yield from bursts(view)
    elif cell.closed:
        yield from policing(view)
    for word, synq in view.items():
        if not word.startswith("synq:"):
            continue
        if cell.lose_ack:
            yield from served_after_loss(word, synq)
        elif cell.drain_s:
            yield from no_amplifier(cell, word, synq)
        else:
            yield from quickly(view, word, synq)
            yield from with_full_state(view, word, synq)
        if cell.name.startswith("T") and "idle" in view and not cell.lose_ack:
            yield at_most(f"{word}: mean time of a hit, against 1.3 times an idle "
                          "server's", synq.mean_ms(), 1.3 * view["idle"].mean_ms(),
                          "ms")
        if cell.ordinary and word == "synq:1":
            yield at_least(f"{word}: ordinary served, against 97 % of stock's with "
                           "cookies", synq.served("ordinary"),
                           .97 * view["stock:1"].served("ordinary"), "%")


FIGURES = [
    ("served_fraction", "preferred", "preferred served"),
    ("connect_p99_us", "preferred", "preferred connect() p99"),
    ("synacks_per_syn", "hostile", "SYN-ACKs per hostile SYN"),
    ("goodput_of_capacity", "preferred", "preferred goodput, of C"),
    ("realised_fraction", "ordinary", "realised of the rate"),
]
