#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# TCP_DEFER_ACCEPT, Apache's default: a connection is promoted by its first data and
# not by the ACK before, and then takes its place.
#
# Must fail if: the bare ACK were counted or promoted.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/kind_lib.sh"
plan $((KIND_TESTS + 3))

listen='-a 0.0.0.0 -D 5'
kind "TCP_DEFER_ACCEPT"

# Clients that say nothing stay half open; those that speak later come later.
load_synq
three_classes | apply
hold
manage
client "$TMP/silent" -n 3 -s 10.1.0.1 -L "$TMP/speak" -w 50000 -i s $V4 $PORT
must_come 10 has "$TMP/silent" ^connected 3
is "silent clients are not promoted" "$(totals seen promoted) $(queued)" "3 0 0"
arrivals 10 8 >"$TMP/list"
arrive "$TMP/list"
touch "$TMP/speak"
must_come 10 has "$TMP/silent" ^acked 3
is "they are when they speak" "$(totals seen promoted placed)" "13 13 13"
release 13
{
	by_class "$TMP/list"
	echo s0 s1 s2 | tr ' ' '\n'
} | awk -v gold="$(class_of <"$TMP/list" | grep -c 1)" '
	# gold, of whom the silent were the last
	/^c/ { c[++n] = $1 } /^s/ { s[++m] = $1 }
	END {
		for (i = 1; i <= gold; i++) print c[i]
		for (i = 1; i <= m; i++) print s[i]
		for (i = gold + 1; i <= n; i++) print c[i]
	}' >"$TMP/expected"
ids "$TMP/server" | sed 's/^s[0-9]$/s/' >"$TMP/got"
sed 's/^s[0-9]$/s/' "$TMP/expected" >"$TMP/want"
check "and in their class they are the last" cmp "$TMP/got" "$TMP/want"
