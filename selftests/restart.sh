#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A listener is a port, not a socket: configured before any server runs; each of
# $RESTARTS (100) servers that come and go under load is managed from its first
# SYN on, and none is left over; so are later members of a reuseport group, and a
# socket that was there before the configuration.
#
# Must fail if: a new socket were not found, a record outlived its
# socket, or the counters went with the socket.
#
# Needs two CPUs: a socket goes while it is found.

. "${BASH_SOURCE[0]%/*}/lib.sh"
RESTARTS=${RESTARTS:-100}
[ "$RESTARTS" -ge 5 ] || die "RESTARTS: at least 5"
plan 12

load_synq
three_classes | apply
is "no server: no socket is managed" "$(sockets)" 0

# Clients all the time; between two servers the kernel refuses them.
background "$TMP/hammer" "$PEER" hammer -N "$CLI" -s 10.1.0.1 -s 10.3.0.1 -S 50 \
	-c 3 -T 600 -w 5000 -E "$TMP/done" "$V4" "$PORT"
hammer=$LAST
managed=0 gone=0 seen=0 backwards=0
for ((i = 0; i < RESTARTS; i++)); do
	server "$TMP/server" -m count -b 64 $PORT
	wait_for 10 sockets_are 1 && managed=$((managed + 1))
	now=$(counter gold seen)
	[ "$now" -ge "$seen" ] || backwards=$((backwards + 1))
	seen=$now
	stop "$LAST"
	wait_for 10 sockets_are 0 && gone=$((gone + 1))
done
is "each new socket was managed" $managed "$RESTARTS"
is "each was gone afterwards" $gone "$RESTARTS"
is "the counters went on" $backwards 0
check "the clients were at it" test "$seen" -gt $((RESTARTS / 2))
touch "$TMP/done"
must_come 20 has "$TMP/hammer" '^hammer '
stop "$hammer"
is "no socket is left" "$(conf_counter sockets)" 0

# --- a server that was there before ---
sq flush
server "$TMP/server" -m count $PORT
three_classes | apply
is "before its first SYN a socket is not managed" "$(sockets)" 0
manage
is "after it, it is" "$(sockets)" 1
stop "$LAST"

# --- a reuseport group ---
members=()
for i in 1 2 3 4; do
	server "$TMP/member$i" -m count -R $PORT
	members+=("$LAST")
	# Which member a SYN finds depends on its source: send until all were.
	background "$TMP/c$i" "$PEER" hammer -N "$CLI" -s 10.1.0.1 -S 200 -c 4 \
		-T 60 -E "$TMP/managed$i" $V4 $PORT
	wait_for 20 sockets_are "$i"
	touch "$TMP/managed$i"
	must_come 20 has "$TMP/c$i" '^hammer '
done
is "each member of a reuseport group is managed" "$(sockets)" 4
stop "${members[0]}"
check "a member that goes is forgotten" wait_for 10 sockets_are 3
unload_synq
"$PEER" hammer -N "$CLI" -s 10.1.0.1 -S 200 -c 8 -T 1 $V4 $PORT >"$TMP/after"
is "the others go on without synq" \
	"$(field "$TMP/after" late) $(field "$TMP/after" reset)" "0 0"
check "and answer" test "$(field "$TMP/after" answered)" -gt 10
stop "${members[@]}"
