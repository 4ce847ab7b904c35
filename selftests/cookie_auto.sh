#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Cookies come on by themselves while a class has had its share of the SYN queue: when
# it holds no more, or a quarter of it is of those who do not answer.  They go off by
# themselves when that is over.  That it lasts for a second is counted as a flood, once.
#
# Must fail if: they came on without a flood, or stayed after a moment in
# which a network held everybody up; if they stayed for ever; if a flood that goes on were
# counted again and again, or had more than a quarter.

. "${BASH_SOURCE[0]%/*}/lib.sh"
need tc
plan 28

BACKLOG=64 HELD=60

# SYNs of a flood: their requests are given up after 3 s
some() {
	"$PEER" segment -N "$CLI" -n 100 -r 1000 -p $((next += 500)) \
		-s 10.200.0.1 -S 100 $V4 $PORT >/dev/null
}

# slowly: a flood so slow that hardly any of it is expected, for less than a second; sets
# longest, and most that were kept: of how many
slowly() {
	local is_open
	sent=$(counter bulk cookie_sent) begun=$(ms)
	"$PEER" segment -N "$CLI" -n 80 -r 100 -p $((next += 100)) \
		-s 10.200.1.1 -S 100 $V4 $PORT >/dev/null
	begun=$(($(ms) - begun)) is_open=$(half_open)
	sent=$(($(counter bulk cookie_sent) - sent))
	kept=$((is_open > kept ? is_open : kept))
	longest=$((begun > longest ? begun : longest))
}

over() {
	must_come 20 none_half_open
	must_come 60 counter_is bulk flooded_now 0
}

comes_on() {
	some
	counter_is bulk flooded_now 1
}

# burst: a flood that lasts for as long as it takes
burst() {
	must_come 20 comes_on
}

# held_up: the network holds up more clients of the first class than there is room for,
# for less than a second, and six others come meanwhile; sets cookies, and flooded: how often
held_up() {
	cookies=$(counter gold cookie_sent) flooded=$(counter gold flooded)
	client "$TMP/held" -n $HELD -c $HELD -s 10.1.10$try.1 -S 200 -w 30000 \
		$V4 $PORT
	"$PEER" segment -N "$CLI" -n 6 -r 20 -s 10.1.200.1 -S 6 $V4 $PORT >/dev/null
	must_come 40 has "$TMP/held" ^done
	cookies=$(($(counter gold cookie_sent) - cookies))
	flooded=$(($(counter gold flooded) - flooded))
}

# clients [PREFIX]: ten of a class, from another address each time (a SYN to TIME_WAIT is
# left to the stack); sets got, served and by a cookie
clients() {
	local before
	round=$((round + 1))
	before=$(mib TcpExt.SyncookiesRecv)
	client "$TMP/c" -n 10 -c 10 -s "${1-10.3}.$round.1" -w 5000 $V4 $PORT
	must_come 20 has "$TMP/c" ^done
	got="$(field "$TMP/c" answered) $(by_cookie "$before" 10)"
}

none_half_open() {
	[ "$(half_open)" = 0 ]
}

# ends NAME: three tests: on, and off again
ends() {
	is "$1: on" "$(counter bulk flooded_now)" 1
	must_come 20 none_half_open
	within "$1: no request is counted, but for one for each CPU" \
		"$(counter bulk half_open)" 0 8
	check "$1: off again by itself" wait_for 60 counter_is bulk flooded_now 0
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

# Before it is known for a flood: again and again, until next to none is expected, so that
# there is a quarter at one stroke.  What was noticed of one must not be remembered.
for _ in 1 2 3; do
	flooded=$(counter bulk flooded) longest=0 kept=0
	for _ in 1 2 3 4 5; do
		slowly
		over
	done
	flooded=$(($(counter bulk flooded) - flooded))
	[ "$longest" -ge 950 ] || break
	note "this machine is slow: $longest ms"
done
within "no answers: a quarter has full state, and few more" "$kept" $((BACKLOG / 4)) \
	$((BACKLOG / 2))
within "no answers: the others get cookies" "$sent" $((80 - BACKLOG / 2)) 80
check_prompt "no answers, now and then: that is no flood" test "$flooded" = 0
some
some
some
clients
check "no room: clients come by cookies at once" test "${got#* }" -ge 5
over
base=$(counter bulk flooded)

burst
clients
# One whose ACK comes again counts twice.
check "flooded: clients come by cookies" \
	test "${got% *}" = 10 -a "${got#* }" -ge 10
is "flooded: on once" "$(counter bulk flooded)" $((base + 1))
sq why 10.3.$round.1 >"$TMP/why"
check "flooded: why says so" has "$TMP/why" 'cookie-sent: .* share of the SYN queue$'
sq stats >"$TMP/stats"
check "flooded: stats show it" has "$TMP/stats" 'FLOODED +NOW'
ends "a flood"
clients
is "over: clients have full state" "$got" "10 0"

burst
is "flooded again: on twice" "$(counter bulk flooded)" $((base + 2))
# It goes on while its requests expire, all at once: others take their places.
kept=0
for _ in {1..14}; do
	some
	pause_ms 300
	# It is looked at.
	counter bulk flooded >/dev/null
	requests=$(half_open)
	kept=$((requests > kept ? requests : kept))
done
within "it goes on: a quarter has full state, and few more" "$kept" \
	$((BACKLOG / 4)) $((BACKLOG / 2))
is "it goes on: that is no other flood" "$(counter bulk flooded)" $((base + 2))
ends "the next"
clients
is "over again: clients have full state" "$got" "10 0"
is "and that is all" "$(counter bulk flooded)" $((base + 2))
adds_up "after it"

for try in 1 2 3; do
	cli tc qdisc add dev veth0 root netem delay 700ms || die "no netem"
	held_up
	cli tc qdisc del dev veth0 root
	[ $flooded != 0 ] || [ $cookies = 0 ] || break
	note "this machine is slow, try $try"
	must_come 60 counter_is gold flooded_now 0
	# Else handshakes of 700 ms would be expected, and prove nothing.
	for _ in {1..10}; do
		clients 10.1
	done
done
is "held up: all are served" "$(field "$TMP/held" answered)" $HELD
within "held up: some by cookies, meanwhile" "$cookies" 1 $((HELD + 6 - BACKLOG / 4))
is "held up: that is no flood" "$flooded" 0
is "held up: nor is another class" "$(counter bulk flooded)" $((base + 2))
clients 10.1
is "held up: afterwards clients have full state" "$got" "10 0"
