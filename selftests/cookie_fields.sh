#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A SYN cookie of synq is what the kernel's own would be, field by field: of the
# kernel under tcp_syncookies=2 first, then of synq, whatever the client offers and
# the listener and the sysctls say.
#
# Where the kernel has Accurate ECN (RFC 9768), with that, too.
#
# Must fail if: a client could tell synq's cookies from the kernel's, or
# an option were offered that the kernel cannot read again from the final ACK.

. "${BASH_SOURCE[0]%/*}/lib.sh"
CASES=44
plan $((2 * CASES + 10))

conf() {
	apply <<-EOT
		class add bulk priority 6 rate 1/second burst 1 excess cookie max-wait none
		match add source 10.200.0.0/16 class bulk
		match add source fd00:f::/32 class bulk
		listener add port $PORT
	EOT
}

cookies_sent() {
	mib TcpExt.SyncookiesSent
}

# answer OPTION...: two SYNs, from other ports each time: the first takes the token of
# the class's rate, if there is one; $got is the answer to the second, without what
# always differs
answer() {
	local line
	next=$((next + 2))
	"$PEER" segment -N "$CLI" -p $next -n 2 -w 150 "$@" "${ends[@]}" $PORT \
		>"$TMP/segment"
	got=
	while read -r line; do
		[[ $line =~ ^answer\ $((next + 1))\ (.*)\ seq= ]] || continue
		line=${BASH_REMATCH[1]}
		[[ ! $line =~ \ tsval=[0-9]* ]] ||
			line=${line/"${BASH_REMATCH[0]}"}
		got+=${got:+;}$line
	done <"$TMP/segment"
}

# ours OPTION...: sets cookies, how many of both got one of synq's; if it is one, it was
# the first SYN that had the token, unless a second has passed between them
ours() {
	local before
	before=$(counter bulk excess_cookie)
	answer "$@"
	cookies=$(($(counter bulk excess_cookie) - before))
	[ $cookies -gt 0 ] || got="no cookie"
}

# like_stock NAME OPTION...
like_stock() {
	local name=$1 wanted before
	shift
	sq off
	set_sysctl "$SRV" net.ipv4.tcp_syncookies 2
	before=$(cookies_sent)
	answer "$@"
	wanted=$got
	[ "$(cookies_sent)" -gt "$before" ] && [ -n "$wanted" ] ||
		die "$name: the kernel sent no cookie"
	set_sysctl "$SRV" net.ipv4.tcp_syncookies 1
	sq on
	ours "$@"
	[ "$got" = "$wanted" ] || [ $cookies = 2 ] || ours "$@"
	is "IPv$family, $name" "$got" "$wanted"
	[ "$got" != "$wanted" ] || note "$got"
}

# serve OPTION...
serve() {
	[ -z "${served-}" ] || stop "$served"
	server "$TMP/server" -a :: -m none "$@" $PORT
	served=$LAST
}

# silent NAME OPTION...
silent() {
	local name=$1 before
	shift
	# There may be a token for the first.
	for _ in 1 2 3 4; do
		before=$(counter bulk excess_unanswered)
		answer "$@"
		[ "$(counter bulk excess_unanswered)" = "$before" ] || break
	done
	note "$got"
	check "$name: no cookie, and counted" test -z "$got" -a \
		"$(counter bulk excess_unanswered)" -gt "$before"
}

# unseen NAME OPTION...
unseen() {
	local name=$1 before
	shift
	before=$(counter bulk seen)
	answer "$@"
	check "$name: no cookie, and not judged" test -z "$got" -a \
		"$(counter bulk seen)" = "$before"
}

all=mss=1460,sack,ts=1000,ws=7
# offers: what the client has
offers() {
	like_stock "MSS alone"
	like_stock "no option at all" -o ''
	like_stock "MP_JOIN, where TCP listens" -o mss=1460,ts=1,join
	like_stock "small MSS" -o mss=400,sack,ts=1000,ws=7
	like_stock "all" -o $all
	like_stock "time stamps alone" -o mss=1460,ts=4294967295
	like_stock "time stamps and SACK" -o mss=1460,sack,ts=77
	like_stock "time stamps and window scale 0" -o mss=1460,ts=1,ws=0
	like_stock "window scale 14" -o mss=9000,sack,ts=1,ws=14
	like_stock "all but time stamps" -o mss=1460,sack,ws=7
	like_stock "ECN" -f SEC -o $all
	like_stock "ECN, but marked as capable" -f SEC -t 2 -o $all
	like_stock "ECN without time stamps" -f SEC
	like_stock "AccECN" -f SECN -o $all
	like_stock "AccECN, but marked as capable" -f SECN -t 2 -o $all
	like_stock "AccECN without time stamps" -f SECN
	like_stock "PSH, URG and data" -f SPU -d 400 -o $all
	like_stock "TOS" -t 0x48 -o $all
}

# accecn N: with this net.ipv4.tcp_ecn, where the kernel has it
accecn() {
	if ! srv sysctl -qw net.ipv4.tcp_ecn="$1" 2>/dev/null; then
		for _ in {1..6}; do
			skip "IPv$family, tcp_ecn $1: AccECN" "not on this kernel"
		done
		return
	fi
	like_stock "tcp_ecn $1: AccECN" -f SECN -o $all
	like_stock "tcp_ecn $1: AccECN, marked as capable" -f SECN -t 1 -o mss=1460,ts=1
	like_stock "tcp_ecn $1: AccECN without time stamps" -f SECN -t 3
	like_stock "tcp_ecn $1: another code for AccECN" -f SCN -t 2 -o $all
	like_stock "tcp_ecn $1: ECN" -f SEC -o $all
	set_sysctl "$SRV" net.ipv4.tcp_ecn_option 0
	like_stock "tcp_ecn $1: AccECN without its option" -f SECN -o $all
	set_sysctl "$SRV" net.ipv4.tcp_ecn_option 2
	set_sysctl "$SRV" net.ipv4.tcp_ecn 2
}

# congestion: with tcp_ecn 0, what controls congestion may want ECN all the same
congestion() {
	ip -n "$SRV" route change "${route[@]}" congctl dctcp ||
		die "no DCTCP on this kernel"
	like_stock "ECN by the congestion control of the route" -f SEC -t 2 -o $all
	ip -n "$SRV" route change "${route[@]}"
	serve -O 6,13,dctcp
	like_stock "ECN by the congestion control of the listener" -f SEC -t 2 -o $all
	serve
}

# settings: what the server has
settings() {
	set_sysctl "$SRV" net.ipv4.tcp_reflect_tos 1
	like_stock "TOS reflected" -t 0x48 -o $all
	set_sysctl "$SRV" net.ipv4.tcp_reflect_tos 0
	set_sysctl "$SRV" net.ipv4.tcp_timestamps 0
	like_stock "no time stamps at the server" -o $all
	set_sysctl "$SRV" net.ipv4.tcp_timestamps 1
	accecn 3
	accecn 5
	set_sysctl "$SRV" net.ipv4.tcp_sack 0
	set_sysctl "$SRV" net.ipv4.tcp_window_scaling 0
	set_sysctl "$SRV" net.ipv4.tcp_ecn 0
	like_stock "nothing else at the server" -f SEC -o $all
	set_sysctl "$SRV" net.ipv4.tcp_sack 1
	set_sysctl "$SRV" net.ipv4.tcp_window_scaling 1
	set_sysctl "$SRV" net.ipv4.tcp_ecn 2
	serve -G 65536
	like_stock "small receive buffer" -o $all
	serve -O 6,10,30000
	like_stock "TCP_WINDOW_CLAMP" -o $all
	serve -O 6,2,1000
	like_stock "TCP_MAXSEG" -o mss=1200,sack,ts=1000,ws=7
	# TTL or hop limit, TOS or traffic class
	if [ "$family" = 4 ]; then serve -O 0,2,9 -O 0,1,16
	else serve -O 41,16,9 -O 41,67,16; fi
	like_stock "TTL and TOS of the listener" -o $all
	ip -n "$SRV" "-$family" rule add fwmark 7 lookup 100
	ip -n "$SRV" route add "${route[@]}" dev veth0 advmss 777 table 100
	serve -k 7
	like_stock "route by the mark of the listener" -o $all
	serve -I veth0
	like_stock "bound to a device" -o $all
	serve
	ip -n "$SRV" route change "${route[@]}" advmss 900 window 20000 initrwnd 4
	like_stock "metrics of the route" -o $all
	set_sysctl "$SRV" net.ipv4.tcp_ecn 0
	ip -n "$SRV" route change "${route[@]}" features ecn
	like_stock "ECN by the route" -f SEC -o $all
	like_stock "ECN by the route, but marked as capable" -f SEC -t 2 -o $all
	ip -n "$SRV" route change "${route[@]}"
	congestion
	set_sysctl "$SRV" net.ipv4.tcp_ecn 2
}

load_synq
conf
"$PEER" plain -N "$SRV" veth0 || die "no ethtool"
next=2000
serve
manage

# --- none ---
ends=(-s 10.200.0.1 "$V4")
unseen "wrong checksum" -W -o $all
serve -M
silent "MP_JOIN, where MPTCP listens" -o mss=1460,ts=1,join
serve

# --- as the stock kernel's ---
family=4 ends=(-s 10.200.0.1 "$V4") route=(10.0.0.0/8 via 192.0.2.2)
offers
settings
family=6 ends=(-s fd00:f::1 "$V6") route=(fd00::/16 via 2001:db8::2)
offers
settings

# --- what a cookie has that no other answer has ---
ends=(-s 10.200.0.1 "$V4") route=(10.0.0.0/8 via 192.0.2.2)
ours -o $all
has_stamp() {
	local stamp now
	stamp=$(field "$TMP/segment" tsval)
	# With tcp_timestamps=2 nothing is added to the clock.
	now=$(awk '{ printf "%d", $1 * 1000 }' /proc/uptime)
	note "time stamp $stamp, clock $now"
	[ $((stamp % 64)) = $((7 | 16)) ] &&
		[ $((now - stamp)) -ge -1000 ] && [ $((now - stamp)) -lt 2000 ]
}
set_sysctl "$SRV" net.ipv4.tcp_timestamps 2
ours -o $all
check "window scale and SACK are in the time stamp" has_stamp
ours -o mss=1460,ts=5
stamp=$(field "$TMP/segment" tsval)
is "neither" $((stamp % 64)) 15
ours -f SEC -o $all
stamp=$(field "$TMP/segment" tsval)
is "ECN, too" $((stamp % 64)) $((7 | 16 | 32))
set_sysctl "$SRV" net.ipv4.tcp_timestamps 1

# --- one, and only one ---
for _ in 1 2 3 4; do
	answer -o $all	# the token, if there is one
	before=$(counter bulk excess_cookie)
	answer -n 1 -w 3500 -o $all
	[ "$(counter bulk excess_cookie)" = "$before" ] || break
done
check "a cookie" test "$(counter bulk excess_cookie)" -gt "$before"
is "one SYN-ACK for a SYN, none is sent again" \
	"$(sed -n 's/^answers //p' "$TMP/segment")" 1

# --- none, by the listener ---
serve -O 0,21,200
unseen "fewer hops than the listener wants" -T 100 -o $all
stop "$served"
# signs WHAT: a listener that signs what it sends to somebody else
signs() {
	background "$TMP/server" "$PEER" server -N "$SRV" -m none -K "$1" $PORT
	wait_for 10 has "$TMP/server" '^(listening|skip|tcp_peer)'
	if has "$TMP/server" '^skip'; then
		skip "$1: no cookie, and counted" "$(cat "$TMP/server")"
	else
		silent "$1" -o $all
	fi
	stop "$LAST"
}
signs md5
signs ao
