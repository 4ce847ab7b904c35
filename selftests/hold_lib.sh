# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034,SC2154
#
# Connections that are held at the final ACK, for hold*.sh: a server that does not accept,
# late clients of which $WAITING are held (gate_lib.sh), and what becomes of them.

. "${BASH_SOURCE[0]%/*}/gate_lib.sh"

SOON=900	# ms: less than any timer of TCP's

two_classes() {
	apply <<-EOT
		class add gold priority 0 reserve 25%
		class add bulk priority 6 max-wait none cookies never
		match add source 10.1.0.0/16 class gold
		match add source 10.3.0.0/16 class bulk
		match add source fd00:1::/32 class gold
		match add source fd00:3::/32 class bulk
		listener add port $PORT
	EOT
}

none_held() {
	[ "$(conf_counter sockets)" = 0 ] || counter_is bulk held_now 0
}

# begin OPTION...: a server and its late clients, which are held
begin_held() {
	sq flush
	two_classes
	hold "$@"
	manage "$TO"
	rm -f "$TMP/stay"
	overfill "${talks[@]}"
	all_held
}

# late: those of the clients that were late, and are served
late_are() {
	has "$TMP/late" ^answered "$1"
}

# by_path: connections of the late whose numbers are those of the path.  It is a veth:
# 100 ms would be much for a round trip, and an RTO is 200 ms at least.
by_path() {
	srv ss -Htni state established "sport = :$PORT" dst "$LATE_NET" |
		grep -E '(rto|rtt|cwnd):' | sed 's/.* rto:\([0-9.]*\) rtt:\([0-9.]*\).* cwnd:\([0-9]*\).*/\1 \2 \3/' |
		awk '$1 <= 600 && $2 <= 100 && $3 >= 10 { n++ } END { print n + 0 }'
}

# served_soon NAME N: six tests, and one if N connections are left to look at, which were held
served_soon() {
	local since
	# The SYN-ACKs of the late were sent again before, and are again.
	sleep 0.5
	since=$(ms)
	touch "$TMP/go"
	wait_for 30 late_are $LATE
	since=$(($(ms) - since))
	within "$1: all late ones are served at once (ms)" $since 0 $SOON
	[ "$2" = 0 ] || is "$1: theirs are the numbers of the path" "$(by_path)" "$2"
	touch "$TMP/stay"
	is "$1: all bulk is served" "$(served answered)" $((LATE + BULK))
	is "$1: nobody was reset" "$(served reset)" 0
	is "$1: all that were held were released" "$(counter bulk released)" "$WAITING"
	is "$1: the account adds up" "$(account bulk)" 0
	is "$1: none was dropped" "$(counter bulk hold_full)" 0
	stop "$held"
}
