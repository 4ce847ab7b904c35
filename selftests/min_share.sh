#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# "min-share N%" of a class under "order strict": of what is accepted while the
# classes before it overload the server, and while it has connections queued, it
# gets its share and no more.  Rounds: the server accepts a few, as many of gold
# come, the queue never runs out of gold.  The exact order is that of a slow twin.
#
# Must fail if: the share were not given, credit were not paid for or
# were saved up without a use, or a class had a claim that is served anyway.
#
# Needs two CPUs: places are told by tags of two kinds.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/order_lib.sh"

to=$V4 listen='-a 0.0.0.0' sources='10.1.0. 10.2.0. 10.3.0.'
plan 12
chunk=40

prefill() {
	arrivals 50 5 | sed -E 's/10\.[123]/10.1/' >"$TMP/first"
	arrivals "$1" 6 | sed -E 's/10\.[123]/10.3/' >"$TMP/last"
	arrive "$TMP/first" g
	arrive "$TMP/last" b
}

# of FIRST LAST CLASS: how many of these accepted
of() {
	classes_of "$TMP/server" | sed -n "$1,$2p" | grep -c "$3"
}

# play N GOLD BULK CONF...: N rounds; the rest is accepted at the end
play() {
	hold -C $chunk
	[ ! -d /sys/module/synq ] || manage
	rm -f "$TMP"/list.*
	prefill "$3"
	run_rounds "$1" "$2"
}

finish_play() {
	local i
	for ((i = $1; i < $1 + 20; i++)); do touch "$TMP/go.$i"; done
	must_come 30 has "$TMP/server" ^accept "$2"
	stop "$held"
}

# expect N GOLD OPTION...: the same for the twin
expect() {
	{
		events "$TMP/first" g
		events "$TMP/last" b
		rounds_of "$1" "$2"
	} | twin "${@:3}" >"$TMP/expected"
}

play 5 40 60
is "stock kernel: by arrival" "$(of 51 110 3)" 60
finish_play 5 310

load_synq
ordered strict | apply
play 8 40 60
is "strict: the last class gets nothing" "$(of 1 320 3)" 0
finish_play 8 430
is "and nothing is shared" "$(counter bulk shared)" 0

ordered strict 's/^class add bulk .*/& min-share 10%/' | apply
play 27 36 160
bulk=$(of 41 1040 3)
note "bulk: $bulk of 1000"
within "min-share 10 %: so many of 1000" "$bulk" 90 110
is "what was moved is counted" "$(counter bulk shared)" 108
finish_play 27 1182
expect 27 36 strict s3=10
same "the exact order" "$TMP/server" "$TMP/expected"

# Two classes have one: 20 % and 5 %.
ordered strict 's/^class add bulk .*/& min-share 5%/;
	s/^class add silver .*/& min-share 20%/' | apply
hold -C $chunk
manage
rm -f "$TMP"/list.*
prefill 50
arrivals 100 6 | sed -E 's/10\.[123]/10.2/' >"$TMP/middle"
arrive "$TMP/middle" s
run_rounds 10 30
note "gold, silver, bulk: $(of 51 400 1) $(of 51 400 2) $(of 51 400 3) of 350"
within "two shares: silver has 20 %" "$(of 51 400 2)" 66 74
within "two shares: bulk has 5 %" "$(of 51 400 3)" 15 20
finish_play 10 500
{
	events "$TMP/first" g
	events "$TMP/last" b
	events "$TMP/middle" s
	rounds_of 10 30
} | twin strict s2=20 s3=5 >"$TMP/expected"
same "two shares: the exact order" "$TMP/server" "$TMP/expected"

# Bulk is absent while 200 are accepted, then comes.
sq flush
ordered strict 's/^class add bulk .*/& min-share 10%/' | apply
hold -C $chunk
manage
rm -f "$TMP"/list.*
arrive "$TMP/first" g
run_rounds 5 40
arrive "$TMP/last" b
within "an absent class saves no share up" "$(counter bulk shared)" 0 2
finish_play 5 300

# Bulk is served anyway: it has no claim when gold comes.
hold -C $chunk
manage
arrive "$TMP/last" b
arrive "$TMP/last" d
for i in '' .1; do
	touch "$TMP/go$i"
done
must_come 30 has "$TMP/server" ^accept 80
shared=$(counter bulk shared)
arrive "$TMP/first" g
is "a class that is served anyway has no claim" "$(counter bulk shared)" "$shared"
touch "$TMP"/go.{2,3,4}
must_come 30 has "$TMP/server" ^accept 150
{
	events "$TMP/last" b
	events "$TMP/last" d
	echo accept 80
	events "$TMP/first" g
} | twin strict s3=10 >"$TMP/expected"
same "and waits for its turn" "$TMP/server" "$TMP/expected"
