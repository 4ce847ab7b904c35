#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Destinations that nft rewrites: REDIRECT to another port, DNAT of another address, also
# for the host's own connections.  The port of the listener counts.
#
# Must fail if: a rewritten SYN were not judged, or judged for both destinations; or one
# that conntrack saw and left alone were; or a SYN were taken for an earlier one in the same
# memory.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/kind_lib.sh"
need nft
plan $((4 * KIND_TESTS + 9))

OTHER=8081
srv nft -f - <<-EOT || die "no NAT"
	table inet synq_test {
		chain in {
			type nat hook prerouting priority dstnat
			tcp dport { 80, $OTHER } redirect to :$PORT
			ip daddr 198.51.100.8 tcp dport 81 dnat ip to $V4:$PORT
		}
		chain out {
			type nat hook output priority -100
			tcp dport 80 redirect to :$PORT
		}
	}
EOT
ip -n "$CLI" route add 198.51.100.0/24 via $V4

kind "conntrack, not rewritten"
dial=80
kind "redirected"
to=198.51.100.8 dial=81
kind "DNAT"
to=$V6 dial=80 listen='-a :: -V' sources='fd00:1:: fd00:2:: fd00:3::'
kind "redirected, IPv6"
to=$V4 listen='-a 0.0.0.0' sources='10.1.0. 10.2.0. 10.3.0.'

# --- from one configured listener to another ---
seen_by_both() {
	local PORT=$OTHER other
	other=$(totals seen)
	PORT=$dial
	echo $(($(totals seen) + other))
}

load_synq
{ three_classes; echo "listener add port $OTHER"; } | apply
server "$TMP/other" -m none $OTHER
other=$LAST
arrivals $N 7 >"$TMP/list"
hold
manage
dial=$OTHER
arrive "$TMP/list"
dial=$PORT
is "from listener to listener: judged once" "$(seen_by_both)" $N
is "from listener to listener: promoted and placed by the one that gets it" \
	"$(totals promoted placed)" "$N $N"
release $N
by_class "$TMP/list" >"$TMP/expected"
same "from listener to listener: class, then arrival" \
	"$TMP/server" "$TMP/expected"
stop "$other"

# --- the host's own ---
sq flush
three_classes | apply
server "$TMP/local" $PORT
manage
for dial in 80 $PORT; do
	before=$(counter local seen)
	"$PEER" client -N "$SRV" -n 10 -w 30000 127.0.0.1 "$dial" >"$TMP/own"
	is "the host's own, to port $dial: answered" "$(field "$TMP/own" answered)" 10
	is "the host's own, to port $dial: judged once" \
		$(($(counter local seen) - before)) 10
done

# --- one to the listener, one rewritten, and so on, as fast as can be ---
sq flush
three_classes | apply
manage
srv nft -f - <<-EOT || die "no rewriting without conntrack"
	table inet synq_turns {
		chain early {
			type filter hook prerouting priority -350
			tcp dport $PORT tcp sport & 1 == 1 tcp dport set 80
		}
	}
EOT
"$PEER" segment -N "$CLI" -s 10.3.1.1 -S 200 -n 1000 -p 20001 $V4 $PORT >/dev/null
is "in turns, rewritten or not: each is judged" "$(counter bulk seen)" 1000
srv nft delete table inet synq_turns

# --- refused ---
sq flush
three_classes | sed 's/bulk priority 6/& rate 1\/second burst 1/' | apply
"$PEER" segment -N "$CLI" -s 10.3.0.1 -n 20 $V4 80 >/dev/null
within "over the rate: dropped" "$(counter bulk excess_dropped)" 17 19
