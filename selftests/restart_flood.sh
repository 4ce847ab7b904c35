#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A server is restarted while SYNs are forged for it.  The half-open requests of the
# closed socket still exist when the same SYNs come again, but belong to no listener: the
# SYNs are for the new socket and judged like all others, so that their class has no more
# than its share of the new SYN queue, and preferred clients get no cookies.
#
# Must fail if: a SYN were taken for a retransmission because any half-open request matches
# it, whichever socket that belongs to.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/flood_lib.sh"
plan $((2 * 5))

N=600 BACKLOG=128

seen_all() {
	counter_from bulk seen $(($1 + N))
}

# The SYN-ACK is sent again after 1 s, then after 2 s more: meanwhile it stays.
all_wait() {
	[ "$(mib TcpExt.TCPSynRetrans)" -ge $(($1 + N * 9 / 10)) ]
}

# syns TO FROM: the same each time
syns() {
	"$PEER" segment -N "$CLI" -n $N -r 3000 -s "$2" -S $N "$1" $PORT >/dev/null
}

# restarted NAME TO FROM GOLD: five tests
restarted() {
	local name=$1 to=$2 from=$3 gold=$4 at=0.0.0.0 before
	case $to in *:*) at=:: ;; esac
	flood_conf_anew
	server "$TMP/server" -a $at -m epoll $PORT
	manage "$to"
	before=$(mib TcpExt.TCPSynRetrans)
	syns "$to" "$from"
	must_come 20 all_wait "$before"
	stop "$LAST"
	server "$TMP/server" -a $at -m epoll -b $BACKLOG $PORT
	check "$name: requests of the old socket are there" \
		test "$(half_open)" -ge $((N * 9 / 10))
	before=$(counter bulk seen)
	syns "$to" "$from"
	wait_for 5 seen_all "$before"
	is "$name: all SYNs were judged" $(($(counter bulk seen) - before)) $N
	adds_up "$name"
	# Where SYNs got cookies, requests of the old socket stay a while: not the kernel's.
	within "$name: half-open requests of the class" \
		"$(counter bulk half_open)" 1 $((BACKLOG * 3 / 4))
	before=$(mib TcpExt.SyncookiesSent)
	"$PEER" client -N "$CLI" -s "$gold" -w 10000 "$to" $PORT >"$TMP/gold"
	is "$name: a preferred client is served, cookies" \
		"$(field "$TMP/gold" answered) $(($(mib TcpExt.SyncookiesSent) - before))" \
		"1 0"
	stop "$LAST"
}

load_synq
restarted IPv4 $V4 10.200.0.1 10.1.0.1
restarted IPv6 "$V6" fd00:f::1 fd00:1::1
