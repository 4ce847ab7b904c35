#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A listener is managed from its first SYN on, and earlier clients have begun handshakes
# that were not counted.  They are expected all the same, for a second: a SYN that arrives
# before they have completed is refused, instead of making its connection wait at the gate.
# Nor is an empty queue room for a crowd whose handshakes, all of them judged, have only
# begun.
#
# Must fail if: only handshakes were expected whose SYN was judged; or none while the queue
# is empty.

. "${BASH_SOURCE[0]%/*}/lib.sh"
need nft
plan 5

BACKLOG=64 FIRST=34 MORE=46 CROWD=80

# hold IN [OUT]: rules of the clients, in place of those of before
hold() {
	cli nft -f - <<-EOT || die "no nft"
		table inet held
		delete table inet held
		table inet held {
			chain in {
				type filter hook input priority 0
				$1
			}
			chain out {
				type filter hook output priority 0
				${2-}
			}
		}
	EOT
}

half_open_are() {
	[ "$(half_open)" = "$1" ]
}

judged_from() {
	local stats
	stats=$(told stats -j)
	counter_in "$stats" bulk seen
	[ "${found:-0}" -ge "$1" ]
}

# both: a crowd, and another while the first is still under way.  Sets took, in ms.
both() {
	local began
	PORT=$((PORT + 1))
	hold "tcp sport $PORT tcp flags & (syn|ack) == syn|ack ip daddr 10.3.0.0/16 drop"
	server "$TMP/server" -b $BACKLOG -m none $PORT
	held=$LAST
	client "$TMP/first" -n $FIRST -c $FIRST -s 10.3.0.1 -S 200 -w 30000 \
		$V4 $PORT
	first=$LAST
	must_come 20 half_open_are $FIRST
	sq listener add port $PORT
	began=$(ms)
	manage
	client "$TMP/more" -n $MORE -c $MORE -s 10.4.0.1 -S 200 -w 30000 \
		$V4 $PORT
	more=$LAST
	must_come 20 judged_from $MORE
	took=$(($(ms) - began))
}

load_synq
apply <<-EOT
	class add gold priority 0 reserve 25%
	class add bulk priority 6 default max-wait none
	match add source 10.1.0.0/16 class gold
EOT
for try in {1..20}; do
	both
	[ "$took" -ge 900 ] || break
	note "try $try took $took ms"
	stop "$held" "$first" "$more"
	[ "$try" -lt 20 ] || die "this machine is too slow"
done
# A refused client does not try again.
hold "" "ip saddr 10.4.0.0/16 tcp dport $PORT tcp flags & (syn|ack) == syn drop"
check "some were refused" [ "$(counter bulk queue_refused)" -ge 20 ]
wait_for 20 half_open_are 0
within "as many as there is room for" "$(counter bulk promoted)" $((FIRST + 1)) 48
is "no connection waits at the gate" "$(counter bulk held)" 0
stop "$held" "$first" "$more"
PORT=$((PORT + 1))
server "$TMP/idle" -b $BACKLOG $PORT
sq listener add port $PORT
manage
"$PEER" segment -N "$CLI" -n $CROWD -s 10.200.0.1 -p 2000 $V4 $PORT >/dev/null
must_come 20 judged_from $((CROWD + 1))
within "an empty queue is no room for a crowd" "$(counter bulk queue_refused)" \
	$((CROWD - 48)) $((CROWD - 20))
stop "$LAST"
is "no connection waits for others" \
	"$(wait_for 10 sockets_are 0; sockets)" 0
