#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The SYN queue is divided by class: while SYNs with forged sources fill it in one class,
# the clients of another keep full state, with all that they negotiate without timestamps,
# and none of them gets a cookie; the honest clients of the flooded class do.  Also with
# tcp_syncookies 0, where the flooded class is refused instead; over IPv6; with short
# queues and long ones; and if the first class is the flooded one.
#
# Must fail if: a class could take the share of another, or its own clients were shut
# out, or any client were refused without a flood.

. "${BASH_SOURCE[0]%/*}/lib.sh"
plan 93

N=10

# Sources of 10.200/16 and fd00:200::/32 are nobody's, and in the class bulk; those of
# 10.201/16 are nobody's, and gold.
conf() {
	apply <<-EOT
		class add gold priority 0
		class add bulk priority 6 default max-wait none $1
		match add source 10.1.0.0/16 class gold
		match add source fd00:1::/32 class gold
		match add source 10.201.0.0/16 class gold
		listener add port $PORT
	EOT
}

# flood N [FROM [TO]]: ten times as many as a queue of N takes, of a long one twice,
# then 300 in a second; none twice, since requests outlive their listener by some
# seconds
flood() {
	local from=${2-10.200.0.1} to=${3-$V4}
	"$PEER" segment -N "$CLI" -n $(($1 > 128 ? 2 * $1 : 10 * $1)) \
		-p $((next += 1)) -s "$from" -S 10000 "$to" $PORT >/dev/null
	background "$TMP/flood" "$PEER" segment -N "$CLI" -n 200000 -r 300 \
		-p $((next += 1)) -s "$from" -S 10000 "$to" $PORT
	flooding=$LAST
}

# options FROM: of the connections from an address, as the server has them
options() {
	local dst=$1
	case $dst in *:*) dst="[$dst]" ;; esac
	srv ss -Htino state established "sport = :$PORT and dst $dst" |
		grep -oE '\<(ts|sack|wscale:[0-9,]*|mss:[0-9]*)\>' |
		sort | uniq -c | tr -s ' \n' ' '
}

# connect FROM [TO]: N clients, one after the other, each for up to 3 s; sets served,
# had, and cookies: those that came by one
connect() {
	local before
	rm -f "$TMP/leave"
	before=$(mib TcpExt.SyncookiesRecv)
	client "$TMP/c" -n "$N" -s "$1" -w 3000 -p 3000 -K "$TMP/leave" "${2-$V4}" $PORT
	wait_for 30 has "$TMP/c" ^answered "$N" || note "not all of $N"
	cookies=$(by_cookie "$before" "$N")
	had=$(options "$1")
	touch "$TMP/leave"
	must_come 10 has "$TMP/c" ^done
	served=$(field "$TMP/c" answered)
}

# keeps NAME FROM [TO]: four tests: as without a flood
keeps() {
	connect "$2" "${3-$V4}"
	is "$1: served" "$served" $N
	is "$1: none by a cookie" "$cookies" 0
	is "$1: each negotiates what it does without a flood" "$had" "$idle"
}

# by_cookies NAME FROM [TO]: when it is known for a flood; from an address that had none
# before, since a SYN to TIME_WAIT is left to the stack
by_cookies() {
	wait_for 20 counter_from "${class-bulk}" flooded_now 1
	connect "$2" "${3-$V4}"
	is "$1: served" "$served" $N
	# One whose ACK comes again counts twice.
	within "$1: by cookies" "$cookies" $((N / 2)) $((2 * N))
}

# as_without FROM [TO]: what clients negotiate
as_without() {
	connect "$@"
	idle=$had
	is "without a flood: all are served" "$served $cookies" "$N 0"
}

arrived() {
	[ "$(mib Tcp.InSegs)" -ge "$1" ]
}

# turned_away: forged SYNs fill the queue of the stock kernel, and a client finds no
# place.  They keep theirs for three seconds at the least; false if this machine stood
# still for so long.
turned_away() {
	local came full
	came=$(mib Tcp.InSegs)
	"$PEER" segment -N "$CLI" -n 200 -p $((next += 1)) -s 10.200.0.1 -S 200 \
		"$V4" $PORT >/dev/null
	wait_for 10 arrived $((came + 200))
	full=$(mib TcpExt.TCPReqQFullDrop)
	"$PEER" client -N "$CLI" -s 10.1.0.1 -w 500 "$V4" $PORT >"$TMP/c"
	note "connected $(field "$TMP/c" connected), $(half_open) half open," \
		"$(($(mib TcpExt.TCPReqQFullDrop) - full)) turned away"
	[ "$(field "$TMP/c" connected)" = 0 ] &&
		[ "$(mib TcpExt.TCPReqQFullDrop)" -gt "$full" ]
}

at() {
	server "$TMP/server" -a :: -m epoll -b "$1" $PORT
	serving=$LAST
}

# Requests of a long queue may be given up while they are being listed.
is_known() {
	local counted is_open
	counted=$(counter bulk half_open)
	is_open=$(half_open)
	[ $((counted - is_open)) -ge -4 ] && [ $((counted - is_open)) -le 4 ]
}

# stopped: and the queue goes with its server
stopped() {
	stop "$flooding" "$serving"
}

set_sysctl "$CLI" net.ipv4.tcp_timestamps 0
next=5000

# --- stock kernel ---
at 64
as_without 10.1.0.1
flood 64
connect 10.1.0.1
within "stock kernel: they come by cookies" "$cookies" $((N - 3)) $N
check "stock kernel: and lose window scaling and SACK" test "$had" != "$idle"
stopped
set_sysctl "$SRV" net.ipv4.tcp_syncookies 0
at 64
check "stock kernel, tcp_syncookies=0: a client's SYN is dropped" \
	wait_for 60 turned_away
stop "$serving"

# --- a flood in the ordinary class ---
load_synq
set_sysctl "$SRV" net.ipv4.tcp_syncookies 1
for backlog in 16 128 512 1024 4096; do
	# Of a closed listener requests are still to be seen for a while.
	PORT=$((PORT + 1))
	conf
	at $backlog
	manage
	as_without 10.1.0.1
	connect 10.3.0.1
	is "backlog $backlog, no flood: no client gets a cookie, or is refused for it" \
		"$served $cookies $(counter bulk share_refused)" "$N 0 0"
	flood $backlog
	within "backlog $backlog: it has its share of the queue" "$(half_open)" \
		$((backlog / 4)) $((backlog * 3 / 4))
	check "backlog $backlog: and is known to" wait_for 20 is_known
	keeps "backlog $backlog, gold" 10.1.0.1
	by_cookies "backlog $backlog, bulk" 10.3.1.1
	within "backlog $backlog: found to be flooded" "$(counter bulk flooded)" 1 2
	is "backlog $backlog: gold is not" "$(counter gold flooded)" 0
	stop "$flooding"
	adds_up "backlog $backlog"
	stop "$serving"
	sq flush
done

# --- IPv6 ---
conf
at 64
manage
as_without fd00:1::1 $V6
flood 64 fd00:200::1 $V6
keeps "IPv6, gold" fd00:1::1 $V6
by_cookies "IPv6, bulk" fd00:3::1 $V6
stopped
sq flush

# --- a flood in the first class ---
conf
at 64
manage
as_without 10.3.0.1
flood 64 10.201.0.1
class=gold by_cookies "gold is flooded, gold" 10.1.0.1
keeps "gold is flooded, bulk" 10.3.0.1
stop "$flooding"
adds_up "gold is flooded" gold
stop "$serving"
sq flush

# --- no cookies ---
set_sysctl "$SRV" net.ipv4.tcp_syncookies 0
for excess in drop reset; do
	conf "excess $excess"
	backlog=64
	if [ $excess = reset ]; then
		# The kernel then keeps a quarter of this for known peers.
		set_sysctl "$SRV" net.ipv4.tcp_max_syn_backlog 64
		backlog=1024
	fi
	at $backlog
	manage
	as_without 10.1.0.1
	flood 64
	keeps "tcp_syncookies=0, excess $excess, gold" 10.1.0.1
	check "tcp_syncookies=0, excess $excess: bulk is refused" \
		wait_for 10 counter_from bulk share_refused 10
	is "tcp_syncookies=0, excess $excess: no client gets a cookie" \
		"$(counter bulk cookie_sent)" 0
	client "$TMP/one" -n 3 -c 3 -s 10.3.0.1 -A -w 800 $V4 $PORT
	must_come 10 has "$TMP/one" ^done
	is "tcp_syncookies=0, excess $excess: whether clients are told" \
		"$(grep -q 'refused' "$TMP/one" && echo reset || echo drop)" $excess
	stop "$flooding"
	adds_up "tcp_syncookies=0, excess $excess"
	stop "$serving"
	sq flush
done
