#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Floods of Fast Open SYNs with data: that ask for a Fast Open cookie, have a wrong
# one, the right one, and where the server wants none.  Each is judged, once, and
# counted; those over the rate of their class reach the listener as little as any
# other, cookie or not; and preferred clients are served.
#
# Must fail if: a Fast Open SYN got round the policer, or into the reserve of
# a class before its own, since it is queued before its handshake is complete.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/flood_lib.sh"
plan $((7 * 3 + 5 + 2 * 4))

# fast NAME FROM OPTION...: three tests
fast() {
	local name=$1
	passive=$(mib TcpExt.TCPFastOpenPassive)
	under_flood "$@" -d 400
	passive=$(($(mib TcpExt.TCPFastOpenPassive) - passive))
	is "$name: each is judged" "$(counter bulk seen)" "$sent"
	adds_up "$name"
}

# policed NAME LEAST: two tests, after fast in a class with a rate
policed() {
	allowed $took
	within "$1: no more than the rate" "$(counter bulk admitted)" 1 $most
	within "$1: opened, of those" $passive "$2" "$(counter bulk admitted)"
}

# cookie_of FROM: the Fast Open cookie that the server gives an address
cookie_of() {
	local to
	towards "$1"
	"$PEER" segment -N "$CLI" -s "$1" -o mss=1460,fo -w 500 "$to" $PORT |
		sed -n 's/.*fo:\([0-9a-f]*\).*/\1/p'
}

# Each time a server whose queue of Fast Open requests is empty.
serve() {
	[ -z "${served-}" ] || stop "$served"
	server "$TMP/server" -a :: -m epoll -F 100 $PORT
	served=$LAST
}

load_synq
set_sysctl "$SRV" net.ipv4.tcp_fastopen 3
serve
flood_conf_anew
fast "asks for a cookie" 10.200.0.1 -S 1000 -o mss=1460,fo
is "asks for a cookie: none is opened" $passive 0
flood_conf_anew
fast "wrong cookie" 10.201.0.1 -S 1000 -o mss=1460,fo=0123456789abcdef
is "wrong cookie: none is opened" $passive 0
for from in 10.202.0.1 fd00:f::1; do
	cookie=$(cookie_of $from)
	check "the server gives $from a cookie" test -n "$cookie"
	serve
	flood_conf_anew
	fast "right cookie, $from" $from -p 3000 -o "mss=1460,fo=$cookie"
	within "right cookie, $from: as many as the server allows" $passive 50 110
	serve
	flood_conf_anew rate $RATE/second burst $BURST
	fast "right cookie, $from, over the rate" $from -p 22000 \
		-o "mss=1460,fo=$cookie"
	policed "right cookie, $from, over the rate" 1
done
set_sysctl "$SRV" net.ipv4.tcp_fastopen 1543
serve
flood_conf_anew rate $RATE/second burst $BURST excess cookie
fast "no cookie wanted" 10.203.0.1 -S 1000
policed "no cookie wanted" 1
is "no cookie wanted: over the rate they get SYN cookies" \
	"$(counter bulk excess_cookie)" $((sent - $(counter bulk admitted)))
