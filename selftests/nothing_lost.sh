#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Nothing is lost and nothing arrives twice while connections arrive, two processes accept
# and close them, and the module is loaded, configured anew, switched off and on, and
# unloaded again, for $DURATION seconds (60), and at least three times: a busy machine
# takes longer.
# Counted at both ends: number and sum of unique ids.  IPv4, IPv6, IPv4 at an IPv6 socket;
# one listener has a backlog so short that connections wait at the gate.
#
# Must fail if: a tail dangled, the chain were cut while it is mended, the last pointer were
# wrong, a request were dropped at the gate or at unloading.
#
# Needs two CPUs: what is accepted, promoted and closed at once.

. "${BASH_SOURCE[0]%/*}/lib.sh"
DURATION=${DURATION:-60} CYCLES=3 PATIENCE=180 LONG=$PORT SHORT=8081
plan 11
# A connection whose TIME_WAIT finds no place is answered by resets.
set_sysctl "$SRV" net.ipv4.tcp_max_tw_buckets 262144
set_sysctl "$CLI" net.ipv4.tcp_max_tw_buckets 262144

conf() {
	three_classes $LONG
	echo "listener add port $SHORT"
}

# swapped N: other priorities, and each time another discipline
swapped() {
	conf | sed 's/gold priority 0/gold priority 9/' | case $(($1 % 3)) in
	0) cat ;;
	1) sed -E -e 's/^listener.*/& order weighted/' \
		-e 's/^class add silver.*/& weight 7/' ;;
	2) sed 's/^class add bulk.*/& min-share 30%/' ;;
	esac
}

# traffic SECONDS: begins; ends after that, or when there was enough
traffic() {
	local ends=()
	rm -f "$TMP/end" "$TMP/enough"
	server "$TMP/s1" -a :: -m count -j 2 -E "$TMP/end" $LONG
	ends+=("$LAST")
	server "$TMP/s2" -b 16 -m count -j 2 -E "$TMP/end" $SHORT
	servers=("${ends[@]}" "$LAST")
	hammer 1 "$1" "$V4" $LONG 10
	hammer 2 "$1" "$V6" $LONG fd00:
	hammer 3 "$1" "$V4" $SHORT 10
}

# hammer N SECONDS TO PORT FAMILY
hammer() {
	local sources=(-s 10.1.0.1 -s 10.2.0.1 -s 10.3.0.1 -s 10.4.0.1)
	[ "$5" = 10 ] ||
		sources=(-s fd00:1::1 -s fd00:2::1 -s fd00:3::1 -s fd00:4::1)
	# The shell that loads and unloads shall have its turn, too.
	background "$TMP/h$1" "$PEER" hammer -N "$CLI" "${sources[@]}" -S 60 \
		-z 15 -c 24 -T "$2" -E "$TMP/enough" -u "$1" "$3" "$4"
}

over() {
	local i
	for i in 1 2 3; do
		has "$TMP/h$i" '^hammer ' || return 1
	done
}

# Clients that close at once send until the data has arrived, however long it takes.
nobody_sends() {
	[ -z "$(cli ss -Htn state fin-wait-1)" ]
}

# account NAME: both ends, four tests
account() {
	local i made=0 sum=0 ids=0 isum=0 lost=0 failed=0
	must_come 60 over
	must_come 60 nobody_sends
	touch "$TMP/end"
	must_come 30 has "$TMP/s1" ^total
	must_come 30 has "$TMP/s2" ^total
	for i in 1 2 3; do
		made=$((made + $(field "$TMP/h$i" connected)))
		sum=$((sum + 0x$(field "$TMP/h$i" sum)))
		lost=$((lost + $(field "$TMP/h$i" late)))
		lost=$((lost + $(field "$TMP/h$i" reset)))
		failed=$((failed + $(field "$TMP/h$i" failed)))
	done
	for i in 1 2; do
		ids=$((ids + $(field "$TMP/s$i" ids)))
		isum=$((isum + 0x$(field "$TMP/s$i" sum)))
	done
	note "$1: $made connections; servers: $(grep -h ^total "$TMP"/s? | tr '\n' ';')"
	note "queued: $(queued $LONG) $(queued $SHORT), resets sent: $(mib Tcp.OutRsts)," \
		"embryonic: $(mib TcpExt.EmbryonicRsts)"
	is "$1: as many came as were made" $ids $made
	is "$1: the same came as were made" $isum $sum
	is "$1: no client waited in vain or was reset" $lost 0
	is "$1: every client could connect" $failed 0
	stop "${servers[@]}"
}

traffic 3
account "stock kernel"

# enough SINCE CYCLES
enough() {
	local seconds=$((($(ms) - $1) / 1000))
	[ "$2" -ge $CYCLES ] || seconds=$((seconds - PATIENCE))
	[ $seconds -ge "$DURATION" ]
}

cycles=0
traffic $((DURATION + PATIENCE))
since=$(ms)
until enough "$since" $cycles; do
	load_synq
	conf | apply
	wait_for 5 counter_from bulk placed 20 $LONG
	swapped $cycles | apply
	wait_for 5 counter_from gold placed 20 $LONG
	if [ $((cycles % 3)) = 0 ]; then
		sq off
		sq on
		sq flush
		conf | apply
		wait_for 5 counter_from bulk placed 5 $SHORT
	fi
	note "$(sq stats class bulk | grep -E "^$SHORT" | tr '\n' ' ')"
	unload_synq
	cycles=$((cycles + 1))
done >"$TMP/cycles"
touch "$TMP/enough"
tail -n 3 "$TMP/cycles"
account "with synq"
note "$cycles times loaded and unloaded"
check "loaded and unloaded often enough" test $cycles -ge $CYCLES

# Once more with synq to the end: the counters must agree with the server.
load_synq
conf | apply
traffic 3
must_come 60 over
must_come 60 nobody_sends
touch "$TMP/end"
must_come 30 has "$TMP/s1" ^total
must_come 30 has "$TMP/s2" ^total
promoted=0
for class in gold silver bulk default; do
	promoted=$((promoted + $(counter $class promoted $SHORT)))
done
# A worker manages a socket after its first SYN, when its owner has not just locked it:
# a few come before.
within "the short queue's counters agree" $promoted \
	$(($(field "$TMP/s2" accepted) - 60)) "$(field "$TMP/s2" accepted)"
stop "${servers[@]}"
is "held = released + gone + flushed + now" \
	"$(counter bulk held $SHORT)" \
	$(($(counter bulk released $SHORT) +
	   $(counter bulk hold_gone $SHORT) +
	   $(counter bulk hold_flushed $SHORT) +
	   $(counter bulk held_now $SHORT)))
