#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A class with a min-share has slots of its own in the accept queue: while the first
# class has filled the rest it gets in, neither refused at the SYN nor withheld.
#
# Would miss its mark if: the slots were not kept free, at the SYN or at the gate, or
# not given to whom they are kept for.

. "${BASH_SOURCE[0]%/*}/lib.sh"
plan 6

BACKLOG=40 FEW=4	# of the slots of 10 % that are kept

# fill: gold, until no more get in; then a few of bulk
fill() {
	server "$TMP/server" -b $BACKLOG -m none $PORT
	held=$LAST
	[ "$1" = stock ] || manage
	client "$TMP/gold" -n 60 -c 4 -p 50 -s 10.1.0.1 -S 60 -w 30000 $V4 $PORT
	filler=$LAST
	must_come 20 "$2"
	"$PEER" client -N "$CLI" -n $FEW -s 10.3.0.1 -S $FEW -A -w 2500 $V4 $PORT \
		>"$TMP/bulk"
	stop "$held" "$filler"
}

is_full() {
	[ "$(queued)" -gt $BACKLOG ]
}

gold_has_enough() {
	counter_from gold queue_refused 5 && [ "$(queued)" -gt $((BACKLOG / 2)) ]
}

fill stock is_full
is "stock kernel: bulk is shut out" "$(field "$TMP/bulk" acked)" 0

load_synq
apply <<-EOT
	class add gold priority 0 max-wait none
	class add bulk priority 6 max-wait none min-share 10%
	match add source 10.1.0.0/16 class gold
	match add source 10.3.0.0/16 class bulk
	listener add port $PORT
EOT
fill synq gold_has_enough
within "gold leaves the slots of bulk free" "$(counter gold promoted)" \
	$((BACKLOG / 2)) $((BACKLOG - FEW))
is "bulk gets in" "$(field "$TMP/bulk" acked)" $FEW
is "and is not refused" "$(counter bulk queue_refused)" 0
is "nor withheld" "$(counter bulk withheld)" 0
check "no socket is left" wait_for 10 sockets_are 0
