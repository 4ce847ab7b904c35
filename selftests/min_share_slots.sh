#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A class with a min-share has slots of its own in the accept queue: while the first class
# has filled the rest, it gets in, neither refused at the SYN nor held.  When it has taken
# its slots, the first class gets all of the others.
#
# Must fail if: the slots were not kept free, at the SYN or at the gate, or went to another
# class, or slots in use were kept once more.

. "${BASH_SOURCE[0]%/*}/lib.sh"
plan 8

# Of the slots of 10 % half as many again are kept.  Of the others two are for
# cookies, three for those that the test at the SYN did not foresee, and up to two for
# further CPUs: at most so many stay free.
BACKLOG=40 FEW=4 KEPT=6 FREE=8

# hold stock|synq: a server that takes nobody
hold() {
	server "$TMP/server" -b $BACKLOG -m none $PORT
	held=$LAST
	[ "$1" = stock ] || manage
}

# gold: more clients than there is room for, which go on trying
gold() {
	client "$TMP/gold" -n 60 -c 4 -p 50 -s 10.1.0.1 -S 60 -w 60000 $V4 $PORT
	filler=$LAST
}

# bulk N MS: at the end, or after MS each, acked=N is how many got in
bulk() {
	"$PEER" client -N "$CLI" -n "$1" -p 500 -s 10.3.0.1 -S "$1" -A -w "$2" \
		$V4 $PORT >"$TMP/bulk"
}

over() {
	stop "$held" "$filler"
	check "$1: no socket is left" wait_for 30 sockets_are 0
}

holds() {
	[ "$(queued)" -ge "$1" ]
}

gold_has_enough() {
	counter_from gold queue_refused 5 && holds $((BACKLOG / 2))
}

hold stock
gold
must_come 30 holds $((BACKLOG + 1))
bulk $FEW 2500
is "stock kernel: bulk is shut out" "$(field "$TMP/bulk" acked)" 0
stop "$held" "$filler"

load_synq
apply <<-EOT
	class add gold priority 0 max-wait none
	class add bulk priority 6 max-wait none min-share 10%
	match add source 10.1.0.0/16 class gold
	match add source 10.3.0.0/16 class bulk
	listener add port $PORT
EOT
hold synq
gold
must_come 30 gold_has_enough
bulk $FEW 20000
within "gold leaves the slots of bulk free" "$(counter gold promoted)" \
	$((BACKLOG / 2)) $((BACKLOG - KEPT))
is "bulk gets in" "$(field "$TMP/bulk" acked)" $FEW
is "and is not refused" "$(counter bulk queue_refused)" 0
is "nor held" "$(counter bulk held)" 0
over "gold first"

hold synq
bulk $KEPT 20000
gold
check "bulk has its slots: gold gets all others" \
	wait_for 20 holds $((BACKLOG - FREE))
over "bulk first"
