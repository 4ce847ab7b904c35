#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# All requests that are inside share one CPU in turns, as with threads or processes without a
# bound, and are the slower the more they are.  Each takes 0.1 s alone, and clients leave after
# 3 s.  With 16 at once none would be answered in time, so "inside auto" must not begin with so
# many: not for a server that has just begun, nor for one that was idle, and answered soon.
#
# Must fail if: the limit began too high, or grew before anything was known, so that the server
# worked for those who had left.
#
# One kernel will do: it takes long.  The clock may leap.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/inside_lib.sh"
plan 13

WORKERS=256 SERVICE=100

# served NAME: three times what it can do for 34 s, and preferred ones in the second half; five tests
served() {
	local requests since
	load 30 34
	pause_ms 16000
	requests=$(answers bulk) since=$(ms)
	preferred 30 2
	requests=$((($(answers bulk) + 30 - requests) * 1000 / ($(ms) - since)))
	note "$1: $gold of 30 preferred, median $median ms, $requests of 10 answers a second," \
		"limit at most $most"
	check_prompt "$1: the preferred are served" test "$gold" = 30
	within_prompt "$1: soon" "$median" $SERVICE $((15 * SERVICE))
	within_prompt "$1: the server does what it can" "$requests" 6 11
	must_come 30 has "$TMP/load.$TO" ^done
	over "$1"
}

load_synq
inside_conf "inside auto"
eager -C 1 $PORT
manage
served "from the beginning"
stop "$serving"

# moment N: so many at once, of whom all but four or so are held at first
moment() {
	client "$TMP/moment" -n "$1" -r 1000 -s 10.3.0.1 -S 250 -w 9000 $V4 $PORT
}

# light NAME: answers without a queue
light() {
	must_come 30 has "$TMP/moment" ^done
	client "$TMP/light" -n 20 -r 4 -s 10.3.0.1 -S 250 -w 3000 $V4 $PORT
	must_come 30 has "$TMP/light" ^done
	is "$1: all are served" "$(field "$TMP/light" answered)" 20
}

# Another, which answers for a while without a queue, but for a moment: that one was held then
# says nothing of those who are answered later.
eager -C 1 $PORT
moment 5
light "idle"
served "after it was idle"
stop "$serving"

# Likewise if the moment ends because nobody is to be held.
eager -C 1 $PORT
moment 8
must_come 5 counter_from bulk held_now 1
sq set enforce off
light "enforce off"
sq set enforce on
moment 30
must_come 5 counter_from bulk held_now 1
check_prompt "enforce off: the limit has not grown" test "$(limit)" -le 12
must_come 30 has "$TMP/moment" ^done
stop "$serving"
