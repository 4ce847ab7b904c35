#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# TPROXY: the packet keeps a destination that is not this host's, and is given the
# proxy's socket.
#
# Must fail if: only SYNs to addresses of this host were judged.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/kind_lib.sh"
need nft
plan $((3 * KIND_TESTS + 2 * COOKIE_TESTS))

srv nft -f - <<-EOT || die "no TPROXY"
	table inet synq_test {
		chain in {
			type filter hook prerouting priority mangle
			ip daddr 198.51.100.7 tcp dport { 80, $PORT } meta mark set 1 tproxy ip to :$PORT
			ip6 daddr 2001:db8:7::7 tcp dport 80 meta mark set 1 tproxy ip6 to :$PORT
		}
	}
EOT
ip -n "$SRV" -batch - <<-EOT
	rule add fwmark 1 lookup 100
	route add local default dev lo table 100
EOT
ip -n "$SRV" -6 -batch - <<-EOT
	rule add fwmark 1 lookup 100
	route add local default dev lo table 100
EOT
ip -n "$CLI" -batch - <<-EOT
	route add 198.51.100.0/24 via $V4
	route add 2001:db8:7::/48 via $V6
EOT

listen='-a 0.0.0.0 -T' to=198.51.100.7 dial=80
kind "TPROXY from another port"
cookies "TPROXY from another port"
dial=$PORT
kind "TPROXY from the listener's port"
listen='-a :: -V -T' to=2001:db8:7::7 dial=80
sources='fd00:1:: fd00:2:: fd00:3::'
kind "TPROXY, IPv6"
cookies "TPROXY, IPv6"
