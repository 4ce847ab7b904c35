#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A server that accepts at once, with "inside auto", is half as busy as it could be: of
# $LIGHT (2500) connections none is held for more than 4 ms, which is what the histogram tells
# apart.  Then it has more to do than it can, and $KEPT (1000) kept connections: a slot that
# opens is filled at once, by the server's own clock.
#
# Must fail if: connections were held that the server has room for, or slots stayed empty.
#
# One kernel will do: it takes long.  The clock may leap.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/inside_lib.sh"
plan 13

LIGHT=${LIGHT:-2500} RATE=${RATE:-90}
KEPT=${KEPT:-1000}
SOON=3500	# us: 2 ms, and what a slow machine takes

# held_long: for more than 4 ms
held_long() {
	local stats sum=0 bucket
	stats=$(told stats -j)
	for bucket in 16ms 64ms 256ms 1s 4s longer; do
		counter_in "$stats" bulk held_$bucket
		sum=$((sum + found))
	done
	echo $((sum + $(counter bulk hold_flushed)))
}

# refilled NAME N: one test; the slots of those that were filled since line N of the server's
refilled() {
	tail -n +$(($2 + 1)) "$TMP/server" | sed -n 's/^refilled //p' | sort -n >"$TMP/refilled"
	note "$1: $(wc -l <"$TMP/refilled") slots were filled after (us):" \
		"$(awk '{ n[NR] = $1 } END { printf "median %d, 90 %% %d, 99 %% %d, at most %d",
			n[int((NR + 1) / 2)], n[int(NR * .9) + 1], n[int(NR * .99) + 1], n[NR] }' \
			"$TMP/refilled")"
	within_prompt "$1: half of the slots are filled at once (us)" \
		"$(median <"$TMP/refilled")" 1 $SOON
}

load_synq
inside_conf "inside auto"
SERVICE=$((WORKERS * 500 / RATE))
eager -E "$TMP/end" $PORT
manage
client "$TMP/light" -n "$LIGHT" -r "$RATE" -s 10.3.0.1 -S 250 -w 10000 $V4 $PORT
must_come $((2 * LIGHT / RATE + 30)) is_gone "$LAST"
now=$(limit)
touch "$TMP/end"
must_come 10 has "$TMP/server" ^stalled
# What a machine does that stands still for a moment is no fault of anybody.
late=$(sed -n 's/^late //p' "$TMP/light") stalled=$(sed -n 's/^stalled //p' "$TMP/server")
note "lightly loaded: $(counter bulk held) held, of these $(counter bulk held_1ms) for up to 1 ms," \
	"$(counter bulk held_4ms) for up to 4 ms, $(held_long) for longer; the limit is $now;" \
	"$late were late, and the server stood still for $stalled ms"
is "lightly loaded: all are served" "$(field "$TMP/light" answered)" "$LIGHT"
within "lightly loaded: none was held for longer than 4 ms" "$(held_long)" 0 \
	$((late + stalled * RATE / 1000))
within "lightly loaded: none was refused" \
	$(($(counter bulk wait_refused) + $(counter bulk queue_refused) + $(counter bulk hold_full))) 0 \
	$((late + stalled * RATE / 1000))
is "lightly loaded: all were followed" "$(counter bulk not_followed)" 0
is "lightly loaded: each was answered once" "$(answers bulk)" "$LIGHT"
over "lightly loaded"

# --- slots ---
sq flush
inside_conf "inside $WORKERS"
SERVICE=20
eager -R $WORKERS -k $PORT
manage
client "$TMP/kept" -n "$KEPT" -r 180 -s 10.1.5.1 -S 250 -i kept -w 60000 -K "$TMP/kept.end" $V4 $PORT
kept=$LAST
must_come $((20 + KEPT / 50)) has "$TMP/kept" ^answered "$KEPT"
pause_ms 999
pause_ms 200
lines=$(wc -l <"$TMP/server")
load 300 6
must_come 20 has "$TMP/load.$TO" ^done
refilled "four workers" "$lines"
check "four workers: they were held" counter_from bulk held 200
over "four workers"
stop "$serving" "$kept"

# --- a worker that is long at work: one slot in half a second ---
# If the timer became slower it would tick 448 ms after the last slot was filled, and then each
# 8 ms: 7 ms after this one has opened.
sq flush
inside_conf "inside 1"
WORKERS=1 SERVICE=497
eager -R $WORKERS -k $PORT
manage
client "$TMP/crowd" -n 13 -r 10 -s 10.3.0.1 -S 250 -w 20000 $V4 $PORT
must_come 20 has "$TMP/crowd" ^done
refilled "one worker" 0
is "one worker: all are served" "$(field "$TMP/crowd" answered)" 13
