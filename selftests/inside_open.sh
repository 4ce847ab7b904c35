#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A limit inside opens where synq cannot know what the server works on, or the server works
# on nothing: it never answers, or not for a while; another owner of its socket takes what clients say; it
# answers from a port of its own that synq does not follow; there is no memory to follow
# it.  All clients come in within 10 s, and a counter says why.  A server that asks itself
# while it is full is never held up.
#
# Must fail if: clients waited for answers that nobody sees, or the host's own for others; or
# the limit stayed open for a server that answers again.
#
# The clock may leap.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/inside_lib.sh"
plan 53

CROWD=60
# As many as would not come in, 16 at once, in the time that anybody is stuck.
BIG_CROWD=300

# crowd NAME [ADDRESS [PORT]]: of bulk, who say something and expect nothing; two tests
crowd() {
	local since
	client "$TMP/crowd" -n "$CROWD" -r 200 -s 10.3.0.1 -S 250 -A -w 20000 -K "$TMP/crowd.end" \
		"${2:-$V4}" "${3:-$PORT}"
	crowd=$LAST
	since=$(ms)
	wait_for 12 has "$TMP/crowd" "^all acked"
	within "$1: all come in (ms)" $(($(ms) - since)) 0 10000
	is "$1: all of them" "$(lines "$TMP/crowd" ^acked)" "$CROWD"
}

# silent LIMIT: a server that never answers, which is counted, nor accepts at once; six tests
silent() {
	sq flush
	inside_conf "inside $1"
	eager -k -Q "" -W 3 $PORT
	manage
	before=$(counter bulk held)
	crowd "silent, $1"
	check "silent, $1: they were held" test "$(($(counter bulk held) - before))" -ge 10
	check_prompt "silent, $1: that nothing is answered is counted" \
		wait_for 10 counter_is bulk stuck "$CROWD"
	preferred 4 50
	is "silent, $1: nobody else is held" "$(lines "$TMP/server" "^quiet 10\.1\.")" 4
	is "silent, $1: nobody was let in for his time" "$(counter bulk hold_flushed)" 0
	over "silent, $1"
	stop "$crowd" "$serving"
	wait_for 10 sockets_are 0
}

# goes_on LIMIT CROWD OPENED CLOSED [OTHER]: a server that goes on after a while, another limit
# being configured for a moment meanwhile; four tests
goes_on() {
	sq flush
	inside_conf "inside $1"
	touch "$TMP/stop"
	eager -S "$TMP/stop" $PORT
	manage
	client "$TMP/crowd" -n "$2" -r 200 -s 10.3.0.1 -S 250 -w 30000 $V4 $PORT
	check "goes on, $1: all come in before" wait_for 12 has "$TMP/crowd" "^all acked"
	check_prompt "goes on, $1: the limit was opened for them" test "$(limit)" -ge "$3"
	if [ "$5" ]; then
		sq listener set port $PORT inside "$5"
		pause_ms 200
		sq listener set port $PORT inside "$1"
	fi
	# Nobody is held, so by then the listener has no part of the limit any more.
	sleep 4
	rm "$TMP/stop"
	must_come 20 has "$TMP/crowd" ^done
	is "goes on, $1: they are served then" "$(field "$TMP/crowd" answered)" "$2"
	preferred 4 50
	check_prompt "goes on, $1: the limit is closed again" test "$(limit)" -le "$4"
	stop "$serving"
}

load_synq
silent 2
CROWD=$BIG_CROWD silent auto
goes_on 2 30 4 2
# It begins with 4, but a server that has never answered may need twice as many.
goes_on auto $BIG_CROWD 64 8
goes_on auto $BIG_CROWD 64 8 1000

# --- the host's own requests are answered, and nobody else's ---
sq flush
inside_conf "inside 2"
eager -k -Q crowd $PORT
manage
background "$TMP/own" "$PEER" client -N "$SRV" -i own -n 200 -r 20 -w 20000 -K "$TMP/own.end" $V4 $PORT
own=$LAST
flushed=$(counter bulk hold_flushed)
CROWD=60
client "$TMP/crowd" -n 60 -r 200 -s 10.3.0.1 -S 250 -i crowd -A -w 20000 -K "$TMP/crowd.end" $V4 $PORT
crowd=$LAST
check "answers to itself: the others come in" wait_for 12 has "$TMP/crowd" "^all acked"
is "answers to itself: before their time is up" "$(($(counter bulk hold_flushed) - flushed))" 0
check "answers to itself: there were some" test "$(answers local)" -ge 1
stop "$own" "$crowd" "$serving"

# --- long polls: all that are inside are stuck, and the others are served ---
sq flush
inside_conf "inside 2"
eager -k -Q poll $PORT
manage
client "$TMP/poll" -n 20 -c 20 -s 10.3.1.1 -S 250 -i poll -A -w 20000 -K "$TMP/poll.end" $V4 $PORT
poll=$LAST
must_come 20 has "$TMP/poll" "^all acked"
check "long polls: they do not count" wait_for 10 counter_is bulk stuck_now 20
before=$(counter bulk held)
client "$TMP/crowd" -n 20 -r 20 -s 10.3.0.1 -S 250 -w 20000 $V4 $PORT
must_come 20 has "$TMP/crowd" ^done
is "long polls: others are served" "$(field "$TMP/crowd" answered)" 20
check "long polls: and hardly held" test "$(($(counter bulk held) - before))" -le 10
stop "$poll" "$serving"

# --- another owner of the listener, whose children inherit it, takes what they say ---
sq flush
inside_conf "inside 2"
eager -k $PORT
manage
background "$TMP/bpf" "$PEER" bpf -E "$TMP/bpf.end" verdict "$serving"
must_come 10 has "$TMP/bpf" '^(attached|skip|tcp_peer)'
if has "$TMP/bpf" ^attached; then
	crowd "a sockmap's verdict"
	check "a sockmap's verdict: it is counted" wait_for 5 counter_from bulk stuck 1
	check "a sockmap's verdict: nobody is held" counter_is bulk held_now 0
	check "a sockmap's verdict: unloads" rmmod synq
	load_synq
	stop "$crowd"
else
	for _ in 1 2 3 4 5; do
		skip "a sockmap's verdict" "$(cat "$TMP/bpf")"
	done
fi
touch "$TMP/bpf.end"
stop "$serving"

# --- connections of another port ---
sq flush
inside_conf "inside 2"
if srv nft -f - <<-EOT 2>/dev/null
	table inet synq_test {
		chain in {
			type filter hook prerouting priority mangle
			ip daddr 198.51.100.7 tcp dport 80 meta mark set 1 tproxy ip to :$PORT
		}
	}
EOT
then
	ip -n "$SRV" -batch - <<-EOT
		rule add fwmark 1 lookup 100
		route add local default dev lo table 100
	EOT
	ip -n "$CLI" route add 198.51.100.0/24 via $V4
	eager -k -T $PORT
	crowd "TPROXY" 198.51.100.7 80
	is "TPROXY: it is counted" "$(counter bulk not_followed)" $CROWD
	is "TPROXY: nobody was held" "$(counter bulk held)" 0
	stop "$crowd" "$serving"
	srv nft delete table inet synq_test
else
	for _ in 1 2 3 4; do
		skip TPROXY "no nft"
	done
fi

# --- no memory to follow them ---
debug=$TMP/debug
# What is followed is in one of these; it depends on the kernel's configuration.
slabs=(/sys/kernel/slab/kmalloc-{192,256,512}/failslab)
fail_slabs() {
	local slab
	for slab in "${slabs[@]}"; do
		echo "$1" >"$slab"
	done
}
mkdir "$debug"
mount -t debugfs none "$debug" 2>/dev/null
if [ -e "$debug/failslab" ] && [ -e "${slabs[0]}" ]; then
	sq flush
	inside_conf "inside 2"
	eager -k $PORT
	manage
	echo Y >"$debug/failslab/cache-filter"
	echo 0 >"$debug/failslab/verbose"
	echo -1 >"$debug/failslab/times"
	fail_slabs 1
	echo 100 >"$debug/failslab/probability"
	crowd "no memory"
	echo 0 >"$debug/failslab/probability"
	fail_slabs 0
	check "no memory: it is counted" counter_from bulk not_followed $((CROWD - 2))
	is "no memory: none was followed" \
		"$(counter bulk busy_now) $(counter bulk stuck_now) $(counter bulk quiet_now)" "0 0 0"
	stop "$crowd" "$serving"
else
	for _ in 1 2 3 4; do
		skip "no memory" "no fault injection"
	done
fi
umount "$debug" 2>/dev/null

# --- a server that asks itself: each request waits for another, from here ---
# Where classes do not go before each other the host has no place before others either.
sq flush
inside_conf "inside 2 order fifo"
WORKERS=50
eager -U c $PORT
manage
client "$TMP/crowd" -n 20 -r 200 -s 10.3.0.1 -S 250 -w 20000 $V4 $PORT
since=$(ms)
must_come 20 has "$TMP/crowd" ^done
note "asks itself: 20 are served in $(($(ms) - since)) ms," \
	"held: $(counter bulk held), of the host itself $(counter local held)"
is "asks itself: all are served" "$(field "$TMP/crowd" answered)" 20
is "asks itself: itself it does not hold up" "$(counter local held)" 0
check "asks itself: while others were held" counter_from bulk held 10
check_prompt "asks itself: it was never taken for silent" counter_is bulk stuck 0
over "asks itself"
