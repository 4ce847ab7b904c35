#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# io_uring's multishot accept takes the queue in class order, and is woken by each
# later connection.
#
# Must fail if: a connection were moved without a wake-up, or the queue showed
# empty for a moment.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/kind_lib.sh"
plan $((KIND_TESTS + 1))

listen='-a 0.0.0.0 -m uring'
kind "multishot accept"
wakes_all "multishot accept"
