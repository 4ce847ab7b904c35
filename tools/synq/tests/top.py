#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""top.py TOP: the command top on a terminal: it draws, sorts, pauses, resizes, scrolls and
quits.  TAP.  SHOW=1 prints what is on the screen."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time

import pyte

TOP = sys.argv[1]
number = failed = 0


def check(good, name, screen=None):
    global number, failed
    number += 1
    failed += not good
    print(f"{'' if good else 'not '}ok {number} - top: {name}")
    if screen and (not good or os.environ.get("SHOW")):
        print("\n".join("# |" + line for line in screen.display))


class Terminal:
    def __init__(self, columns, lines, **more):
        self.screen = pyte.Screen(columns, lines)
        self.stream = pyte.ByteStream(self.screen)
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.environ.update(TERM="linux", LC_ALL="C", **more)
            # Until it has its size.
            sys.stdin.readline()
            os.execv(TOP, [TOP])
        self.resize(columns, lines)
        os.write(self.fd, b"\n")

    def resize(self, columns, lines):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self.screen.resize(lines, columns)

    def read(self, seconds):
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if not select.select([self.fd], [], [], left)[0]:
                return
            try:
                data = os.read(self.fd, 65536)
            except OSError:
                return
            if not data:
                return
            self.stream.feed(data)

    def press(self, keys):
        os.write(self.fd, keys)

    def wait(self, condition, seconds=30):
        end = time.monotonic() + seconds
        while not condition() and time.monotonic() < end:
            self.read(0.05)
        return condition()

    def rows(self):
        return [line.split() for line in self.screen.display[3:-1] if line.strip()]

    def first(self):
        rows = self.rows()
        return rows[0][:2] if rows else []

    def has(self, text):
        return any(re.search(text, line) for line in self.screen.display)

    def ends(self, seconds=30):
        """The exit status, or None."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.read(0.05)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
        os.kill(self.pid, signal.SIGKILL)
        return None


def main():
    t = Terminal(80, 24)
    good = t.wait(lambda: t.has(r"^ +80 gold +1[01]\d +"))
    check(good and t.has("^synq top .*2 listeners, 3 sockets"), "draws rates", t.screen)
    check(t.has("^ PORT CLASS +OFFERED +ADMIT REFUSE +WHY +HELD +INSIDE DEPTH P50<= P99<=$") and
          t.has(r"^ +80 gold .* 5/6 +3 +16ms +16ms$"), "80 columns hold all")
    check(len(t.rows()) == 4 and t.has(r"a-class-of-1 "), "idle rows are left out")
    check(t.screen.display[-1].startswith("q quit"), "a line of help")
    t.press(b"z")
    check(t.wait(lambda: len(t.rows()) == 9), "z shows them")
    t.press(b"z")
    for key, row, name in ((b"o", ["8443", "gold"], "offered"),
                           (b"h", ["80", "normal"], "held"),
                           (b"d", ["80", "a-class-of-1"], "depth"),
                           (b"i", ["80", "gold"], "inside"),
                           (b"l", ["80", "gold"], "the kernel's order")):
        t.press(key)
        check(t.wait(lambda row=row: t.first() == row), f"sorts by {name}", t.screen)
    t.press(b"v")
    check(t.wait(lambda: t.has("R-QUEUE R-WAIT")), "another view", t.screen)
    t.press(b"vv")
    check(t.wait(lambda: t.has("DEPTH P50<=")), "and the first again")

    def clock():
        return t.screen.display[0][10:18]

    t.press(b"p")
    good = t.wait(lambda: t.has("paused"))
    before = t.screen.display[3:6]
    t.read(2.5)
    check(good and t.screen.display[3:6] == before, "pauses")
    t.press(b"p")
    was = clock()
    check(t.wait(lambda: not t.has("paused") and clock() != was), "and goes on")

    t.resize(140, 10)
    check(t.wait(lambda: t.has("R-WAIT") and t.screen.display[9].startswith("q quit")),
          "a wider window has more columns", t.screen)
    t.resize(60, 6)
    good = t.wait(lambda: t.screen.display[5].startswith("q quit") and len(t.rows()) == 2)
    check(good, "a small one fewer", t.screen)
    t.press(b"\x1b[B")
    check(t.wait(lambda: t.first() == ["80", "normal"]), "scrolls", t.screen)
    t.resize(20, 3)
    t.read(1)
    t.resize(80, 24)
    check(t.wait(lambda: len(t.rows()) == 4), "survives a tiny one")
    t.press(b"q")
    check(t.ends() == 0, "q quits")

    t = Terminal(80, 24)
    t.wait(lambda: t.has("gold"))
    os.kill(t.pid, signal.SIGINT)
    check(t.ends() == 0, "so does an interrupt")

    t = Terminal(80, 24, GONE_AFTER="2")
    status = t.ends()
    check(status == 2 and t.has("synq: the kernel module is not loaded"),
          "without the module it says so, when the screen is left", t.screen)
    print(f"# {failed} failed")
    sys.exit(1 if failed else 0)


main()
