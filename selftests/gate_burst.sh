#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A burst inside one round trip into an empty queue: no more than a quarter of
# the backlog may be left waiting at the gate all the same, or the SYN queue that
# all classes share is full of them; and the preferred get in, with and without
# SYN cookies.
#
# Would miss its mark if: the test at the SYN looked only at what is queued.

. "${BASH_SOURCE[0]%/*}/lib.sh"
need tc
plan 7

BACKLOG=40 QUARTER=10 BULK=60

cli tc qdisc add dev veth0 root netem delay 100ms || die "no netem"
load_synq

# round COOKIES RESERVE
round() {
	local name="cookies $1, reserve $2 %"
	sq flush
	set_sysctl "$SRV" net.ipv4.tcp_syncookies "$1"
	apply <<-EOT
		class add gold priority 0 reserve $2%
		class add bulk priority 6
		match add source 10.1.0.0/16 class gold
		match add source 10.3.0.0/16 class bulk
		listener add port $PORT
	EOT
	server "$TMP/server" -b $BACKLOG -m none $PORT
	held=$LAST
	manage
	client "$TMP/bulk" -n $BULK -c $BULK -s 10.3.0.1 -S 200 -w 30000 \
		$V4 $PORT
	filler=$LAST
	must_come 10 counter_from bulk promoted 5
	"$PEER" client -N "$CLI" -n 8 -c 8 -s 10.1.0.1 -A -w 2500 \
		$V4 $PORT >"$TMP/gold"
	is "$name: the preferred get in" "$(field "$TMP/gold" acked)" 8
	within "$name: withheld at once" \
		"$(counter bulk withheld_pending)" 0 $QUARTER
	stop "$held" "$filler"
}

round 1 25
round 0 25
round 0 75
is "no connection waits for nobody" \
	"$(wait_for 10 sockets_are 0; sockets)" 0
