#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
#
# Unit tests of tries.py, on made-up clients.  Prints TAP.
"""Test the report on clients that try again."""

import sys
import unittest

from figures import INFINITE, Request
from results_test import Tap
from tries import Tries, offsets

DEADLINE_S = 20.0


def client(due, connect=INFINITE, late=0.0, first=INFINITE):
    """One that came at a time and was connected, and answered, so long after, s."""
    return Request("ordinary", "4", round(due * 1e6), round(late * 1e6),
                   connect * 1e6, first * 1e6, INFINITE, "timeout")


def tries(*clients, linear=0):
    """Of those."""
    t = Tries(DEADLINE_S, linear)
    t.add(clients)
    return t


class When(unittest.TestCase):
    """When SYNs are sent."""

    def test_twice_as_long_each_time(self):
        self.assertEqual(list(offsets(0, 16)), [0, 1, 3, 7, 15])

    def test_each_second_at_first(self):
        self.assertEqual(list(offsets(4, 16)), [0, 1, 2, 3, 4, 5, 7, 11])

    def test_until_connected(self):
        self.assertEqual(tries(client(2, 3.05)).clients, [([2, 3, 5], True)])

    def test_until_the_client_leaves(self):
        self.assertEqual(tries(client(2)).clients, [([2, 3, 5, 9, 17], False)])

    def test_from_when_it_was_sent(self):
        self.assertEqual(tries(client(2, 1.5, late=.6)).clients, [([2.6], True)])

    def test_none_that_was_not_sent(self):
        self.assertEqual(tries(client(2, late=-1e-6)).clients, [])


# Six are queued at 4; from 4.5 on one is answered each second, so that four are queued
# from 5.5 and three from 6.5 on.
QUEUE = [client(4, 0, first=.5 + i) for i in range(6)]


class Again(unittest.TestCase):
    """A client that tries again when an overload is over, and is refused."""

    def again(self, *others, rtt_s=.04):
        """With that queue; 3.5: the last new client has come."""
        return tries(*QUEUE, *others).again(3.5, rtt_s)

    def test_let_in(self):
        self.assertEqual(self.again(client(7, 1.05, first=1.1)), (1, 0))

    def test_refused(self):
        self.assertEqual(self.again(client(7, 3.05, first=3.1)), (2, 1))

    def test_never_let_in(self):
        self.assertEqual(self.again(client(7)), (4, 4))

    def test_first_tries_do_not_count(self):
        self.assertEqual(self.again(client(7, .05, first=.1)), (0, 0))

    def test_not_while_the_queue_is_long(self):
        self.assertEqual(self.again(client(4, 1.05, first=1.1)), (0, 0))

    def test_nor_when_it_is_about_to_be(self):
        others = [client(8.2, 0, first=.01) for _ in range(4)]
        again = client(7, 1.5, first=2)
        self.assertEqual(self.again(again, *others), (0, 0))
        self.assertEqual(self.again(again, *others, rtt_s=.03), (1, 0))

    def test_nor_before_the_last_new_client_has_come(self):
        self.assertEqual(self.again(client(1, 1.05, first=1.1)), (0, 0))


if __name__ == "__main__":
    unittest.main(testRunner=unittest.TextTestRunner(
        stream=sys.stdout, verbosity=0, resultclass=Tap))
