#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A listening socket opens and closes as often as it can while SYNs come for it: wherever
# one is being judged then, at PREROUTING or LOCAL_IN, before or behind a socket lookup,
# the listener that was found may have no port any more.  $SECONDS_EACH seconds each (7; with
# one CPU, where that cannot be, 1): what is to be met is a matter of chance.
#
# Would miss its mark if: the port of a socket that was found were read twice, and
# counted on not to change.
#
# Needs two CPUs: a listener closes while another CPU has found it.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/flood_lib.sh"
plan $((4 * 3))

EACH=${SECONDS_EACH:-$(($(nproc) > 1 ? 7 : 1))}
FLOOD_RATE=100000

# goes NAME TO FROM: three tests, under the configuration in force
goes() {
	local name=$1 to=$2 from=$3 at=0.0.0.0 before
	case $to in *:*) at=:: ;; esac
	rm -f "$TMP/end"
	before=$(conf_counter no_listener)
	background "$TMP/blink" "$PEER" blink -N "$SRV" -E "$TMP/end" $at $PORT
	must_come 10 has "$TMP/blink" ^blinking
	flood -s "$from" -S 60000 "$to"
	sleep "$EACH"
	calm
	: >"$TMP/end"
	must_come 10 has "$TMP/blink" ^blinked
	note "$name: $(tail -n 1 "$TMP/blink"), $sent SYNs"
	check "$name: it was judged" test "$(counter bulk seen)" -gt 0
	check "$name: and sometimes nobody listened" \
		test "$(conf_counter no_listener)" -gt "$before"
	check "$name: no socket is left" wait_for 10 sockets_are 0
}

load_synq
flood_conf_anew
goes "IPv4" $V4 10.200.0.1
flood_conf_anew rate 100/second burst 10 excess drop
goes "IPv4, dropped" $V4 10.200.0.1
flood_conf_anew rate 100/second burst 10 excess reset
goes "IPv4, answered at LOCAL_IN" $V4 10.200.0.1
flood_conf_anew cookies always
goes "IPv6, cookies" "$V6" fd00:f::1
