#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# "enforce off" at the gate: who would have had to wait is let in and counted, from the
# same slot on from which the gate is shut where it is enforced, and once.  How
# clients are made to come late is in gate_lib.sh.
#
# Would miss its mark if: nobody were counted, or the limit were another one, or who finds
# the queue full were counted each time that it tries.

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
check "enforced: the late are held" held_all
shut=$(queued)
within "enforced: the gate is shut there" "$shut" $((BACKLOG - RESERVE - 4)) \
	$((BACKLOG - RESERVE))
is "enforced: nobody would be" "$(counter bulk would_hold)" 0
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
is "not enforced: who would be held" "$(counter bulk would_hold)" \
	$((BACKLOG + 1 - shut))
is "not enforced: nobody is" "$(counter bulk held)" 0
is "not enforced: nobody is refused" \
	$(($(counter bulk queue_refused) + $(counter bulk wait_refused))) 0
touch "$TMP/go"
is "all are served when the server accepts" "$(served answered)" \
	$((LATE + BULK))
is "nobody was reset" "$(served reset)" 0
