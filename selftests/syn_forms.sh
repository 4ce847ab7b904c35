#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Every segment that the stack would treat as a SYN is judged, exactly once, whatever its
# form: with data, with other flags, behind IPv6 extension headers, in fragments.  Of each
# form, no more reach the listener than the rate of the class when ten times as many
# arrive, those that follow a connection in TIME_WAIT included.  SYNs of half-open
# connections are left to the stack.
#
# Must fail if: a form of SYN bypassed the policer (a flood that is not counted), or a
# retransmitted one were charged twice.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/flood_lib.sh"
FORMS=13
plan $((2 * FORMS + 8 + 2 * 13 + 3 * 6 + 2 * 8 + 4))

seen() {
	counter "$class" seen
}

# judged N NAME OPTION...: segments from a new source each
judged() {
	local want=$1 name=$2 before
	shift 2
	before=$(seen)
	"$PEER" segment -N "$CLI" -p $((next += 7)) "$@" $PORT >/dev/null
	is "$where: $name" $(($(seen) - before)) "$want"
}

seen_from() {
	[ "$(seen)" -ge "$1" ]
}

# syn_came_again N: sent again were N before
syn_came_again() {
	[ "$(mib TcpExt.TCPSynRetrans "$CLI")" -gt "$1" ]
}

four=(-s 10.200.0.1 "$V4") six=(-s fd00:f::1 "$V6")
forms() {
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
	judged 1 "behind destination options" -X d "${six[@]}"
	judged 1 "behind the fragment header of a whole packet" -X f "${six[@]}"
	judged 1 "behind both" -X df "${six[@]}"
}

# --- in fragments ---
pieces() {
	judged 1 "IPv4, $1, the header in the first fragment" -F 3 -d 100 "${four[@]}"
	judged 1 "IPv4, $1, the header in three fragments" -F 1 -d 100 "${four[@]}"
}

fragments() {
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
}

load_synq
server "$TMP/server" -a :: -m none $PORT
next=2000

# --- TIME_WAIT ---
# left_are N ADDRESS: connections in TIME_WAIT of that client, at least
left_are() {
	[ "$(srv ss -Htn state time-wait 'sport = :8081' | grep -cF "$2")" -ge "$1" ]
}

# again MS: TUPLES connections, from the same ports each time
TUPLES=100
again() {
	"$PEER" client -N "$CLI" -q -n $TUPLES -c $TUPLES -s "$from" -P 6000 \
		-w "$1" "$to" 8081 >"$TMP/again"
}

# The clients do not try twice in that time.
# again_limited NAME [OPTION...]: one test
again_limited() {
	local name=$1 begun
	shift
	must_come 30 left_are $TUPLES "$from"
	police "$@"
	sq listener add port 8081
	begun=$(ms)
	again 800
	allowed $(($(ms) - begun))
	within "into TIME_WAIT, $name: connect" \
		"$(field "$TMP/again" connected)" 1 $most
}

# in_three_classes: without a rate
in_three_classes() {
	sq flush
	three_classes | apply
	sq listener add port 8081
}

# time_wait NAME: connections from $from and $stranger to $to; eight tests
time_wait() {
	local before
	in_three_classes
	"$PEER" client -N "$CLI" -q -s "$stranger" -P 5555 -w 3000 "$to" 8081 \
		>"$TMP/c1"
	must_come 30 left_are 1 "$stranger"
	before=$(counter default seen 8081)
	"$PEER" client -N "$CLI" -q -s "$stranger" -P 5555 -w 3000 "$to" 8081 \
		>"$TMP/c2"
	is "$1, into TIME_WAIT: connects" "$(field "$TMP/c2" connected)" 1
	is "$1, into TIME_WAIT: judged, once" \
		$(($(counter default seen 8081) - before)) 1
	again 20000
	is "$1: all connect, and are left in TIME_WAIT" \
		"$(field "$TMP/again" connected)" $TUPLES
	again_limited "$1, more than the rate"
	# Clients that left before the server closed have left nothing behind there.
	in_three_classes
	again 20000
	must_come 30 left_are $TUPLES "$from"
	police excess cookie
	sq listener add port 8081
	again 800
	answered=$(($(counter bulk admitted 8081) + $(counter bulk excess_cookie 8081)))
	check_prompt "$1, more than the rate, cookies: those connect that were let in, or have one" \
		test "$(field "$TMP/again" connected)" = $answered
	check "$1, more than the rate, cookies: some do" test $answered -ge 1
	check_prompt "$1: the others are dropped, and counted" \
		counter_is bulk excess_unanswered $((TUPLES - answered)) 8081
	case $(uname -r) in
	6.1.*) skip "$1: no cookie" "the kernel forgets what they follow" ;;
	*) check_prompt "$1: no cookie" counter_is bulk excess_cookie 0 8081 ;;
	esac
}

server "$TMP/closing" -r 0 8081
server "$TMP/closing6" -a :: -V -r 0 8081
from=10.3.0.1 stranger=10.4.0.2 to=$V4
time_wait IPv4
from=fd00:3::1 stranger=fd00:4::2 to=$V6
time_wait IPv6

# --- all forms ---
three_classes | apply
where="before the firewall" class=default
forms
fragments
apply <<-EOT
	class add all priority 5 default rate 1000000/second burst 1000000 excess cookie max-wait none
	listener add port $PORT
EOT
where="behind the firewall" class=all
forms
fragments

# --- ten times the rate ---
# Half open are counted before and after: none may be given up meanwhile, as what came a
# minute ago would be.
set_sysctl "$SRV" net.ipv4.tcp_synack_retries 8
police
limited "IPv4 SYN" "${four[@]}"
limited "SYN and PSH" -f SP "${four[@]}"
limited "SYN and URG" -f SU "${four[@]}"
limited "SYN, ECE and CWR" -f SEC "${four[@]}"
limited "SYN with data" -d 400 "${four[@]}"
limited "IPv4, the header in the first fragment" -F 3 -d 100 "${four[@]}"
limited "IPv4, the header in three fragments" -F 1 -d 100 "${four[@]}"
limited "IPv6 SYN" "${six[@]}"
limited "IPv6 SYN with data" -d 400 "${six[@]}"
limited "IPv6, behind destination options" -X d "${six[@]}"
limited "IPv6, behind a fragment header" -X f "${six[@]}"
limited "IPv6, behind both" -X df "${six[@]}"
limited "IPv6, in fragments" -F 4 -d 100 "${six[@]}"
police excess cookie
limited_cookies "cookies, IPv4 SYN" "${four[@]}"
limited_cookies "cookies, SYN, PSH, ECE and CWR" -f SPEC "${four[@]}"
limited_cookies "cookies, SYN with data" -d 400 "${four[@]}"
limited_cookies "cookies, in three fragments" -F 1 -d 100 "${four[@]}"
limited_cookies "cookies, IPv6 SYN with data" -d 400 "${six[@]}"
limited_cookies "cookies, IPv6, behind both" -X df "${six[@]}"
set_sysctl "$SRV" net.ipv4.tcp_synack_retries 5

three_classes | apply
class=default
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
	came=$(mib TcpExt.TCPSynRetrans "$CLI")
	client "$TMP/c" -A -s 10.4.0.1 -w 60000 $V4 $PORT
	must_come 30 seen_from $((before + 1))
	check "repeated by the client" wait_for 30 syn_came_again "$came"
	is "and judged once" $(($(seen) - before)) 1
	srv tc qdisc del dev veth0 root
	check "and connects" wait_for 40 has "$TMP/c" ^acked
else
	for _ in 1 2 3; do
		skip "repeated by the client" "no netem"
	done
fi
