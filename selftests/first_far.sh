#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The first class from far away, while lower classes have all that they may have:
# connections queued and under way are more than there are slots, but as many leave
# meanwhile.  So it is hardly ever refused.
#
# Must fail if: handshakes under way were added to the queue as if no connection left it
# meanwhile.

. "${BASH_SOURCE[0]%/*}/lib.sh"
need tc
plan 4

SERVICE=25 BACKLOG=32 DELAY=700	# ms, slots, ms there and back
GOLD=25 BULK=60			# connections in a second

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

# refused_from N: so many SYNs of the lower class, for want of a slot in either queue
refused_from() {
	[ $(($(counter bulk queue_refused) + $(counter bulk share_refused))) -ge "$1" ]
}

client "$TMP/bulk" -n $((40 * BULK)) -r $BULK -s 10.3.0.1 -S 250 -w 60000 \
	$V4 $PORT
must_come 30 refused_from 20
must_come 30 counter_from bulk accepted 60
client "$TMP/gold" -n $((8 * GOLD)) -r $GOLD -s 10.1.0.1 -S 250 -w 30000 \
	$V4 $PORT
must_come 30 counter_from gold accepted $((2 * GOLD))
must_come 60 has "$TMP/gold" ^done
check "lower classes are refused all the while" refused_from 80
is "all of the first class are answered" "$(field "$TMP/gold" answered)" \
	$((8 * GOLD))
# Added up there were more than 600.
within "few of them were refused" "$(counter gold queue_refused)" 0 $((10 * GOLD))
within "or had to wait" "$(counter gold held)" 0 40
