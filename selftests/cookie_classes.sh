#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Four classes leave SYN-ACKs unanswered, each too few for a flood, and all together more
# than the SYN queue has room for.  The fourth gets cookies for what the shares of the
# others leave no room for; clients of the fifth have full state.
#
# Must fail if: that the queue holds no more of a class were not seen while none of them
# is flooded.

. "${BASH_SOURCE[0]%/*}/lib.sh"
plan 4

BACKLOG=64 EACH=15 SHARE=6

# unanswered CLASS N: SYNs from 10.20CLASS, which is nobody's
unanswered() {
	"$PEER" segment -N "$CLI" -n "$2" -r 1000 -p $((next += 1)) -s "10.20$1.0.1" -S 100 \
		$V4 $PORT >/dev/null
}

# all_are_ignored: are all SYNs let in, of each class, since no answer is expected?
all_are_ignored() {
	local i before=0 after=0
	for i in 1 2 3 4; do
		before=$((before + $(counter c$i cookie_sent)))
	done
	for i in 1 2 3 4; do
		unanswered $i 100
	done
	for i in 1 2 3 4; do
		after=$((after + $(counter c$i cookie_sent)))
	done
	[ $((after - before)) = 400 ]
}

none_half_open() {
	[ "$(half_open)" = 0 ]
}

# fill: all four at once; false if it took so long that the kernel gave up some of them
fill() {
	local i since
	must_come 20 none_half_open
	for i in 1 2 3 4; do
		sq class set c$i cookies always
	done
	must_come 60 all_are_ignored
	for i in 1 2 3 4; do
		sq class set c$i cookies auto
	done
	for i in 1 2 3 4; do
		sent[i]=$(counter c$i cookie_sent)
	done
	since=$(ms)
	for i in 1 2 3 4; do
		unanswered $i $EACH
	done
	since=$(($(ms) - since))
	for i in 1 2 3 4; do
		sent[i]=$(($(counter c$i cookie_sent) - sent[i]))
	done
	note "within $since ms: cookies: ${sent[*]}"
	[ $since -lt 700 ]
}

next=5000
load_synq
{
	for i in 1 2 3 4 5; do
		echo "class add c$i priority $i max-wait none"
		echo "match add source 10.$i.0.0/16 class c$i"
		echo "match add source 10.20$i.0.0/16 class c$i"
	done
	echo "listener add port $PORT synack-retries 1"
} | apply
server "$TMP/server" -b $BACKLOG -m epoll $PORT
manage
must_come 60 fill
is "three classes have full state" "${sent[*]:1:3}" "0 0 0"
within "the fourth has what is left, and cookies for the rest" "${sent[4]}" 1 \
	$((EACH - SHARE))
before=$(mib TcpExt.SyncookiesRecv)
"$PEER" client -N "$CLI" -n 3 -c 3 -s 10.5.0.1 -w 20000 $V4 $PORT >"$TMP/c"
is "clients of the fifth are served, none by a cookie" \
	"$(field "$TMP/c" answered) $(by_cookie "$before" 3)" "3 0"
is "none was flooded" "$(for i in 1 2 3 4 5; do counter c$i flooded; done | tr '\n' ' ')" \
	"0 0 0 0 0 "
