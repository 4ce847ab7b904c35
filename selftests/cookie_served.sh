#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Clients over the rate of their class get in by SYN cookies, which the kernel
# honours: they are served, keep what they negotiated, and pass the gate and the
# order as any others do.
#
# Must fail if: the kernel did not believe the cookies, or read other
# options from them than the client was offered; or if cookies went round the gate.
#
# Needs two CPUs: the last ACK and the data behind it.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/order_lib.sh"
plan 39

N=20

# conf [OPTION...]: of the class
conf() {
	apply <<-EOT
		class add gold priority 0
		class add bulk priority 6 rate 1/second burst 1 excess cookie max-wait none $@
		match add source 10.1.0.0/16 class gold
		match add source 10.3.0.0/16 class bulk
		match add source fd00:3::/32 class bulk
		listener add port $PORT
	EOT
}

# options FROM: of the connections from an address, as the server has them
options() {
	local dst=$1
	case $dst in *:*) dst="[$dst]" ;; esac
	srv ss -Htino state established "sport = :$PORT and dst $dst" |
		grep -oE '\<(ts|sack|ecn|ecnseen|wscale:[0-9,]*|mss:[0-9]*|advmss:[0-9]*)\>' |
		sort | tr '\n' ' '
}

# stay OUT OPTION...: clients that stay
stay() {
	rm -f "$TMP/leave"
	client "$@" -w 60000 -K "$TMP/leave"
}

# same_options NAME FAMILY: by cookie as without
same_options() {
	local plain=10.2.0.1 cookie=10.3.0.1 to=$V4 wanted
	[ "$2" = 4 ] || plain=fd00:2::1 cookie=fd00:3::1 to=$V6
	stay "$TMP/plain" -s $plain "$to" $PORT
	pair=("$LAST")
	must_come 10 has "$TMP/plain" ^answered
	wanted=$(options $plain)
	# Twice: a token may be left for the first.
	before=$(mib TcpExt.SyncookiesRecv)
	stay "$TMP/one" -n 3 -c 3 -s $cookie "$to" $PORT
	pair+=("$LAST")
	must_come 10 has "$TMP/one" ^answered 3
	check "IPv$2, $1: by cookie" \
		test "$(mib TcpExt.SyncookiesRecv)" -ge $((before + 2))
	note "$wanted"
	is "IPv$2, $1: each has what others have" \
		"$(options $cookie | tr ' ' '\n' | sort | uniq -c | awk '
			$1 == 3 { printf "%s ", $2 }')" "$wanted"
	touch "$TMP/leave"
	stop "${pair[@]}"
}

load_synq
conf
server "$TMP/server" -a :: -m epoll $PORT
manage

# --- served ---
all_out() {
	local placed
	placed=$(counter bulk placed)
	[ "$placed" -ge $((2 * N - 2)) ] &&
		[ "$(counter bulk accepted)" = "$placed" ]
}

# served FAMILY
served() {
	local source=10.3.0.1 to=$V4 before failed
	[ "$1" = 4 ] || source=fd00:3::1 to=$V6
	before=$(mib TcpExt.SyncookiesRecv)
	failed=$(mib TcpExt.SyncookiesFailed)
	cookies=$(counter bulk excess_cookie)
	client "$TMP/c" -n $N -c $N -s $source -S $N -w 20000 "$to" $PORT
	must_come 30 has "$TMP/c" ^done
	is "IPv$1: all are served" "$(field "$TMP/c" answered)" $N
	cookies=$(($(counter bulk excess_cookie) - cookies))
	within "IPv$1: all but one or two by cookies" $cookies $((N - 3)) $N
	is "IPv$1: each is believed" "$(by_cookie "$before" $cookies)" $cookies
	is "IPv$1: none is not" \
		$(($(mib TcpExt.SyncookiesFailed) - failed)) 0
}
served 4
served 6
adds_up "served"
is "all are promoted" "$(counter bulk promoted)" $((2 * N))
# A server with a CPU of its own may take one before it is placed.
check "placed and accepted, too, but for two at most" wait_for 30 all_out
sq why 10.3.0.3 >"$TMP/why"
check "why: knows of it" has "$TMP/why" 'excess-cookie: over rate 1/second$'
sq why -j 10.3.0.3 >"$TMP/why"
check "why: as JSON" has "$TMP/why" excess_cookie
for _ in 1 2 3; do
	"$PEER" segment -N "$CLI" -s 10.3.0.77 -p 999 $V4 $PORT >/dev/null
done
is "a SYN that got a cookie and comes again was not refused" \
	"$(counter bulk retries)" 0

# --- what was negotiated ---
same_options "as they are" 4
same_options "as they are" 6
set_sysctl "$CLI" net.ipv4.tcp_ecn 1
same_options "ECN" 4
# Accurate ECN
if srv sysctl -qw net.ipv4.tcp_ecn=3 2>/dev/null; then
	set_sysctl "$CLI" net.ipv4.tcp_ecn 3
	same_options "AccECN" 4
	same_options "AccECN" 6
	set_sysctl "$SRV" net.ipv4.tcp_ecn 2
else
	for _ in {1..4}; do
		skip "AccECN" "not on this kernel"
	done
fi
set_sysctl "$CLI" net.ipv4.tcp_ecn 0
set_sysctl "$CLI" net.ipv4.tcp_timestamps 0
client "$TMP/c" -n 5 -c 5 -s 10.3.0.1 -w 20000 $V4 $PORT
must_come 30 has "$TMP/c" ^done
is "without time stamps: served" "$(field "$TMP/c" answered)" 5
set_sysctl "$CLI" net.ipv4.tcp_timestamps 1

# --- order ---
held=''
stop "${pids[0]}"
hold
manage
client "$TMP/bulk" -n 5 -c 5 -s 10.3.0.1 -i b -A -w 20000 $V4 $PORT
must_come 10 queue_is 5
client "$TMP/gold" -n 5 -c 5 -s 10.1.0.1 -i g -A -w 20000 $V4 $PORT
must_come 10 queue_is 10
touch "$TMP/go"
must_come 10 has "$TMP/server" ^accept 10
is "a class before them is served first" \
	"$(awk '$1 == "accept" { printf "%s", substr($4, 1, 1) }' "$TMP/server")" \
	gggggbbbbb
stop "$held"

# --- gate ---
server "$TMP/small" -b 20 -m none $PORT
small=$LAST
manage
client "$TMP/bulk" -n 60 -c 4 -p 50 -s 10.3.0.1 -S 60 -A -w 3000 $V4 $PORT
must_come 60 has "$TMP/bulk" ^done
within "a queue of 20, a quarter of it reserved: so many get in" "$(queued)" 6 15
check "the others are refused at the SYN" \
	test "$(counter bulk queue_refused)" -gt 0
before=$(counter bulk excess_cookie)
"$PEER" segment -N "$CLI" -n 10 -s 10.3.0.200 $V4 $PORT >/dev/null
is "where there is no room there is no cookie" \
	$(($(counter bulk excess_cookie) - before)) 0
client "$TMP/gold" -n 5 -c 5 -s 10.1.0.1 -A -w 30000 $V4 $PORT
must_come 40 has "$TMP/gold" ^done
is "and there is room for gold" "$(field "$TMP/gold" acked)" 5
adds_up "gate"
stop "$small"

# --- a full queue ---
sq flush
server "$TMP/full" -b 4 -m none $PORT
full=$LAST
apply <<-EOT
	class add bulk priority 0 rate 1/second burst 1 excess cookie max-wait none
	match add source 10.3.0.0/16 class bulk
	listener add port $PORT
EOT
manage
client "$TMP/bulk" -n 5 -c 5 -s 10.3.0.1 -A -w 3000 $V4 $PORT
must_come 10 queue_is 5
before=$(counter bulk excess_cookie)
"$PEER" segment -N "$CLI" -n 10 -s 10.3.0.200 $V4 $PORT >/dev/null
is "the queue is full: no cookie" $(($(counter bulk excess_cookie) - before)) 0
within "the queue is full: dropped, and counted" \
	"$(counter bulk excess_unanswered)" 9 10
stop "$full"

# --- switched off ---
sq flush
set_sysctl "$SRV" net.ipv4.tcp_syncookies 0
server "$TMP/off" -m none $PORT
conf 2>"$TMP/said"
check "tcp_syncookies=0: said when it is loaded" \
	has "$TMP/said" 'note: .*net.ipv4.tcp_syncookies is 0'
manage
"$PEER" segment -N "$CLI" -n 10 -s 10.3.0.200 $V4 $PORT >/dev/null
within "tcp_syncookies=0: dropped, and counted" \
	"$(counter bulk excess_unanswered)" 8 9
set_sysctl "$SRV" net.ipv4.tcp_syncookies 1
conf 2>"$TMP/said"
check "tcp_syncookies=1: nothing to say" test ! -s "$TMP/said"
conf "enforce off"
before=$(mib TcpExt.SyncookiesSent)
"$PEER" segment -N "$CLI" -n 10 -s 10.3.0.210 $V4 $PORT >/dev/null
is "enforce off: no cookie" $(($(mib TcpExt.SyncookiesSent) - before)) 0
within "enforce off: counted as would-be" "$(counter bulk would_refuse)" 8 10
adds_up "enforce off"
