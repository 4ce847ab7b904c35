#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Under tcp_syncookies=2 the kernel answers each SYN by a cookie; but not at a managed
# listener, where synq's policy has full state: then both ends have the options that
# they have without cookies, and a server that talks first recovers from a lost ACK.
# Whoever gets cookies by that policy, or is left to the kernel, gets them.
#
# Would miss its mark if: a class that has full state had a cookie, or one that has
# none had none; if the SYN queue grew past its end, or sequence numbers could be
# guessed; or if the kernel's ways did not come back.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/banner_lib.sh"
need nft
plan 48
QUEUE_MAX=80	# requests, of a backlog of 64: see flooded_until_cookies

# conf [BULK]: options
conf() {
	apply <<-EOT
		class add gold priority 0
		class add silver priority 3 cookies never
		class add bulk priority 6 default max-wait none ${1-}
		match add source 10.1.0.0/16 class gold
		match add source 10.2.0.0/16 class silver
		match add source fd00:1::/32 class gold
		match add source fd00:2::/32 class silver
		listener add port $PORT
	EOT
}

# serve OPTION...: instead of the server before, on another port: requests outlive
# their listener by some seconds
serve() {
	[ -z "${serving-}" ] || stop "$serving"
	PORT=$((PORT + 1))
	server "$TMP/server" -a :: -b 64 -m epoll "$@" $PORT
	serving=$LAST
}

# managed [BULK]: the server's socket is
managed() {
	conf "$@"
	manage
}

# options SPACE FILTER: of one end
options() {
	in_ns "$1" ss -Htino state established "$2" |
		grep -oE '\<(ts|sack|wscale:[0-9,]*|mss:[0-9]*|advmss:[0-9]*)\>' |
		sort | tr '\n' ' '
}

# connect PREFIX: from an address of its own; sets had, what both ends have, and
# cookies: yes, if it came by one
connect() {
	local from=$1$((++n)) to=$V4 address sent received
	address=$from
	case $from in *:*) to=$V6 address="[$from]" ;; esac
	sent=$(mib TcpExt.SyncookiesSent) received=$(mib TcpExt.SyncookiesRecv)
	# shellcheck disable=SC2086
	client "$TMP/c" -s "$from" -w 60000 -K "$TMP/leave" ${talk-} "$to" $PORT
	must_come 30 has "$TMP/c" ^answered
	had="$(options "$SRV" "sport = :$PORT and dst $address")/"
	had+=" $(options "$CLI" "dport = :$PORT and src $address")"
	sent=$(($(mib TcpExt.SyncookiesSent) - sent))
	received=$(($(mib TcpExt.SyncookiesRecv) - received))
	case $((sent > 0))$((received > 0)) in
	00) cookies=no ;;
	11) cookies=yes ;;
	*) cookies="$sent sent, $received received" ;;
	esac
	stop "$LAST"
}

# full NAME PREFIX: two tests
full() {
	local wanted=$idle4
	case $2 in *:*) wanted=$idle6 ;; esac
	connect "$2"
	is "$1: no cookie" "$cookies" no
	is "$1: both ends have what they have without cookies" "$had" "$wanted"
}

# by_cookie NAME PREFIX: one test
by_cookie() {
	connect "$2"
	is "$1: by a cookie" "$cookies" yes
}

# initial: sets seq, the sequence number of the SYN-ACK; always to the same port
initial() {
	"$PEER" segment -N "$CLI" -p 999 -s 10.1.7.1 -w 200 $V4 $PORT \
		>"$TMP/segment"
	seq=$(field "$TMP/segment" seq)
}

# flood: from sources that nobody has, and from other ports each time
flood() {
	"$PEER" segment -N "$CLI" -n 640 -p $((next += 1)) -s 10.200.0.1 -S 640 \
		$V4 $PORT >/dev/null
}

# flooded_now: what goes on is a flood
flooded_now() {
	flood
	counter_is bulk flooded_now 1
}

# Some may be refused at first, since they might be answered.  There is no point in
# going on when the queue holds more than it may.
flooded_until_cookies() {
	flood
	[ $(($(mib TcpExt.SyncookiesSent) - sent)) -ge 100 ] ||
		[ "$(half_open)" -gt $QUEUE_MAX ]
}

# A cookie without time stamps knows neither SACK nor window scaling, nor this MSS.
set_sysctl "$CLI" net.ipv4.tcp_timestamps 0
ip -n "$CLI" link set veth0 mtu 1400
n=0 next=5000

# --- stock kernel ---
serve
connect 10.1.1.
idle4=$had
note "$idle4"
is "stock kernel, tcp_syncookies=1: no cookie" "$cookies" no
connect fd00:1::
idle6=$had
note "$idle6"
set_sysctl "$SRV" net.ipv4.tcp_syncookies 2
by_cookie "stock kernel" 10.1.1.
check "stock kernel: options are lost" test "$had" != "$idle4"
stop "$serving"
talks_first
banner
is "stock kernel: a lost ACK is not made up for" "$answered" 0

# --- who has full state ---
load_synq
serve
managed 2>"$TMP/said"
check "nothing to say" test ! -s "$TMP/said"
full "auto" 10.1.1.
full "auto, IPv6" fd00:1::
full "never" 10.2.1.
full "never, IPv6" fd00:2::
sent=$(mib TcpExt.SyncookiesSent)
"$PEER" client -N "$SRV" -w 30000 $V4 $PORT >"$TMP/c"
is "the host itself: served" "$(field "$TMP/c" answered)" 1
is "the host itself: no cookie" $(($(mib TcpExt.SyncookiesSent) - sent)) 0
"$PEER" segment -N "$CLI" -n 5 -s 10.200.0.1 $V4 $PORT >/dev/null
is "unanswered ones are half open" "$(half_open)" 5
is "and known to be" "$(counter bulk half_open)" 5
stop "$serving"
PORT=$((PORT + 1))
talks_first
managed
recovers "a lost ACK"

# --- their sequence numbers ---
serve
managed
set_sysctl "$SRV" net.ipv4.tcp_syncookies 1
initial
first=$seq
set_sysctl "$SRV" net.ipv4.tcp_syncookies 2
initial
second=$seq
set_sysctl "$SRV" net.ipv4.tcp_syncookies 1
initial
set_sysctl "$SRV" net.ipv4.tcp_syncookies 2
between=$(((second - first) & 0xffffffff)) whole=$(((seq - first) & 0xffffffff))
note "kernel's $first, $second, kernel's $seq"
check "sequence numbers are the kernel's, by the clock" \
	test $between -gt 0 -a $between -lt $whole

# --- who has not ---
managed "cookies always"
before=$(counter bulk cookie_sent)
by_cookie "always" 10.3.1.
check "always: synq's" test "$(counter bulk cookie_sent)" -gt "$before"
sq class set gold enforce off
by_cookie "enforce off" 10.1.1.
sq class set gold enforce on
full "enforce on" 10.1.1.
sq off
by_cookie "synq off" 10.1.1.
sq on
full "synq on" 10.1.1.

# --- listeners ---
serve -O 41,49,1	# IPV6_RECVPKTINFO
managed
by_cookie "who wants to see what an IPv6 SYN came with" fd00:1::
full "but not of IPv4" 10.1.1.
if has_sysctl net.mptcp.enabled; then
	serve -a 0.0.0.0 -M
	managed
	before=$(mib MPTcpExt.MPCapableACKRX)
	talk=-M connect 10.1.1.
	is "MPTCP: no cookie" "$cookies" no
	check "MPTCP: and it is that" \
		test "$(mib MPTcpExt.MPCapableACKRX)" -gt "$before"
else
	skip "MPTCP: no cookie" "no MPTCP"
	skip "MPTCP: and it is that" "no MPTCP"
fi
# What synq cannot answer, since it cannot sign, the kernel does.
stop "$serving"
PORT=$((PORT + 1))
background "$TMP/server" "$PEER" server -N "$SRV" -m epoll -K md5 $PORT
serving=$LAST
wait_for 10 has "$TMP/server" '^(listening|skip|tcp_peer)'
if is_up "$TMP/server"; then
	managed "cookies always"
	before=$(counter bulk cookie_sent)
	by_cookie "always, at a listener with keys" 10.3.1.
	is "always, at a listener with keys: the kernel's" \
		"$(counter bulk cookie_sent)" "$before"
else
	skip "always, at a listener with keys" "$(cat "$TMP/server")"
	skip "always, at a listener with keys: the kernel's" "no key"
fi

# --- floods ---
serve
managed
flood
full "full of one class, another class" 10.1.1.
must_come 20 flooded_now
full "flooded, another class" 10.1.1.
by_cookie "flooded, its own" 10.3.1.
serve
managed "cookies never excess pass"
sent=$(mib TcpExt.SyncookiesSent)
check "never, excess pass: who finds the queue full gets the kernel's cookie" \
	wait_for 60 flooded_until_cookies
within "never, excess pass: it holds no more than it may" "$(half_open)" 40 $QUEUE_MAX

# --- it comes back ---
serve
managed
full "a new listener" 10.1.1.
sq flush
by_cookie "flush" 10.1.1.
managed
full "managed again" 10.1.1.
unload_synq
by_cookie "the module has gone" 10.1.1.
