#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The gate knows the class of a connection by the mark of its SYN, or, with SYN cookies, of
# the final ACK: slots reserved for a class stay free for clients that are in it by mark
# alone, and clients that are in a later one by mark alone wait.  gate_lib.sh explains how
# they are made to wait.
#
# Must fail if: the mark were lost between the SYN and the gate, or between the ACK of a
# cookie and the gate, for either family.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/gate_lib.sh"

PATH=$PATH:$DIR/../nft
need nft class-by-mark.nft
PORT=80		# as in the ruleset
plan 16

two_classes() {
	apply <<-EOT
		mark mask 0x00003000
		class add gold priority 0 reserve 25% mark 1
		class add bulk priority 6 mark 2 max-wait none cookies never
		listener add port $PORT
	EOT
}

# begin_anew: other counters, and a server that holds
begin_anew() {
	sq flush
	two_classes
	hold -a ::
	manage "$TO"
}

# by_marks NAME: 5 tests
by_marks() {
	begin_anew
	overfill
	check "$1: a client that is bulk by mark has to wait" wait_for 30 have_come
	must_come 10 full_to $((BACKLOG - RESERVE - 4))
	gold
	is "$1: a client that is gold by mark gets in" "$(field "$TMP/gold" acked)" $RESERVE
	is "$1: no client arrives without a class" "$(counter default promoted)" 0
	touch "$TMP/go"
	is "$1: all are served" "$(served answered)" $((LATE + BULK))
	is "$1: those that had to wait, too" "$(went_on bulk)" \
		"$(counter bulk held)"
	stop "$held"
}

# by_cookies NAME: 3 tests
by_cookies() {
	local before
	begin_anew
	sq class set bulk cookies always
	sq class set gold cookies always
	before=$(mib TcpExt.SyncookiesRecv)
	fillers=()
	fill -w 60000 "$TO" $PORT
	must_come 30 counter_from bulk seen $BULK
	must_come 30 counter_from bulk queue_refused 10
	check "$1, cookies: bulk leaves the reserve free" \
		test "$(queued)" -le $((BACKLOG - RESERVE))
	gold
	within "$1, cookies: gold by mark gets in, the reserve included" \
		"$(queued)" $((BACKLOG - RESERVE + 1)) $((BACKLOG + 1))
	within "$1, cookies: all came by them" \
		$(($(mib TcpExt.SyncookiesRecv) - before)) \
		$((BACKLOG - RESERVE + 1)) $((BACKLOG + 1))
	stop "$held" "${fillers[@]}"
}

srv nft -f "$(command -v class-by-mark.nft)" || die "class-by-mark.nft"
srv nft -f - <<-EOT
	add element inet synq_classes gold4 { 10.1.0.0/16 }
	add element inet synq_classes gold6 { fd00:1::/32 }
	add element inet synq_classes bulk4 { 10.3.0.0/16 }
	add element inet synq_classes bulk6 { fd00:3::/32 }
EOT
load_synq
set_sysctl "$SRV" net.ipv4.tcp_fwmark_accept 1
by_marks IPv4
by_cookies IPv4
by_ipv6
by_marks IPv6
by_cookies IPv6
