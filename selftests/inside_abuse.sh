#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A server that accepts at once, with "inside auto", has more ordinary clients than it can
# serve, and some of them misuse it: 50 in a second send half a request, and no more; 1000
# are connected and silent; some read a byte a second of a long answer; $KEPT (1000) keep
# their connections; and one process listens on two ports.  The preferred are served all the
# while, the limit stays what it should be, or comes back, and in the end nobody is held.
#
# Must fail if: half requests, silent or kept connections, or slow readers took the places of
# others for good, or raised the limit without bound.
#
# One kernel will do: it takes long.  The clock may leap.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/inside_lib.sh"
plan 33

KEPT=${KEPT:-1000}
IDLE=1000
OTHER=$((PORT + 1))

# meanwhile NAME [PORT]: three tests, while something goes on
meanwhile() {
	served "$1" "$2"
	check "$1: the limit is, or is again, at most 8 times the workers" \
		wait_for 10 limit_is_sane "$2"
}

few_are_busy() {
	[ "$(($(counter bulk busy_now) + $(counter bulk busy_now $OTHER)))" -le $((4 * WORKERS)) ]
}

# served NAME [PORT]: two tests
served() {
	local refused
	refused=$(counter gold wait_refused "$2")
	preferred 24 8 "$2"
	note "$1: preferred $gold of 24, median $median ms, limit at most $most," \
		"ordinary busy $(counter bulk busy_now "$2"), stuck $(counter bulk stuck_now "$2")," \
		"quiet $(counter bulk quiet_now "$2"), held $(counter bulk held_now "$2")"
	check_prompt "$1: all preferred are served" test "$gold" = 24
	is "$1: none of them was refused" \
		"$(counter gold wait_refused "$2") $(counter gold hold_full "$2")" "$refused 0"
}

load_synq
inside_conf "inside auto" $PORT $OTHER
set_sysctl "$SRV" net.core.somaxconn 65535
set_sysctl "$SRV" net.ipv4.tcp_max_syn_backlog 65536
eager -k -F kept -L slow -b 32768 $OTHER $PORT
manage
manage $V4 $OTHER
load 100 75

# --- ordinary clients alone ---
pause_ms 999
pause_ms 999
meanwhile "an ordinary crowd"

# --- half a request ---
client "$TMP/half" -n 300 -r 50 -s 10.3.1.1 -S 250 -i half -H -A -w 10000 -K "$TMP/half.end" $V4 $PORT
half=$LAST
must_come 20 has "$TMP/half" ^acked 20
meanwhile "half a request"
check "half a request: they count no more" test "$(counter bulk stuck_now)" -ge 10

# --- 1000 that say nothing ---
client "$TMP/idle" -n $IDLE -r 200 -s 10.3.2.1 -S 250 -i idle -q -A -w 10000 -K "$TMP/idle.end" \
	$V4 $PORT
idle=$LAST
pause_ms 999
meanwhile "idle"
check "idle: they came in, too" test "$(counter bulk quiet_now)" -ge 100

# --- who reads a byte a second ---
client "$TMP/slow" -n 20 -r 20 -s 10.1.3.1 -S 250 -i slow -y 1000 -w 10000 -K "$TMP/slow.end" $V4 $PORT
slow=$LAST
must_come 60 has "$TMP/slow" ^answered 20
meanwhile "slow readers"
is "slow readers: they are still there" "$(lines "$TMP/slow" "^(closed|reset)")" 0

# --- two listeners of one process ---
# Each looks for a limit of its own; a higher one would get it more of the same workers.
client "$TMP/second" -n 1200 -r 40 -s 10.3.4.1 -S 250 -i other -w 2000 $V4 $OTHER
second=$LAST
pause_ms 12000
meanwhile "two that look for a limit" $OTHER
check "two that look for a limit: they do not race" test "$most" -le $((8 * WORKERS))
for port in $PORT $OTHER; do
	sq listener set port "$port" inside $((2 * WORKERS))
done
wait_for 20 few_are_busy
meanwhile "two with a limit" $OTHER
over "two with a limit" $OTHER
sq listener set port $PORT inside auto

stop "$half" "$idle" "$slow" "$second" "$loading"
check "it is over" wait_for 10 is_quiet

# --- many that are kept ---
client "$TMP/kept" -n "$KEPT" -r 180 -s 10.1.5.1 -S 250 -i kept -w 60000 -K "$TMP/kept.end" $V4 $PORT
kept=$LAST
must_come $((20 + KEPT / 20)) has "$TMP/kept" ^answered "$KEPT"
is "kept: they are followed, and quiet" "$(counter gold quiet_now)" "$KEPT"
load 100 30
pause_ms 999
meanwhile "kept"
stop "$kept" "$loading"
over "in the end"
adds_up "in the end"
check "and each end was seen" wait_for 15 counter_is gold quiet_now 0
