#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A crowd arrives at once, ten seconds of work for the server.  A refused client tries
# again at 1, 2, 3, 4 and 5 s and then at 7, 11, 19 and 35 s; before Linux 6.5 at 1, 3, 7,
# 15 and 31 s.  All are served, the last of them at their try of 11 or 15 s, since a late
# try may wait for longer: the server is not left idle until the next one.
#
# Must fail if: connections were lost, or a late try were admitted no more generously
# than an early one, so that the server idles between tries.

. "${BASH_SOURCE[0]%/*}/lib.sh"
plan 5

SERVICE=100 CROWD=100	# ms, clients

load_synq
apply <<-EOT
	class add gold priority 0
	class add bulk priority 6 default max-wait 200ms
	match add source 10.1.0.0/16 class gold
	listener add port $PORT
EOT
server "$TMP/server" -b 1024 -t $SERVICE $PORT
manage
# The speed of the server is known when the crowd comes: it was busy for a while.
client "$TMP/few" -n 40 -r 20 -s 10.3.0.1 -S 40 -w 30000 $V4 $PORT
must_come 30 has "$TMP/few" ^done
client "$TMP/crowd" -n $CROWD -c $CROWD -s 10.3.1.1 -S 250 -w 60000 $V4 $PORT
must_come 70 has "$TMP/crowd" ^done
is "all are answered" "$(field "$TMP/crowd" answered)" $CROWD
is "in one try, once let in" "$(counter bulk promoted)" $((40 + CROWD))
# On a machine that stalls a few come once more.
slowest=$(awk '$1 == "answered" { print $3 }' "$TMP/crowd" | sort -n | tail -n 10 |
	head -n 1)
most=18900
[ -e /proc/sys/net/ipv4/tcp_syn_linear_timeouts ] || most=27000
within "the slowest but nine, ms" "$slowest" $((SERVICE * CROWD * 2 / 3)) $most
within "refused at first, not for ever" "$(counter bulk retries)" $((CROWD / 2)) \
	$((8 * CROWD))
is "no connection is held" "$(counter bulk held)" 0
