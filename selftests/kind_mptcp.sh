#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# MPTCP listeners, a current Go program's default, with clients of either protocol.
#
# Must fail if: the operations that MPTCP has put into the listener were
# lost, or what it does when connections come were not called.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/kind_lib.sh"
plan $((3 * KIND_TESTS + 1 + 2 * COOKIE_TESTS))

proofs() {
	mib MPTcpExt.MPCapableACKRX
}

listen='-a 0.0.0.0 -M' talk=-M
before=$(proofs)
kind "MPTCP"
if [ -n "$WHY_NOT" ]; then
	skip "MPTCP" "$WHY_NOT"
else
	is "they were MPTCP connections" $(($(proofs) - before)) $((2 * N))
fi
cookies "MPTCP"
talk=''
kind "MPTCP listener, TCP clients"
cookies "MPTCP listener, TCP clients"
to=$V6 listen='-a :: -M' talk=-M sources='fd00:1:: fd00:2:: fd00:3::'
kind "MPTCP, IPv6"
