#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# TCP Fast Open: the SYN brings the data, and the connection is queued before its
# handshake is complete.
#
# Must fail if: what Fast Open queues were not placed, or counted twice.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/kind_lib.sh"
plan $((2 * KIND_TESTS + 1))

set_sysctl "$SRV" net.ipv4.tcp_fastopen 1543	# both ends, without a cookie
set_sysctl "$CLI" net.ipv4.tcp_fastopen 1543
talk=-F listen='-a 0.0.0.0 -F 100'
before=$(mib TcpExt.TCPFastOpenPassive)
kind "Fast Open"
is "they were Fast Open connections" \
	$(($(mib TcpExt.TCPFastOpenPassive) - before)) $((2 * N))
to=$V6 listen='-a :: -F 100' sources='fd00:1:: fd00:2:: fd00:3::'
kind "Fast Open, IPv6"
