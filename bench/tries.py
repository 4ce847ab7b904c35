# SPDX-License-Identifier: GPL-2.0
#
# When SYNs were sent, first and again, as far as the times of their connections tell.  No
# packet is lost in the cells that ask for it: a client that connected by its nth SYN had
# its earlier SYNs refused.
#
# An overload is not over when the last new client has arrived.  As many clients as were
# refused in the seconds before return in the seconds after, which may be more than the
# server can take, and many of them at once, since timers are coarse.  It is over where the
# queue is half as long as it was, and does not grow when the clients under way have
# arrived: no SYN may be refused from then on.  The time of a retransmitted SYN is known up
# to the lateness of timers.
"""Refused clients that try again."""

from bisect import bisect

from figures import INFINITE

LATE = 1 / 8                # of what it waits for a timer may be late


def offsets(linear, until):
    """When a SYN is sent again, s after the first: each second, linear times more than
    once, then after twice as long each time."""
    at, wait, n = 0.0, 1.0, 0
    while at <= until:
        yield at
        at, n = at + wait, n + 1
        if n > linear:
            wait *= 2


class Tries:
    """Of all clients of a run."""

    def __init__(self, deadline_s, linear):
        """linear: the sysctl tcp_syn_linear_timeouts, 0 where there is none."""
        self.deadline_s, self.linear = deadline_s, linear
        self.clients = []       # (times of its SYNs in s, whether the last was let in)
        self.queue = []         # (when it gets longer or shorter, s; by how many)

    def add(self, requests):
        """A generator's requests."""
        limit = self.deadline_s * 1e6
        for r in requests:
            if r.late < 0:
                continue
            connected = r.connect <= limit
            left = (r.connect if connected else limit) - r.late
            sent = (r.due + r.late) / 1e6
            self.clients.append(([sent + at for at in offsets(self.linear, left / 1e6)],
                                 connected))
            if connected:
                self.queue += [((r.due + r.connect) / 1e6, 1),
                               ((r.due + min(r.first, limit)) / 1e6, -1)]

    def lengths(self):
        """(since when, how many are queued)."""
        queued, lengths = 0, []
        for at, change in sorted(self.queue):
            queued += change
            lengths.append((at, queued))
        return lengths

    def again(self, since, rtt_s):
        """(SYNs sent again after that when the overload was over, of those refused)."""
        lengths = self.lengths()
        most = max((n for _, n in lengths), default=0)
        longs = [(at, until) for (at, n), (until, _) in zip(
            lengths, [*lengths[1:], (INFINITE, 0)]) if 2 * n > most]
        ends = [until for _, until in longs]
        come = refused = 0
        for times, connected in self.clients:
            for i, t in enumerate(times[1:], 2):
                at = bisect(ends, t)
                late = LATE * (t - times[0]) + 2 * rtt_s
                if t <= since or at < len(longs) and longs[at][0] <= t + late:
                    continue
                come += 1
                refused += not connected or i < len(times)
        return come, refused
