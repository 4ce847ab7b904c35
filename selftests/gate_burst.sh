#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A burst inside one round trip into an empty queue: no more than a quarter of the backlog
# may be left waiting at the gate, or it fills the SYN queue that all classes share.  The
# preferred get in, with and without SYN cookies.
#
# Must fail if: the test at the SYN looked only at what is queued, or took a few
# handshakes that were not completed for a flood.

. "${BASH_SOURCE[0]%/*}/lib.sh"
need tc
plan 9

BACKLOG=40 QUARTER=10 BULK=60

cli tc qdisc add dev veth0 root netem delay 100ms || die "no netem"
load_synq

syn_retrans_from() {
	[ "$(mib TcpExt.TCPSynRetrans)" -ge "$1" ]
}

# dead N: handshakes that nobody completes, from sources that nobody has
dead() {
	local before
	before=$(mib TcpExt.TCPSynRetrans)
	"$PEER" segment -N "$CLI" -s 10.200.0.1 -S "$1" -n "$1" $V4 $PORT \
		>/dev/null
	must_come 30 syn_retrans_from $((before + $1))
}

# round COOKIES RESERVE [DEAD]
round() {
	local name="cookies $1, reserve $2 %${3:+, after $3 dead handshakes}"
	sq flush
	set_sysctl "$SRV" net.ipv4.tcp_syncookies "$1"
	apply <<-EOT
		class add gold priority 0 reserve $2%
		class add bulk priority 6 max-wait none
		match add source 10.1.0.0/16 class gold
		match add source 10.3.0.0/16 class bulk
		match add source 10.200.0.0/16 class bulk
		listener add port $PORT
	EOT
	server "$TMP/server" -b $BACKLOG -m none $PORT
	held=$LAST
	manage
	[ -z "${3-}" ] || dead "$3"
	client "$TMP/bulk" -n $BULK -c $BULK -s 10.3.0.1 -S 200 -w 30000 \
		$V4 $PORT
	filler=$LAST
	must_come 30 counter_from bulk promoted 3
	"$PEER" client -N "$CLI" -n 8 -c 8 -s 10.1.0.1 -A -w 10000 \
		$V4 $PORT >"$TMP/gold"
	is "$name: the preferred get in" "$(field "$TMP/gold" acked)" 8
	within "$name: held at once" \
		"$(counter bulk held_now)" 0 $QUARTER
	stop "$held" "$filler"
}

round 1 25
round 0 25
round 0 75
round 1 25 12
is "no connection waits for others" \
	"$(wait_for 10 sockets_are 0; sockets)" 0
