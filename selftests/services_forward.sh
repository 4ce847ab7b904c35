#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# SYNs that a router forwards to services of other hosts: policed by the rates of their
# class, behind its firewall, by their destination after DNAT.  SYNs for anything else, and
# SYNs for the router itself, are not.
#
#   $CLI --- veth0 --- $SRV, which forwards --- veth1 --- $BACK
#                                   198.51.100.1, 2001:db8:7::1   ...2
#
# Must fail if: a forwarded SYN were let through over a rate, or refused within it, or
# others were; or if the hooks stayed, or were registered without a service.
#
# One kernel will do: what it tests does not depend on the kernel.

. "${BASH_SOURCE[0]%/*}/lib.sh"
need nft
plan 36

BACK=synq-b-$$ TO=198.51.100.2 TO6=2001:db8:7::2
new_ns "$BACK"
ip -n "$SRV" -batch - <<-EOT || die "no veth"
	link add veth1 type veth peer name veth0 netns $BACK
	link set veth1 up
	address add 198.51.100.1/24 dev veth1
	address add 2001:db8:7::1/64 dev veth1 nodad
EOT
ip -n "$BACK" -batch - <<-EOT
	link set veth0 up
	address add $TO/24 dev veth0
	address add $TO6/64 dev veth0 nodad
	route add default via 198.51.100.1
	route add default via 2001:db8:7::1
EOT
set_sysctl "$SRV" net.ipv4.ip_forward 1
set_sysctl "$SRV" net.ipv6.conf.all.forwarding 1
ip -n "$CLI" route add 198.51.100.0/24 via $V4
ip -n "$CLI" route add 203.0.113.0/24 via $V4
ip -n "$CLI" route add 2001:db8:7::/64 via $V6
in_ns "$BACK" nft -f - <<-EOT || die "no nft"
	table inet t {
		counter syns { }
		chain in {
			type filter hook input priority 0
			tcp flags & (syn | ack) == syn counter name syns
		}
	}
EOT
for port in 80 81; do
	background "$TMP/back.$port" "$PEER" server -N "$BACK" -a :: -m epoll $port
	must_come 10 has "$TMP/back.$port" ^listening
done

# conf OPTION...: of bulk
conf() {
	cat <<-EOT
		class add gold priority 0
		class add bulk priority 6 $*
		match add source 10.1.0.0/16 class gold
		match add source 10.3.0.0/16 class bulk
		match add source fd00:3::/32 class bulk
		match add source 10.2.0.0/16 to $TO port 80 class bulk
		service add to 198.51.100.0/24 port 80 forward
		service add to 2001:db8:7::/48 port 80-90 forward
	EOT
}

# arrived: SYNs that came through to the other host, ever
arrived() {
	in_ns "$BACK" nft list counter inet t syns |
		sed -n 's/.*packets \([0-9]*\).*/\1/p'
}

# syns N FROM [TO [PORT]]: sets got, of these came through
syns() {
	local before
	before=$(arrived)
	"$PEER" segment -N "$CLI" -n "$1" -p $((next += 100)) -s "$2" \
		"${3:-$TO}" "${4:-80}" >/dev/null
	wait_for 1 have_come "$1"
}

have_come() {
	got=$(($(arrived) - before))
	[ "$got" -ge "$1" ]
}

# fwd CLASS COUNTER
fwd() {
	counter "$1" "$2" 0
}

next=1000
must_come 20 syns 1 10.1.0.9
must_come 20 syns 1 fd00:1::9 $TO6
syns 20 10.3.0.1
is "without the module: all come through" "$got" 20
load_synq
syns 20 10.3.0.1
is "unconfigured: all come through" "$got" 20

# --- rates ---
conf rate 1/second burst 3 | apply
"$PEER" client -N "$CLI" -n 10 -s 10.1.0.1 -w 30000 $TO 80 >"$TMP/gold"
is "within its class: served" "$(field "$TMP/gold" answered)" 10
is "within its class: counted" "$(fwd gold admitted) $(fwd gold seen)" "10 10"
syns 20 10.3.0.1
within "over the rate: few come through" "$got" 3 10
is "over the rate: those that are admitted" "$(fwd bulk admitted)" "$got"
is "over the rate: the rest is dropped" "$(fwd bulk excess_dropped)" $((20 - got))
PORT=0 adds_up "over the rate"
sq why 10.3.0.1 >"$TMP/why"
check "why says so" has "$TMP/why" ' fwd  bulk .*excess-dropped: over rate 1/second$'
sq stats >"$TMP/stats"
check "stats, too" has "$TMP/stats" '^forward  *bulk '

seen=$(fwd bulk seen)
syns 10 10.3.0.1 $TO 81
is "another port: all come through" "$got" 10
"$PEER" segment -N "$CLI" -n 5 -s 10.3.0.1 $V4 80 >/dev/null
is "another port, and the router's own: not judged" "$(fwd bulk seen)" "$seen"
"$PEER" segment -N "$CLI" -n 5 -f A -s 10.3.0.1 $TO 80 >/dev/null
"$PEER" segment -N "$CLI" -n 5 -f SA -s 10.3.0.1 $TO 80 >/dev/null
is "not a SYN: not judged" "$(fwd bulk seen)" "$seen"

conf rate 2/second burst 3 | apply
syns 20 fd00:3::1 $TO6 85
within "IPv6: few come through" "$got" 3 12
is "IPv6: all were judged" "$(fwd bulk seen)" $((seen + 20))
conf source-rate 1/second source-burst 2 | apply
syns 10 10.3.0.7
within "over the rate of a source: few come through" "$got" 2 6
syns 1 10.3.0.8
is "but another's do" "$got" 1
within "and counted so" "$(fwd bulk source_exceeded)" 4 8

# --- what cannot be answered, and what is passed ---
conf rate 1/second burst 3 excess reset | sq apply - 2>"$TMP/err"
check "excess reset: remarked" has "$TMP/err" 'forwarded SYNs are not answered'
before=$(fwd bulk excess_unanswered)
syns 20 10.3.0.1
within "excess reset: few come through" "$got" 0 10
is "excess reset: dropped" $(($(fwd bulk excess_unanswered) - before)) $((20 - got))
conf rate 1/second burst 3 excess cookie | apply 2>/dev/null
before=$(fwd bulk excess_unanswered)
syns 20 10.3.0.1
is "excess cookie: dropped" $(($(fwd bulk excess_unanswered) - before)) $((20 - got))
conf rate 1/second burst 3 excess pass | apply
before=$(fwd bulk excess_passed)
syns 20 10.3.0.1
is "excess pass: all come through" "$got" 20
within "excess pass: counted" $(($(fwd bulk excess_passed) - before)) 10 20
conf rate 1/second burst 3 enforce off | apply
syns 20 10.3.0.1
is "enforce off: all come through" "$got" 20
within "enforce off: counted" "$(fwd bulk would_refuse)" 10 20
sq off
syns 20 10.3.0.1
is "off: all come through" "$got" 20
sq on

# --- rewritten, and the firewall ---
conf rate 1/second burst 3 | apply
srv nft -f - <<-EOT || die "no NAT"
	table inet t {
		chain pre {
			type nat hook prerouting priority dstnat
			ip daddr 203.0.113.1 tcp dport 8080 dnat ip to $TO:80
		}
		chain filter_forward {
			type filter hook forward priority filter
			ip saddr 10.1.0.0/16 drop
		}
	}
EOT
before=$(fwd bulk seen)
syns 20 10.2.0.1 203.0.113.1 8080
within "rewritten: few come through" "$got" 0 10
is "rewritten: of the class that it has where it goes" \
	$(($(fwd bulk seen) - before)) 20
before=$(fwd gold seen)
syns 5 10.1.0.1
is "what the firewall drops is not judged" "$got $(($(fwd gold seen) - before))" "0 0"
srv nft flush ruleset

# --- beside a listener; and the language ---
{ conf rate 1/second burst 3; echo "listener add port $PORT"; } | apply
server "$TMP/server" -a :: -m none $PORT
"$PEER" segment -N "$CLI" -n 5 -s 10.1.0.1 $V4 $PORT >/dev/null
is "a listener counts its own" "$(counter gold seen)" 5
sq save >"$TMP/save"
sq flush
sq apply "$TMP/save"
is "save and apply" "$(sq save)" "$(cat "$TMP/save")"
is "shown" "$(sq service show | tr -s ' ')" "TO PORT KIND
198.51.100.0/24 80 forward
2001:db8:7::/48 80-90 forward"
sq service del to 198.51.100.0/24 port 80
syns 20 10.3.0.1
is "one taken out: all come through" "$got" 20
sq service del port 80-90 2>"$TMP/err"
check "no such service" has "$TMP/err" 'no such service'
sq service del to 2001:db8:7::/48 port 80-90
is "the last one taken out" "$(sq save | grep -c service)" 0
