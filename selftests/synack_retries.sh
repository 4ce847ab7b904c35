#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# synack-retries: how often a SYN-ACK is sent to a client that never answers, on the wire;
# that the listener gets its own value back, in whatever way the option goes; and that
# accepted connections never have synq's.
#
# Must fail if: the option had no effect, or the socket's own value were lost, or synq's
# were inherited by accepted connections.

. "${BASH_SOURCE[0]%/*}/lib.sh"
plan 27

# A listener that set none has what net.ipv4.tcp_syn_retries says, as far as
# getsockopt() tells.
NONE=9 OWN=4
SYNCNT=6,7

conf() {
	apply <<-EOT
		class add gold priority 0
		listener add port $PORT $@
	EOT
}

# SYN-ACKs are sent at 0, 1 and 3 s: one SYN each by IPv4 and IPv6, from sources
# that nobody has, and what is answered to them
on_the_wire() {
	next=$((next + 1))
	"$PEER" segment -N "$CLI" -p $next -s fd00:f::1 -w 6000 $V6 $PORT \
		>"$TMP/six" &
	"$PEER" segment -N "$CLI" -p $next -s 10.200.0.1 -w 6000 $V4 $PORT \
		>"$TMP/four"
	wait $!
	is "$1" "$(sed -n 's/^answers //p' "$TMP/four" "$TMP/six" | tr '\n' ' ')" \
		"$2 $2 "
}

listener_has() {
	[ "$(sed -n 's/^listener //p' "$TMP/server" | tail -n 1)" = "$1" ]
}

# shows NAME N
shows() {
	check "$1: $2" wait_for 10 listener_has "$2"
}

# accepted NAME N: what three connections have that are accepted now
accepted() {
	local from
	from=$(lines "$TMP/server" ^child)
	client "$TMP/c" -n 3 -c 3 -A -s 10.1.0.1 -w 30000 $V4 $PORT
	must_come 10 has "$TMP/server" ^child $((from + 3))
	is "$1" "$(sed -n 's/^child //p' "$TMP/server" | tail -n 3 | tr '\n' ' ')" \
		"$2 $2 $2 "
}

set_sysctl "$SRV" net.ipv4.tcp_synack_retries 2
set_sysctl "$SRV" net.ipv4.tcp_syn_retries $NONE
next=2000

# --- on the wire ---
server "$TMP/server" -a :: -m syncnt $PORT
on_the_wire "stock kernel: SYN-ACKs" 3
load_synq
conf synack-retries 1
manage
on_the_wire "one retry: SYN-ACKs" 2
sq listener set port $PORT synack-retries none
background "$TMP/seen" "$PEER" segment -N "$CLI" -p 4000 -s 10.200.0.2 -w 6000 \
	$V4 $PORT
must_come 30 has "$TMP/seen" ^answer
sq listener set port $PORT synack-retries 1
must_come 30 has "$TMP/seen" ^answers
is "set while a request is half open: SYN-ACKs" \
	"$(sed -n 's/^answers //p' "$TMP/seen")" 2
unload_synq
on_the_wire "unloaded: SYN-ACKs" 3

# --- each way there and back ---
shows "stock kernel" $NONE
load_synq
conf synack-retries 1
manage
shows "set" 1
accepted "what is accepted has none of it" $NONE
sq listener set port $PORT synack-retries 127
shows "changed" 127
sq listener set port $PORT synack-retries none
shows "taken away" $NONE
sq listener set port $PORT synack-retries 2
shows "set again" 2
sq set enforce off
shows "all is only watched" $NONE
sq set enforce on
shows "and no more" 2
sq listener set port $PORT enforce off
shows "the listener is only watched" $NONE
sq listener set port $PORT enforce on
shows "and no more" 2
sq off
shows "off" $NONE
sq on
shows "on" 2
sq listener del port $PORT
shows "the listener deleted" $NONE
conf synack-retries 2
manage
shows "added again" 2
sq flush
shows "flush" $NONE
conf synack-retries 2
manage
shows "configured again" 2
unload_synq
shows "unloaded" $NONE
stop "${pids[0]}"

# --- the socket's own ---
server "$TMP/server" -a :: -m syncnt -O $SYNCNT,$OWN $PORT
shows "stock kernel, TCP_SYNCNT" $OWN
load_synq
conf synack-retries 2
manage
shows "the option comes first" 2
accepted "what is accepted has the socket's own" $OWN
sq listener set port $PORT synack-retries none
shows "which it has again" $OWN
accepted "and what is accepted, too" $OWN
unload_synq
shows "and when unloaded" $OWN
