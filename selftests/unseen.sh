#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A listener is managed from its first SYN on, and those that came with it have begun
# handshakes that nobody has counted.  They are expected all the same: whoever comes
# before they have completed is refused at the SYN and does not have to wait at the
# gate.
#
# Would miss its mark if: only handshakes were expected whose SYN was judged.

. "${BASH_SOURCE[0]%/*}/lib.sh"
need tc
plan 4

BACKLOG=64 FIRST=34 MORE=46

# The final ACK comes so long after the SYN, and in time for TCP.
cli tc qdisc add dev veth0 root netem delay 700ms || die "no netem"

# both: a crowd, and another while the first is still under way
both() {
	server "$TMP/server" -b $BACKLOG -m none $PORT
	held=$LAST
	client "$TMP/first" -n $FIRST -c $FIRST -s 10.3.0.1 -S 200 -w 30000 \
		$V4 $PORT
	first=$LAST
	sleep .3
	client "$TMP/more" -n $MORE -c $MORE -s 10.4.0.1 -S 200 -w 30000 \
		$V4 $PORT
	more=$LAST
}

come_to() {
	[ $(($(counter bulk promoted) + $(counter bulk withheld))) -ge "$1" ]
}

load_synq
apply <<-EOT
	class add gold priority 0 reserve 25%
	class add bulk priority 6 default max-wait none
	match add source 10.1.0.0/16 class gold
	listener add port $PORT
EOT
both
must_come 20 come_to $FIRST
must_come 20 counter_from bulk queue_refused 1
# Longer than a handshake after the last that was let in.
sleep 2
check "some of them were there before the listener was managed" \
	[ "$(counter bulk promoted)" -ge $FIRST ]
within "as many as there is room for" "$(counter bulk promoted)" $FIRST 48
is "nobody waits at the gate" "$(counter bulk withheld)" 0
stop "$held" "$first" "$more"
is "no connection waits for nobody" \
	"$(wait_for 10 sockets_are 0; sockets)" 0
