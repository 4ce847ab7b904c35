#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Kinds of connections that are held: to a port that is redirected, to a server that
# accepts who has spoken (TCP_DEFER_ACCEPT), also if it says so when they are held already,
# and MPTCP.  When the server accepts again they are served at once.
#
# Must fail if: a segment that is given to TCP once more missed what NAT did to
# it, a connection that TCP does not promote by its first segment blocked those behind it,
# or an option of MPTCP's were lost.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/hold_lib.sh"
need nft
plan 33
load_synq

srv nft -f - <<-EOT || die "no NAT"
	table ip hold_test {
		chain in {
			type nat hook prerouting priority dstnat
			tcp dport 80 redirect to :$PORT
		}
	}
EOT
talks=(-K "$TMP/stay")
DIAL=80 begin_held
served_soon "redirected" "$WAITING"

# IPsec's policy is asked for each segment, and asks conntrack what it was before NAT.
if ip -n "$SRV" xfrm policy add src 0.0.0.0/0 dst $V4 proto tcp dport $PORT dir in \
	action block 2>/dev/null; then
	sq flush
	two_classes
	hold
	"$PEER" segment -N "$CLI" -s 10.4.0.1 $V4 80 >/dev/null
	must_come 10 sockets_are_some $PORT
	rm -f "$TMP/stay"
	DIAL=80 overfill
	check "IPsec refuses what was redirected: not held" \
		wait_for 10 counter_from bulk hold_full 1
	is "IPsec: nobody" "$(counter bulk held)" 0
	touch "$TMP/go"
	is "IPsec: all are served in the end" "$(served answered)" $((LATE + BULK))
	is "IPsec: nobody was reset" "$(served reset)" 0
	stop "$held"
	ip -n "$SRV" xfrm policy flush
else
	for _ in 1 2 3 4; do
		skip "IPsec" "this kernel has none"
	done
fi
srv nft delete table ip hold_test

begin_held -D 5
served_soon "TCP_DEFER_ACCEPT" "$WAITING"

TCP=6 DEFER_ACCEPT=9
rm -f "$TMP/go.option"
begin_held -W $TCP,$DEFER_ACCEPT,5
touch "$TMP/go.option"
must_come 10 has "$TMP/server" "^option set"
served_soon "TCP_DEFER_ACCEPT from now on" "$WAITING"

if has_sysctl net.mptcp.enabled; then
	talks=(-K "$TMP/stay" -M)
	before=$(mib MPTcpExt.MPCapableACKRX)
	begin_held -M
	served_soon "MPTCP" "$WAITING"
	# Who was refused as often as bulk falls back to TCP.
	check "they are MPTCP connections" \
		test $(($(mib MPTcpExt.MPCapableACKRX) - before)) -ge $LATE
else
	for _ in 1 2 3 4 5 6 7 8; do
		skip "MPTCP" "this kernel has none"
	done
fi
