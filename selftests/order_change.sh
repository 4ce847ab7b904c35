#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Order, weights and priorities change while connections are queued, and under
# load: what is queued is placed anew, nothing is lost, and the order is right
# afterwards.  Must fail if: a tag of before were read under the new
# configuration, where it means something else.
#
# Needs two CPUs: tags are written while they are read.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/order_lib.sh"

to=$V4 listen='-a 0.0.0.0' sources='10.1.0. 10.2.0. 10.3.0.'
# Under load for 20 s, or less if asked for.
DURATION=${DURATION:-20}
[ "$DURATION" -le 20 ] || DURATION=20
plan 11

weighted() {
	ordered weighted "s/^class add gold .*/& weight $1/;
		s/^class add silver .*/& weight $2/;
		s/^class add bulk .*/& weight $3/"
}

shared() {
	ordered strict 's/^class add bulk .*/& min-share 25%/'
}

last_gold() {
	"$@" | sed 's/gold priority 0/gold priority 9/'
}

# steps: a new configuration, 24 arrivals, 7 accepted; again and again
change() { # N TWIN... -- CONF...
	local n=$1 twin=()
	shift
	while [ "$1" != -- ]; do
		twin+=("$1")
		shift
	done
	"${@:2}" | apply
	arrivals 24 "$n" >"$TMP/list.$n"
	arrive "$TMP/list.$n" "r$n-"
	if [ "$n" = 1 ]; then touch "$TMP/go"; else touch "$TMP/go.$((n - 1))"; fi
	must_come 30 has "$TMP/server" ^accept $((7 * n))
	{
		echo order "${twin[@]}"
		events "$TMP/list.$n" "r$n-"
		echo accept 7
	} >>"$TMP/events"
}

load_synq
ordered strict | apply
hold -C 7
manage
: >"$TMP/events"
change 1 strict -- ordered strict
change 2 weighted w1=3 w2=2 w3=1 -- weighted 3 2 1
change 3 weighted w1=1 w2=50 w3=7 -- weighted 1 50 7
change 4 strict s3=25 -- shared
change 5 weighted w1=9 w2=9 w3=1 -- weighted 9 9 1
change 6 fifo -- ordered fifo
change 7 weighted w1=1 w2=2 w3=3 -- weighted 1 2 3
change 8 strict s3=25 -- shared
change 9 strict -- ordered strict
for ((i = 9; i < 40; i++)); do touch "$TMP/go.$i"; done
must_come 30 has "$TMP/server" ^accept 216
twin strict <"$TMP/events" >"$TMP/expected"
same "order, weights, shares: exact through eight changes" \
	"$TMP/server" "$TMP/expected"
is "every client came, once" "$(ids "$TMP/server" | sort -u | wc -l)" 216
stop "$held"

# In weighted order priorities only decide between equal keys.
weighted 3 2 1 | apply
hold
manage
arrivals 120 31 >"$TMP/list"
arrive "$TMP/list"
last_gold weighted 3 2 1 | apply
arrivals 60 32 >"$TMP/later"
arrive "$TMP/later" d
release 180
check "weighted, other priorities: 3:2:1 goes on" \
	proportion "$TMP/server" 100 50 4 3 2 1

# Under load.  The server counts; both ends must agree.
hammer() {
	background "$TMP/h$1" "$PEER" hammer -N "$CLI" -s 10.1.0.1 -s 10.2.0.1 \
		-s 10.3.0.1 -S 60 -z 15 -c 24 -T "$DURATION" -u "$1" $V4 $PORT
}

over() {
	has "$TMP/h1" '^hammer ' && has "$TMP/h2" '^hammer '
}

server "$TMP/server" -a 0.0.0.0 -m count -j 2 -E "$TMP/end" $PORT
counting=$LAST
hammer 1
hammer 2
weighted 3 2 1 >"$TMP/conf1"
shared >"$TMP/conf2"
last_gold weighted 1 1000 30 >"$TMP/conf3"
ordered fifo >"$TMP/conf4"
last_gold shared >"$TMP/conf5"
ordered strict >"$TMP/conf6"
changes=0
end=$((SECONDS + DURATION))
while [ $SECONDS -lt $end ]; do
	for i in 1 2 3 4 5 6; do
		sq apply "$TMP/conf$i" || die "apply failed"
		changes=$((changes + 1))
	done
done
must_come 60 over
touch "$TMP/end"
must_come 30 has "$TMP/server" ^total
made=$(($(field "$TMP/h1" connected) + $(field "$TMP/h2" connected)))
sum=$((0x$(field "$TMP/h1" sum) + 0x$(field "$TMP/h2" sum)))
note "$made connections, $changes changes"
is "under load: as many came as were made" "$(field "$TMP/server" ids)" $made
is "under load: the same came as were made" $((0x$(field "$TMP/server" sum))) $sum
for what in late reset failed; do
	is "under load: none was $what" \
		$(($(field "$TMP/h1" $what) + $(field "$TMP/h2" $what))) 0
done
check "it changed often enough" test $changes -ge 12
stop "$counting"

# And afterwards everything is in order.
ordered strict | apply
hold
manage
arrivals 60 33 >"$TMP/list"
arrive "$TMP/list"
release 60
by_class "$TMP/list" >"$TMP/expected"
same "strict afterwards" "$TMP/server" "$TMP/expected"
weighted 5 3 1 | apply
hold
manage
arrive "$TMP/list"
release 60
events "$TMP/list" | twin weighted w1=5 w2=3 w3=1 >"$TMP/expected"
same "weighted afterwards" "$TMP/server" "$TMP/expected"
