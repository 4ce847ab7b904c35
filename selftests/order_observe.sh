#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# "enforce off": what would be moved is counted and stays where it is; of
# everything, of a listener, of a class.  Must fail if: the queue were
# sorted in spite of it, or nothing were counted, or anything were moved for a
# class that is only observed.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/order_lib.sh"

to=$V4 listen='-a 0.0.0.0' sources='10.1.0. 10.2.0. 10.3.0.'
plan 16

# round CONF...: 90 arrive and are accepted, with fresh counters
round() {
	sq flush
	"$@" | apply
	hold
	manage
	arrive "$TMP/list"
	moved=$(sum_of moved) would=$(sum_of would_move)
	release 90
}

everything() {
	echo "set enforce off"
	ordered "$@"
}

listener() {
	ordered "$1" 's/^listener .*/& enforce off/'
}

# one CLASS ORDER: all else is enforced
one() {
	ordered "$2" "s/^class add $1 .*/& enforce off/"
}

seq 0 89 | sed 's/^/c/' >"$TMP/arrival"
arrivals 90 21 >"$TMP/list"

load_synq
round ordered strict
by_class "$TMP/list" >"$TMP/expected"
same "baseline: strict" "$TMP/server" "$TMP/expected"
strict=$moved
note "$strict were moved"
is "none would be moved that was not" "$would" 0
round ordered weighted
weighted=$moved

round everything strict
same "enforce off: order of arrival" "$TMP/server" "$TMP/arrival"
is "enforce off: none was moved" "$moved" 0
is "enforce off: would-move is what strict had moved" "$would" "$strict"
round everything weighted
same "enforce off, weighted: order of arrival" "$TMP/server" "$TMP/arrival"
within "would-move is about what weighted had moved" "$would" \
	$((weighted - 5)) $((weighted + 5))
round everything fifo
is "enforce off, fifo: none would be moved" "$would" 0

round listener strict
same "listener enforce off: order of arrival" "$TMP/server" "$TMP/arrival"
is "listener enforce off: would-move" "$would" "$strict"

round one silver strict
events "$TMP/list" | twin strict o2=1 >"$TMP/expected"
same "class enforce off: to the end, as it is" "$TMP/server" "$TMP/expected"
is "class enforce off: it was not moved" "$(counter silver moved)" 0
check "class enforce off: it would have been" test "$(counter silver would_move)" -gt 5

round one silver weighted
ids "$TMP/server" | sort >"$TMP/ids"
sort "$TMP/arrival" >"$TMP/expected"
check "class enforce off, weighted: all came" cmp "$TMP/ids" "$TMP/expected"

# Somebody else's share meets an observed class in its lane.
sq flush
ordered strict 's/^class add silver .*/& enforce off/;
	s/^class add bulk .*/& min-share 30%/' | apply
chunk=20
hold -C $chunk
manage
arrive "$TMP/list"
run_rounds 8 16
for ((i = 8; i < 20; i++)); do touch "$TMP/go.$i"; done
must_come 30 has "$TMP/server" ^accept 218
stop "$held"
{
	events "$TMP/list"
	rounds_of 8 16
} | twin strict o2=1 s3=30 >"$TMP/expected"
same "class enforce off, another's min-share" "$TMP/server" "$TMP/expected"
check "class enforce off: bulk had a share" test "$(counter bulk shared)" -gt 5
