#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Rate and burst of a class, by its counters, within 2 %; excess is dropped, or passed to
# the stock kernel and counted.
#
# Must fail if: the bucket were unlimited or always empty, its burst or its rate were
# wrong, tokens were handed out late in a flood, a retransmitted SYN of a half-open request
# were charged again, or "pass" dropped.
#
# Needs two CPUs: one bucket for all CPUs.

. "${BASH_SOURCE[0]%/*}/lib.sh"
plan 36
floods=0

# conf RATE[/UNIT] BURST EXCESS
conf() {
	local rate=$1
	[[ $rate == */* ]] || rate+=/second
	apply <<-EOT
		class add gold priority 0
		class add bulk priority 6 rate $rate burst $2 excess $3 max-wait none
		match add source 10.1.0.0/16 class gold
		match add source 10.200.0.0/16 class bulk
		match add source 10.3.0.0/16 class bulk
		match add source fd00:f::/32 class bulk
		listener add port $PORT
	EOT
}

# flood N RATE: SYNs from sources that nobody has, none of which came before
flood() {
	floods=$((floods + 1))
	"$PEER" segment -N "$CLI" -s 10.200.$((floods * 10)).1 -S 2500 -n "$1" -r "$2" \
		$V4 $PORT >"$TMP/sent"
	read -r _ _ took <"$TMP/sent"
}

server "$TMP/server" -m none $PORT
first=$LAST

# --- stock kernel: no limit ---
client "$TMP/c" -n 30 -c 30 -A -s 10.3.0.1 -w 30000 $V4 $PORT
must_come 40 has "$TMP/c" ^done
is "stock kernel: all get in" "$(field "$TMP/c" acked)" 30
stop "$LAST" "$first"

load_synq

# --- rate: with a burst for as long as the sender may be held up ---
server "$TMP/server" -m none $PORT
first=$LAST
conf 100 80 drop
since=$(ms)
flood 1200 300
since=$((since + took))
want=$((80 + 100 * took / 1000))
before=$(counter bulk admitted)
# The bucket stays when the configuration is replaced, unless the rate does.
conf 100 80 drop
flood 400 2000
more=$((100 * ($(ms) - since) / 1000))
after=$(counter bulk admitted)
within "rate" "$before" $((want * 98 / 100)) $((want * 102 / 100 + 1))
within "after another apply, no more than since" $((after - before)) \
	1 $((more * 102 / 100 + 4))
is "rate: all SYNs were seen" "$(counter bulk seen)" 1600
is "rate: the rest was dropped" "$(counter bulk excess_dropped)" $((1600 - after))
adds_up rate

# Another rate begins with a full bucket.
conf 50 60 drop
before=$(counter bulk admitted)
flood 200 100000
within "after another rate" $(($(counter bulk admitted) - before)) 60 \
	$((64 + 50 * took / 1000))

# Tokens come seldom, and SYNs many times in a tick of the clock.
sq flush
conf 20 16 drop
flood 2000 1000
want=$((16 + 20 * took / 1000))
within "a low rate" "$(counter bulk admitted)" $((want * 98 / 100)) \
	$((want * 102 / 100 + 1))

sq flush
conf 1200/minute 16 drop
flood 2000 1000
want=$((16 + 20 * took / 1000))
within "a rate per minute" "$(counter bulk admitted)" $((want * 98 / 100)) \
	$((want * 102 / 100 + 1))
sq flush
conf 30/hour 16 drop
flood 200 100000
is "a rate per hour: the burst, and none for two minutes" "$(counter bulk admitted)" 16
is "why names the unit" "$(sq why 10.200.$((floods * 10)).30 | grep -c 'over rate 30/hour$')" 1
conf 30/hour 16 drop
flood 200 100000
is "the bucket stays" "$(counter bulk admitted)" 16
conf 1/day 16 drop
flood 200 100000
is "a rate per day fills it, too" "$(counter bulk admitted)" 32
is "the configuration has the day" "$(sq save | grep -c 'rate 1/day burst 16')" 1
conf 30/minute 16 drop
flood 200 100000
within "and is full if only the unit is another" "$(counter bulk admitted)" 48 \
	$((49 + took / 2000))

# --- burst ---
sq flush
conf 1 50 drop
flood 300 100000
within "burst" "$(counter bulk admitted)" 50 $((51 + took / 1000))
within "burst: the rest was dropped" "$(counter bulk excess_dropped)" \
	$((249 - took / 1000)) 250
"$PEER" segment -N "$CLI" -s fd00:f::1 -S 100 -n 100 $V6 $PORT >/dev/null
is "an IPv6 port without a listener is not charged" "$(counter bulk seen)" 300
stop "$first"
server "$TMP/server" -a :: -m none $PORT
first=$LAST
sq flush
conf 1 50 drop
"$PEER" segment -N "$CLI" -s fd00:f::1 -S 300 -n 300 $V6 $PORT >/dev/null
within "IPv6 burst" "$(counter bulk admitted)" 50 51

# --- two CPUs ---
sq flush
conf 1 50 drop
background "$TMP/one" "$PEER" segment -N "$CLI" -s 10.200.240.1 -S 300 -n 1000 \
	$V4 $PORT
flood 1000 100000
must_come 10 has "$TMP/one" ^sent
within "burst, from two senders at once" "$(counter bulk admitted)" 50 \
	$((52 + took / 1000))
is "all of them were seen" "$(counter bulk seen)" 2000
stop "$LAST"

# --- a half-open request is not charged again ---
sq flush
conf 1 10 drop
for _ in 1 2 3 4 5; do
	"$PEER" segment -N "$CLI" -s 10.200.200.1 -p 1234 $V4 $PORT >/dev/null
done
is "a repeated SYN is judged once" "$(counter bulk seen)" 1

# --- a class without a rate has no limit ---
client "$TMP/c" -n 60 -c 60 -A -s 10.1.0.1 -w 9000 $V4 $PORT
must_come 40 has "$TMP/c" ^done
is "another class is not touched" "$(field "$TMP/c" acked)" 60

# --- drop: as many as the burst; the others when they come again ---
sq flush
conf 1 5 drop
client "$TMP/c" -n 30 -c 30 -A -s 10.3.0.1 -w 60000 $V4 $PORT
must_come 10 counter_from bulk seen 30
within "drop: the burst is admitted" "$(counter bulk admitted)" 5 7
within "drop: and connects" "$(lines "$TMP/c" ^connected)" 5 7
check "drop: others come in later" wait_for 10 has "$TMP/c" ^connected 8
stop "$LAST"

# --- pass ---
sq flush
conf 1 5 pass
client "$TMP/c" -n 30 -c 30 -A -s 10.3.0.1 -w 9000 $V4 $PORT
must_come 40 has "$TMP/c" ^done
is "pass: all get in" "$(field "$TMP/c" acked)" 30
within "pass: the excess is counted" "$(counter bulk excess_passed)" 23 25
is "pass: nothing is dropped" "$(counter bulk excess_dropped)" 0
adds_up pass
stop "$first"

# --- refuse: whatever the rate ---
sq flush
conf 1000 500 refuse
server "$TMP/server" -m epoll $PORT
manage
"$PEER" segment -N "$CLI" -s 10.3.1.1 -S 200 -n 200 $V4 $PORT >/dev/null
is "refuse: nobody gets in" "$(counter bulk seen) $(counter bulk excess_dropped)" "200 200"
sq class add banned priority 9 excess refuse
sq match add source 10.3.9.0/24 class banned
"$PEER" segment -N "$CLI" -s 10.3.9.1 -S 200 -n 200 $V4 $PORT >/dev/null
is "refuse: without a rate, too" "$(counter banned excess_dropped)" 200
check "refuse: and that is said" eval 'sq why 10.3.9.1 |
	grep -q "excess-dropped: its class never gets in (excess refuse)\$"'
is "refuse: it is saved so" "$(sq save | grep -c 'banned .*excess refuse')" 1
sq class set banned enforce off
"$PEER" client -N "$CLI" -s 10.3.9.1 -A -w 9000 $V4 $PORT >"$TMP/c"
is "refuse: unless it is only observed" "$(field "$TMP/c" acked)" 1
adds_up refuse banned
