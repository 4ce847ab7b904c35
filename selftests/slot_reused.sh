#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A class is removed while forged SYNs fill its share of the SYN queue, and a new class
# takes its slot: it begins without half-open requests and without a flood, and its clients
# keep full state.
#
# Must fail if: the state of a class survived in its slot.

. "${BASH_SOURCE[0]%/*}/lib.sh"
plan 6

# conf NAME: the class of all but gold
conf() {
	apply <<-EOT
		class add gold priority 0
		class add $1 priority 6 default max-wait none
		match add source 10.1.0.0/16 class gold
		listener add port $PORT
	EOT
}

load_synq
conf old
server "$TMP/server" -m epoll -b 64 $PORT
manage
background "$TMP/flood" "$PEER" segment -N "$CLI" -n 20000 -r 300 -p 5000 \
	-s 10.200.0.1 -S 10000 $V4 $PORT
flooding=$LAST
check "the class is flooded" wait_for 20 counter_from old flooded_now 1
check "and has half-open requests" counter_from old half_open 8
stop "$flooding"
conf gone
conf new
is "the new class is not" "$(counter new flooded_now)" 0
is "nor has any" "$(counter new half_open)" 0
before=$(mib TcpExt.SyncookiesSent)
"$PEER" client -N "$CLI" -s 10.3.0.1 -w 5000 $V4 $PORT >"$TMP/c"
is "its client is served" "$(field "$TMP/c" answered)" 1
is "with full state" "$(mib TcpExt.SyncookiesSent)" "$before"
