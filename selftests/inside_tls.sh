#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A limit inside of a server that talks TLS 1.3, as far as that can be seen: with each handshake
# it sends two tickets, most of them when the request has come already.  The tickets are
# no answer, so the limit holds, and the preferred are before the others; and a client that has
# only finished the handshake has asked for nothing.  While a client's next flight of the handshake
# is on its way every fourth counts as busy.
#
# Must fail if: tickets were taken for answers, the end of a handshake for a request, or others came
# in for those who are in the middle of one.
#
# One kernel will do: what is seen does not depend on it.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/inside_lib.sh"
need tc
plan 32

CROWD=20 RATE=50

# crowd NAME MORE WAITING: $CROWD of bulk, whose requests come with the end of the handshake, at a slow
# server; then 4 of gold; seven tests
crowd() {
	local seen since held gold waiting
	since=$(answers bulk)
	held=$(counter bulk held)
	gold=$(counter gold held)
	client "$TMP/bulk" -X -n "$CROWD" -r "$RATE" -s 10.3.0.1 -S 40 -w 20000 $V4 $PORT
	wait_for 3 counter_from bulk held $((held + CROWD / 3))
	client "$TMP/gold" -X -n 4 -c 4 -s 10.1.0.1 -w 20000 $V4 $PORT
	must_come 10 has "$TMP/gold" "^all acked"
	waiting=$(counter bulk held_now)
	must_come 20 has "$TMP/gold" ^done
	must_come 20 has "$TMP/bulk" ^done
	is "$1: all are served" "$(field "$TMP/bulk" answered) $(field "$TMP/gold" answered)" \
		"$CROWD 4"
	within_prompt "$1: the others wait when the preferred have come" "$waiting" "$3" $((CROWD - 4))
	within_prompt "$1: most of the others were held" $(($(counter bulk held) - held)) $((CROWD / 4)) $((CROWD - 4))
	is "$1: none of the preferred" $(($(counter gold held) - gold)) 0
	seen=$(($(answers bulk) - since))
	# One for the hello, one for the request.
	within "$1: each answer was seen, and no other" $seen $((2 * CROWD)) $((2 * CROWD + $2))
	over "$1"
}

load_synq
inside_conf "inside 4"
WORKERS=2 SERVICE=800
eager -X -k $PORT
manage

# --- it is not known how long tickets are: the first few are taken for answers ---
crowd "not known" 8 4

# --- the handshake alone ---
stuck=$(counter bulk stuck)
client "$TMP/late" -X -n 4 -c 4 -s 10.3.1.1 -S 4 -i late -L "$TMP/go" -K "$TMP/late.end" -w 20000 \
	$V4 $PORT
late=$LAST
check "a handshake alone: nobody is busy" wait_for 5 counter_is bulk quiet_now 4
pause_ms 500
is "a handshake alone: nor stuck" "$(counter bulk busy_now) $(counter bulk stuck)" "0 $stuck"
before=$(answers bulk)
touch "$TMP/go"
must_come 10 has "$TMP/late" "^answered late3"
is "a handshake alone: each request is answered once" "$(($(answers bulk) - before))" 4
stop "$late"

# --- from now on it is known ---
crowd "known" 0 10

# --- from far away: nobody else comes in while a client's next flight is on its way ---
cli tc qdisc add dev veth0 root netem delay 150ms limit 10000 || die "no netem"
CROWD=40 RATE=200 crowd "far" 0 10
cli tc qdisc del dev veth0 root
check "unloads" rmmod synq
load_synq

# --- another server, whose tickets are learnt from those who ask later ---
inside_conf "inside 4"
manage
client "$TMP/late" -X -n 1 -s 10.3.1.1 -i late -L "$TMP/never" -K "$TMP/late.end" -w 20000 $V4 $PORT
late=$LAST
wait_for 5 counter_is bulk quiet_now 1
stop "$late"
wait_for 5 sockets_are 0
crowd "learnt before" 0 10
