#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Connections that are held at the final ACK: when the server accepts again they are
# served at once, whichever side talks first, and have the round-trip time, RTO and window
# of their path, however often SYN-ACKs were retransmitted meanwhile.  None is reset or
# dropped.  A connection that is not served within 6 s is handed to the kernel; so are all
# when the server closes, synq is switched off or unloaded, or the configuration goes.
# Another configuration leaves them held.  A client that resets is forgotten.  Each
# connection is counted once.
#
# Must fail if: held connections waited for their clients' retransmissions, a segment were
# lost or reordered, the time held were taken for the path's, or a timer, a packet or a
# reference stayed behind.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/hold_lib.sh"
plan 49
load_synq

# why_says VERDICT: of one of the late
why_says() {
	local i
	for ((i = 1; i <= LATE; i++)); do
		! sq why "10.3.9.$i" | grep -q " $1: " || return 0
	done
	false
}

# --- in time ---
talks=(-K "$TMP/stay")
begin_held
served_soon "client first" "$WAITING"
talks=(-q)
begin_held -m list -B hello -r 0
served_soon "server first" 0
by_ipv6
talks=(-K "$TMP/stay")
begin_held -a ::
served_soon "IPv6" "$WAITING"
TO=$V4 GOLD=10.1.0.1 FILLER=10.3.0.1
LATECOMER=10.3.9.1 LATE_NET=10.3.9.0/24 NOBODY=192.0.2.9
begin_held -a ::
served_soon "IPv4 at a socket of IPv6" "$WAITING"

# --- not in time ---
talks=()
begin_held
before=$(counter bulk promoted)
check "after 6 s they are given to the kernel" wait_for 10 counter_is bulk held_now 0
is "and counted" "$(counter bulk hold_flushed)" "$WAITING"
is "which promotes them, having slots" $(($(counter bulk promoted) - before)) "$WAITING"
touch "$TMP/go"
is "they are served in the end" "$(served answered)" $((LATE + BULK))
stop "$held"

# --- others have room ---
for order in strict weighted fifo; do
	begin_held
	sq listener set port $PORT order $order
	"$PEER" client -N "$CLI" -n 5 -c 1 -s 10.1.0.1 -A -w 20000 $V4 $PORT >"$TMP/gold"
	is "order $order: who has room is not held" \
		"$(field "$TMP/gold" acked) $(counter gold held)" "5 0"
	touch "$TMP/go"
	stop "$held" "${fillers[@]}"
done

# --- clients go ---
begin_held
stop "${fillers[0]}"
"$PEER" segment -N "$CLI" -n 1 -s 10.4.0.1 $V4 $PORT >/dev/null
check "their clients go: forgotten, or given up" wait_for 10 counter_is bulk held_now 0
is "the account adds up" "$(account bulk)" 0
stop "$held" "${fillers[@]:1}"

# --- the server goes ---
begin_held
stop "$held"
check "the server goes: nobody is held" wait_for 10 none_held
must_come 60 has "$TMP/late" ^done
is "its clients are reset" "$(field "$TMP/late" reset)" $LATE
stop "${fillers[1]}"

# --- off ---
begin_held
sq off
check "off: nobody is held" counter_is bulk held_now 0
is "off: each is counted" "$(counter bulk hold_flushed)" "$WAITING"
touch "$TMP/go"
is "off: all are served" "$(served answered)" $((LATE + BULK))
sq on
stop "$held"

# --- another configuration ---
begin_held
sq class set bulk priority 7
is "another configuration: they are held as before" "$(counter bulk held_now)" "$WAITING"
check "synq why says so" why_says held
is "another configuration: the account adds up" "$(account bulk)" 0
touch "$TMP/go"
is "another configuration: all are served" "$(served answered)" $((LATE + BULK))
stop "$held"

# --- none ---
begin_held
sq flush
check "flush: nobody is held" wait_for 5 none_held
touch "$TMP/go"
is "flush: all are served" "$(served answered)" $((LATE + BULK))
stop "$held"

# --- unloaded ---
begin_held
check "unloads" unload_synq
touch "$TMP/go"
is "unloaded: all are served" "$(served answered)" $((LATE + BULK))
stop "$held"
load_synq
