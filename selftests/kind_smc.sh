#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# SMC sockets, with TCP clients: SMC has callbacks of its own in the TCP socket that
# listens, and accepts inside the kernel at once, in works that may overtake each
# other.  So there is nothing to order, but nothing is lost either, and sockets of
# either family may come and go, one in the memory of another.
#
# Would miss its mark if: SMC's callbacks were not called, or a socket got the copied
# operations of an old one at the same address (ops.c).
#
# Needs two CPUs: works that overtake each other.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/kind_lib.sh"
plan 11

listen='-a 0.0.0.0 -S'
modprobe smc 2>/dev/null
if ! there_is; then
	for _ in 1 2 3 4 5 6 7 8 9 10 11; do
		skip "SMC" "$WHY_NOT"
	done
	exit
fi

# everybody NAME: each is accepted once
everybody() {
	ids "$TMP/server" | sort >"$TMP/ids"
	check "$1: each is accepted once" cmp "$TMP/ids" "$TMP/everybody"
}

arrivals $N 7 >"$TMP/list"
by_arrival
sort "$TMP/expected" >"$TMP/everybody"
queue_up stock
everybody "SMC, stock kernel"

load_synq
three_classes | apply
queue_up synq
everybody "SMC"
is "SMC: judged, admitted and promoted once" \
	"$(totals seen admitted promoted)" "$N $N $N"
check "SMC: no socket is left" wait_for 10 conf_counter_is sockets 0

# round TO LISTEN FROM: prints how many were answered
round() {
	server "$TMP/server" -a "$2" -S $PORT
	manage "$1"
	"$PEER" client -N "$CLI" -n 5 -w 20000 -s "$3" "$1" $PORT >"$TMP/round"
	answered=$((answered + $(field "$TMP/round" answered)))
	stop "$LAST"
	wait_for 10 sockets_are 0 || note "a socket is left"
}

answered=0
for _ in 1 2 3 4; do
	round "$V4" 0.0.0.0 10.1.0.1
	round "$V6" :: fd00:1::1
	round "$V4" :: 10.1.0.1
done
is "one after the other, all families: answered" $answered 60

# The kernel keeps SMC's sockets of the two families apart as long as it does not
# recycle pages: many of one family, closed; then as many of the other.
MANY=60
for ((i = 0; i < MANY; i++)); do
	echo "address add 192.0.2.$((100 + i))/24 dev veth0"
	echo "address add 2001:db8::$((100 + i))/64 dev veth0 nodad"
done | ip -n "$SRV" -batch - || die "no addresses"

# many PREFIX CLIENT NOBODY: ANSWERED is how many clients were
many() {
	local servers=() i
	for ((i = 0; i < MANY; i++)); do
		background "$TMP/many$i" "$PEER" server -N "$SRV" \
			-a "$1$((100 + i))" -S $PORT
		servers+=("$LAST")
	done
	for ((i = 0; i < MANY; i++)); do
		must_come 30 is_up "$TMP/many$i"
		"$PEER" segment -N "$CLI" -s "$3" "$1$((100 + i))" $PORT
	done >/dev/null
	wait_for 20 sockets_are $MANY || note "managed: $(sockets)"
	for ((i = 0; i < MANY; i++)); do
		client "$TMP/to$i" -n 1 -w 10000 -s "$2" "$1$((100 + i))" $PORT
	done
	for ((i = 0; i < MANY; i++)); do
		must_come 30 has "$TMP/to$i" ^done
	done
	ANSWERED=$(cat "$TMP"/to* | grep -c ^answered)
	stop "${servers[@]}"
	wait_for 20 sockets_are 0 || note "a socket is left"
	for i in /sys/kernel/slab/SMC*/shrink; do
		[ ! -w "$i" ] || echo 1 >"$i"
	done
}

many 192.0.2. 10.1.0.1 10.4.0.1
is "many: answered" "$ANSWERED" $MANY
many 2001:db8:: fd00:1::1 fd00:4::1
is "as many of the other family, in their memory: answered" "$ANSWERED" $MANY

# Unloaded under a socket that goes on.
server "$TMP/server" -a 0.0.0.0 -S $PORT
manage
is "managed" "$(sockets)" 1
check "unloads" rmmod synq
"$PEER" client -N "$CLI" -n 5 -w 20000 -s 10.1.0.1 $V4 $PORT >"$TMP/then"
is "and SMC goes on" "$(field "$TMP/then" answered)" 5
stop "$LAST"
check "and ends" wait_for 10 is_gone "$LAST"
