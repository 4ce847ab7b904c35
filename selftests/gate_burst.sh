#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A burst inside one round trip into an empty queue: no more than a quarter of
# the backlog may be left waiting at the gate all the same, or the SYN queue that
# all classes share is full of them; and the preferred get in, with and without
# SYN cookies.
#
# After a flood of handshakes that nobody completed few are expected to complete,
# and a burst may leave more.  Then the class is refused at the SYN until fewer
# wait, and nobody is lost.
#
# Would miss its mark if: the test at the SYN looked only at what is queued, or took
# a few handshakes that nobody completed for a flood, or let a class in that has its
# quarter waiting.

. "${BASH_SOURCE[0]%/*}/lib.sh"
need tc
plan 13

BACKLOG=40 QUARTER=10 BULK=60

cli tc qdisc add dev veth0 root netem delay 100ms || die "no netem"
load_synq

syn_retrans_from() {
	[ "$(mib TcpExt.TCPSynRetrans)" -ge "$1" ]
}

# dead N: handshakes that nobody completes, from sources that nobody has
dead() {
	local before
	before=$(mib TcpExt.TCPSynRetrans)
	"$PEER" segment -N "$CLI" -s 10.200.0.1 -S "$1" -n "$1" $V4 $PORT \
		>/dev/null
	must_come 10 syn_retrans_from $((before + $1))
}

# round COOKIES RESERVE [DEAD]
round() {
	local name="cookies $1, reserve $2 %${3:+, after $3 dead handshakes}"
	sq flush
	set_sysctl "$SRV" net.ipv4.tcp_syncookies "$1"
	apply <<-EOT
		class add gold priority 0 reserve $2%
		class add bulk priority 6 max-wait none
		match add source 10.1.0.0/16 class gold
		match add source 10.3.0.0/16 class bulk
		match add source 10.200.0.0/16 class bulk
		listener add port $PORT
	EOT
	server "$TMP/server" -b $BACKLOG -m none $PORT
	held=$LAST
	manage
	[ -z "${3-}" ] || dead "$3"
	client "$TMP/bulk" -n $BULK -c $BULK -s 10.3.0.1 -S 200 -w 30000 \
		$V4 $PORT
	filler=$LAST
	must_come 10 counter_from bulk promoted 5
	"$PEER" client -N "$CLI" -n 8 -c 8 -s 10.1.0.1 -A -w 2500 \
		$V4 $PORT >"$TMP/gold"
	is "$name: the preferred get in" "$(field "$TMP/gold" acked)" 8
	within "$name: withheld at once" \
		"$(counter bulk withheld_pending)" 0 $QUARTER
	stop "$held" "$filler"
}

half_open_is() {
	[ "$(ss -N "$SRV" -Htn state syn-recv | wc -l)" = "$1" ]
}

# A flood that is over, a burst, and another before the server accepts again.
after_flood() {
	local i before refused
	sq flush
	set_sysctl "$SRV" net.ipv4.tcp_syncookies 0
	set_sysctl "$SRV" net.ipv4.tcp_synack_retries 0
	apply <<-EOT
		class add gold priority 0 reserve 25%
		class add bulk priority 6 max-wait none
		match add source 10.3.0.0/16 class bulk
		match add source 10.200.0.0/16 class bulk
		listener add port $PORT
	EOT
	rm -f "$TMP/go"
	server "$TMP/server" -b 160 -H "$TMP/go" -m epoll $PORT
	held=$LAST
	manage
	for ((i = 0; i < 5; i++)); do
		"$PEER" segment -N "$CLI" -s 10.200.0.1 -S 50 -n 50 $V4 $PORT \
			>/dev/null
		must_come 10 half_open_is 0
	done
	set_sysctl "$SRV" net.ipv4.tcp_synack_retries 5
	client "$TMP/first" -n 155 -c 155 -s 10.3.0.1 -S 200 -w 60000 $V4 $PORT
	must_come 10 counter_from bulk withheld_pending 41
	before=$(counter bulk admitted) refused=$(counter bulk queue_refused)
	client "$TMP/second" -n 20 -c 20 -s 10.3.1.1 -S 200 -w 60000 $V4 $PORT
	must_come 10 counter_from bulk queue_refused $((refused + 20))
	is "after a flood: with a quarter waiting nobody else comes" \
		"$(counter bulk admitted)" "$before"
	touch "$TMP/go"
	must_come 60 has "$TMP/first" ^done
	must_come 60 has "$TMP/second" ^done
	is "after a flood: the first burst is served" \
		"$(field "$TMP/first" answered)" 155
	is "after a flood: and the second" "$(field "$TMP/second" answered)" 20
	is "after a flood: withheld have completed" \
		"$(counter bulk withheld_completed)" "$(counter bulk withheld)"
	stop "$held"
}

round 1 25
round 0 25
round 0 75
round 1 25 12
after_flood
is "no connection waits for nobody" \
	"$(wait_for 10 sockets_are 0; sockets)" 0
