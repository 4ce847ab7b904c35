#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# "enforce off" at the gate: a connection that would have been held is let in and counted,
# once, from the same slot on at which the gate shuts under enforcement.  gate_lib.sh
# explains how clients are made late.
#
# Must fail if: none were counted, or the limit were another one, or a connection that
# finds the queue full were counted at each try.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/gate_lib.sh"
plan 9

late_have_come() {
	has "$TMP/late" ^connected $LATE
}

load_synq

# --- enforced ---
two_classes
hold
manage
overfill
check "enforced: the late are held" wait_for 30 have_come
shut=$(queued)
within "enforced: the gate is shut there" "$shut" $((BACKLOG - RESERVE - 4)) \
	$((BACKLOG - RESERVE))
is "enforced: none would be" "$(counter bulk would_hold)" 0
stop "$held" "${fillers[@]}"

# --- not enforced ---
sq flush
two_classes
sq class set bulk enforce off
hold
manage
overfill
check "not enforced: all slots are taken" wait_for 10 full_to $((BACKLOG + 1))
must_come 30 late_have_come
is "not enforced: connections that would be held" "$(counter bulk would_hold)" \
	$((BACKLOG + 1 - shut))
is "not enforced: none is" "$(counter bulk held)" 0
is "not enforced: no SYN is refused" \
	$(($(counter bulk queue_refused) + $(counter bulk wait_refused))) 0
touch "$TMP/go"
is "all are served when the server accepts" "$(served answered)" \
	$((LATE + BULK))
is "no connection was reset" "$(served reset)" 0
