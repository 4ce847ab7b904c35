#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# synq's SYN cookies and the host's own rulesets, conntrack's above all: what works with
# the kernel's cookies works with synq's; SYNPROXY in front; and a port that the firewall
# closes stays closed.
#
# Must fail if: the answer were sent before the firewall or before conntrack knows the
# connection; or if conntrack took it for invalid, or did not translate its address back.

. "${BASH_SOURCE[0]%/*}/lib.sh"
need nft
plan 23

conf() {
	apply <<-EOT
		class add bulk priority 6 rate 1/second burst 1 excess cookie max-wait none
		match add source 10.3.0.0/16 class bulk
		match add source fd00:3::/32 class bulk
		listener add port $PORT
	EOT
}

# rules: those of the ruleset on standard input, in a table of their own
rules() {
	srv nft -f - || die "nft refuses the rules"
}

input='type filter hook input priority 0;'
output='type filter hook output priority 0;'
track='ct state new,established,related counter'

# connect WHO [PORT [TO]]: three clients in a row; how many were served.  "synq": of
# a class whose rate is used up; "stock": of another, by the kernel's own cookies.
connect() {
	local from=10.3.0.1 to=${3-$V4}
	[ "$1" = synq ] || from=10.4.0.1
	case $to in *:*) from=fd00:3::1; [ "$1" = synq ] || from=fd00:4::1 ;; esac
	if [ "$1" = synq ]; then
		sq on
		set_sysctl "$SRV" net.ipv4.tcp_syncookies 1
	else
		sq off
		set_sysctl "$SRV" net.ipv4.tcp_syncookies 2
	fi
	# The token, if there is one.
	[ "$1" = stock ] ||
		"$PEER" segment -N "$CLI" -n 2 -p $next \
			-s "${from%1}77" "$to" "${2-$PORT}" >/dev/null
	"$PEER" client -N "$CLI" -n 3 -c 3 -s $from -w 1500 "$to" \
		"${2-$PORT}" >"$TMP/c"
	field "$TMP/c" answered
}

# both NAME WANTED-OF-STOCK WANTED-OF-SYNQ [PORT [TO]]
both() {
	local got name=$1 stock=$2 ours=$3
	shift 3
	next=$((next + 7))
	got=$(connect stock "$@")
	is "$name: stock kernel, its own cookies" "$got" "$stock"
	got=$(connect synq "$@")
	is "$name: synq's cookies" "$got" "$ours"
	grep -E '^(connected|failed)' "$TMP/c" | sed 's/^/# /'
	srv nft flush ruleset
}

load_synq
conf
server "$TMP/server" -a :: -m epoll $PORT
manage
next=2000

rules <<<"table inet t { chain in { $input $track; }; chain out { $output $track; }; }"
both "conntrack, no rule" 3 3
rules <<<"table inet t { chain in { $input $track; }; chain out { $output ct state invalid drop; }; }"
both "invalid is dropped on the way out" 3 3
rules <<<"table inet t { chain in { $input $track; }; chain out { $output policy drop; ct state established,related accept; meta l4proto icmpv6 accept; }; }"
both "nothing but established and related goes out" 3 3
rules <<<"table inet t { chain in { $input ct state new tcp flags & (syn|ack) != syn drop; }; }"
both "new without SYN is dropped" 3 3
rules <<<"table inet t { chain in { $input policy drop; ct state established,related accept; ct state new tcp flags & (fin|syn|rst|ack) == syn accept; meta l4proto icmpv6 accept; }; }"
both "only a SYN is new" 3 3
srv sh -c 'echo 0 >/proc/sys/net/netfilter/nf_conntrack_tcp_loose'
rules <<<"table inet t { chain in { $input ct state invalid drop; }; }"
both "nf_conntrack_tcp_loose=0 and invalid dropped" 3 3
srv sh -c 'echo 1 >/proc/sys/net/netfilter/nf_conntrack_tcp_loose'
rules <<<"table inet t { chain in { $input $track; }; chain pre { type nat hook prerouting priority dstnat; tcp dport 80 redirect to :$PORT; }; }"
both "redirected from another port" 3 3 80
rules <<<"table inet t { chain in { $input $track; }; chain pre { type nat hook prerouting priority dstnat; tcp dport 80 redirect to :$PORT; }; chain post { type nat hook postrouting priority srcnat; masquerade; }; }"
both "redirected, IPv6, and everything masqueraded" 3 3 80 $V6
rules <<<"table inet t { chain pre { type filter hook prerouting priority raw; tcp dport $PORT notrack; }; chain in { $input $track; }; }"
both "not tracked" 3 3

# --- SYNPROXY: its cookies, and then its own SYN in the name of the client ---
srv sh -c 'echo 0 >/proc/sys/net/netfilter/nf_conntrack_tcp_loose'
rules <<<"table inet t { chain pre { type filter hook prerouting priority raw; iifname != lo tcp dport $PORT tcp flags syn notrack; }; chain in { $input tcp dport $PORT ct state invalid,untracked synproxy mss 1460 wscale 7 timestamp sack-perm; ct state invalid drop; }; }"
sq on
before=$(counter bulk seen) others=$(counter local seen)
"$PEER" client -N "$CLI" -n 3 -c 1 -s 10.3.0.2 -w 5000 $V4 $PORT >"$TMP/c"
is "SYNPROXY: served" "$(field "$TMP/c" answered)" 3
is "SYNPROXY: each is charged once, as the client's class" \
	$(($(counter bulk seen) - before)) 3
is "SYNPROXY: and nothing as the host's" $(($(counter local seen) - others)) 0
srv nft flush ruleset
srv sh -c 'echo 1 >/proc/sys/net/netfilter/nf_conntrack_tcp_loose'

# --- closed ---
rules <<<"table inet t { chain in { $input tcp dport $PORT drop; }; }"
before=$(counter bulk seen)
"$PEER" segment -N "$CLI" -n 5 -p 3000 -w 500 -s 10.3.0.200 $V4 $PORT >"$TMP/got"
check "closed by the firewall: no answer" has "$TMP/got" '^answers 0$'
is "closed by the firewall: nor judged" $(($(counter bulk seen) - before)) 0
srv nft flush ruleset
