#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The longest backlog and the shortest, and one that is changed by another listen(2)
# while the queue holds connections: those stay, in order; the new backlog counts
# for what comes then.  (Limits of short backlogs: limits.sh.)
#
# Must fail if: a listen(2) lost the order or was not noticed.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/kind_lib.sh"
plan $((KIND_TESTS + 10))

set_sysctl "$SRV" net.core.somaxconn 65535
listen='-a 0.0.0.0 -b 65535'
kind "backlog 65535"

listens_again() {
	touch "$TMP/go.listen${1-}"
	must_come 10 has "$TMP/server" '^listening again' "${1:-1}"
}

# Backlog 4 holds 5; 40 the others; with 2 again no other is let in.
arrivals 34 9 >"$TMP/list"
head -n 4 "$TMP/list" >"$TMP/first"
tail -n 30 "$TMP/list" >"$TMP/second"

# changes stock|synq NAME
changes() {
	listen='-a 0.0.0.0 -b 8 -L 80,2'
	hold
	[ "$1" = stock ] || manage
	arrive "$TMP/first" a
	listens_again
	arrive "$TMP/second" b
	is "$2: all are queued after listen(2)" "$(queued)" 34
	listens_again 2
	is "$2: and after a shorter one" "$(queued)" 34
	client "$TMP/third.out" -s 10.3.0.99 -A -w 30000 -i late $V4 $PORT
	check "$2: no room for another" not_in 34
	touch "$TMP/go"
	check "$2: room again" wait_for 20 has "$TMP/server" '^accept .* late0'
	stop "$held" "$LAST"
}

not_in() {
	! wait_for 1 queue_is $(($1 + 1))
}

changes stock "stock kernel"
load_synq
three_classes | apply
changes synq "listen(2) again"
cat "$TMP/first" "$TMP/second" >"$TMP/list"
by_class "$TMP/list" | awk '{
	n = substr($1, 2) + 0
	print n < 4 ? "a" n : "b" n - 4
}' >"$TMP/expected"
sed '/late/d' "$TMP/server" >"$TMP/accepted"
same "listen(2) again: class, then arrival" "$TMP/accepted" "$TMP/expected"

# Backlog 1 holds 2.
sq flush
three_classes | apply
listen='-a 0.0.0.0 -b 1'
hold
manage
printf '%s\n' 10.3.0.1 10.1.0.1 >"$TMP/list"
arrive "$TMP/list"
release 2
printf '%s\n' c1 c0 >"$TMP/expected"
same "backlog 1: class, then arrival" "$TMP/server" "$TMP/expected"
