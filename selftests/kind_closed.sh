#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A listener is closed with a full queue, also while connections arrive and while the
# module goes: its clients are reset as by the stock kernel, and nothing stays behind.
# Every placed connection is counted: as accepted, queued, closed, or placed once more.
#
# Must fail if: a record kept a closed socket, a request were lost from the chain that the
# kernel frees, or the counters lost what was queued or accepted last.
#
# Needs two CPUs: a listener closes while connections arrive.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/kind_lib.sh"
plan 15

FULL=400 ROUNDS=8

# fill: a server that never accepts, and what its queue holds
fill() {
	server "$TMP/server" -m none -b $((FULL - 1)) $PORT
	held=$LAST
	[ "$1" = stock ] || manage
	client "$TMP/c" -n $FULL -c 20 -s 10.1.0.1 -S 200 -w 20000 $V4 $PORT
	must_come 30 has "$TMP/c" ^acked $FULL
}

# account: what became of the placed
account() {
	totals accepted queued closed replaced
}

account_is() {
	[ "$(account)" = "$1" ]
}

# account_closes: each of the placed is there once
account_closes() {
	# shellcheck disable=SC2046
	set -- $(totals placed accepted queued closed replaced)
	note "placed $1, accepted $2, queued $3, closed $4, replaced $5"
	[ "$1" -gt 0 ] && [ "$1" = $(($2 + $3 + $4 + $5)) ]
}

# many_classes GOLD SILVER BULK: as many as fit, so that others have to take their slots
many_classes() {
	local priority
	three_classes | sed "s/gold/$1/; s/silver/$2/; s/bulk/$3/"
	for priority in 1 2 4 5 {7..15}; do
		echo "class add $1$priority priority $priority"
	done
}

queue_over() {
	[ "$(queued)" -gt "$1" ]
}

# all_reset NAME
all_reset() {
	must_come 20 has "$TMP/c" ^done
	is "$1: all clients are reset" "$(field "$TMP/c" reset)" $FULL
}

fill stock
stop "$held"
all_reset "stock kernel"

load_synq
three_classes | apply
fill synq
is "all were promoted and placed" "$(totals promoted placed)" "$FULL $FULL"
is "and are queued" "$(account)" "0 $FULL 0 0"
stop "$held"
all_reset "closed"
check "closed: no socket is left" wait_for 10 conf_counter_is sockets 0
is "closed: all are counted" "$(account)" "0 0 $FULL 0"

# Another configuration places anew what it finds queued.
fill synq
three_classes | sed 's/priority 3/priority 4/' | apply
is "another configuration: placed once more" "$(account)" \
	"0 $FULL $FULL $FULL"
stop "$held"
must_come 20 has "$TMP/c" ^done
check "and closed" wait_for 10 account_is "0 0 $((2 * FULL)) $FULL"

# All are accepted, none arrives any more and no reader asks; then it is closed.
server "$TMP/server" $PORT
manage
"$PEER" client -N "$CLI" -n 20 -c 20 -s 10.1.0.1 -S 20 -w 20000 $V4 $PORT >"$TMP/c"
sleep 3	# to ask would be to bring the account up to date
stop "$LAST"
must_come 10 sockets_are 0
is "accepted long before: not closed" "$(account)" "20 0 $((2 * FULL)) $FULL"

# Closed while some are accepted.
server "$TMP/server" -t 10 $PORT
held=$LAST
manage
client "$TMP/c" -n 200 -c 50 -s 10.1.0.1 -S 200 -w 20000 $V4 $PORT
must_come 10 has "$TMP/server" ^accept 20
stop "$held"
must_come 10 sockets_are 0
check "closed while it accepts: the account closes" account_closes

# Other classes have the slots of those that are gone, and nothing of their accounts.
many_classes gold silver bulk | apply
fill synq
many_classes ivory pewter gravel | apply
is "other classes: what is queued is theirs, and nothing else" \
	"$(CLASSES="ivory pewter gravel" totals placed accepted queued closed replaced)" \
	"$FULL 0 $FULL 0 0"
stop "$held"
must_come 20 has "$TMP/c" ^done

# Close and unloading at once.
fill synq
kill -9 "$held"
check "unloaded while it is closed" rmmod synq
all_reset "unloaded"

# Close while connections come.
load_synq
three_classes | apply
background "$TMP/hammer" "$PEER" hammer -N "$CLI" -s 10.1.0.1 -s 10.3.0.1 -S 50 \
	-c 20 -T 600 -w 5000 -E "$TMP/done" "$V4" "$PORT"
gone=0
for ((i = 0; i < ROUNDS; i++)); do
	server "$TMP/server" -m none -b 30 $PORT
	must_come 10 queue_over 10
	stop "$LAST"
	wait_for 10 sockets_are 0 && gone=$((gone + 1))
done
is "closed while connections come: none is left" $gone $ROUNDS
check "and the account closes" account_closes
touch "$TMP/done"
must_come 20 has "$TMP/hammer" '^hammer '
