#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The cookie policy of a class, a listener and an application: always, never, and which
# overrides which.  And its purpose: a server that talks first recovers from a lost ACK
# within about a second while it is flooded, and TCP_DEFER_ACCEPT is kept, where the stock
# kernel's cookies lose both.
#
# Must fail if: a cookie were sent where none may be, or full state given where all are
# to get cookies, or a policy applied to another class or listener.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/banner_lib.sh"
need nft
EXAMPLE=$DIR/synq_order
need "$EXAMPLE"
plan 48

# conf GOLD BULK LISTENER: options
conf() {
	apply <<-EOT
		class add gold priority 0 $1
		class add bulk priority 6 default max-wait none $2
		match add source 10.1.0.0/16 class gold
		listener add port $PORT ${3-}
	EOT
}

# ten times what the queue takes, from sources that nobody has, and on; none twice,
# since requests outlive their listener by some seconds
flood() {
	"$PEER" segment -N "$CLI" -n 640 -p $((next += 1)) -s 10.200.0.1 \
		-S 10000 $V4 $PORT >/dev/null
	background "$TMP/flood" "$PEER" segment -N "$CLI" -n 200000 -r 300 \
		-p $((next += 1)) -s 10.200.0.1 -S 10000 $V4 $PORT
	flooding=$LAST
}

# clients FROM N: served and come by a cookie: sets got, as "N N"
clients() {
	local before
	before=$(mib TcpExt.SyncookiesRecv)
	client "$TMP/c" -n "$2" -c "$2" -s "$1" -w 5000 $V4 $PORT
	must_come 20 has "$TMP/c" ^done
	got="$(field "$TMP/c" answered) $(by_cookie "$before" "$2")"
}

# --- a lost ACK ---
next=5000
talks_first
recovers "stock kernel, no flood"
flood
banner
is "stock kernel, flooded: the client hears nothing" "$answered" 0
stop "$flooding" "$serving"

load_synq
talks_first
conf "" ""
manage
flood
recovers "flooded, another class"
conf "cookies never" ""
recovers "flooded, another class, never"
is "gold had no cookie" "$(counter gold cookie_sent)" 0
stop "$flooding" "$serving"
sq flush

# --- TCP_DEFER_ACCEPT ---
# silent WANTED NAME: is a client that says nothing taken for a connection?
silent() {
	rm -f "$TMP/speak"
	client "$TMP/c" -s 10.1.0.1 -L "$TMP/speak" -w 30000 $V4 $PORT
	must_come 10 has "$TMP/c" ^connected
	if [ "$1" = 1 ]; then
		wait_for 10 queue_is 1
	else
		pause_ms 500
	fi
	is "$2" "$(queued)" "$1"
	touch "$TMP/speak" "$TMP/go"
}

deferring() {
	rm -f "$TMP/go"
	server "$TMP/server" -b 64 -D 20 -H "$TMP/go" $PORT
	serving=$LAST
}

deferring
flood
silent 1 "TCP_DEFER_ACCEPT, stock kernel, flooded: lost"
stop "$flooding" "$serving" "$LAST"
deferring
conf "" ""
manage
flood
silent 0 "TCP_DEFER_ACCEPT, flooded, another class: kept"
check "and served when it speaks" wait_for 10 has "$TMP/c" ^answered
stop "$flooding" "$serving"
sq flush

# --- always ---
server "$TMP/server" -a :: -b 64 -m epoll $PORT
conf "" "cookies always"
sent=$(mib TcpExt.SyncookiesSent)
"$PEER" segment -N "$CLI" -n 10 -s 10.3.0.200 $V4 $PORT >/dev/null
is "always: each SYN, the first, too" $(($(mib TcpExt.SyncookiesSent) - sent)) 10
is "always: counted" "$(counter bulk cookie_sent) $(counter bulk admitted)" "10 0"
is "always: nothing is half open" "$(counter bulk half_open)" 0
clients 10.3.0.1 10
is "always: served, by cookies" "$got" "10 10"
clients 10.1.0.1 10
is "always: not another class" "$got" "10 0"
adds_up "always"
sq why 10.3.0.1 >"$TMP/why"
check "why says so" has "$TMP/why" 'cookie-sent: its class has cookies always$'
sq why -j 10.3.0.1 >"$TMP/why"
check "why says so, as JSON" has "$TMP/why" cookie_sent
is "a SYN that got a cookie was not refused" "$(counter bulk retries)" 0
conf "" "cookies always enforce off"
clients 10.3.0.1 10
is "always, enforce off: none" "$got" "10 0"
check "always, enforce off: would be" test "$(counter bulk would_refuse)" -ge 10
conf "" "rate 1/second burst 1 cookies always excess drop"
clients 10.3.0.1 1
before=$(counter bulk cookie_sent)
"$PEER" segment -N "$CLI" -n 10 -s 10.3.0.200 $V4 $PORT >/dev/null
within "always, over a rate: dropped" $(($(counter bulk cookie_sent) - before)) 0 2

# --- what overrides what ---
conf "cookies never" "" "cookies always"
clients 10.1.0.1 10
is "always of the listener, never of the class: none" "$got" "10 0"
clients 10.3.0.1 10
is "always of the listener, nothing of the class: all" "$got" "10 10"
sq why 10.3.0.1 >"$TMP/why"
check "why says whose" has "$TMP/why" 'cookie-sent: its listener has cookies always$'
conf "" "cookies always" "cookies never"
clients 10.1.0.1 10
is "never of the listener, nothing of the class: none" "$got" "10 0"
clients 10.3.0.1 10
is "never of the listener, always of the class: all" "$got" "10 10"
sq class set bulk cookies none
clients 10.3.0.1 10
is "and taken away: none" "$got" "10 0"
conf "" "rate 1/second burst 1 excess cookie" "cookies never"
sent=$(mib TcpExt.SyncookiesSent)
"$PEER" segment -N "$CLI" -n 10 -s 10.3.0.210 $V4 $PORT >/dev/null
is "never: no excess cookie either" $(($(mib TcpExt.SyncookiesSent) - sent)) 0
within "never: counted" "$(counter bulk excess_unanswered)" 8 10

# --- never, and flooded ---
conf "" "cookies never"
sent=$(mib TcpExt.SyncookiesSent)
flood
must_come 10 counter_from bulk share_refused 100
clients 10.1.0.1 10
is "never, flooded: other classes come as ever" "$got" "10 0"
is "never, flooded: not one cookie, nor of the kernel's" \
	$(($(mib TcpExt.SyncookiesSent) - sent)) 0
stop "$flooding"
adds_up "never, flooded"
sq flush

# --- the sysctl ---
set_sysctl "$SRV" net.ipv4.tcp_syncookies 2
conf "" "cookies never" 2>"$TMP/said"
check "tcp_syncookies=2: said that every SYN gets the kernel's" \
	has "$TMP/said" 'note: every SYN gets a cookie'
manage
clients 10.3.0.1 10
is "tcp_syncookies=2: and every SYN does" "$got" "10 10"
set_sysctl "$SRV" net.ipv4.tcp_syncookies 0
conf "" "" "cookies always" 2>"$TMP/said"
check "tcp_syncookies=0: said that always sends none" \
	has "$TMP/said" 'note: no cookies are sent'
manage
clients 10.3.0.1 10
is "tcp_syncookies=0: and none is" "$got" "10 0"
set_sysctl "$SRV" net.ipv4.tcp_syncookies 1
clients 10.3.0.1 10
is "tcp_syncookies=1 again: all are" "$got" "10 10"
stop "${pids[@]}"

# --- the application ---
# option CASE: what setting and getting gave
option() {
	sed -n "s/^$1 //p" "$TMP/option"
}

options() {
	srv "$PEER" option -C "$@" $PORT >"$TMP/option" || die "tcp_peer option"
}

# example COOKIES: the example in $SRV
example() {
	background "$TMP/example" "$PEER" in "$SRV" "$EXAMPLE" $PORT strict "$1"
	serving=$LAST
	must_come 10 has "$TMP/example" '^cookies'
}

# chosen FROM: of five clients, how many came by a cookie
chosen() {
	local before from
	from=$(lines "$TMP/example" ^client)
	before=$(mib TcpExt.SyncookiesRecv)
	client "$TMP/c" -n 5 -s "$1" -A -w 5000 $V4 $PORT
	must_come 20 has "$TMP/example" ^client $((from + 5))
	got=$(by_cookie "$before" 5)
}

conf "" "" "app-cookies on"
options
is "setsockopt: auto, always, never, as configured" \
	"$(option fifo), $(option weighted), $(option above), $(option strict)" \
	"0 1, 0 2, 0 3, 0 1"
is "setsockopt: no such policy, too short" \
	"$(option below), $(option short)" "EINVAL 3, EINVAL EINVAL"
is "setsockopt: does not listen" "$(option bound)" "ENOTCONN ENOTCONN"
example always
is "the example has it" "$(tail -n 1 "$TMP/example")" "cookies always"
chosen 10.3.0.1
is "the application's always: all" "$got" 5
sq class set gold cookies never
chosen 10.1.0.1
is "but not of a class that never does" "$got" 0
sq listener set port $PORT app-cookies off
chosen 10.3.0.1
is "has no effect while it is not allowed" "$got" 0
stop "$serving"
options
is "not allowed: EPERM, and the policy in force" "$(option weighted)" "EPERM 1"
sq listener set port $PORT app-cookies on cookies always
example never
chosen 10.3.0.1
is "the application's never, at a listener of always: none" "$got" 0
