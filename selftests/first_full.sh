#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The first class alone asks for more than the server can do.  The stock kernel drops
# final ACKs that find a full queue, so that clients that believe to be connected
# come in behind later ones.  Here as many are refused at the SYN as it takes, and
# none with a slot free in its reserve.
#
# Would miss its mark if: the first class had no limit at the SYN, or one that shut it
# out of its reserve, or leave the server idle.

. "${BASH_SOURCE[0]%/*}/lib.sh"
plan 6

SERVICE=25 RATE=120	# ms, connections in a second: three times too many
BACKLOG=16

# load NAME: until the server has had a second to fill its queue
load() {
	server "$TMP/server" -b $BACKLOG -t $SERVICE $PORT
	held=$LAST
	client "$TMP/$1" -n $((20 * RATE)) -r $RATE -s 10.1.0.1 -S 250 -w 2500 \
		$V4 $PORT
	must_come 20 has "$TMP/$1" ^answered 60
}

answered_from() {
	has "$TMP/$1" ^answered "$2"
}

load stock
check "stock: final ACKs find a full queue" \
	[ "$(mib TcpExt.ListenOverflows)" -ge 20 ]
stop "$held" "$LAST"

load_synq
apply <<-EOT
	class add gold priority 0 reserve 25%
	class add bulk priority 6 default
	match add source 10.1.0.0/16 class gold
	listener add port $PORT
EOT
load synq
before=$(mib TcpExt.ListenOverflows) refused=$(counter gold queue_refused)
began=$(ms)
must_come 30 answered_from synq 180
took=$(($(ms) - began))
over=$(($(mib TcpExt.ListenOverflows) - before))
check "the first class is refused at the SYN" \
	[ "$(counter gold queue_refused)" -gt $((refused + 60)) ]
within "hardly an ACK finds the queue full" "$over" 0 10
within "the server is not idle: ms for 120" "$took" 2000 9000
is "nobody is withheld" "$(counter gold withheld)" 0
stop "$held" "$LAST"
is "seen is admitted and refused" "$(counter gold seen)" \
	$(($(counter gold admitted) + $(counter gold queue_refused)))
