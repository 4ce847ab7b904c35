#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A bridge, with br_netfilter: what it hands up and what it passes on both go through
# PREROUTING.  The server's address is the bridge's; another host is behind it.
#
# Must fail if: a SYN were judged twice or not at all, or one for the other
# host were.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/kind_lib.sh"
plan $((3 * KIND_TESTS + 2 * OVERRUN_TESTS + 2))

# Its own address is not that of a port.
if ! ip -n "$SRV" link add br0 address 02:00:00:00:00:09 type bridge; then
	for name in bridge br_netfilter IPv6; do
		skip_kind "$name" "no bridges in this kernel"
	done
	for _ in 1 2 3 4 5 6; do
		skip "bridged" "no bridges in this kernel"
	done
	exit
fi
BEHIND=$SRV-b
new_ns "$BEHIND"
ip -n "$SRV" link add veth1 type veth peer name veth1 netns "$BEHIND"
ip -n "$SRV" -batch - <<-EOT
	link set br0 up
	link set veth1 up
	address flush dev veth0
	link set veth0 master br0
	link set veth1 master br0
	address add 192.0.2.1/24 dev br0
	address add 2001:db8::1/64 dev br0 nodad
	neighbour replace 192.0.2.2 lladdr 02:00:00:00:00:02 dev br0
	neighbour replace 2001:db8::2 lladdr 02:00:00:00:00:02 dev br0
	route replace 10.0.0.0/8 via 192.0.2.2
	route replace fd00::/16 via 2001:db8::2
EOT
ip -n "$CLI" -batch - <<-EOT
	neighbour replace 192.0.2.1 lladdr 02:00:00:00:00:09 dev veth0
	neighbour replace 2001:db8::1 lladdr 02:00:00:00:00:09 dev veth0
EOT
ip -n "$BEHIND" -batch - <<-EOT
	link set veth1 up
	address add 192.0.2.3/24 dev veth1
	route add default via 192.0.2.2
EOT

kind "a bridge"

modprobe br_netfilter 2>/dev/null
if ! has_sysctl net.bridge.bridge-nf-call-iptables; then
	skip_kind br_netfilter "no br_netfilter in this kernel"
	skip_kind "br_netfilter, IPv6" "no br_netfilter in this kernel"
	for _ in 1 2 3 4 5 6; do
		skip bridged "no br_netfilter in this kernel"
	done
	exit
fi
srv sh -c 'cd /proc/sys/net/bridge; echo 1 >bridge-nf-call-iptables
	echo 1 >bridge-nf-call-ip6tables'
kind "br_netfilter"
overrun "br_netfilter"

load_synq
three_classes | apply
background "$TMP/behind" "$PEER" server -N "$BEHIND" -m none $PORT
must_come 10 is_up "$TMP/behind"
"$PEER" client -N "$CLI" -n 10 -A -w 30000 -s 10.1.0.1 192.0.2.3 $PORT >"$TMP/through"
is "bridged to another host: all get in" "$(field "$TMP/through" acked)" 10
is "and are not judged" "$(totals seen)" 0
stop "$LAST"
unload_synq

to=$V6 listen='-a :: -V' sources='fd00:1:: fd00:2:: fd00:3::'
kind "br_netfilter, IPv6"
overrun "br_netfilter, IPv6"
