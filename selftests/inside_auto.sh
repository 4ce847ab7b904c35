#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A server that accepts at once has four workers, and three times as many ordinary clients
# come as it can serve, who leave after 3 s.  The stock kernel lets all in, and the preferred
# wait behind all of them.  "inside auto" finds a limit: the preferred are served at once, and the
# server loses nothing.  When the load is over nobody is held.
#
# Then there are only 24 clients, which always come again: the first higher limit that is tried lets
# all of them in.
#
# Must fail if: the limit stayed where it began while more brought nothing, the preferred
# waited for others, or the server were left idle; or if a limit stayed that was only tried, since
# nobody is held by it.
#
# The clock may leap.

. "${BASH_SOURCE[0]%/*}/lib.sh"
plan 13

WORKERS=4 SERVICE=40	# ms: 100 a second
RATE=300 SECONDS_OF_LOAD=20

eager() {
	background "$TMP/server" "$PEER" eager -N "$SRV" -j $WORKERS -t $SERVICE "$@" $PORT
	serving=$LAST
	wait_for 10 is_up "$TMP/server" || die "no server: $(cat "$TMP/server")"
}

# load: ordinary clients for as long as it takes; then, in the second half, 40 preferred ones
load() {
	client "$TMP/bulk" -n $((RATE * SECONDS_OF_LOAD)) -r $RATE -s 10.3.0.1 -S 250 -w 3000 \
		$V4 $PORT
	bulk=$LAST
	pause_ms $((SECONDS_OF_LOAD * 500))
	requests=$(lines "$TMP/server" ^request) since=$(ms)
	client "$TMP/gold" -n 40 -r 8 -s 10.1.0.1 -S 40 -w 3000 $V4 $PORT
	must_come 30 has "$TMP/gold" ^done
	since=$(($(ms) - since))
	requests=$((($(lines "$TMP/server" ^request) - requests) * 1000 / since))
	gold=$(field "$TMP/gold" answered)
	median=$(awk '$1 == "answered" { print $3 }' "$TMP/gold" | sort -n | awk '{ n[NR] = $1 }
		END { print NR ? n[int((NR + 1) / 2)] : 9999 }')
}

limit() {
	sq listener show -j $PORT | tr ',{}' '\n' | sed -n 's/.*"inside_limit": *//p'
}

# --- the stock kernel ---
eager
load
note "stock: $gold of 40 preferred, median $median ms, $requests requests a second"
within_prompt "stock: the preferred wait, or leave" "$median" $((10 * SERVICE)) 9999
stock=$median idle=$requests
stop "$serving" "$bulk"

# --- synq ---
load_synq
apply <<-EOT
	class add gold priority 0
	class add bulk priority 6 default
	match add source 10.1.0.0/16 class gold
	listener add port $PORT inside auto
EOT
eager
manage
is "the limit begins at 4" "$(limit)" 4
load
note "synq: $gold of 40 preferred, median $median ms, $requests requests a second," \
	"a limit of $(limit)"
check_prompt "the preferred are served" test "$gold" = 40
within_prompt "sooner" "$median" $SERVICE $((stock / 2))
within_prompt "and the server does what it did" "$requests" $((idle * 7 / 10)) 101
# Which one depends on the machine; that is a matter of module/test/climb_test.c.
check_prompt "it has looked for a limit" test "$(limit)" != 4
check_prompt "the others were held, or refused for their wait" \
	test "$(($(counter bulk held) + $(counter bulk wait_refused)))" -ge 500
is "none of the preferred was refused" \
	"$(counter gold wait_refused) $(counter gold queue_refused) $(counter gold hold_full)" "0 0 0"
must_come 30 has "$TMP/bulk" ^done
check "afterwards nobody is held" wait_for 5 counter_is bulk held_now 0
check "nor busy" wait_for 10 counter_is bulk busy_now 0
adds_up "after it"

# --- all clients get in by a limit that is tried, and always come again ---
stop "$serving"
wait_for 5 sockets_are 0
eager
manage
client "$TMP/again" -n 100000 -c 24 -C -s 10.3.0.1 -S 250 -w 3000 $V4 $PORT
again=$LAST
pause_ms 10000
note "of 24 clients that always come again: a limit of $(limit)"
check_prompt "a limit that brings nothing does not stay" test "$(limit)" -lt 16
stop "$again" "$serving"
is "a socket that is gone has no limit" \
	"$(wait_for 5 sockets_are 0; limit)" 0
