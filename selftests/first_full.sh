#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The first class alone asks for more than the server can do.  The stock kernel drops
# final ACKs that find a full queue, so that clients which believe to be connected come in
# behind later ones.  Here just enough SYNs are refused, and none while a slot of the
# reserve is free.  A final ACK that finds a full queue all the same counts as held, or as
# turned away with its cookie, and not as a flood.
#
# Must fail if: the first class had no limit at the SYN, or one that shut it out of its
# reserve or left the server idle; or if a connection that the kernel delays or turns
# away were taken for an unanswered handshake, or counted each time.

. "${BASH_SOURCE[0]%/*}/lib.sh"
need tc
plan 18

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

overflows_from() {
	[ "$(mib TcpExt.ListenOverflows)" -ge "$1" ]
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
# A slow machine stands still now and then, while SYN-ACKs are on their way.
within "hardly an ACK finds the queue full" "$over" 0 50
within "the server is not idle: ms for 120" "$took" 2000 9000
within "and those that do are held" "$(counter gold held)" 0 30
stop "$held" "$LAST"
adds_up "the first class" gold
# By a cookie, where a stall fills the SYN queue.
within "hardly any is answered otherwise" $(($(counter gold seen) -
	$(counter gold admitted) - $(counter gold queue_refused))) 0 40

# --- final ACKs that find a full queue ---
# HELD wait in the queue, and LATE more are under way, with slots for half of them.
BACKLOG=39 HELD=30 SLOTS=40 LATE=20

overfill() {
	PORT=$((PORT + 1))
	sq listener add port $PORT
	rm -f "$TMP/go"
	server "$TMP/server" -b $BACKLOG -H "$TMP/go" $PORT
	manage
	client "$TMP/held" -n $HELD -c $HELD -s 10.1.1.1 -S 100 -w 60000 $V4 $PORT
	must_come 20 queue_is $HELD
	cli tc qdisc add dev veth0 root netem delay 400ms || die "no netem"
	client "$TMP/late" -n $LATE -c $LATE -s 10.1.2.1 -S 100 -w 60000 $V4 $PORT
	over=$(mib TcpExt.ListenOverflows)
	must_come 20 queue_is $SLOTS
}

overfill
check "a connection that finds a full queue is held" wait_for 20 counter_from gold held 8
# Their data comes again.
sleep 1.5
is "and the kernel counts none as dropped" $(($(mib TcpExt.ListenOverflows) - over)) 0
within "once" "$(counter gold held)" 8 10
is "and is not half open" "$(counter gold half_open)" 0
touch "$TMP/go"
must_come 60 has "$TMP/late" ^done
is "all are served in the end" "$(field "$TMP/late" answered)" $LATE
is "and counted as such" "$(counter gold released)" \
	"$(counter gold held)"
is "no class is taken for a flood" \
	"$(counter gold flooded) $(counter gold cookie_sent)" "0 0"
cli tc qdisc del dev veth0 root

sq class set gold cookies always
overfill
check "by a cookie: turned away" wait_for 20 counter_from gold cookie_refused 8
must_come 60 overflows_from $((over + 20))
within "by a cookie: once" "$(counter gold cookie_refused)" 8 10
touch "$TMP/go"
must_come 60 has "$TMP/late" ^done
is "by a cookie: all are served in the end" "$(field "$TMP/late" answered)" $LATE
adds_up "by a cookie" gold
