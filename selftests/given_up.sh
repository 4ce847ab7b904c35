#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Clients that reset what they began leave nothing in a queue, but the listener expects
# their handshakes, and refuses others of their class meanwhile.  It expects them no
# longer than handshakes take, even if no further SYN is let through.
#
# Must fail if: a SYN were refused by what was known when the last one was let through.

. "${BASH_SOURCE[0]%/*}/lib.sh"
plan 7

none_half_open() {
	[ "$(half_open)" = 0 ]
}

# given_up FROM TO CLIENT: 64 at once are reset by their own host, as manage() says
given_up() {
	local before
	before=$(counter bulk queue_refused)
	"$PEER" segment -N "$CLI" -n 64 -s "$1" -S 64 "$2" $PORT >/dev/null
	check "$2: others are refused meanwhile" \
		[ "$(counter bulk queue_refused)" -gt "$before" ]
	check "$2: the SYN queue is empty" wait_for 5 none_half_open
	client "$TMP/late" -s "$3" -w 10000 "$2" $PORT
	check "$2: a client that tries again is served" wait_for 15 has "$TMP/late" ^answered
	stop "$LAST"
}

# No cookies: else the state of the SYN queue is asked for before that of the other.
set_sysctl "$SRV" net.ipv4.tcp_syncookies 0
load_synq
apply <<-EOT
	class add gold priority 0
	class add bulk priority 6 default max-wait none
	match add source 10.1.0.0/16 class gold
	listener add port $PORT
EOT
server "$TMP/server" -a :: -b 16 $PORT
manage
given_up 10.3.1.1 $V4 10.3.0.1
given_up fd00:3::1:1 $V6 fd00:3::1

unload_synq
check "nothing is left behind" test ! -d /sys/module/synq
