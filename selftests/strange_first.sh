#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The first IPv4 listener that a freshly loaded module meets is an odd one: an IPv6 socket
# that IPV6_ADDRFORM has converted, with a destructor like no other's.  Later sockets are
# managed all the same.  A listener that cannot be managed costs at most one try a second,
# however many SYNs arrive for it.
#
# Must fail if: the defaults of a family were learned from one of its sockets, or each SYN
# repeated what has just failed.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/order_lib.sh"
. "${BASH_SOURCE[0]%/*}/owner_lib.sh"
plan 7

to=$V4 listen='-a 0.0.0.0' sources='10.1.0. 10.2.0. 10.3.0.'
STRANGE=8081 FRIEND=9000 SYNS=300 RATE=100

# stranger: listens on $STRANGE
stranger() {
	does owner socket 0 tcp6
	does owner connect 0 ::ffff:127.0.0.1 $FRIEND
	does owner addrform 0
	does owner disconnect 0
	does owner bind 0 0.0.0.0 $STRANGE
	does owner listen 0 64
}

conf() {
	load_synq
	{
		three_classes
		echo "listener add port $STRANGE"
	} | apply
}

# syns N PORT: from an address that resets what is answered
syns() {
	"$PEER" segment -N "$CLI" -s 10.4.0.1 -n "$1" -r $RATE $V4 "$2" >/dev/null
}

# tries: of managing a socket that have failed, for good
tries() {
	echo $(($(conf_counter attach_failed) + $(conf_counter foreign_owner)))
}

# seldom_tried NAME: one test; SYNs for three seconds
seldom_tried() {
	local before
	before=$(tries)
	syns $SYNS $STRANGE
	within "$1: tries in three seconds" $(($(tries) - before)) 0 \
		$((SYNS / RATE + 2))
}

owner friend
does friend socket 0 tcp4
does friend bind 0 127.0.0.1 $FRIEND
does friend listen 0 8
owner owner

# --- it comes first ---
stranger
conf
syns 3 $STRANGE
must_come 10 counter_from default seen 3 $STRANGE
arrivals 20 7 >"$TMP/list"
hold
syns 1 $PORT
check "behind a stranger: an ordinary listener is managed" \
	wait_for 5 sockets_are 1
check "and counted" test "$(conf_counter sockets)" -ge 1
arrive "$TMP/list"
is "all pass the gate" "$(sum_of promoted)" 20
release 20
by_class "$TMP/list" >"$TMP/expected"
same "class, then arrival" "$TMP/server" "$TMP/expected"
does owner close 0
unload_synq

# --- it comes second ---
conf
hold
manage
stranger
seldom_tried "a stranger"
does owner close 0
stop "$held"

# --- SMC has operations of its own, which synq may leave alone ---
modprobe smc 2>/dev/null
if grep -q '^SMC' /proc/net/protocols; then
	does owner socket 0 smc4
	does owner bind 0 0.0.0.0 $STRANGE
	does owner listen 0 64
	seldom_tried SMC
	does owner close 0
else
	skip SMC "not in this kernel"
fi
check "unloads" rmmod synq
