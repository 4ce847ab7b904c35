#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The tracepoints say of each SYN and of each connection what the counters count: each
# verdict with its reason, who was promoted, held and released, and which limit there is
# inside.  Skipped where the kernel has no tracefs.
#
# Must fail if: one were not told, told twice, or with another port, class or verdict.

. "${BASH_SOURCE[0]%/*}/lib.sh"

tracing=/sys/kernel/tracing
load_synq
[ -e $tracing/events ] || mount -t tracefs tracefs $tracing 2>/dev/null || skip_all "no tracefs"
[ -e $tracing/events/synq ] || skip_all "no tracepoints of modules"
plan 15

# traced EVENT REGEX: how many
traced() {
	grep -cE " synq_$1: $2" "$TMP/trace"
}

# equal NAME EVENT REGEX COUNTER...: as many as these counters of bulk say, and some
equal() {
	local name=$1 event=$2 regex=$3 sum=0 counter
	shift 3
	for counter; do
		sum=$((sum + $(counter bulk "$counter")))
	done
	is "$name" "$(traced "$event" "$regex")" $sum
	check "$name: there are some" [ $sum -gt 0 ]
}

conf() {
	apply <<-EOT
		class add gold priority 0
		class add bulk priority 6 default max-wait none $1
		match add source 10.1.0.0/16 class gold
		match add source fd00:1::/32 class gold
		listener add port $PORT $2
	EOT
}

# SYNs that wait for a busy CPU are judged when their clients have gone already.
none_comes() {
	local seen
	seen=$(counter bulk seen)
	pause_ms 500
	[ "$(counter bulk seen)" = "$seen" ]
}

# collect: what was traced since begin
collect() {
	wait_for 20 none_comes
	echo 0 >$tracing/tracing_on
	cat $tracing/trace >"$TMP/trace"
	echo >$tracing/trace
	echo 1 >$tracing/tracing_on
}

echo 16384 >$tracing/buffer_size_kb
echo >$tracing/trace
echo 1 >$tracing/events/synq/enable

# --- SYNs ---
conf "rate 30/second burst 30"
server "$TMP/server" -a :: -b 64 -t 25 $PORT
manage
client "$TMP/bulk" -n 300 -r 100 -s 10.3.0.1 -S 250 -w 1500 $V4 $PORT
client "$TMP/gold" -n 5 -r 5 -s fd00:1::1 -w 5000 "$V6" $PORT
must_come 30 has "$TMP/bulk" ^done
must_come 30 has "$TMP/gold" ^done
collect
bulk="port=$PORT class=bulk verdict"
equal "admitted" syn "$bulk=admitted reason=none enforce=1 source=::ffff:10[.][34][.]0[.][0-9]+" admitted
equal "over the rate" syn "$bulk=dropped reason=rate enforce=1" excess_dropped
is "each SYN once" "$(traced syn "port=$PORT class=bulk")" "$(counter bulk seen)"
is "of an IPv6 client" "$(traced syn "port=$PORT class=gold verdict=admitted reason=none enforce=1 source=fd00:1::1\$")" \
	"$(counter gold admitted)"
equal "promoted" promote "port=$PORT class=bulk held=0" promoted
stop "${pids[@]}"

# --- connections ---
sq flush
conf "" "inside 2"
touch "$TMP/stop"
background "$TMP/eager" "$PEER" eager -N "$SRV" -j 2 -t 10 -S "$TMP/stop" $PORT
wait_for 10 is_up "$TMP/eager" || die "no server: $(cat "$TMP/eager")"
manage
collect
client "$TMP/bulk" -n 60 -c 60 -s 10.3.0.1 -S 60 -w 30000 $V4 $PORT
must_come 20 counter_from bulk held 30
# It stands still: the limit is doubled.
sleep 3
rm "$TMP/stop"
must_come 60 has "$TMP/bulk" ^done
wait_for 5 counter_is bulk held_now 0
collect
equal "held" hold "port=$PORT class=bulk held=[0-9]+" held
equal "released" release "port=$PORT class=bulk end=released held_ns=[1-9]" released
is "promoted when released" "$(traced promote "port=$PORT class=bulk held=1")" \
	"$(counter bulk released)"
check_prompt "another limit inside" [ "$(traced inside_limit "port=$PORT before=2 limit=4")" -gt 0 ]

# --- off ---
echo 0 >$tracing/events/synq/enable
manage
collect
is "switched off: nothing" "$(traced '[a-z]*' '')" 0
