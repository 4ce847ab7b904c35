#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A server that accepts at once and queues inside itself, with two workers: with a limit
# inside, connections of later classes are held while it has enough to do, and clients of
# the first class are served before them.  Without a limit nothing of that happens.
# What is counted inside agrees with what the server says.
#
# Must fail if: connections came in that the limit forbids, or were held that it
# allows; if an answer, or a connection's end, were not seen.

. "${BASH_SOURCE[0]%/*}/lib.sh"
plan 30
clients_are_prompt

conf() {
	apply <<-EOT
		class add gold priority 0
		class add bulk priority 6 default max-wait none
		match add source 10.1.0.0/16 class gold
		listener add port $PORT $1
	EOT
}

eager() {
	background "$TMP/server" "$PEER" eager -N "$SRV" "$@" $PORT
	serving=$LAST
	wait_for 10 is_up "$TMP/server" || die "no server: $(cat "$TMP/server")"
}

# answers CLASS: all that were counted
answers() {
	local sum=0 bucket
	for bucket in 1ms 4ms 16ms 64ms 256ms 1s 4s longer; do
		sum=$((sum + $(counter "$1" answered_$bucket)))
	done
	echo $sum
}

answers_are() {
	[ "$(answers bulk)" = "$1" ]
}

settled() {
	[ "$(counter bulk busy_now) $(counter bulk stuck_now) $(counter bulk quiet_now)" = "0 0 0" ]
}

# crowd COMMAND...: 40 of bulk; when the command succeeds, 4 of gold, who are all answered; sets place: of the last of gold
# among the requests that the server began
crowd() {
	client "$TMP/bulk" -n 40 -r 200 -s 10.3.0.1 -S 40 -w 20000 $V4 $PORT
	must_come 10 "$@"
	client "$TMP/gold" -n 4 -c 4 -s 10.1.0.1 -w 20000 $V4 $PORT
	must_come 20 has "$TMP/gold" ^done
	place=$(grep -n '^request 10\.1\.' "$TMP/server" | tail -n 1)
	place=$((${place%%:*} - 1))
	must_come 20 has "$TMP/bulk" ^done
	served="$(field "$TMP/bulk" answered) $(field "$TMP/gold" answered)"
}

load_synq

# --- no limit ---
conf ""
eager -j 2 -t 50
manage
crowd has "$TMP/bulk" "^all acked"
is "no limit: all are served" "$served" "40 4"
is "no limit: first come first served" "$place" 44
is "no limit: nobody is followed" "$(answers bulk) $(answers gold)" "0 0"
is "no limit: nobody is held" "$(counter bulk held)" 0
stop "$serving"

# --- a limit ---
sq flush
conf "inside 4"
eager -j 2 -t 80
manage
before=$(answers bulk)
crowd counter_from bulk held 30
is "a limit: all are served" "$served" "40 4"
within "a limit: the first class is before the others" $place 4 30
within "a limit: all but a few of bulk were held" "$(counter bulk held)" 30 36
is "a limit: none of gold" "$(counter gold held)" 0
is "a limit: all that were held came in" "$(counter bulk released)" "$(counter bulk held)"
is "a limit: each answer was seen" "$(($(answers bulk) - before)) $(answers gold)" "40 4"
check "a limit: and each end" wait_for 5 settled
is "a limit: nobody was stuck or reset" \
	"$(counter bulk stuck) $(counter bulk unanswered) $(field "$TMP/bulk" reset)" "0 0 0"
note "answered within: $(for b in 1ms 4ms 16ms 64ms 256ms 1s 4s longer; do counter bulk answered_$b; done | tr '\n' ' ')"
stop "$serving"

# --- a server that says nothing for a while: the limit opens, and nobody is lost ---
sq flush
conf "inside 2"
flushed=$(counter bulk hold_flushed)
touch "$TMP/stop"
eager -j 2 -t 1 -S "$TMP/stop"
manage
client "$TMP/bulk" -n 40 -c 40 -s 10.3.0.1 -S 40 -w 30000 $V4 $PORT
check "a server stands still: its clients come in" \
	wait_for 15 counter_is bulk held_now 0
rm "$TMP/stop"
must_come 20 has "$TMP/bulk" ^done
is "a server stands still: before their time is up" \
	"$(($(counter bulk hold_flushed) - flushed))" 0
is "a server stands still: they are served later" "$(field "$TMP/bulk" answered)" 40
check "a server stands still: each end was seen" wait_for 5 settled
stop "$serving"

# --- a banner is no answer ---
sq flush
conf "inside 2"
eager -j 1 -t 20 -B "welcome"
manage
before=$(answers bulk)
client "$TMP/bulk" -n 20 -c 20 -s 10.3.0.1 -S 40 -w 20000 $V4 $PORT
must_come 20 has "$TMP/bulk" ^done
check "a banner: each request is answered once" wait_for 5 settled
# Its clients leave when it has greeted them, before some of them are answered.
within "a banner: no more answers than requests" "$(($(answers bulk) - before))" 0 \
	"$(grep -c ^request "$TMP/server")"
stop "$serving"

# --- kept connections ---
sq flush
conf "inside 2"
eager -j 1 -t 20 -k
manage
before=$(answers bulk)
client "$TMP/bulk" -Z -n 10 -c 10 -s 10.3.0.1 -S 40 -w 30000 -g "$TMP/stage" -G 2 -K "$TMP/leave" \
	$V4 $PORT
must_come 20 has "$TMP/bulk" "^all acked"
touch "$TMP/stage.1"
must_come 20 has "$TMP/bulk" "^stage 1"
is "kept: all are quiet" "$(counter bulk quiet_now)" 10
touch "$TMP/stage.2"
must_come 20 has "$TMP/bulk" "^stage 2"
is "kept: each request was answered" "$(($(answers bulk) - before))" 30
touch "$TMP/leave"
must_come 20 has "$TMP/bulk" ^done
check "kept: they leave by a reset, and each end was seen" wait_for 5 settled
stop "$serving"

# --- what is no request: it is not answered, and counts once ---
# As websockets: the server pings, and each client's pong gets no answer.
sq flush
conf "inside 4"
eager -j 2 -t 10 -k -Q pong -P "$TMP/ping"
manage
client "$TMP/pong" -n 12 -c 12 -s 10.3.0.1 -S 40 -w 60000 -W -K "$TMP/leave2" $V4 $PORT
ponging=$LAST
must_come 20 has "$TMP/pong" ^answered 12
touch "$TMP/ping.1"
must_come 20 has "$TMP/server" ^quiet 12
check "no request: they are taken for some that get no answer" \
	wait_for 10 counter_is bulk stuck_now 12
# That the next ping was late for an answer must be seen.
pause_ms 500
touch "$TMP/ping.2"
must_come 20 has "$TMP/server" ^quiet 24
is "no request: the next ones do not count" "$(counter bulk busy_now)" 0
before=$(counter bulk held)
client "$TMP/bulk" -n 4 -c 4 -s 10.3.0.1 -S 40 -w 20000 $V4 $PORT
must_come 20 has "$TMP/bulk" ^answered 4
is "no request: nobody is held for them" "$(counter bulk held)" "$before"
stop "$serving" "$ponging" "$LAST"

# --- segments that the server's TCP ignores ---
# When it is known whether their resets were any, and before.
for took in 10 1; do
	sq flush
	conf "inside 4"
	eager -j 2 -t $took
	manage
	before=$(answers bulk)
	client "$TMP/ahead" -n 8 -c 8 -s 10.3.0.1 -S 40 -w 20000 -J $V4 $PORT
	must_come 20 has "$TMP/ahead" ^done
	is "far ahead, $took ms: all are served" "$(field "$TMP/ahead" answered)" 8
	check "far ahead, $took ms: and were followed to their answers" \
		wait_for 5 answers_are $((before + 8))
	stop "$serving"
done

# --- the limit is taken away ---
sq flush
conf "inside 2"
eager -j 1 -t 5000
manage
client "$TMP/bulk" -n 10 -c 10 -s 10.3.0.1 -S 40 -w 60000 $V4 $PORT
must_come 20 counter_from bulk held_now 3
sq listener set port $PORT inside off
check "the limit is taken away: all come in" wait_for 2 counter_is bulk held_now 0
is "and nobody is followed any more" "$(counter bulk busy_now)" 0
