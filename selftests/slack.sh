#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Once SYNs have been refused for a second, the next are refused earlier, and earlier still
# once connections had to wait at the gate: while the server holds, fewer of the same
# clients get into the queue than before.  gate_lib.sh explains how they are made to wait.
# Connections of SYN cookies leave no request that could wait: they are refused and ask
# again.
#
# Must fail if: nothing were learned from refused, waiting or cookie connections, or the
# class were shut out; or if segments were counted as refused, not connections.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/gate_lib.sh"
need tc
plan 10

CROWD=50

# filled: clients come while the server holds; LENGTH is that of the queue then
filled() {
	local seen refused
	seen=$(counter bulk seen)
	refused=$(counter bulk queue_refused)
	fillers=()
	fill -w 40000 $V4 $PORT
	must_come 20 counter_from bulk seen $((seen + CROWD))
	must_come 20 counter_from bulk queue_refused $((refused + CROWD - BACKLOG))
	LENGTH=$(queued)
}

# accept_all FILE N: they are served, and the server holds again
accept_all() {
	touch "$1"
	must_come 60 has "$TMP/server" ^accept "$2"
	must_come 60 has "$TMP/bulk" ^done
}

# refused_for_a_second: FIRST is the queue's length before, SECOND after it
refused_for_a_second() {
	local before
	BULK=$CROWD
	filled
	FIRST=$LENGTH
	before=$(counter bulk queue_refused)
	"$PEER" segment -N "$CLI" -n 50 -r 20 -s 10.3.7.1 -p 7000 $V4 $PORT \
		>/dev/null
	must_come 20 counter_from bulk queue_refused $((before + 50))
	accept_all "$TMP/go" $CROWD
	filled
	SECOND=$LENGTH
	accept_all "$TMP/go.1" $((2 * CROWD))
}

# Some of the crowd come late, and find all slots taken.
wait_at_the_gate() {
	BULK=$((CROWD - LATE))
	overfill
	must_come 30 counter_from bulk held 3
	accept_all "$TMP/go.2" $((3 * CROWD))
	BULK=$CROWD
}

# They come as gold, which gets cookies and would have all slots, and return as bulk, for
# which there are 4 s.
come_by_cookies() {
	sq match add source "$LATE_NET" class gold || die "no match"
	sq class set gold cookies always || die "no cookies"
	cli tc qdisc add dev veth0 root netem delay 4s || die "no netem"
	client "$TMP/bulk" -n $CROWD -c $CROWD -s $LATECOMER -S $CROWD -i l \
		-w 60000 $V4 $PORT
	must_come 20 counter_from gold cookie_sent $CROWD
	two_classes
	must_come 20 counter_from bulk cookie_refused 5
	accept_all "$TMP/go.2" $((3 * CROWD))
	cli tc qdisc del dev veth0 root
}

load_synq
two_classes
hold -m list -C $CROWD
manage
refused_for_a_second
wait_at_the_gate
is "connections that had to wait are served" "$(counter bulk released)" \
	"$(counter bulk held)"
before=$(counter bulk held)
filled
within "at first so many were let in" "$FIRST" 10 $((BACKLOG - RESERVE))
within "once SYNs were refused, fewer" "$SECOND" 8 $((FIRST - 1))
within "once connections had to wait, fewer still" "$LENGTH" 5 $((SECOND - 1))
is "and none had to wait" "$(counter bulk held)" "$before"
stop "$held" "${fillers[@]}"
rm -f "$TMP/go".*
hold -m list -C $CROWD
manage
refused_for_a_second
come_by_cookies
before=$(counter bulk cookie_refused)
within "each counts once, however often it asked" "$before" 5 \
	$((CROWD - (BACKLOG - RESERVE)))
filled
within "with cookies: once SYNs were refused, fewer" "$SECOND" 8 $((FIRST - 1))
within "once cookies were refused, fewer still" "$LENGTH" 5 $((SECOND - 1))
is "those of cookies came back as bulk" "$(counter gold promoted)" 0
is "and none was refused again" "$(counter bulk cookie_refused)" "$before"
