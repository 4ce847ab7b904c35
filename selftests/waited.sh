#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# How many are in the accept queue, how many have left it, and how long they were
# in there: a server that holds for a while, and one that does not.
#
# Must fail if: the account were of those that came, or the clock began
# when they left.

. "${BASH_SOURCE[0]%/*}/lib.sh"
plan 8

# waited BUCKET...: the sum
waited() {
	local bucket sum=0
	for bucket; do
		sum=$((sum + $(counter gold "waited_$bucket")))
	done
	echo $sum
}

# one OUT: a connection
one() {
	"$PEER" client -N "$CLI" -n 1 -s 10.1.0.1 -A -w 10000 $V4 $PORT >"$1"
}

load_synq
three_classes | apply
server "$TMP/server" -H "$TMP/go" -E "$TMP/end" $PORT
manage
client "$TMP/held" -n 5 -c 5 -s 10.1.0.1 -S 5 -w 60000 $V4 $PORT
must_come 10 queue_is 5
is "queued" "$(counter gold queued)" 5
is "none accepted" "$(counter gold accepted)" 0
is "none has waited yet" "$(waited 1ms 4ms 16ms 64ms 256ms 1s 4s longer)" 0
pause_ms 300
touch "$TMP/go"
must_come 10 has "$TMP/server" ^accept 5
is "accepted" "$(counter gold accepted)" 5
is "one has waited for long" "$(waited 1s 4s longer)" 1
is "and none for a short time" "$(waited 1ms 4ms 16ms 64ms 256ms)" 0

# --- the server does not hold ---
for i in {1..20}; do
	one "$TMP/next$i"
done
check "most are accepted, and known to be" counter_from gold accepted 20
check "none is queued for long" wait_for 30 counter_is gold queued 0
