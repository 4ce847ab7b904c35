#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A flood exceeds a rate, and all but a few of its SYNs are refused by what the few have
# found.  Each is counted, and recognised when it is retransmitted.  SYNs in between, for a
# half-open connection or for a port on which nothing listens, are not affected.  It is over
# when the listener is gone.  SYNs that are to be answered are never refused early: each is
# judged once, and has the mark of its class before.
#
# Must fail if: half-open connections were charged, all addresses of the host were treated
# as one, a finding never expired, or most SYNs went all the way.

. "${BASH_SOURCE[0]%/*}/lib.sh"
need tc nft
plan 22
ROUNDS=8 EACH=20 OTHER=8090
SENT=$((ROUNDS * EACH))

# segments FROM NUMBER PORT TO
segments() {
	"$PEER" segment -N "$CLI" -s "$1" -n "$2" -p "$3" "$4" "$PORT" >/dev/null
}

# netem lets nothing out until 300 ms after the first, and then all: at the server it
# is one burst
burst() {
	local round
	for ((round = 0; round < ROUNDS; round++)); do
		segments "$flood" $EACH $((2000 + round * EACH)) "$to"
		segments "$half_open" 1 999 "$to"
		segments "$stray" 1 $((1 + round)) "$to"
		segments "$stray" 1 $((100 + round)) "$elsewhere"
	done
}

# came BURSTS: the last of each goes to where nobody listens
came() {
	[ "$(conf_counter no_listener)" = $((none + $1 * ROUNDS)) ]
}

# judged: of five times as many; each time the bucket is emptied at another port
judged() {
	local before try
	before=$(counter bulk seen)
	for try in {1..5}; do
		PORT=$OTHER segments "$flood" $EACH $((9000 + try * EACH)) "$to"
		segments "$flood" $EACH 9000 "$to"
	done
	echo $(($(counter bulk seen) - before))
}

marked() {
	srv nft list table inet marked | sed -n 's/.*counter packets \([0-9]*\).*/\1/p'
}

# count_passed: what of the flood goes on from PREROUTING's raw table
count_passed() {
	srv nft -f - <<-EOT || die "nft refuses the rules"
		table inet marked {
			chain c {
				type filter hook prerouting priority raw + 20
				tcp dport $PORT $family saddr $flood counter
			}
		}
	EOT
}

all_seen() {
	[ "$(counter bulk seen)" -ge $SENT ]
}

# answered NAME: three tests, of resets
answered() {
	local round
	apply <<-EOT
		mark mask 0x0f000000
		class add bulk priority 6 rate 1/second burst 1 excess reset mark 2
		match add source 10.200.0.0/16 class bulk
		match add source fd00:f::/32 class bulk
		listener add port $PORT
	EOT
	manage "$to"
	srv nft -f - <<-EOT || die "nft refuses the rules"
		table inet marked {
			chain c {
				type filter hook prerouting priority raw + 20
				tcp dport $PORT meta mark & 0x0f000000 == 0x02000000 counter
			}
		}
	EOT
	cli tc qdisc add dev veth0 root netem slot 300ms 300ms || die "no netem"
	for ((round = 0; round < ROUNDS; round++)); do
		segments "$flood" $EACH $((5000 + round * EACH)) "$to"
	done
	wait_for 30 all_seen
	is "$1: each is seen where it is answered" "$(counter bulk seen)" $SENT
	is "$1: and has its class's mark before" "$(marked)" $SENT
	within "$1: nearly all are answered" "$(counter bulk excess_reset)" \
		$((SENT * 9 / 10)) $SENT
	cli tc qdisc del dev veth0 root
	srv nft delete table inet marked
	sq flush
}

# family NAME: eight tests, and three
family() {
	local none listening
	server "$TMP/server" -a "$to" -b 512 -m none $PORT
	listening=$LAST
	server "$TMP/other" -a "$to" -b 512 -m none $OTHER
	apply <<-EOT
		class add bulk priority 6 rate 1/second burst 1 max-wait none
		class add one priority 7 rate 1/second burst 1 max-wait none
		class add stray priority 8 rate 1/second burst 1 max-wait none
		match add source 10.200.0.0/16 class bulk
		match add source fd00:f::/32 class bulk
		match add source 10.201.0.0/16 class one
		match add source fd00:e::/32 class one
		match add source 10.202.0.0/16 class stray
		match add source fd00:d::/32 class stray
		listener add port $PORT
		listener add port $OTHER
	EOT
	manage "$to"
	segments "$half_open" 1 999 "$to"
	must_come 10 counter_is one admitted 1
	none=$(conf_counter no_listener)
	count_passed

	cli tc qdisc add dev veth0 root netem slot 300ms 300ms || die "no netem"
	burst
	wait_for 30 came 1
	is "$1: each is seen" "$(counter bulk seen)" $SENT
	is "$1: SYNs of half-open requests are left to the stack" \
		"$(counter one seen) $(counter one admitted)" "1 1"
	is "$1: without a listener nothing is judged" \
		"$(counter stray seen)" $ROUNDS
	is "$1: and that is counted" $(($(conf_counter no_listener) - none)) \
		$ROUNDS
	burst
	wait_for 30 came 2
	within "$1: refused SYNs are recognised" "$(counter bulk retries)" \
		$((SENT * 9 / 10)) $SENT
	within "$1: most are dropped early" "$(marked)" 1 $SENT
	srv nft delete table inet marked
	adds_up "$1"
	cli tc qdisc del dev veth0 root

	stop "$listening"
	is "$1: the listener is gone" "$(judged)" 0
	stop "$LAST"
	sq flush

	server "$TMP/answered" -a "$to" -b 512 -m none $PORT
	answered "$1"
	stop "$LAST"
}

load_synq
set_sysctl "$SRV" net.ipv4.tcp_fwmark_accept 1
srv ip address add 192.0.2.9/24 dev veth0
srv ip address add 2001:db8::9/64 dev veth0 nodad
for address in 192.0.2.9 2001:db8::9; do
	cli ip neighbour add $address lladdr 02:00:00:00:00:01 dev veth0
done
flood=10.200.0.1 half_open=10.201.0.1 stray=10.202.0.1
to=$V4 elsewhere=192.0.2.9
family=ip
family IPv4
flood=fd00:f::1 half_open=fd00:e::1 stray=fd00:d::1
to=$V6 elsewhere=2001:db8::9
family=ip6
family IPv6
