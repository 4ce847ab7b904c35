#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Tables of prefixes: half of them IPv4, half IPv6, a quarter inside others of the
table.

usage: prefixes.py DIRECTORY NUMBER...

Writes DIRECTORY/plain4.NUMBER, plain6.NUMBER, and inner4.NUMBER, inner6.NUMBER,
which are inside those.  The last of a plain one stand alone: /24s one after the other
from 64.0.0.0 on, /48s from 2a00:: on.
"""

import os
import sys

FAMILIES = (4, 6)


def inner(number, family):
    """Prefixes that are inside others."""
    for i in range(number // 8):
        if family == 4:
            yield f"{16 + i // 16384}.{i // 64 % 256}.{i % 64 * 4}.0/24"
        else:
            yield f"2001:{i // 65536:x}:{i % 65536:x}:100::/56"


def plain(number, family):
    """Those that are not."""
    for i in range(number // 8):
        if family == 4:
            yield f"{16 + i // 16384}.{i // 64 % 256}.{i % 64 * 4}.0/22"
        else:
            yield f"2001:{i // 65536:x}:{i % 65536:x}::/48"
    for i in range(number // 2 - number // 8 * 2):
        if family == 4:
            yield f"{64 + i // 65536}.{i // 256 % 256}.{i % 256}.0/24"
        else:
            yield f"2a00:{i // 65536:x}:{i % 65536:x}::/48"


def main():
    """What the arguments ask for."""
    for number in sys.argv[2:]:
        for family in FAMILIES:
            for make in plain, inner:
                path = os.path.join(sys.argv[1],
                                    f"{make.__name__}{family}.{number}")
                with open(path, "w", encoding="ascii") as file:
                    file.writelines(f"{p}\n" for p in make(int(number), family))


if __name__ == "__main__":
    main()
