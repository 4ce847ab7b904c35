#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Short backlogs and large reserves: the first class is never starved, every other one
# gets at least one slot, and no client waits for ever where the stock kernel would serve
# it.  The kernel's queue holds backlog + 1.
#
# Must fail if: a reserve took all of a short queue, or none of it.

. "${BASH_SOURCE[0]%/*}/lib.sh"
plan 20

# conf RESERVE
conf() {
	apply <<-EOT
		class add gold priority 0 reserve $1%
		class add bulk priority 6 max-wait none
		match add source 10.1.0.0/16 class gold
		match add source 10.3.0.0/16 class bulk
		listener add port $PORT
	EOT
}

# clients NAME N FROM OPTION...: that try until they get in
clients() {
	client "$TMP/$1" -n "$2" -c "$2" -A -s "$3" -S 50 -w 60000 -i "$1" \
		"${@:4}" $V4 $PORT
	fillers+=("$LAST")
}

stays() {
	! wait_for 1 test_queue_over "$1"
}

test_queue_over() {
	[ "$(queued)" -gt "$1" ]
}

# round BACKLOG RESERVE BULK TOTAL: slots that bulk gets, and that there are
round() {
	local name="backlog $1, reserve $2 %"
	fillers=()
	rm -f "$TMP/go" "$TMP/end"
	sq flush
	conf "$2"
	server "$TMP/server" -b "$1" -H "$TMP/go" -E "$TMP/end" $PORT
	held=$LAST
	manage
	clients bulk $(($3 + 2)) 10.3.0.1
	check "$name: bulk gets $3" wait_for 30 queue_is "$3"
	check "$name: and not more" stays "$3"
	clients gold $(($4 - $3)) 10.1.0.1
	check "$name: gold gets the rest" wait_for 30 queue_is "$4"
}

end_round() {
	stop "$held" "${fillers[@]}"
}

# --- stock kernel ---
server "$TMP/server" -b 1 -m none $PORT
held=$LAST
fillers=()
clients bulk 8 10.3.0.1
check "stock kernel: backlog 1 holds 2" wait_for 30 queue_is 2
stop "$held" "${fillers[@]}"

load_synq
round 0 25 1 1
end_round
round 1 25 1 2
end_round
round 1 75 1 2
end_round
round 4 75 1 5
end_round
round 8 25 5 9
touch "$TMP/go"
check "all are served" wait_for 100 has "$TMP/server" ^accept 11
end_round

# --- served at all, with the shortest queue and a server that accepts ---
sq flush
conf 75
server "$TMP/server" -b 0 $PORT
manage
clients bulk 20 10.3.0.1 -c 1 -p 20000
clients gold 20 10.1.0.1 -c 1 -p 20000
check "backlog 0: gold is served" \
	wait_for 100 has "$TMP/server" '^accept 10[.]1[.].* gold' 20
check "backlog 0: bulk is served" \
	wait_for 100 has "$TMP/server" '^accept 10[.]3[.].* bulk' 20
check "backlog 0: no connection was reset" test \
	"$(lines "$TMP/gold" '^(reset|failed)')" = 0
