#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A listener that is closed with a full queue, also while connections come and while
# the module goes: its clients are reset as by the stock kernel, and nothing stays.
#
# Would miss its mark if: a record outlived its socket, a request were lost from the
# chain that the kernel frees, or the module went before a destructor.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/kind_lib.sh"
plan 7

FULL=400 ROUNDS=8

# fill: a server that never accepts, and what its queue holds
fill() {
	server "$TMP/server" -m none -b $((FULL - 1)) $PORT
	held=$LAST
	[ "$1" = stock ] || manage
	client "$TMP/c" -n $FULL -c 20 -s 10.1.0.1 -S 200 -w 20000 $V4 $PORT
	must_come 30 has "$TMP/c" ^acked $FULL
}

queue_over() {
	[ "$(queued)" -gt "$1" ]
}

# all_reset NAME
all_reset() {
	must_come 20 has "$TMP/c" ^done
	is "$1: all clients are reset" "$(field "$TMP/c" reset)" $FULL
}

fill stock
stop "$held"
all_reset "stock kernel"

load_synq
three_classes | apply
fill synq
is "all were promoted and placed" "$(totals promoted placed)" "$FULL $FULL"
stop "$held"
all_reset "closed"
check "closed: no socket is left" wait_for 10 conf_counter_is sockets 0

# Close and unloading at once.
fill synq
kill -9 "$held"
check "unloaded while it is closed" rmmod synq
all_reset "unloaded"

# Close while connections come.
load_synq
three_classes | apply
background "$TMP/hammer" "$PEER" hammer -N "$CLI" -s 10.1.0.1 -s 10.3.0.1 -S 50 \
	-c 20 -T 600 -w 5000 -E "$TMP/done" "$V4" "$PORT"
gone=0
for ((i = 0; i < ROUNDS; i++)); do
	server "$TMP/server" -m none -b 30 $PORT
	must_come 10 queue_over 10
	stop "$LAST"
	wait_for 10 sockets_are 0 && gone=$((gone + 1))
done
is "closed while connections come: none is left" $gone $ROUNDS
touch "$TMP/done"
must_come 20 has "$TMP/hammer" '^hammer '
