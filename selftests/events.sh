#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# synq monitor prints a line when a class begins to exceed its rate, is refused, is answered
# by cookies, or is held, and another one when that has ended, with how many there were.
# However many SYNs come, it is one line.  Without a monitor nothing is told later.
#
# Must fail if: an event were not told, told again while it goes on, or with another
# number; or were told of a listener or a class that it is not of.

. "${BASH_SOURCE[0]%/*}/lib.sh"
plan 15

# told_of REGEX [N]: the monitor has said that, so often
told_of() {
	has "$TMP/monitor" "^port $PORT, class $1" "${2:-1}"
}

# ended COUNTER... : it has ended, and those were counted that the counters of bulk say
ended() {
	local words=$1 sum=0 name
	shift
	check "$words: it ends" wait_for 20 told_of "bulk: $words no more, "
	for name; do
		sum=$((sum + $(counter bulk "$name")))
	done
	is "$words: all were counted" \
		"$(sed -n "s/^port $PORT, class bulk: $words no more, \([0-9]*\) .*/\1/p" "$TMP/monitor")" $sum
	is "$words: one line when it begins" \
		"$(grep -c "class bulk: $words, [0-9]* in a second\$" "$TMP/monitor")" 1
}

# listen: a monitor that knows what has been counted
listen() {
	background "$TMP/monitor" "$PEER" in "$SRV" synq monitor
	monitor=$LAST
	must_come 10 has "$TMP/monitor" "^generation"
	sleep 2
}

conf() {
	apply <<-EOT
		class add gold priority 0
		class add bulk priority 6 default max-wait none $1
		match add source 10.1.0.0/16 class gold
		listener add port $PORT $2
	EOT
}

load_synq
conf "rate 5/second burst 5"
server "$TMP/server" $PORT
manage
listen
client "$TMP/bulk" -n 300 -r 100 -s 10.3.0.1 -S 250 -w 1000 $V4 $PORT
client "$TMP/gold" -n 20 -r 10 -s 10.1.0.1 -w 5000 $V4 $PORT
check "over the rate: it is told" wait_for 10 told_of 'bulk: over its rate, [0-9]+ in a second$'
must_come 30 has "$TMP/bulk" ^done
ended "over its rate" excess_dropped
check "nothing else is told of anybody" eval "! grep -v 'class bulk: over its rate\|^generation' '$TMP/monitor'"
stop "$monitor"

# --- the class goes ---
listen
client "$TMP/bulk" -n 500 -r 100 -s 10.3.0.1 -S 250 -w 500 $V4 $PORT
bulk=$LAST
must_come 10 told_of 'bulk: over its rate, [0-9]+ in a second$'
sq class del bulk
check "its class goes: it ends" wait_for 10 told_of 'bulk: over its rate no more, '
stop "$bulk" "$monitor"
conf "rate 5/second burst 5"

# --- nobody listens ---
client "$TMP/bulk" -n 20 -c 20 -s 10.3.0.1 -S 20 -w 500 $V4 $PORT
must_come 30 has "$TMP/bulk" ^done
sleep 3
before=$(counter bulk excess_dropped)
listen
sleep 2
is "what was before is not told" "$(grep -c '^port' "$TMP/monitor")" 0
check "there was something" [ "$before" -gt 0 ]

# --- cookies ---
sq flush
conf "cookies always"
client "$TMP/bulk" -n 30 -r 30 -s 10.3.0.1 -S 30 -w 5000 $V4 $PORT
check "cookies: it is told" wait_for 10 told_of 'bulk: answered by SYN cookies, [0-9]+ in a second$'
must_come 30 has "$TMP/bulk" ^done
check "cookies: it ends" wait_for 20 told_of 'bulk: answered by SYN cookies no more, '
is "cookies: all were counted" \
	"$(sed -n 's/.*cookies no more, \([0-9]*\) .*/\1/p' "$TMP/monitor")" \
	"$(counter bulk cookie_sent)"
stop "$monitor"

# --- held, in JSON ---
sq flush
stop "${pids[@]}"
conf "" "inside 1"
background "$TMP/eager" "$PEER" eager -N "$SRV" -j 1 -t 200 $PORT
wait_for 10 is_up "$TMP/eager" || die "no server"
manage
background "$TMP/monitor" "$PEER" in "$SRV" synq monitor -j
must_come 10 has "$TMP/monitor" generation
sleep 2
client "$TMP/bulk" -n 15 -c 15 -s 10.3.0.1 -S 15 -w 20000 $V4 $PORT
check "held: it is told" wait_for 10 has "$TMP/monitor" \
	'"event": ?"hold", ?"active": ?true, ?"port": ?8080, ?"class": ?"bulk", ?"count": ?[1-9]'
must_come 30 has "$TMP/bulk" ^done
check "held: it ends" wait_for 20 has "$TMP/monitor" '"event": ?"hold", ?"active": ?false'
is "held: all were counted" \
	"$(grep '"active": *false' "$TMP/monitor" | grep -o '"count": *[0-9]*' | grep -o '[0-9]*$')" \
	"$(counter bulk held)"
check "the module can go while somebody listens" rmmod synq
