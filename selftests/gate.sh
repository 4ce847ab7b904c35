#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Slots reserved for a class stay free for it while a later class has filled the rest.
# Held connections complete once the server accepts again, whether client or server talks
# first, and the counters of held connections add up.  gate_lib.sh explains how
# connections are made to wait.
#
# Must fail if: the gate were always open (bulk takes the reserve, gold is shut out), or
# always shut (bulk is never served), or held connections were lost, reset, or counted
# twice.
#
# Needs two CPUs: what is let in when slots become free.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/gate_lib.sh"
plan 24

syn_account() {
	echo $(($(counter "$1" seen) - $(counter "$1" admitted) -
		$(counter "$1" excess_dropped) -
		$(counter "$1" excess_passed) -
		$(counter "$1" queue_refused)))
}

# --- stock kernel ---
hold
fill -w 20000 $V4 $PORT
must_come 10 full_to $((BACKLOG + 1))
gold -w 2500
is "stock kernel: the preferred are shut out" "$(field "$TMP/gold" acked)" 0
stop "$held" "${fillers[@]}"

load_synq
two_classes

# --- the client talks first ---
hold
manage
overfill
all_held
must_come 10 full_to $((BACKLOG - RESERVE - 4))
within "those are held that came late" "$(counter bulk held)" 5 $((LATE - 1))
gold
is "the preferred get in" "$(field "$TMP/gold" acked)" $RESERVE
within "bulk leaves the reserve free" "$(counter bulk promoted)" \
	$((BACKLOG - RESERVE - 4)) $((BACKLOG - RESERVE))
# On two CPUs the ACK of a client may be held while its data finds room: it is gone then.
is "their requests are half open" "$(half_open)" "$(counter bulk held_now)"
within "they are held now" "$(counter bulk held_now)" $((WAITING - 1)) "$WAITING"
check "bulk is refused at the SYN" counter_from bulk queue_refused 1
is "gold was never refused" "$(counter gold queue_refused)" 0
is "no cookies" "$(mib TcpExt.SyncookiesSent)" 0
touch "$TMP/go"
is "all bulk is served when the server accepts" "$(served answered)" \
	$((LATE + BULK))
is "no connection was reset" "$(served reset)" 0
within "all that were held went on" "$(went_on bulk)" \
	$(($(counter bulk held) - 1)) "$(counter bulk held)"
is "held = released + gone + flushed + now" "$(account bulk)" 0
is "seen adds up for bulk" "$(syn_account bulk)" 0
is "seen adds up for gold" "$(syn_account gold)" 0
is "bulk was promoted once each" "$(counter bulk promoted)" $((LATE + BULK))
stop "$held"

# --- the server talks first: only the kernel's SYN-ACK comes again ---
sq flush
two_classes
hold -m list -B hello -r 0
manage
overfill -q
all_held
must_come 10 full_to $((BACKLOG - RESERVE - 4))
gold -q
is "server first: the preferred get in" "$(counter gold promoted)" $RESERVE
touch "$TMP/go"
is "server first: all bulk is served" "$(served answered)" $((LATE + BULK))
is "server first: no connection was reset" "$(served reset)" 0
is "server first: all that were held went on" \
	"$(went_on bulk)" "$(counter bulk held)"
stop "$held"

# --- the server goes while requests wait ---
sq flush
two_classes
hold
manage
overfill
all_held
is "some are held" "$(counter bulk held_now)" "$WAITING"
stop "$held"
check "the end of the server ends that" wait_for 10 counter_is bulk held_now 0
is "as many as were held" "$(counter bulk hold_flushed)" "$WAITING"
is "and the account adds up" "$(account bulk)" 0
stop "${fillers[@]}"
