#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# "order fifo": as the stock kernel does, and still counted: placed, accepted, and
# nothing moved.  Must fail if: the order of one listener were taken for
# another's, or classes were sorted in spite of it.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/order_lib.sh"

to=$V4 listen='-a 0.0.0.0' sources='10.1.0. 10.2.0. 10.3.0.'
plan 10

seq 0 89 | sed 's/^/c/' >"$TMP/arrival"
arrivals 90 7 >"$TMP/list"
hold
arrive "$TMP/list"
release 90
same "stock kernel: order of arrival" "$TMP/server" "$TMP/arrival"

load_synq
ordered strict | apply
hold
manage
arrive "$TMP/list"
release 90
by_class "$TMP/list" >"$TMP/expected"
same "strict: by class" "$TMP/server" "$TMP/expected"

sq flush
ordered fifo | apply
hold -C 30
manage
arrive "$TMP/list"
is "fifo: every connection was placed" "$(sum_of placed)" 90
is "fifo: none was moved" "$(sum_of moved)" 0
is "fifo: none would be moved" "$(sum_of would_move)" 0
touch "$TMP/go"
must_come 30 has "$TMP/server" ^accept 30
# Of three classes at least that of the head is known.
echo 10.3.0.251 >"$TMP/one"
arrive "$TMP/one" d
within "fifo: accepted are those known to be" "$(sum_of accepted)" 1 30
touch "$TMP"/go.{1,2,3}
must_come 30 has "$TMP/server" ^accept 91
echo d0 | cat "$TMP/arrival" - >"$TMP/expected"
same "fifo: order of arrival" "$TMP/server" "$TMP/expected"
is "fifo: all of an empty queue were accepted" "$(sum_of accepted)" 91
is "fifo: none is queued any more" "$(sum_of queued)" 0
is "fifo: each was counted for its class" "$(counter gold accepted)" \
	"$(class_of <"$TMP/list" | grep -c 1)"
stop "$held"
