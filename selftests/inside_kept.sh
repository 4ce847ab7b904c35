#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# More clients than a listener's limit keep their connections and always ask, and nothing
# holds their requests back ("requests off").  Those who come later get in nevertheless, and soon,
# with a limit that is given and with one that is looked for; unless the limit is given and those
# that are kept are of a class before theirs.
# "inside auto" does not take the many who ask for a sign that a low limit costs nothing.
#
# Must fail if: new clients waited for kept ones of their own class, or of one after theirs; or
# the limit fell as if it had an effect.
#
# One kernel will do: it takes long.  The clock may leap.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/inside_lib.sh"
plan 23

WORKERS=4 SERVICE=40
KEPT=30

# keepers WHAT [SOURCE [RATE]]: who keep their connections and always ask; a test.  They come at
# once, or so many in a second.
keepers() {
	client "$TMP/kept" -n $KEPT -c $KEPT ${3:+-r "$3"} -s "${2:-10.3.5.1}" -S 250 -i kept -a \
		-w 60000 -K "$TMP/kept.end" $V4 $PORT
	kept=$LAST
	must_come 30 has "$TMP/kept" ^answered $KEPT
	is "$1: they keep asking" "$(asks)" more
}

asks() {
	local before
	before=$(lines "$TMP/server" ^request)
	pause_ms 999
	[ "$(lines "$TMP/server" ^request)" -ge $((before + WORKERS * 1000 / SERVICE / 4)) ] && echo more
}

# begin WHAT [SOURCE [RATE]]: the server, and those who keep their connections, for so long that
# this shows
begin() {
	inside_conf "inside $1"
	eager -k $PORT
	manage
	keepers "$@"
	for _ in 1 2 3 4 5 6; do
		pause_ms 999
	done
	flushed=$(counter bulk hold_flushed)
}

load_synq

# --- a limit that is given ---
begin 4
client "$TMP/new" -n 12 -r 3 -s 10.3.0.1 -S 250 -i new -w 20000 $V4 $PORT
preferred 12 3
must_come 60 has "$TMP/new" ^done
new=$(awk '$1 == "answered" { print $3 }' "$TMP/new" | sort -n | median)
note "4: ordinary answered within $new ms, preferred within $median ms"
is "4: all are served" "$(field "$TMP/new" answered) $gold" "12 12"
# As long as those that are kept are worked on before them, several times over.
within_prompt "4: ordinary ones do not wait for long" "$new" 1 $((4 * KEPT * SERVICE / WORKERS))
is "4: none is let in for his time" "$(counter bulk hold_flushed)" "$flushed"
stop "$kept" "$serving"
over "4"

# --- those that are kept are preferred ---
sq flush
begin 4 10.1.5.1
before=$(counter bulk held)
client "$TMP/new" -n 4 -c 4 -s 10.3.0.1 -S 250 -i new -w 20000 $V4 $PORT
check "the kept are preferred: ordinary ones wait for them" wait_for 4 counter_from bulk held $((before + 4))
must_come 30 has "$TMP/new" ^done
is "the kept are preferred: they are served nevertheless" "$(field "$TMP/new" answered)" 4
stop "$kept" "$serving"

# --- likewise, and the limit is looked for: they take no place ---
sq flush
# So slowly that nobody is held, and the limit stays.
begin auto 10.1.5.1 2
check "auto, the kept are preferred: more than the limit" test "$(limit)" -lt $KEPT
before=$(counter bulk held)
client "$TMP/new" -n 12 -r 3 -s 10.3.0.1 -S 250 -i new -w 20000 $V4 $PORT
must_come 60 has "$TMP/new" ^done
is "auto, the kept are preferred: all others are served" "$(field "$TMP/new" answered)" 12
is "auto, the kept are preferred: nobody waits for them" "$(counter bulk held)" "$before"
stop "$kept" "$serving"

# --- likewise, and those that are kept are ordinary: their places are for the preferred ---
# So slow that these places are not free for seconds if they are for nobody else.
sq flush
SERVICE=400
begin auto 10.3.5.1 2
n=$(($(limit) + KEPT / 3))
client "$TMP/gold" -n $n -c $n -s 10.1.0.1 -S 250 -w 60000 $V4 $PORT
check "auto, the kept are ordinary: all preferred come in at once" wait_for 1 counter_is gold busy_now $n
must_come 60 has "$TMP/gold" ^done
is "auto, the kept are ordinary: all preferred are served" "$(field "$TMP/gold" answered)" $n
stop "$kept" "$serving"
SERVICE=40

# --- a limit that is looked for ---
sq flush
begin auto
load 75 20
before=$(lines "$TMP/server" "^request 10\.3\.0\.")
for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do
	pause_ms 999
done
preferred 12 3
crowd=$(($(lines "$TMP/server" "^request 10\.3\.0\.") - before))
note "auto: $crowd of the crowd, preferred within $median ms, limit $(limit), at most $most"
is "auto: all preferred are served" "$gold" 12
check_prompt "auto: a part of the crowd is, too" test "$crowd" -ge 50
check_prompt "auto: the limit is not below the workers" test "$most" -ge $WORKERS
check_prompt "auto: none is let in for his time" counter_is bulk hold_flushed "$flushed"
stop "$kept" "$loading"
over "auto"
