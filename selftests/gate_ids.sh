#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A request that waits at the gate carries a mark of synq's where the socket of its
# connection will have its id (SO_COOKIE, "ss -e").  It is taken off first, even if the
# configuration has changed meanwhile; and if synq has gone meanwhile, no two sockets
# have the same id all the same.
#
# Would miss its mark if: the mark stayed on, or the same one were on many.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/gate_lib.sh"
plan 6

# ids: of the server's connections, in hexadecimal
ids() {
	srv ss -Htne state established "sport = :$PORT" |
		grep -oE '\<sk:[0-9a-f]+' | sort
}

# wait_at_gate: the late; so long that none of them asks again in a moment
wait_at_gate() {
	hold
	manage
	overfill -K "$TMP/leave"
	must_come 30 counter_from bulk withheld $WAITING
	sleep 2
}

# let_in NAME: two tests; sets found, the ids
let_in() {
	touch "$TMP/go"
	must_come 60 has "$TMP/late" ^answered $LATE
	must_come 60 has "$TMP/bulk" ^answered $BULK
	found=$(ids)
	is "$1: each has an id" "$(wc -l <<<"$found")" $((LATE + BULK))
	is "$1: of its own" "$(uniq -d <<<"$found")" ""
	touch "$TMP/leave"
	must_come 60 has "$TMP/late" ^done
	must_come 60 has "$TMP/bulk" ^done
	stop "$held"
	rm -f "$TMP/leave"
}

load_synq
two_classes
wait_at_gate
sq class set bulk max-wait 5s
let_in "another configuration"
is "another configuration: none of them a mark" \
	"$(grep -E 'sk:[89ab][0-9a-f]{15}$' <<<"$found")" ""

two_classes
wait_at_gate
check "some are pending" counter_from bulk withheld_pending 1
unload_synq
let_in "synq has gone"
