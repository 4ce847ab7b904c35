#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Off, flush and unloading while connections are queued: what is queued stays, in
# the order that it has; what comes later is served as by the stock kernel, in
# order of arrival and without a gate; nothing is lost.  On again, it is ordered
# again.
#
# Must fail if: leaving cut or lost the queue, left the order or the
# gate on, or "on" left what came meanwhile behind.
#
# Needs two CPUs: unloading while others run the code.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/order_lib.sh"
plan 13

# shellcheck disable=SC2034
to=$V4 listen='-a 0.0.0.0' sources='10.1.0. 10.2.0. 10.3.0.'

# conf: bulk is limited, so that one sees when nothing limits it any more
conf() {
	three_classes | sed 's/bulk priority 6/& rate 100000\/second burst 60/'
}

# leave NAME COMMAND...: with 120 queued; 60 come afterwards
leave() {
	local name=$1
	shift
	arrivals 120 11 >"$TMP/before"
	arrivals 60 12 >"$TMP/after"
	hold
	manage
	arrive "$TMP/before" b
	check "$name: $*" "$@"
	arrive "$TMP/after" a
	is "$name: nothing is lost" "$(queued)" 180
	release 180
	by_class "$TMP/before" '' b >"$TMP/expected"
	seq 0 59 | sed 's/^/a/' >>"$TMP/expected"
	same "$name: the queued in order, then as they come" \
		"$TMP/server" "$TMP/expected"
}

# --- stock kernel ---
arrivals 120 11 >"$TMP/before"
hold
arrive "$TMP/before" b
release 120
seq 0 119 | sed 's/^/b/' >"$TMP/expected"
same "stock kernel: order of arrival" "$TMP/server" "$TMP/expected"

load_synq
conf | apply
leave off sq off
sq on

# On again: what came meanwhile is ordered with the next.
hold
manage
sq off
arrivals 40 13 >"$TMP/list"
arrive "$TMP/list" c
sq on
sed -n 1p "$TMP/list" >"$TMP/one"
arrive "$TMP/one" d
release 41
{ cat "$TMP/list" "$TMP/one"; } >"$TMP/both"
by_class "$TMP/both" | sed 's/^c40$/d0/' >"$TMP/expected"
same "on again: all is ordered" "$TMP/server" "$TMP/expected"

leave flush sq flush
is "flush: no socket is managed" "$(conf_counter sockets)" 0

conf | apply
leave unloading rmmod synq
check "unloading: it is gone" test ! -e /sys/module/synq
