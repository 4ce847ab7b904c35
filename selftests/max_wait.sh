#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A server that takes 40 connections per second, and three times as many arrive: the stock
# kernel queues them while there is room.  With max-wait the queue stays short and is never
# empty, no connection is held, the first class waits for no other, and refused clients get
# in later.  A queue that does not stand takes a burst: what the server does in a second,
# whatever the max-wait.
#
# Must fail if: the speed of the server were not measured, the limit were another,
# connections served earlier counted as queued, bursts were refused, or the server were
# left idle.

. "${BASH_SOURCE[0]%/*}/lib.sh"
plan 13

SERVICE=25	# ms
RATE=120	# connections in a second
WAIT=200	# ms; 8 connections

# lengths SECONDS: of the queue, every 50 ms, in $TMP/lengths, sorted
lengths() {
	local end=$(($(ms) + $1 * 1000))
	while [ "$(ms)" -lt "$end" ]; do
		queued
		pause_ms 50
	done | sort -n >"$TMP/lengths"
}

# percentile P: of what lengths saw
percentile() {
	awk -v p="$1" '{ n[NR] = $1 } END { print n[int((NR - 1) * p / 100) + 1] }' \
		"$TMP/lengths"
}

queue_below() {
	[ "$(queued)" -lt "$1" ]
}

# crowd NAME N SOURCE: all at once
crowd() {
	client "$TMP/$1" -n "$2" -c "$2" -s "$3" -S 250 -w 60000 $V4 $PORT
}

# --- the stock kernel ---
server "$TMP/server" -b 1024 -t $SERVICE $PORT
held=$LAST
client "$TMP/stock" -n $((6 * RATE)) -r $RATE -s 10.3.0.1 -S 250 -w 9000 $V4 $PORT
must_come 20 has "$TMP/stock" ^acked $((4 * RATE))
within "stock: the queue grows" "$(queued)" 100 1024
stop "$held" "$LAST"

# --- synq ---
load_synq
apply <<-EOT
	class add gold priority 0
	class add bulk priority 6 default max-wait ${WAIT}ms
	class add last priority 9
	match add source 10.1.0.0/16 class gold
	match add source 10.5.0.0/16 class last
	listener add port $PORT
EOT
server "$TMP/server" -b 1024 -t $SERVICE $PORT
manage
# None of these is queued when one more arrives: none is before them.
client "$TMP/last" -n 40 -r 15 -s 10.5.0.1 $V4 $PORT
must_come 20 has "$TMP/last" ^done
client "$TMP/bulk" -n $((10 * RATE)) -r $RATE -s 10.3.0.1 -S 250 -w 3000 $V4 $PORT
bulk=$LAST
must_come 20 counter_from bulk wait_refused $((2 * RATE))
# What came before the speed was known has to be served first.
must_come 20 queue_below 17
client "$TMP/gold" -n 20 -s 10.1.0.1 -S 20 -w 20000 $V4 $PORT
lengths 4
note "lengths: $(percentile 0) $(percentile 10) $(percentile 50) $(percentile 90)" \
	"$(percentile 100)"
within "overload: the queue is as long as the server can do in ${WAIT} ms" \
	"$(percentile 50)" 3 16
# Where the server stood still the queue is empty for a moment afterwards, and then
# takes a second's worth.
within "it is hardly ever longer" "$(percentile 90)" 3 48
within "nor empty" "$(percentile 10)" 1 24
check "the first class is served" wait_for 20 has "$TMP/gold" ^answered 20
is "and never refused" "$(counter gold wait_refused)" 0
is "no room is wanting" "$(counter bulk queue_refused)" 0
is "no connection is held" "$(counter bulk held)" 0

# --- after it ---
stop "$bulk"
must_come 20 queue_is 0
before=$(counter bulk wait_refused)
crowd small 12 10.3.1.1
check "a burst of 300 ms is served" wait_for 30 has "$TMP/small" ^answered 12
is "none of it is refused" "$(counter bulk wait_refused)" "$before"
must_come 20 queue_is 0
crowd large 70 10.3.2.1
check "a burst of 2 s is served" wait_for 60 has "$TMP/large" ^answered 70
note "of 70: $(lines "$TMP/large" ^connected) connected," \
	"$(lines "$TMP/large" ^answered) answered, $(queued) queued"
within "after refusals" $(($(counter bulk wait_refused) - before)) 1 1000

unload_synq
check "nothing is left behind" test ! -d /sys/module/synq
