#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# "enforce off", of a class, of a listener and of everything: what would have been
# refused is counted, to the same number as under enforcement, and nothing is done: as
# many get in as with the stock kernel.
#
# Must fail if: something were refused all the same, or the count differed from that of
# the refusals.

. "${BASH_SOURCE[0]%/*}/lib.sh"
plan 30

BACKLOG=32 CLIENTS=60

# conf BULK LISTENER [SET]: options, and a further line
conf() {
	apply <<-EOT
		class add gold priority 0
		class add bulk priority 6 $1
		match add source 10.1.0.0/16 class gold
		match add source 10.200.0.0/16 class bulk
		match add source 10.3.0.0/16 class bulk
		listener add port $PORT $2
		${3-}
	EOT
}

refused() {
	echo $(($(counter bulk excess_dropped) + $(counter bulk queue_refused) +
		$(counter bulk wait_refused)))
}

# flood: SYNs from sources that nobody has, none of which came before
flood() {
	floods=$((floods + 1))
	"$PEER" segment -N "$CLI" -s 10.200.$((floods * 8)).1 -S 2000 -n 2000 \
		-r 1000 $V4 $PORT >"$TMP/sent"
	read -r _ _ took <"$TMP/sent"
}

# A machine that stands still for less than two seconds loses none of the burst.
POLICED='rate 200/second burst 400'

# what_would NAME BULK LISTENER [SET]: the rate's verdicts
what_would() {
	sq flush
	conf "$POLICED max-wait none $2" "$3" "${4-}"
	flood
	local conform=$((400 + 200 * took / 1000))
	within "$1: would be refused" "$(counter bulk would_refuse)" \
		$((2000 - conform * 105 / 100 - 1)) $((2000 - conform * 95 / 100))
	is "$1: is not" "$(refused)" 0
	is "$1: all are let through" "$(counter bulk admitted)" 2000
}

full_to() {
	[ "$(queued)" -ge "$1" ]
}

stays_below() {
	! wait_for 2 full_to "$1"
}

# fill [managed]: more clients than there are slots, for a server that holds
fill() {
	rm -f "$TMP/go" "$TMP/end"
	server "$TMP/server" -b $BACKLOG -H "$TMP/go" -E "$TMP/end" $PORT
	held=$LAST
	[ -z "${1-}" ] || manage
	client "$TMP/bulk" -n $CLIENTS -c $CLIENTS -s 10.3.0.1 -S 200 -w 60000 \
		$V4 $PORT
	filler=$LAST
}

# --- stock kernel ---
fill
check "stock kernel: the queue fills" wait_for 10 full_to $((BACKLOG + 1))
stop "$held" "$filler"

load_synq

# --- the rate ---
# A SYN queue of which the floods are no quarter: there is only the rate to count.
set_sysctl "$SRV" net.core.somaxconn 65535
server "$TMP/server" -b 40000 -m none $PORT
first=$LAST
conf "$POLICED max-wait none" ""
flood
conform=$((400 + 200 * took / 1000))
within "enforced: refused" "$(refused)" $((2000 - conform * 105 / 100 - 1)) \
	$((2000 - conform * 95 / 100))
is "enforced: nothing would be" "$(counter bulk would_refuse)" 0
what_would "class" "enforce off" ""
what_would "listener" "" "enforce off"
what_would "all" "" "" "set enforce off"
stop "$first"

# --- the queue ---
sq flush
conf "max-wait none" ""
fill managed
check "enforced: the reserve stays free" wait_for 10 full_to 17
check "enforced: and goes on to" stays_below $((BACKLOG - 7))
stop "$held" "$filler"

sq flush
conf "max-wait none enforce off" ""
fill managed
check "queue: fills as by the stock kernel" \
	wait_for 10 full_to $((BACKLOG + 1))
check "queue: would be refused" test "$(counter bulk would_refuse)" -gt 0
is "queue: no SYN is" "$(refused)" 0
is "queue: no connection is held" "$(counter bulk held)" 0
stop "$held" "$filler"
is "queue: seen adds up" "$(counter bulk seen)" "$(counter bulk admitted)"

# --- the same connections one after the other ---
# verdicts BULK: connections, of these let through; SYNs that would be refused
verdicts() {
	sq flush
	conf "$1" ""
	rm -f "$TMP/go"
	server "$TMP/server" -b $BACKLOG -H "$TMP/go" $PORT
	held=$LAST
	manage
	"$PEER" client -N "$CLI" -n 30 -c 1 -p 300 -s 10.3.0.1 -S 200 -w 3000 -A $V4 $PORT \
		>"$TMP/trace"
	admitted=$(counter bulk admitted)
	would=$(counter bulk would_refuse)
	found="$(counter bulk first_tries) $admitted"
	stop "$held"
}
verdicts "max-wait none"
twin=$((30 - admitted))
within "enforced: the last are refused" $twin 5 15
is "enforced: and the others let through" "$found $would" "30 $admitted 0"
verdicts "max-wait none enforce off"
is "not enforced: all are let through" "$found" "30 30"
# The SYN that had the socket managed may still be expected to complete, or not any more.
within "not enforced: as many would be" "$would" $((twin - 1)) $((twin + 1))
verdicts "max-wait none cap 10%"
is "enforced: all but three" "$found $would" "30 3 0"
verdicts "max-wait none cap 10% enforce off"
is "not enforced: all but three would be" "$found $would" "30 30 27"

# --- the wait ---
# A queue that has room for all of them, before a server that takes 20 in a second.
# waiting BULK
waiting() {
	sq flush
	conf "$1" ""
	server "$TMP/server" -b 500 -t 50 $PORT
	held=$LAST
	manage
	client "$TMP/trace" -n 120 -r 60 -s 10.3.0.1 -S 200 -w 60000 $V4 $PORT
	filler=$LAST
	must_come 30 counter_from bulk first_tries 120
	found="$(counter bulk wait_refused) $(counter bulk would_refuse)"
	note "$1: wait_refused and would_refuse: $found"
}
waiting "max-wait 50ms"
within "enforced: refused for the wait" "${found% *}" 20 1000
is "enforced: nothing would be" "${found#* }" 0
stop "$held" "$filler"
waiting "max-wait 50ms enforce off"
within "not enforced: would be" "${found#* }" 20 120
is "not enforced: no SYN is refused" "$(refused)" 0
check "all are served in the end" \
	wait_for 60 has "$TMP/server" ^accept 120
stop "$held" "$filler"
