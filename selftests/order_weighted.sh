#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# "order weighted": classes are accepted in proportion to their weights while all
# have connections queued, in order of arrival inside a class.  The server holds,
# connections of all classes arrive in random order, the server accepts them all;
# then with departures in between.  The exact order is that of a slow twin.
#
# Must fail if: weights were ignored, the class were served strictly,
# a request were put behind the wrong one of another class, the key of the head
# were misread, an idle class saved its turns up, or the account were wrong.
#
# Needs two CPUs: arrivals and departures at once.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/order_lib.sh"

to=$V4 listen='-a 0.0.0.0' sources='10.1.0. 10.2.0. 10.3.0.'
plan 13

# weighted GOLD SILVER BULK
weighted() {
	ordered weighted "s/^class add gold .*/& weight $1/;
		s/^class add silver .*/& weight $2/;
		s/^class add bulk .*/& weight $3/"
}

# Two classes, as many of each.
arrivals 1450 11 | sed -E 's/^10\.3\.0\.(.*[02468])$/10.1.0.\1/; s/^10\.3/10.2/' \
	>"$TMP/two"
arrivals 600 12 >"$TMP/three"

hold
arrive "$TMP/three"
release 600
check "stock kernel: not by weight" not proportion "$TMP/server" 360 50 100 5 3 1

load_synq
weighted 3 2 1 | apply
hold
manage
arrive "$TMP/two"
release 1450
check "3:2 within 1 % of 1000" proportion "$TMP/server" 1000 50 100 3 2
check "3:2 within 3 of any 50" proportion "$TMP/server" 1000 50 3 3 2
events "$TMP/two" | twin weighted w1=3 w2=2 >"$TMP/expected"
same "3:2: the exact order" "$TMP/server" "$TMP/expected"
check "some were moved" test "$(sum_of moved)" -gt 100

# The weights change: 5:3:1.
weighted 5 3 1 | apply
hold
manage
arrive "$TMP/three"
release 600
check "5:3:1 within 1 % of 360" proportion "$TMP/server" 360 50 100 5 3 1
check "5:3:1 within 3 of any 45" proportion "$TMP/server" 360 45 3 5 3 1
events "$TMP/three" | twin weighted w1=5 w2=3 w3=1 >"$TMP/expected"
same "5:3:1: the exact order" "$TMP/server" "$TMP/expected"

# Forty to one: far to go for the lightest; its share of the slots is 83, at the SYN 64.
weighted 40 7 1 | apply
hold
manage
arrivals 150 13 >"$TMP/list"
arrive "$TMP/list"
release 150
events "$TMP/list" | twin weighted w1=40 w2=7 w3=1 >"$TMP/expected"
same "40:7:1: the exact order" "$TMP/server" "$TMP/expected"

# Heads leave in between, and at last all.
sq flush
weighted 5 3 1 | apply
chunk=13
hold -C $chunk
manage
arrivals 60 14 >"$TMP/list"
arrive "$TMP/list"
run_rounds 9 8
left=$((60 + 9 * 8 - 9 * chunk))
accepted=$(sum_of accepted)
is "the account is exact after each run" "$accepted" $((9 * chunk))
is "of each class" "$(counter gold accepted)" "$(classes_of "$TMP/server" | grep -c 1)"
touch "$TMP"/go.{9,10,11,12}
must_come 30 has "$TMP/server" ^accept $((9 * chunk + left))
{
	events "$TMP/list"
	rounds_of 9 8
} | twin weighted w1=5 w2=3 w3=1 >"$TMP/expected"
same "exact while heads leave in between" "$TMP/server" "$TMP/expected"

# Gold was idle while bulk was served: it gets no more than its weight now.
rm -f "$TMP"/list.* "$TMP"/go.*
stop "$held"
hold -C 40
manage
sed 's/.*/10.3.0.9/' "$TMP/list" >"$TMP/bulk"
sed 's/.*/10.1.0.9/' "$TMP/list" >"$TMP/first"
arrive "$TMP/bulk" b
touch "$TMP/go"
must_come 30 has "$TMP/server" ^accept 40
arrive "$TMP/bulk" e
arrive "$TMP/first" g
touch "$TMP"/go.{1,2,3,4}
must_come 30 has "$TMP/server" ^accept 180
{
	events "$TMP/bulk" b
	echo accept 40
	events "$TMP/bulk" e
	events "$TMP/first" g
} | twin weighted w1=5 w2=3 w3=1 >"$TMP/expected"
same "an idle class has saved nothing up" "$TMP/server" "$TMP/expected"
