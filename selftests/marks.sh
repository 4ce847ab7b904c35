#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Packet marks in both directions, with the rulesets of nft/: nft sets put sources into
# classes, a SYN leaves PREROUTING with its class, later chains count by it, and the
# connection keeps the class of its SYN in the accept queue and in the application, without
# any rule, through SYN cookies as well.  Other bits of the mark stay.  Invalid masks and
# marks are refused, with the reason, and routing rules that test the same bits are named.
# The gate is in marks_gate.sh.
#
# Must fail if: the mask were not read before the matches, marks were not written, or the
# queue classified by address alone.

. "$(dirname "$0")/lib.sh"

PATH=$PATH:$DIR/../nft
need nft class-by-mark.nft count-by-class.nft
PORT=80		# as in the rulesets

with_marks() {
	cat <<-EOT
		mark mask 0x00003000
		class add gold priority 0 mark 1
		class add bulk priority 6 mark 2 max-wait none
		match add source 10.2.0.0/16 class gold
		match add source 10.3.8.0/24 class gold
		match add source fd00:2::/32 class gold
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

# order_under N NAME TO GOLD BULK: hold, connect bulk then gold by mark alone, accept
order_under() {
	local out=$TMP/order$1
	set_sysctl "$SRV" net.ipv4.tcp_syncookies "$1"
	rm -f "$TMP/go$1"
	server "$out" -a :: -m list -H "$TMP/go$1" -b 64 $PORT
	manage "$3" $PORT
	"$PEER" client -N "$CLI" -s "$5" -n 3 -A "$3" $PORT >/dev/null
	"$PEER" client -N "$CLI" -s "$4" -n 3 -A "$3" $PORT >/dev/null
	must_come 10 queue_is 6
	: >"$TMP/go$1"
	must_come 20 has "$out" '^accept' 6
	stop "$LAST"
	is "$2" "$(awk '/^accept/ { sub("::ffff:", "", $2); print $2 }' "$out" | xargs)" \
		"$4 $4 $4 $5 $5 $5"
}

five_are_gold() {
	[ "$(nft_counter gold)" = 5 ]
}

# served_are SET N: connections that no rule gave a class, and that have gold's mark
served_are() {
	[ "$(srv nft -j list set inet other "$1" | grep -o '"elem": \[.*\]' |
		grep -o '[0-9]\+' | wc -l)" = "$2" ]
}

# refused NAME REGEX COMMAND...: one test: status 1, one line that says why, and the
# configuration is as it was
refused() {
	local name=$1 regex=$2 status=0 err
	shift 2
	sq save >"$TMP/before"
	sq "$@" >"$TMP/out" 2>"$TMP/err" || status=$?
	sq save >"$TMP/after"
	mapfile -t err <"$TMP/err"
	if [ $status = 1 ] && [ ${#err[@]} = 1 ] &&
		[[ ${err[0]} =~ ^synq:\ $regex$ ]] &&
		cmp -s "$TMP/before" "$TMP/after"; then
		ok "refused: $name"
	else
		note "status $status: ${err[*]}"
		not_ok "refused: $name"
	fi
}

plan 35

srv nft -f "$(command -v class-by-mark.nft)" || die "class-by-mark.nft"
srv nft -f "$(command -v count-by-class.nft)" || die "count-by-class.nft"
ok "both rulesets load"
srv nft -f - <<-EOT
	add element inet synq_classes gold4 { 10.1.0.0/16 }
	add element inet synq_classes gold6 { fd00:1::/32 }
	add element inet synq_classes bulk4 { 10.3.0.0/16 }
	add element inet synq_classes bulk6 { fd00:3::/32 }
	table inet other {
		chain before {
			type filter hook prerouting priority raw - 10;
			tcp dport 80 meta mark set meta mark | 0x00000015
		}
		chain after {
			type filter hook prerouting priority raw + 30;
			tcp flags & (syn | ack) == syn meta mark & 0xffffcfff != 0x15 counter name wrong
		}
		chain replies {
			type filter hook output priority 0;
			tcp sport != 80 accept
			tcp flags & (syn | rst) != 0 accept
			meta mark & 0x00003000 != 0x00001000 accept
			ip daddr 10.2.0.2 add @served4 { tcp dport }
			ip6 daddr fd00:2::2 add @served6 { tcp dport }
		}
		counter wrong { }
		set served4 {
			type inet_service
			flags dynamic
			size 64
		}
		set served6 {
			type inet_service
			flags dynamic
			size 64
		}
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
apply <"$TMP/conf" 2>"$TMP/err"
is "of routing rules that leave its bits alone, nothing" "$(<"$TMP/err")" ""
ip rule add fwmark 0x5/0xffffcfff lookup 100 priority 99
apply <"$TMP/conf" 2>"$TMP/err"
is "nor of one that tests other bits" "$(<"$TMP/err")" ""
ip rule add fwmark 7 lookup 100 priority 100
apply <"$TMP/conf" 2>"$TMP/err"
is "of one that tests them, a remark" "$(<"$TMP/err")" \
	"synq: note: ip rule 100 tests bits of the mark, 0x7/0xffffffff: SYNs are routed by class"
ip rule del priority 100
ip -6 rule add fwmark 0x1000/0x3000 lookup 100 priority 101
ip -6 rule add fwmark 0x2000/0x3000 lookup 100 priority 102
apply <"$TMP/conf" 2>"$TMP/err"
is "and of two" "$(<"$TMP/err")" \
	"synq: note: ip -6 rule 101 tests bits of the mark, 0x1000/0x3000: SYNs are routed by class (other rules, too)"
ip -6 rule del priority 101
ip -6 rule del priority 102
ip rule del priority 99
is "classify says that it assumes no mark" "$(sq classify 10.2.0.1)" \
	"10.2.0.1 -> gold (source 10.2.0.0/16, if no rule marks it)"
is "not of one that is given" "$(sq classify 10.2.0.1 mark 0x2000)" \
	"10.2.0.1 -> bulk (mark 0x00002000)"
is "listed back" "$(sq save | head -n 1)" "mark mask 0x00003000"

srv nft reset counters table inet synq_counters >/dev/null
server "$TMP/on" -a :: -m list -E "$TMP/end" -b 64 $PORT
on=$LAST
everybody
# Ours are no marks of others, though PREROUTING has set them.
is "counted by mark" "$(counter gold by_mark) $(counter bulk by_mark) $(counter default by_mark)" "8 9 0"
is "and by prefix" "$(counter gold by_prefix) $(counter bulk by_prefix) $(counter default by_prefix)" "4 0 0"
is "and by default" "$(counter gold by_default) $(counter bulk by_default) $(counter default by_default)" "0 0 6"
is "in: the mark decides before the matches, gold" "$(counter gold seen)" 12
is "in: the mark decides before the matches, bulk" "$(counter bulk seen)" 9
is "out: gold by mark and by match" "$(nft_counter gold)" 12
is "out: bulk" "$(nft_counter bulk)" 9
is "out: the rest has no class bits" "$(nft_counter other)" 6
is "other bits of the mark are untouched" \
	"$(srv nft list counter inet other wrong | grep -c 'packets 0')" 1
stop "$on"

by_v4=("$V4" 10.1.0.9 10.3.0.9) by_v6=("$V6" fd00:1::9 fd00:3::9)
order_under 1 "the queue is ordered by the mark of the SYN" "${by_v4[@]}"
order_under 1 "IPv6: the queue is ordered by the mark of the SYN" "${by_v6[@]}"
sq listener set port $PORT cookies always
order_under 2 "and by the mark of the ACK where cookies are sent" "${by_v4[@]}"
order_under 2 "IPv6: and by the mark of the ACK where cookies are sent" "${by_v6[@]}"

# Cookies are still sent.  These have a class by match, and no rule marks them.
server "$TMP/served" -a :: -m list -E "$TMP/end" -b 64 $PORT
one 10.2.0.2 3
check "a connection of a cookie has its class's mark" wait_for 10 served_are served4 3
one fd00:2::2 3
check "IPv6: a connection of a cookie has its class's mark" wait_for 10 served_are served6 3
stop "$LAST"

# Put together by conntrack, a SYN may have its TCP header behind the first part of memory;
# with IPv6 the first fragment has all headers.
srv nft add table inet whole
srv nft add chain inet whole c '{ type filter hook prerouting priority mangle; }'
srv nft add rule inet whole c ct state new counter
for end in "1 -s 10.2.0.3 $V4" "3 -s fd00:2::3 $V6"; do
	srv nft reset counters table inet synq_counters >/dev/null
	# shellcheck disable=SC2086 # several words
	"$PEER" segment -N "$CLI" -n 5 -F $end $PORT >/dev/null
	check "in fragments of 8 bytes times $end: they get their mark" wait_for 10 five_are_gold
done
srv nft delete table inet whole

refused "two classes of one mark" \
	'"mark 0x1": class gold has this mark already' class set bulk mark 1
refused "a mark that does not fit the mask" \
	'"mark 0x10": the mark of silver does not fit mask 0x00003000, which holds 1\.\.3' \
	class add silver priority 3 mark 16
refused "a mask that is too narrow" \
	'"mark 0x2": the mark of bulk does not fit mask 0x00001000, which holds 1\.\.1' \
	mark mask 0x00001000
refused "a mask in pieces" \
	'"0x50000000": the bits of the mask are not contiguous' \
	mark mask 0x50000000
refused "no mask any more" \
	'"mark 0x1": no bits are reserved for the mark of gold \(mark mask M\)' mark del
refused "another mask beside it" \
	'"mask 0x000000f0": the mask is 0x00003000 already' mark add mask 0xf0
