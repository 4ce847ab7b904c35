#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Connections that are held at the final ACK: when a server accepts again they are served
# at once, whoever talks first, and have the round trip time, RTO and window of their path,
# however often SYN-ACKs were sent again meanwhile.  Nobody is reset, and none is dropped.
# Who is not served within 6 s is given to the kernel; and so is everybody when the server
# closes, synq is switched off or unloaded, or the configuration goes; another one leaves
# them held.  A client that resets is forgotten.  Each is counted once.
#
# Would miss its mark if: held connections waited for what their clients send again, a
# segment were lost or came in another order, the time held were taken for the path's, or
# a timer, a packet or a reference stayed behind.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/gate_lib.sh"
plan 45
SOON=900	# ms: less than any timer of TCP's

two_classes() {
	apply <<-EOT
		class add gold priority 0 reserve 25%
		class add bulk priority 6 max-wait none cookies never
		match add source 10.1.0.0/16 class gold
		match add source 10.3.0.0/16 class bulk
		match add source fd00:1::/32 class gold
		match add source fd00:3::/32 class bulk
		listener add port $PORT
	EOT
}

all_held() {
	must_come 30 counter_from bulk held $WAITING
	must_come 30 counter_is bulk held_now $WAITING
}

none_held() {
	[ "$(conf_counter sockets)" = 0 ] || counter_is bulk held_now 0
}

# begin OPTION...: a server and its late clients, which are held
begin_held() {
	sq flush
	two_classes
	hold "$@"
	manage $TO
	rm -f "$TMP/stay"
	overfill "${talks[@]}"
	all_held
}

# late: those of the clients that were late, and are served
late_are() {
	has "$TMP/late" ^answered "$1"
}

# by_path: connections of the late whose numbers are those of the path.  It is a veth:
# 100 ms would be much for a round trip, and an RTO is 200 ms at least.
by_path() {
	srv ss -Htni state established "sport = :$PORT" dst "$LATE_NET" |
		grep -E '(rto|rtt|cwnd):' | sed 's/.* rto:\([0-9.]*\) rtt:\([0-9.]*\).* cwnd:\([0-9]*\).*/\1 \2 \3/' |
		awk '$1 <= 600 && $2 <= 100 && $3 >= 10 { n++ } END { print n + 0 }'
}

# served_soon NAME N: six tests, and one if N connections are left to look at, which were held
served_soon() {
	local since
	# The SYN-ACKs of the late were sent again before, and are again.
	sleep 0.5
	since=$(ms)
	touch "$TMP/go"
	wait_for 30 late_are $LATE
	since=$(($(ms) - since))
	within "$1: all late ones are served at once (ms)" $since 0 $SOON
	[ "$2" = 0 ] || is "$1: theirs are the numbers of the path" "$(by_path)" "$2"
	touch "$TMP/stay"
	is "$1: all bulk is served" "$(served answered)" $((LATE + BULK))
	is "$1: nobody was reset" "$(served reset)" 0
	is "$1: all that were held were released" "$(counter bulk released)" $WAITING
	is "$1: the account adds up" "$(account bulk)" 0
	is "$1: none was dropped" "$(counter bulk hold_full)" 0
	stop "$held"
}

load_synq

# --- in time ---
talks=(-K "$TMP/stay")
begin_held
served_soon "client first" $WAITING
talks=(-q)
begin_held -m list -B hello -r 0
served_soon "server first" 0
by_ipv6
talks=(-K "$TMP/stay")
begin_held -a ::
served_soon "IPv6" $WAITING
TO=$V4 GOLD=10.1.0.1 FILLER=10.3.0.1
LATECOMER=10.3.9.1 LATE_NET=10.3.9.0/24 NOBODY=192.0.2.9
begin_held -a ::
served_soon "IPv4 at a socket of IPv6" $WAITING

# --- not in time ---
talks=()
begin_held
check "after 6 s they are given to the kernel" wait_for 10 counter_is bulk held_now 0
is "and counted" "$(counter bulk hold_flushed)" $WAITING
is "which has promoted them" "$(counter bulk promoted)" \
	$(($(counter bulk placed)))
touch "$TMP/go"
is "they are served in the end" "$(served answered)" $((LATE + BULK))
stop "$held"

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
is "off: each is counted" "$(counter bulk hold_flushed)" $WAITING
touch "$TMP/go"
is "off: all are served" "$(served answered)" $((LATE + BULK))
sq on
stop "$held"

# --- another configuration ---
begin_held
sq class set bulk priority 7
is "another configuration: they are held as before" "$(counter bulk held_now)" $WAITING
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
