#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Clients leave before they are answered.  The server closes, and goes on with the work: so
# others do not come in for them, one after the other, until that is done, or as good as done.
# But a server that has never answered does not answer at all, perhaps; and one that closes of
# itself has nothing to do.
#
# Then 64 workers share a CPU, clients come by IPv4 and by IPv6, to a socket each, and leave
# after 3 s: "inside auto" finds a limit with which the preferred are served in time.
#
# Must fail if: a place were free before the work was done, or much later; or the server worked
# for those who have left.
#
# One kernel will do: it takes long.  The clock may leap.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/inside_lib.sh"
plan 22

# leaves: one who leaves after 0.2 s; the server closes
leaves() {
	client "$TMP/leaves" -n 1 -s 10.3.0.1 -i "${1:-leaves}" -w 200 $V4 $PORT
	must_come 5 has "$TMP/leaves" ^done
	must_come 5 counter_is bulk unanswered $((++left))
}

# next: another, who comes then; sets took: until the answer (ms)
next() {
	client "$TMP/next" -n 1 -s 10.3.0.2 -i next -w 20000 $V4 $PORT
	must_come 20 has "$TMP/next" ^done
	took=$(awk '$1 == "answered" && $3 { print $3; exit }' "$TMP/next")
}

load_synq
inside_conf "inside 1"
WORKERS=4 SERVICE=1000
left=0
eager -Q silent -F quick -Z refused $PORT
manage

# --- it has not answered yet ---
leaves silent
is "nothing is known: it does not count" "$(counter bulk busy_now)" 0
next
within_prompt "nothing is known: the next one does not wait (ms)" "$took" $SERVICE $((3 * SERVICE / 2))
is "nothing is known: nor is it held" "$(counter bulk held)" 0

# --- it has: half of the time after which it would be stuck, for nobody else is inside ---
since=$(ms)
leaves
is "it counts when it is gone" "$(counter bulk busy_now)" 1
next
note "the next one is answered after $took ms"
is "the next one is held" "$(counter bulk held)" 1
within_prompt "until the work is done (ms)" $(($(ms) - since)) $((SERVICE * 19 / 10)) $((4 * SERVICE))

# --- who has left while he was held: the server works for him as soon as he is let in ---
since=$(ms)
client "$TMP/first" -n 1 -s 10.3.0.3 -i first -w 20000 $V4 $PORT
must_come 5 counter_is bulk busy_now 1
client "$TMP/held" -n 1 -s 10.3.0.1 -i held -w 200 $V4 $PORT
must_come 5 has "$TMP/held" ^done
next
must_come 5 counter_is bulk unanswered $((++left))
note "the next one is answered after $took ms"
# At SERVICE he is let in; then the next is held for longer than one who is answered takes.
within_prompt "who left while he was held counts (ms)" $(($(ms) - since)) $((SERVICE * 29 / 10)) $((6 * SERVICE))

# --- nothing was answered for long before: it counts for as long as that ---
client "$TMP/silent" -n 1 -s 10.3.0.4 -i silent -w 60000 $V4 $PORT
silent=$LAST
must_come 5 counter_is bulk busy_now 1
pause_ms 3000
since=$(ms)
client "$TMP/long" -n 1 -s 10.1.0.4 -i long -w 200 $V4 $PORT
must_come 5 has "$TMP/long" ^done
is "it counts, too" "$(counter gold busy_now)" 1
must_come 10 counter_is gold busy_now 0
within_prompt "for as long as nothing was answered (ms)" $(($(ms) - since)) 2950 6000
stop "$silent"
must_come 5 counter_is bulk unanswered $((++left))

# --- the preferred do not wait for those of later classes ---
leaves
client "$TMP/gold" -n 1 -s 10.1.0.1 -i gold -w 20000 $V4 $PORT
must_come 20 has "$TMP/gold" "^answered gold0"
is "the preferred are not held" "$(counter gold held)" 0

# --- the server closes of itself, and knows that it has nothing to do ---
client "$TMP/refused" -n 1 -s 10.3.0.1 -i refused -w 20000 $V4 $PORT
must_come 5 counter_is bulk unanswered $((++left))
is "if the server closes it does not count" "$(counter bulk busy_now)" 0

# --- who says something and goes at once expects no answer ---
client "$TMP/farewell" -n 1 -B -s 10.3.0.1 -i farewell -w 20000 $V4 $PORT
must_come 5 counter_is bulk unanswered $((++left))
check_prompt "nor who goes at once" counter_is bulk busy_now 0

# --- one that came later is answered ---
# By now the first half of the time is longer than a second.
client "$TMP/more" -n 6 -c 6 -s 10.1.0.1 -i more -w 20000 $V4 $PORT
must_come 20 has "$TMP/more" ^done
leaves
is "it counts again" "$(counter bulk busy_now)" 1
client "$TMP/quick" -n 1 -s 10.1.0.3 -i quick -w 20000 $V4 $PORT
check_prompt "but not when one that came later is answered" \
	wait_for 1 counter_is bulk busy_now 0
stop "$serving"
over "one listener"

# --- two listeners, one CPU ---
sq flush
inside_conf "inside auto"
WORKERS=64 SERVICE=100
eager -6 -C 1 $PORT
manage $V4
manage $V6
by V4
load 15 44
by V6
load 15 44
pause_ms 20000
for family in V4 V6; do
	by $family
	since=$(ms) before=$(answers bulk)
	preferred 16 2
	note "$family: $gold of 16 preferred, median $median ms," \
		"$((($(answers bulk) - before) * 1000 / ($(ms) - since))) of 10 ordinary answers a second," \
		"limit at most $most"
	check_prompt "$family: the preferred are served" test "$gold" = 16
	within_prompt "$family: soon (ms)" "$median" $SERVICE $((25 * SERVICE))
done
stop "$serving"
over "two listeners"
