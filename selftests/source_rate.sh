#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Rate and burst of each source of a class, by counters, within 2 %: IPv4, IPv6, prefixes.
# A SYN takes a token from its source and from its class, or from neither; a source that
# hammers harms no other.  Excess is dropped, passed, reset or answered by a cookie as the
# class says, whichever rate it exceeds.  The buckets stay when the configuration is
# replaced.  When all places of the table are in use, further sources are judged by the
# class: they are neither shut out nor without limit.  Without memory for the table the
# configuration is refused.
#
# Must fail if: a source's bucket were unlimited, sources shared one, a refused SYN cost its
# class a token or the reverse, a SYN over the rate of its class were counted as over that
# of its source or the reverse, a reload filled the buckets, or a full table meant "no
# limit" or "no entrance".
#
# One kernel will do: what it tests does not depend on the kernel.  The clock may leap.

. "${BASH_SOURCE[0]%/*}/lib.sh"
plan 84

# conf BULK [SET]: options of the class, and a further line
conf() {
	apply <<-EOT
		class add gold priority 0
		class add bulk priority 6 max-wait none $1
		match add source 10.3.0.0/16 class bulk
		match add source 10.200.0.0/16 class bulk
		match add source fd00:f::/32 class bulk
		listener add port $PORT
		${2-}
	EOT
}

# fresh BULK [SET]: the same with full buckets and counters at zero
fresh() {
	sq flush
	conf "$@"
}

# send FROM N [OPTION...]: SYNs that nobody answers; took: how long, ms
send() {
	local from=$1 to=$V4
	case $from in *:*) to=$V6 ;; esac
	"$PEER" segment -N "$CLI" -s "$from" -n "$2" "${@:3}" "$to" $PORT \
		>"$TMP/sent" || die "cannot send"
	read -r _ _ took <"$TMP/sent"
}

# remembered [REGEX]: sources, of these
remembered() {
	sq stats -j sources | grep -cE "\"source\": *\"${1-}" || :
}

# source_has ADDRESS KEY
source_has() {
	number "$(sq stats -j sources | grep -E "\"source\": *\"$1\"")" "\"$2\":" &&
		echo "$found"
}

# class_dropped: over the rate of the class
class_dropped() {
	echo $(($(counter bulk excess_dropped) - $(counter bulk source_exceeded)))
}

# has_other FILE FILE: do their lines differ?
has_other() {
	! cmp -s "$1" "$2"
}

# held NAME GOT RATE BURST: what a bucket lets through in $took
held() {
	local want=$(($4 + $3 * took / 1000))
	within "$1" "$2" $((want * 98 / 100)) $((want * 102 / 100 + 1))
}

# --- stock kernel: no limit ---
server "$TMP/server" -m none $PORT
first=$LAST
client "$TMP/c" -n 30 -c 30 -A -s 10.3.0.1 -w 30000 $V4 $PORT
must_come 40 has "$TMP/c" ^done
is "stock kernel: all get in" "$(field "$TMP/c" acked)" 30
stop "$LAST" "$first"

load_synq
server "$TMP/server" -b 4096 -a :: -m none $PORT
first=$LAST

# --- rate and burst ---
# Bursts of 0.8 s: a machine that stalls for less loses no tokens.
fresh "source-rate 100/second source-burst 80"
is "no source is remembered" "$(sq stats sources)" "no source is remembered"
send 10.200.1.1 1200 -r 400
held "rate of a source" "$(counter bulk admitted)" 100 80
held "it says so itself" "$(source_has 10.200.1.1 conformed)" 100 80
is "the rest was dropped" "$(counter bulk excess_dropped)" \
	$((1200 - $(counter bulk admitted)))
is "and counted for it" "$(source_has 10.200.1.1 exceeded)" \
	"$(counter bulk source_exceeded)"
is "nothing for its class" "$(class_dropped)" 0
is "every source had a place" "$(counter bulk source_untracked)" 0
adds_up rate
sq why 10.200.1.1 >"$TMP/why"
check "why says so, too" has "$TMP/why" \
	' excess-dropped: over source-rate 100/second$'

fresh "source-rate 100/second source-burst 80"
send fd00:f::1 800 -r 400
held "IPv6: rate of a source" "$(counter bulk admitted)" 100 80
is "IPv6: it is a /64" "$(source_has fd00:f:: length)" 64
is "IPv6: the rest was dropped" "$(counter bulk source_exceeded)" \
	$((800 - $(counter bulk admitted)))

fresh "source-rate 50/second source-burst 40"
send 10.200.2.1 1200 -r 600 -S 3
held "three sources" "$(counter bulk admitted)" 150 120
held "each has its own" "$(source_has 10.200.2.3 conformed)" 50 40
is "an IPv4 source, though the server's socket is of IPv6" \
	"$(source_has 10.200.2.3 length)" 32

# Two CPUs, one source.
fresh "source-rate 100/second source-burst 80"
begun=$(ms)
background "$TMP/other" "$PEER" segment -N "$CLI" -s 10.200.3.1 -n 600 -r 300 \
	-p 22000 $V4 $PORT
send 10.200.3.1 600 -r 300
must_come 10 has "$TMP/other" ^sent
all=$(($(ms) - begun))
within "from two senders at once" "$(counter bulk admitted)" \
	$(((80 + 100 * took / 1000) * 95 / 100)) $(((80 + 100 * all / 1000) * 102 / 100))
is "all were seen" "$(counter bulk seen)" 1200
stop "$LAST"

# --- prefixes ---
fresh "source-rate 1/second source-burst 20 source-len 24,56"
send 10.200.4.1 200 -S 200
within "a /24 has one bucket" "$(counter bulk admitted)" 20 $((21 + took / 1000))
is "and is one source" "$(source_has 10.200.4.0 length)" 24
send 10.200.5.200 200 -S 100
within "two of them have two" "$(counter bulk admitted)" 60 \
	$((66 + took / 1000))
is "three are remembered" "$(remembered '10[.]200[.][456][.]0')" 3
send fd00:f:0:100::1 50
send fd00:f:0:1ff::1 50
within "a /56 has one" "$(source_has fd00:f:0:100:: conformed)" 20 25
is "and is one source" "$(remembered 'fd00:f:0:1')" 1
send fd00:f:0:200::1 10
is "and the next has its own" "$(source_has fd00:f:0:200:: conformed)" 10
is "both are /56" "$(source_has fd00:f:0:200:: length)" 56
fresh "source-rate 1/second source-burst 20 source-len 24,112"
send fd00:f::2:1 50
send fd00:f::2:ffff 50
within "a /112 has one" "$(source_has fd00:f::2:0 conformed)" 20 25
is "and is one source" "$(remembered 'fd00:f::2:')" 1
send fd00:f::3:1 10
is "and the next has its own" "$(source_has fd00:f::3:0 conformed)" 10
fresh "source-rate 1/second source-burst 1"
send 10.200.6.1 100 -S 100
is "by default an address is a source" "$(counter bulk admitted)" 100

# --- both or neither ---
fresh "rate 1/second burst 30 source-rate 1/second source-burst 10"
send 10.200.7.1 500
taken=$(counter bulk admitted)
within "a source's burst" "$taken" 10 13
is "refused for the source, not for the class" "$(class_dropped)" 0
send 10.200.8.1 60 -S 60
within "which has paid for no refused SYN" \
	"$(($(counter bulk admitted) - taken))" $((30 - taken)) \
	$((34 - taken))
is "the rest is refused for the class" "$(class_dropped)" \
	$((60 + taken - $(counter bulk admitted)))
adds_up "both rates"

fresh "rate 1/second burst 5 source-rate 1/second source-burst 20"
send 10.200.9.1 40
within "a class's burst" "$(counter bulk admitted)" 5 7
is "refused for the class, not for the source" \
	"$(counter bulk source_exceeded)" 0
sq why 10.200.9.1 >"$TMP/why"
check "why: that was the class's rate" has "$TMP/why" \
	' excess-dropped: over rate 1/second$'
sq class set bulk rate 10000/second burst 1000
before=$(counter bulk admitted)
send 10.200.9.1 100 -p 21000
within "the source has paid for no refused SYN" \
	$(($(counter bulk admitted) - before)) 13 20

# --- a source that hammers ---
# hammered OPTIONS MS: how many SYNs of five polite sources get in beside a flood, in
# so many ms each; a refused one comes again after a second
hammered() {
	fresh "$1"
	background "$TMP/hammer" "$PEER" segment -N "$CLI" -s 10.200.10.1 \
		-n 2500 -r 1000 $V4 $PORT
	must_come 10 counter_from bulk seen 100
	"$PEER" client -N "$CLI" -n 50 -c 50 -A -r 25 -s 10.3.1.1 -S 5 -w "$2" \
		$V4 $PORT >"$TMP/polite"
	must_come 40 has "$TMP/hammer" ^sent
	stop "$LAST"
	polite=$(field "$TMP/polite" acked)
}
hammered "rate 100/second burst 60" 900
within "without source-rate few others get in" "$polite" 0 47
hammered "rate 100/second burst 60 source-rate 20/second source-burst 10" 20000
is "a source that hammers harms no other" "$polite" 50
is "no SYN was refused for the class" "$(class_dropped)" 0
check "that source was" test "$(source_has 10.200.10.1 exceeded)" -gt 2000
is "the first on the list" "$(sq stats -j sources top 1 |
	sed -n 's/.*"source": *"\([0-9.]*\)".*/\1/p')" 10.200.10.1
is "top 3 are three" "$(sq stats -j sources top 3 | grep -c '"source"')" 3
is "of another class there is none" "$(sq stats sources class gold)" \
	"no source is remembered"
is "in words" "$(sq stats sources top 1 | sed 's/  */ /g' | awk '
	{ print $1, $2, NF }')" "SOURCE CLASS 5
10.200.10.1/32 bulk 5"

# --- replaced ---
fresh "source-rate 1/second source-burst 30"
send 10.200.11.1 40
before=$(counter bulk admitted)
conf "source-rate 1/second source-burst 30"
send 10.200.11.1 40 -p 21000
within "another apply: the buckets stay" $(($(counter bulk admitted) - before)) 0 4
conf "source-rate 1/second source-burst 30 rate 1000/second"
send 10.200.11.1 40 -p 22000
within "with another rate of the class, too" \
	$(($(counter bulk admitted) - before)) 0 8
conf "source-rate 1/second source-burst 30 source-len 31,64"
before=$(counter bulk admitted)
send 10.200.11.1 40 -p 23000
within "other sources begin afresh" $(($(counter bulk admitted) - before)) 30 33
sq class set bulk source-rate none
before=$(counter bulk admitted)
send 10.200.11.1 40 -p 24000
is "without source-rate there is no limit" \
	$(($(counter bulk admitted) - before)) 40
is "and no source is remembered" "$(sq stats sources)" "no source is remembered"

# --- excess, and enforce off ---
# becomes EXCESS COUNTER FROM: of what is over the rate of the source
becomes() {
	fresh "source-rate 1/second source-burst 10 excess $1"
	send "$3" 100
	within "$1: over the rate of the source" \
		"$(counter bulk source_exceeded)" 87 90
	is "$1: all of it is counted as that" "$(counter bulk "$2")" \
		"$(counter bulk source_exceeded)"
	adds_up "$1"
}
becomes pass excess_passed 10.200.12.1
becomes reset excess_reset 10.200.12.2
sq why 10.200.12.2 >"$TMP/why"
check "reset: why says so" has "$TMP/why" \
	' excess-reset: over source-rate 1/second$'
becomes cookie excess_cookie 10.200.12.3
sq why -j 10.200.12.3 >"$TMP/why"
check "cookie: why as JSON" has "$TMP/why" \
	'"reason": ?"excess_cookie".*"source_exceeded": ?true'
fresh "source-rate 1/second source-burst 10 enforce off"
send 10.200.13.1 100
within "enforce off: would be refused" "$(counter bulk would_refuse)" 87 90
is "enforce off: is not" "$(counter bulk source_exceeded)" 0
is "enforce off: all are admitted" "$(counter bulk admitted)" 100

# --- a flood of forged sources ---
fresh "rate 100/second burst 20 source-rate 10/second source-burst 5"
send 10.200.20.1 20000 -S 20000
# On a slow machine its half-open requests fill the SYN queue besides.
conform=$(($(counter bulk seen) - $(counter bulk excess_dropped)))
held "forged sources: the class's rate" $conform 100 20
is "and its sources only are remembered" "$(remembered)" $conform

# --- a full table: eight places ---
stop "$first"
unload_synq
insmod "${SYNQ_KO:-$(modinfo -n synq)}" sources=8 || die "cannot load synq"
# A SYN queue of which the floods are no quarter: there is only the rate to count.
set_sysctl "$SRV" net.core.somaxconn 65535
server "$TMP/server" -b 65535 -m none $PORT
first=$LAST
fresh "source-rate 1/second source-burst 20"
send 10.200.100.1 160 -S 8
is "eight find a place" "$(remembered)" 8
send 10.200.101.1 100 -S 100
is "full: others get in" "$(counter bulk admitted)" 260
is "full: and are counted" "$(counter bulk source_untracked)" 100
send 10.200.100.1 80 -S 8 -p 25000
within "full: a source with a place is held to its rate" "$(counter bulk source_exceeded)" 40 80
send 10.200.102.1 20000
within_prompt "full: a source without one is not without a limit" "$(class_dropped)" \
	$((13400 - 256 * took / 1000)) 15100

fresh "rate 1/second burst 400 source-rate 1/second source-burst 20"
send 10.200.110.1 160 -S 8
send 10.200.111.1 100 -S 100
within "full: they get the upper half of the class's bucket" \
	"$(counter bulk admitted)" 200 206
within "full: the rest is refused for the class" \
	"$(class_dropped)" 54 60
is "full: no source takes a place" "$(remembered '10[.]200[.]110')" 8
fresh "rate 1/second burst 200 source-rate 1/second source-burst 20"
send 10.200.112.1 160 -S 8
send 10.200.113.1 50 -S 50
is "full: of the lower half they get nothing" \
	"$(counter bulk excess_dropped)" 50
stop "$first"

# --- which sources share a set is secret, and differs between tables ---
unload_synq
insmod "${SYNQ_KO:-$(modinfo -n synq)}" sources=64 || die "cannot load synq"
server "$TMP/server" -b 65535 -m none $PORT
first=$LAST
for table in 1 2; do
	fresh "source-rate 1/second source-burst 20"
	send 10.200.120.1 128 -S 128 -p ${table}4000
	sq stats -j sources | grep -o '"source":[^,]*' | sort >"$TMP/$table"
done
within "secret: most places of a table are taken" "$(wc -l <"$TMP/1")" 32 64
within "secret: of another, too" "$(wc -l <"$TMP/2")" 32 64
check "secret: by others" has_other "$TMP/1" "$TMP/2"
stop "$first"

# --- no memory: a control group with less than a table takes ---
unload_synq
insmod "${SYNQ_KO:-$(modinfo -n synq)}" sources=262144 || die "cannot load synq"
group=$TMP/groups/$TEST
limit_memory() {
	mkdir "$TMP/groups" && mount -t cgroup2 none "$TMP/groups" &&
		echo +memory >"$TMP/groups/cgroup.subtree_control" &&
		mkdir "$group" && echo 6M >"$group/memory.max"
}
# in_group ARG...: the command in $SRV, with little memory
in_group() {
	# shellcheck disable=SC2016
	sh -c 'echo 0 >"$1/cgroup.procs" && shift && exec "$@"' sh "$group" \
		nsenter --net=/run/netns/"$SRV" "$(type -P synq)" "$@"
}
conf "source-rate 10/second"
sq save >"$TMP/wanted"
sq flush
if limit_memory 2>/dev/null; then
	in_group apply "$TMP/wanted" 2>"$TMP/why"
	is "no memory: refused" $? 1
	check "no memory: it says so" has "$TMP/why" \
		'no memory for the source buckets$'
	rmdir "$group"
	umount "$TMP/groups"
else
	skip "no memory: refused" "no memory control group"
	skip "no memory: it says so" "no memory control group"
fi
is "no memory: nothing has changed" "$(sq save)" ""
sq apply "$TMP/wanted"
is "with memory it is as it was" "$(sq save)" "$(cat "$TMP/wanted")"
