#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# SMC sockets, with TCP clients: SMC has callbacks of its own in the TCP socket that
# listens, and accepts inside the kernel at once.  So there is nothing to order, but
# nothing is lost either, and sockets of either family may come and go.
#
# Would miss its mark if: SMC's callbacks were not called.  (That no socket gets the
# copied operations of an old one at the same address, see ops.c, it cannot show: the
# kernel keeps SMC's sockets of the two families apart as long as pages are not
# recycled.)

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/kind_lib.sh"
plan 9

listen='-a 0.0.0.0 -S'
modprobe smc 2>/dev/null
if ! there_is; then
	for _ in 1 2 3 4 5 6 7 8 9; do
		skip "SMC" "$WHY_NOT"
	done
	exit
fi

arrivals $N 7 >"$TMP/list"
queue_up stock
by_arrival
same "SMC, stock kernel: order of arrival" "$TMP/server" "$TMP/expected"

load_synq
three_classes | apply
queue_up synq
same "SMC: order of arrival" "$TMP/server" "$TMP/expected"
is "SMC: judged, admitted and promoted once" \
	"$(totals seen admitted promoted)" "$N $N $N"
check "SMC: no socket is left" wait_for 10 conf_counter_is sockets 0

# round TO LISTEN FROM: prints how many were answered
round() {
	server "$TMP/server" -a "$2" -S $PORT
	manage "$1"
	"$PEER" client -N "$CLI" -n 5 -w 5000 -s "$3" "$1" $PORT >"$TMP/round"
	answered=$((answered + $(field "$TMP/round" answered)))
	stop "$LAST"
	wait_for 10 sockets_are 0 || note "a socket is left"
}

answered=0
for _ in 1 2 3 4; do
	round "$V4" 0.0.0.0 10.1.0.1
	round "$V6" :: fd00:1::1
	round "$V4" :: 10.1.0.1
done
is "one after the other, all families: answered" $answered 60

# Unloaded under a socket that goes on.
server "$TMP/server" -a 0.0.0.0 -S $PORT
manage
is "managed" "$(sockets)" 1
check "unloads" rmmod synq
"$PEER" client -N "$CLI" -n 5 -w 5000 -s 10.1.0.1 $V4 $PORT >"$TMP/then"
is "and SMC goes on" "$(field "$TMP/then" answered)" 5
stop "$LAST"
check "and ends" wait_for 10 is_gone "$LAST"
