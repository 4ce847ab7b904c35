#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Every segment that the stack would treat as a SYN is judged, exactly once,
# whatever it looks like: with data, with other flags, behind IPv6 extension
# headers, in fragments; what is for an existing connection, half open or in TIME_WAIT, is left
# to the stack.
#
# Would miss its mark if: a form of SYN got round the policer (a flood that nobody
# counts), or a repeated one were charged twice.

. "${BASH_SOURCE[0]%/*}/lib.sh"
plan 23

seen() {
	counter default seen
}

# judged N NAME OPTION...: segments from a new source each
judged() {
	local want=$1 name=$2 before
	shift 2
	before=$(seen)
	"$PEER" segment -N "$CLI" -p $((next += 7)) "$@" $PORT >/dev/null
	is "$name" $(($(seen) - before)) "$want"
}

syn_came_again() {
	[ "$(mib TcpExt.TCPSynRetrans "$CLI")" -gt 0 ]
}

load_synq
three_classes | apply
server "$TMP/server" -a :: -m none $PORT
next=2000
four=(-s 10.200.0.1 "$V4") six=(-s fd00:f::1 "$V6")
judged 1 "IPv4 SYN" -f S "${four[@]}"
judged 1 "SYN and PSH" -f SP "${four[@]}"
judged 1 "SYN and URG" -f SU "${four[@]}"
judged 1 "SYN, ECE and CWR" -f SEC "${four[@]}"
judged 1 "SYN with data" -d 400 "${four[@]}"
judged 0 "SYN and ACK is none" -f SA "${four[@]}"
judged 0 "SYN and RST is none" -f SR "${four[@]}"
judged 0 "SYN and FIN is none" -f SF "${four[@]}"
judged 1 "IPv6 SYN" -f S "${six[@]}"
judged 1 "IPv6 SYN with data" -d 400 "${six[@]}"
judged 1 "behind destination options" -x "${six[@]}"
judged 1 "behind the fragment header of a whole packet" -V "${six[@]}"
judged 1 "behind both" -x -V "${six[@]}"

# --- in fragments ---
pieces() {
	judged 1 "IPv4, $1, the header in the first fragment" -F 3 -d 100 "${four[@]}"
	judged 1 "IPv4, $1, the header in three fragments" -F 1 -d 100 "${four[@]}"
}
pieces "put together by the stack"
if command -v nft >/dev/null &&
   srv nft 'add table inet t; add chain inet t c \
	{ type filter hook prerouting priority 0; }; \
	add rule inet t c ct state new counter'; then
	pieces "put together by conntrack"
	srv nft delete table inet t
else
	skip "fragments" "no conntrack"
	skip "fragments" "no conntrack"
fi

# --- half open ---
before=$(seen)
for _ in 1 2 3; do
	"$PEER" segment -N "$CLI" -s 10.200.1.1 -p 999 $V4 $PORT >/dev/null
done
is "repeated while half open: judged once" $(($(seen) - before)) 1
# The client's own, when the server's answers are lost.
if command -v tc >/dev/null &&
   srv tc qdisc add dev veth0 root netem loss 100%; then
	before=$(seen)
	client "$TMP/c" -A -s 10.4.0.1 -w 9000 $V4 $PORT
	must_come 5 test "$(seen)" -gt "$before"
	check "repeated by the client" wait_for 10 syn_came_again
	is "and judged once" $(($(seen) - before)) 1
	srv tc qdisc del dev veth0 root
	check "and connects" wait_for 10 has "$TMP/c" ^acked
else
	for _ in 1 2 3; do
		skip "repeated by the client" "no netem"
	done
fi

# --- TIME_WAIT ---
server "$TMP/closing" -r 0 8081
sq listener add port 8081
"$PEER" client -N "$CLI" -q -s 10.4.0.2 -P 5555 -w 3000 $V4 8081 >"$TMP/c1"
must_come 5 test -n "$(srv ss -Htn state time-wait 'sport = :8081')"
before=$(counter default seen 8081)
"$PEER" client -N "$CLI" -q -s 10.4.0.2 -P 5555 -w 3000 $V4 8081 >"$TMP/c2"
is "into TIME_WAIT: connects" "$(field "$TMP/c2" connected)" 1
is "into TIME_WAIT: left to the stack" \
	$(($(counter default seen 8081) - before)) 0
