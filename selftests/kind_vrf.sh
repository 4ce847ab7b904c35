#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A VRF: packets pass PREROUTING twice.  A server bound to the VRF, and one that
# serves all of them (tcp_l3mdev_accept).
#
# Must fail if: a SYN were judged at either pass, or the socket that the
# stack takes were not found, or a SYN cookie took another way back.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/kind_lib.sh"
plan $((3 * (KIND_TESTS + COOKIE_TESTS + OVERRUN_TESTS)))

if ! ip -n "$SRV" link add vrf0 type vrf table 100 2>/dev/null; then
	for name in bound all IPv6; do
		skip_kind "$name" "no VRF in this kernel"
		for what in cookies cookies overrun overrun; do
			skip "$name: $what" "no VRF in this kernel"
		done
	done
	exit
fi
# Joining takes the interface down: routes, neighbours and IPv6 addresses go.
ip -n "$SRV" -batch - <<-EOT
	link set vrf0 up
	link set veth0 master vrf0
	address replace 192.0.2.1/24 dev veth0
	address replace 2001:db8::1/64 dev veth0 nodad
	neighbour replace 192.0.2.2 lladdr 02:00:00:00:00:02 dev veth0
	neighbour replace 2001:db8::2 lladdr 02:00:00:00:00:02 dev veth0
	route replace 10.0.0.0/8 via 192.0.2.2 vrf vrf0
	route replace fd00::/16 via 2001:db8::2 vrf vrf0
EOT
listen='-a 0.0.0.0 -I vrf0'
kind "bound to a VRF"
cookies "bound to a VRF"
overrun "bound to a VRF"
listen='-a :: -V -I vrf0' to=$V6 sources='fd00:1:: fd00:2:: fd00:3::'
kind "bound to a VRF, IPv6"
cookies "bound to a VRF, IPv6"
overrun "bound to a VRF, IPv6"
set_sysctl "$SRV" net.ipv4.tcp_l3mdev_accept 1
listen='-a 0.0.0.0' to=$V4 sources='10.1.0. 10.2.0. 10.3.0.'
kind "for all VRFs"
cookies "for all VRFs"
overrun "for all VRFs"
