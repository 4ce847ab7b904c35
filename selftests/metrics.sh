#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Under overload synq top shows what is offered and refused in a second; afterwards each
# counter of stats -j is, under another name, what stats --prometheus prints.  A port that
# nobody has used has no metrics by class.
#
# Must fail if: a counter were printed under the wrong name, or rates were not of the time
# between two samples.

. "${BASH_SOURCE[0]%/*}/lib.sh"
plan 15

# metric NAME LABELS: its value
metric() {
	sed -n "s/^$1{$2} //p" "$TMP/metrics"
}

# equal COUNTER NAME [LABELS]: one test, of both classes
equal() {
	local class got='' wanted=''
	for class in gold bulk; do
		counter_in "$stats" $class "$1"
		wanted+="$found "
		got+="$(metric "$2" "listener=\"$PORT\",class=\"$class\"${3+,$3}") "
	done
	is "$1 is $2" "$got" "$wanted"
}

# cell CLASS COLUMN: of the table of top, a whole number
cell() {
	awk -v class="$1" -v name="$2" '
		$1 == "PORT" { for (i = 1; i <= NF; i++) if ($i == name) at = i }
		$2 == class && !done { printf "%d\n", $at; done = 1 }' "$TMP/top"
}

quiet() {
	[ "$(queued)" = 0 ] && has "$TMP/bulk" ^done && has "$TMP/gold" ^done
}

load_synq
apply <<-EOT
	class add gold priority 0
	class add bulk priority 6 default max-wait 200ms
	match add source 10.1.0.0/16 class gold
	listener add port $PORT
	listener add port 81
EOT
server "$TMP/server" -b 1024 -t 25 $PORT
manage
client "$TMP/bulk" -n 1000 -r 100 -s 10.3.0.1 -S 250 -w 2000 $V4 $PORT
client "$TMP/gold" -n 100 -r 5 -s 10.1.0.1 -w 10000 $V4 $PORT
must_come 30 counter_from bulk wait_refused 50
sq top -d 2s -n 1 >"$TMP/top"
sed 's/^/# /' "$TMP/top"
# SYNs come again.
within "top: offered a second" "$(cell bulk OFFERED)" 50 400
within "top: refused a second" "$(cell bulk REFUSE)" 20 400
within "top: of the first class" "$(cell gold OFFERED)" 1 20
is "top: none of the first class is refused" "$(cell gold REFUSE)" 0

must_come 60 quiet
wait_for 5 counter_is bulk queued 0
stats=$(sq stats -j)
sq stats --prometheus >"$TMP/metrics"
equal seen synq_syns_total
equal retries synq_syns_retried_total
equal admitted synq_syns_admitted_total
equal wait_refused synq_syns_refused_total 'reason="wait"'
equal promoted synq_connections_promoted_total
equal accepted synq_connections_accepted_total
equal waited_1ms synq_queue_wait_seconds_bucket 'le="0.001"'
sum=0
for time in 1ms 4ms 16ms 64ms 256ms 1s 4s longer; do
	counter_in "$stats" gold waited_$time
	sum=$((sum + found))
done
is "the sum of all waits is their number" \
	"$(metric synq_queue_wait_seconds_count "listener=\"$PORT\",class=\"gold\"")" $sum
check "there are some" [ $sum -gt 0 ]
is "a listener without clients: no metrics by class, but itself" \
	"$(grep -c 'listener="81",class=' "$TMP/metrics") $(metric synq_listener_sockets 'listener="81"')" \
	"0 0"
is "only of one listener" "$(sq stats --prometheus listener $PORT | grep -c '^synq_up\|"81"')" 0
