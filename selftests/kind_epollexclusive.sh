#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Several processes wait for one listener with EPOLLEXCLUSIVE, as pre-forking
# servers do: together they take the queue in class order, and each later
# connection wakes one of them.
#
# Must fail if: a connection woke nobody.
#
# Needs two CPUs: several accept at once.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/kind_lib.sh"
plan $((KIND_TESTS + 1))

listen='-a 0.0.0.0 -m exclusive -j 4'
kind "EPOLLEXCLUSIVE"
wakes_all "EPOLLEXCLUSIVE"
