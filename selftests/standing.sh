#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A server has stopped accepting, and SYNs go on arriving.  About one per jiffy is judged at
# the listener; its refusal stands for the others, which are refused before conntrack.
# Each is counted, and no client of another class is refused for it.  Where the next SYN
# may be for another socket, each is judged: a stalled member of a reuseport group costs its
# siblings no client, and SYNs to a destination that a rule redirects to are not refused
# for those that it redirects.
#
# Must fail if: a refusal stood for other classes, other sockets, or for ever; or if none
# did.

. "${BASH_SOURCE[0]%/*}/lib.sh"
need tc nft
plan 18
ROUNDS=8 EACH=20 FEW=40 OTHER=8081 GROUP=8082
SENT=$((ROUNDS * EACH))

# passed: SYNs of the flood that PREROUTING has let pass
passed() {
	srv nft list counter inet watch "$1" |
		sed -n 's/.*packets \([0-9]*\).*/\1/p'
}

watch() {
	srv nft -f - <<-EOT || die "nft refuses the rules"
		table inet watch {
			counter bulk { }
			chain c {
				type filter hook prerouting priority -250
				tcp flags & (syn|ack) != syn accept
				ip saddr 10.200.0.0/16 counter name bulk
				ip6 saddr fd00:f::/32 counter name bulk
			}
		}
	EOT
}

# segments FROM NUMBER FIRST-PORT PORT
segments() {
	"$PEER" segment -N "$CLI" -s "$1" -n "$2" -p "$3" "$to" "$4" >/dev/null
}

# burst PORT [PORT]: of bulk to the one, of gold to the other.  netem lets nothing out
# until 300 ms after the first, and then all: at the server it is one burst
burst() {
	local round
	watch
	cli tc qdisc add dev veth0 root netem slot 300ms 300ms || die "no netem"
	for ((round = 0; round < ROUNDS; round++)); do
		segments "$flood" $EACH $((next += EACH)) "$1"
		[ $# = 1 ] || segments "$other" 1 $((next += 1)) "$2"
	done
}

burst_ends() {
	cli tc qdisc del dev veth0 root
	srv nft delete table inet watch
}

# sum CLASS NAME PORT...
sum() {
	local stats class=$1 name=$2 sum=0 port
	stats=$(told stats -j)
	shift 2
	for port; do
		counter_in "$stats" "$class" "$name" "$port"
		sum=$((sum + found))
	done
	echo $sum
}

seen_are() {
	[ "$(sum bulk seen $PORT $OTHER $GROUP)" = "$1" ]
}

# fill PORT: until bulk is refused there
fill() {
	client "$TMP/fill" -n 60 -c 60 -s "$filler" -A -w 60000 "$to" "$1"
	filling=$LAST
	must_come 30 counter_from bulk queue_refused 1 "$1"
	stop "$filling"
}

configure() {
	apply <<-EOT
		class add gold priority 0
		class add bulk priority 6 max-wait none cookies never
		match add source 10.1.0.0/16 class gold
		match add source fd00:1::/32 class gold
		match add source 10.200.0.0/16 class bulk
		match add source fd00:f::/32 class bulk
		match add source 10.3.0.0/16 class bulk
		match add source fd00:3::/32 class bulk
		listener add port $PORT
		listener add port $OTHER
		listener add port $GROUP
	EOT
}

# family NAME: nine tests
family() {
	local before gold
	configure
	server "$TMP/stalled" -a "$to" -b 15 -m none $PORT
	segments "$mixed" 1 $((next += 1)) $PORT
	check "$1: the very first SYN is judged" wait_for 10 counter_is bulk seen 1
	fill $PORT

	before=$(sum bulk seen $PORT $OTHER $GROUP) gold=$(counter gold admitted)
	burst $PORT $PORT
	wait_for 30 seen_are $((before + SENT))
	is "$1: each SYN is seen" \
		$(($(sum bulk seen $PORT $OTHER $GROUP) - before)) $SENT
	within "$1: few of them pass PREROUTING" "$(passed bulk)" 1 $FEW
	is "$1: another class is let in" $(($(counter gold admitted) - gold)) \
		$ROUNDS
	adds_up "$1"
	burst_ends

	# A rule sends there what comes to another port, and elsewhere what comes to it.
	server "$TMP/other" -a "$to" -b 512 -m none $OTHER
	srv nft -f - <<-EOT || die "no rewriting without conntrack"
		table inet nat {
			chain in {
				type nat hook prerouting priority dstnat
				tcp dport 80 redirect to :$PORT
				tcp dport $PORT redirect to :$OTHER
			}
		}
	EOT
	before=$(sum bulk seen $PORT $OTHER $GROUP)
	other=$mixed burst 80 $PORT
	wait_for 30 seen_are $((before + SENT + ROUNDS))
	is "$1, rewritten: each SYN is seen" \
		$(($(sum bulk seen $PORT $OTHER $GROUP) - before)) \
		$((SENT + ROUNDS))
	is "$1, rewritten: a SYN that is sent elsewhere is let in there" \
		"$(counter bulk admitted $OTHER)" $ROUNDS
	burst_ends
	srv nft delete table inet nat

	server "$TMP/member1" -R -a "$to" -b 15 -m none $GROUP
	server "$TMP/member2" -R -a "$to" -b 512 -m epoll $GROUP
	fill $GROUP
	before=$(sum bulk seen $PORT $OTHER $GROUP)
	burst $GROUP
	wait_for 30 seen_are $((before + SENT))
	within "$1, a group: refused by the one that has stalled" \
		"$(counter bulk queue_refused $GROUP)" $((SENT / 4)) $((SENT * 2))
	is "$1, a group: each SYN is asked at its own socket" "$(passed bulk)" $SENT
	burst_ends
	stop "${pids[@]}"
	sq flush
}

load_synq
flood=10.200.0.1 other=10.1.0.1 filler=10.3.0.1 mixed=10.200.1.1 to=$V4
family IPv4
flood=fd00:f::1 other=fd00:1::1 filler=fd00:3::1 mixed=fd00:f::2 to=$V6
family IPv6
