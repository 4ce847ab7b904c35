#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A listening socket opens and closes as often as it can while SYNs arrive for it.
# Wherever one is being judged then, in PREROUTING or LOCAL_IN, before or after a socket
# lookup, the listener that was found may have lost its port.  $SECONDS_EACH seconds each
# (7; 1 with one CPU, where that cannot happen): the race is a matter of chance.
#
# Must fail if: the port of a found socket were read twice and assumed not to change.
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
	check "$name: and sometimes no socket listened" \
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
