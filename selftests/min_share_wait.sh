#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A server that takes 40 connections per second; half as many again arrive in the first
# class, whose queue stands for longer than the max-wait of the second.  The second has a
# minimum share, and gets it all the same; without a share it gets nothing.
#
# Must fail if: a connection within its class's share were refused for its wait.
#
# One kernel will do: what it tests does not depend on the kernel.

. "${BASH_SOURCE[0]%/*}/lib.sh"
plan 5

SERVICE=25	# ms
GOLD=60		# connections in a second
BULK=120
SECONDS_MAX=40

# overload OPTION...: of the second class; sets share, of 100 accepted that are its own
overload() {
	local bulk gold name=${*:-no minimum share}
	apply <<-EOT
		class add gold priority 0
		class add bulk priority 6 default $*
		match add source 10.1.0.0/16 class gold
		listener add port $PORT
	EOT
	server "$TMP/server" -b 64 -t $SERVICE $PORT
	held=$LAST
	manage
	client "$TMP/gold" -n $((SECONDS_MAX * GOLD)) -r $GOLD -s 10.1.0.1 -S 250 \
		-w 4000 $V4 $PORT
	clients=$LAST
	client "$TMP/bulk" -n $((SECONDS_MAX * BULK)) -r $BULK -s 10.3.0.1 -S 250 \
		-w 4000 $V4 $PORT
	clients+=" $LAST"
	# What was queued before the queue stood has been served then.
	must_come 30 counter_from gold accepted 150
	bulk=$(counter bulk accepted)
	gold=$(counter gold accepted)
	must_come 30 counter_from gold accepted $((gold + 160))
	bulk=$(($(counter bulk accepted) - bulk))
	gold=$(($(counter gold accepted) - gold))
	share=$((100 * bulk / (bulk + gold)))
	note "$name: $bulk of $((bulk + gold))"
	# shellcheck disable=SC2086
	check "$name: both clients still come" kill -0 $clients
	# shellcheck disable=SC2086
	stop $clients $held
}

load_synq
overload
within "no minimum share: nothing is left" "$share" 0 2
sq flush
overload min-share 20%
# Where the server stands still and its queue runs empty a claim lapses.
within "min-share 20 %: so many of 100" "$share" 13 23
within "none of its connections is held" "$(counter bulk held)" 0 2
