#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Cookies come on by themselves when a class has had its share of the SYN queue, and
# go off by themselves when that is over: not before 5 s, and the next time
# not before 10 s, so that a flood that goes on cannot switch them on and off.
#
# Would miss its mark if: they came on without a flood, stayed, or went off as soon
# as the queue is empty.

. "${BASH_SOURCE[0]%/*}/lib.sh"
plan 19

BACKLOG=64

# A flood of a moment: its requests are given up after 3 s.
burst() {
	"$PEER" segment -N "$CLI" -n 300 -p $((next += 500)) -s 10.200.0.1 \
		-S 300 $V4 $PORT >/dev/null
	begun=$(ms)
}

# clients: ten of the class, from another address each time (a SYN to TIME_WAIT is left
# to the stack); sets got, served and by a cookie
clients() {
	local before
	round=$((round + 1))
	before=$(mib TcpExt.SyncookiesRecv)
	client "$TMP/c" -n 10 -c 10 -s 10.3.$round.1 -w 5000 $V4 $PORT
	must_come 20 has "$TMP/c" ^done
	got="$(field "$TMP/c" answered) $(($(mib TcpExt.SyncookiesRecv) - before))"
}

none_half_open() {
	[ "$(half_open)" = 0 ]
}

# held NAME FROM: four tests: on, and off again, but not before FROM ms
held() {
	is "$1: on" "$(counter bulk flooded_now)" 1
	must_come 20 none_half_open
	note "no request is left after $(($(ms) - begun)) ms"
	within "$1: nor is any counted, but for one for each CPU" \
		"$(counter bulk half_open)" 0 8
	check "$1: off again by itself" wait_for 60 counter_is bulk flooded_now 0
	within "$1: not before its time (ms)" $(($(ms) - begun)) "$2" 100000
}

next=2000 round=0
load_synq
apply <<-EOT
	class add gold priority 0
	class add bulk priority 6 default max-wait none
	match add source 10.1.0.0/16 class gold
	listener add port $PORT synack-retries 1
EOT
server "$TMP/server" -b $BACKLOG -m epoll $PORT
manage
for _ in 1 2 3; do
	clients
done
is "no flood: no cookie" "$got $(counter bulk cookie_sent)" "10 0 0"
is "no flood: never on" "$(counter bulk flooded)" 0

burst
clients
# One whose ACK comes again counts twice.
check "flooded: clients come by cookies" \
	test "${got% *}" = 10 -a "${got#* }" -ge 10
is "flooded: on once" "$(counter bulk flooded)" 1
sq why 10.3.$round.1 >"$TMP/why"
check "flooded: why says so" has "$TMP/why" 'cookie-sent: .* share of the SYN queue$'
sq stats >"$TMP/stats"
check "flooded: stats show it" has "$TMP/stats" 'FLOODED +NOW'
held "a flood" 4800
clients
is "over: clients have full state" "$got" "10 0"

burst
is "flooded again: on twice" "$(counter bulk flooded)" 2
held "the next" 9800
clients
is "over again: clients have full state" "$got" "10 0"
is "and that is all" "$(counter bulk flooded) $(counter gold flooded)" "2 0"
adds_up "after it"
