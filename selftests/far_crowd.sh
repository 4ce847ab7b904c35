#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A crowd from far away.  While its handshakes are under way the server could take out more
# than the queue holds; but they come back at once, as they went.  So no more of them are
# let in than there are slots, the others when they try again, and hardly anybody has to
# wait at the gate.
#
# Would miss its mark if: what leaves until a handshake completes were taken off for those
# that began at once.
#
# The clock may leap.

. "${BASH_SOURCE[0]%/*}/lib.sh"
need tc
plan 5

SERVICE=25 BACKLOG=32 DELAY=700	# ms, slots, ms there and back
KNOWN=60 CROWD=60

load_synq
apply <<-EOT
	class add gold priority 0 reserve 25% cookies never
	class add bulk priority 6 default cookies never max-wait none
	match add source 10.1.0.0/16 class gold
	listener add port $PORT
EOT
server "$TMP/server" -b $BACKLOG -t $SERVICE $PORT
manage
cli tc qdisc add dev veth0 root netem delay ${DELAY}ms limit 10000 ||
	die "no netem"

# How fast the server is, and how long handshakes take, is known then.
client "$TMP/known" -n $((20 * KNOWN)) -r $KNOWN -s 10.3.0.1 -S 250 -w 60000 \
	$V4 $PORT
must_come 30 counter_from bulk accepted 120
stop "$LAST"
must_come 30 queue_is 0
must_come 30 counter_is bulk half_open 0
before=$(counter bulk held) refused=$(counter bulk queue_refused)
promoted=$(counter bulk promoted)
client "$TMP/crowd" -n $CROWD -c $CROWD -s 10.3.1.1 -S 250 -w 60000 $V4 $PORT
must_come 60 has "$TMP/crowd" ^done
is "all are answered" "$(field "$TMP/crowd" answered)" $CROWD
check "some are refused at first" [ $(($(counter bulk queue_refused) - refused)) -ge 20 ]
within "hardly anybody has to wait" $(($(counter bulk held) - before)) 0 4
is "each is promoted once" $(($(counter bulk promoted) - promoted)) $CROWD
is "none is dropped at the gate" "$(counter bulk hold_full)" 0
