#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# SMC sockets, with TCP clients.  SMC gives each listening TCP socket operations of its
# own, which are freed with its socket, and accepts inside the kernel at once.  So there is
# nothing to order; synq leaves such a socket and its SYNs alone, and says so.
#
# Must fail if: such a socket were managed: a child made at the moment when its operations
# are replaced would keep SMC's, in freed memory.
#
# Needs two CPUs: works that overtake each other.

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

# everybody NAME: each is accepted once
everybody() {
	ids "$TMP/server" | sort >"$TMP/ids"
	check "$1: each is accepted once" cmp "$TMP/ids" "$TMP/everybody"
}

arrivals $N 7 >"$TMP/list"
by_arrival
sort "$TMP/expected" >"$TMP/everybody"
queue_up stock
everybody "SMC, stock kernel"

load_synq
three_classes | apply
find_socket() {
	:	# it is not managed
}
queue_up synq
everybody "SMC"
is "SMC: left alone" "$(totals seen admitted promoted)" "0 0 0"
check "SMC: stats says so" test "$(conf_counter foreign_owner)" -gt 0
is "SMC: no socket is managed" "$(sockets)" 0

# round TO LISTEN FROM: prints how many were answered
round() {
	server "$TMP/server" -a "$2" -S $PORT
	"$PEER" client -N "$CLI" -n 5 -w 20000 -s "$3" "$1" $PORT >"$TMP/round"
	answered=$((answered + $(field "$TMP/round" answered)))
	stop "$LAST"
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
check "unloads" rmmod synq
"$PEER" client -N "$CLI" -n 5 -w 20000 -s 10.1.0.1 $V4 $PORT >"$TMP/then"
is "and SMC goes on" "$(field "$TMP/then" answered)" 5
stop "$LAST"
check "and ends" wait_for 10 is_gone "$LAST"
