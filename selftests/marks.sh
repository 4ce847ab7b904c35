#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Packet marks in both directions, with the rulesets of nft/: sources are put
# into classes by nft sets, a judged SYN leaves with its class, later chains
# count by it, and the connection keeps the class of its SYN in the accept
# queue, through SYN cookies as well. Other bits of the mark stay.
#
# Would miss its mark if: the mask were not read before the matches, marks were
# not written, or the queue classified by address alone.

. "$(dirname "$0")/lib.sh"

PATH=$PATH:$DIR/../nft
need nft class-by-mark.nft count-by-class.nft
PORT=80		# as in the rulesets

with_marks() {
	cat <<-EOT
		mark mask 0x0f000000
		class add gold priority 0 mark 1
		class add bulk priority 6 mark 2 max-wait none
		match add source 10.2.0.0/16 class gold
		match add source 10.3.8.0/24 class gold
		listener add port 80
	EOT
}

# nft_counter NAME: packets
nft_counter() {
	srv nft list counter inet synq_counters "$1" |
		sed -n 's/.*packets \([0-9]*\).*/\1/p'
}

# one SOURCE N: connections, one after the other
one() {
	local to=$V4
	case $1 in *:*) to=$V6 ;; esac
	"$PEER" client -N "$CLI" -s "$1" -S 1 -n "$2" -A "$to" $PORT >>"$TMP/one" ||
		die "no connection from $1"
}

everybody() {
	one 10.1.0.1 5
	one fd00:1::1 3
	one 10.2.0.1 4
	one 10.3.0.1 7
	one 10.3.8.1 2	# synq would say gold, nft says bulk
	one 10.4.0.1 6
}

# order_under N NAME: hold, connect bulk then gold by mark alone, accept
order_under() {
	local out=$TMP/order$1
	set_sysctl "$SRV" net.ipv4.tcp_syncookies "$1"
	server "$out" -a :: -m list -H "$TMP/go$1" -b 64 $PORT
	manage $V4 $PORT
	"$PEER" client -N "$CLI" -s 10.3.0.9 -n 3 -A $V4 $PORT >/dev/null
	"$PEER" client -N "$CLI" -s 10.1.0.9 -n 3 -A $V4 $PORT >/dev/null
	must_come 10 queue_is 6
	: >"$TMP/go$1"
	must_come 20 has "$out" '^accept' 6
	stop "$LAST"
	is "$2" "$(awk '/^accept/ { sub("::ffff:", "", $2); print $2 }' "$out" | xargs)" \
		"10.1.0.9 10.1.0.9 10.1.0.9 10.3.0.9 10.3.0.9 10.3.0.9"
}

plan 14

srv nft -f "$(command -v class-by-mark.nft)" || die "class-by-mark.nft"
srv nft -f "$(command -v count-by-class.nft)" || die "count-by-class.nft"
ok "both rulesets load"
srv nft -f - <<-EOT
	add element inet synq_classes gold4 { 10.1.0.0/16 }
	add element inet synq_classes gold6 { fd00:1::/32 }
	add element inet synq_classes bulk4 { 10.3.0.0/16 }
	table inet other {
		chain before {
			type filter hook prerouting priority raw - 10;
			tcp dport 80 meta mark set meta mark | 0x00000015
		}
		chain after {
			type filter hook prerouting priority raw + 30;
			tcp flags & (syn | ack) == syn meta mark & 0xf0ffffff != 0x15 counter name wrong
		}
		counter wrong { }
	}
EOT

server "$TMP/base" -a :: -m list -E "$TMP/end" -b 64 $PORT
base=$LAST
everybody
is "stock: only what nft marks has a class, gold" "$(nft_counter gold)" 8
is "stock: only what nft marks has a class, other" "$(nft_counter other)" 10
stop "$base"

load_synq
set_sysctl "$SRV" net.ipv4.tcp_fwmark_accept 0
with_marks >"$TMP/conf"
sq apply "$TMP/conf" 2>"$TMP/err" && rc=0 || rc=$?
is "marks are refused while tcp_fwmark_accept is 0" "$rc" 1
check "and the sysctl is named" grep -q tcp_fwmark_accept "$TMP/err"
set_sysctl "$SRV" net.ipv4.tcp_fwmark_accept 1
apply <"$TMP/conf"
is "listed back" "$(sq save | head -n 1)" "mark mask 0x0f000000"

srv nft reset counters table inet synq_counters >/dev/null
server "$TMP/on" -a :: -m list -E "$TMP/end" -b 64 $PORT
on=$LAST
everybody
is "in: the mark decides before the matches, gold" "$(counter gold seen)" 12
is "in: the mark decides before the matches, bulk" "$(counter bulk seen)" 9
is "out: gold by mark and by match" "$(nft_counter gold)" 12
is "out: bulk" "$(nft_counter bulk)" 9
is "out: the rest has no class bits" "$(nft_counter other)" 6
is "other bits of the mark are untouched" \
	"$(srv nft list counter inet other wrong | grep -c 'packets 0')" 1
stop "$on"

order_under 1 "the queue is ordered by the mark of the SYN"
sq listener set port $PORT cookies always
order_under 2 "and by the mark of the ACK where cookies are sent"
