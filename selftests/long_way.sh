#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Distant clients and a fast server: more handshakes are under way than the queue has room
# for, but they complete one after the other, and each finds the queue empty.  So few are
# to be refused, at the SYN or at the gate.  Added up, a third of them would be, and their
# retransmissions: nearly three hundred in all.
#
# They arrive so slowly that a short stall of the machine does not reveal the speed of the
# server: that takes eight queued at once.
#
# Must fail if: handshakes under way were added to the queue as if no connection left it
# meanwhile; or the pace of a server that never lets a client wait were not known.

. "${BASH_SOURCE[0]%/*}/lib.sh"
need tc
plan 6

BACKLOG=32 DELAY=900	# ms, there and back

load_synq
apply <<-EOT
	class add gold priority 0 reserve 25%
	class add bulk priority 6 max-wait none
	match add source 10.1.0.0/16 class gold
	match add source 10.3.0.0/16 class bulk
	listener add port $PORT
EOT
# One that waits for nobody: what a client says is a second late if a packet is lost.
server "$TMP/server" -m epoll -b $BACKLOG $PORT
manage
cli tc qdisc add dev veth0 root netem delay ${DELAY}ms limit 10000 ||
	die "no netem"

# come RATE: for three seconds
come() {
	client "$TMP/bulk" -n $((3 * $1)) -r "$1" -s 10.3.0.1 -S 250 -w 20000 \
		$V4 $PORT
	must_come 40 has "$TMP/bulk" ^done
	note "$1 in a second: $(grep ^done "$TMP/bulk"), refused" \
		"$(counter bulk queue_refused), held $(counter bulk held)"
}

# First so few that they find room even all at once, then more and more.
come 10
come 20
come 32
is "all are answered" "$(field "$TMP/bulk" answered)" 96
come 45
is "more than there is room for" "$((45 * DELAY / 1000 > BACKLOG))" 1
is "all are answered" "$(field "$TMP/bulk" answered)" 135
within "few are refused" "$(counter bulk queue_refused)" 0 150
within "or has to wait" "$(counter bulk held)" 0 32
is "none for the time it waits" "$(counter bulk wait_refused)" 0
