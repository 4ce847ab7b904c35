#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# excess reset: a SYN over the rate is reset as by a port on which nothing listens, so
# that the client knows at once; but only where the host's firewall lets it in.
#
# Must fail if: the client went on trying, if the reset differed from the kernel's own, or
# if it disclosed a port that the firewall closes.

. "${BASH_SOURCE[0]%/*}/lib.sh"
plan 25

CLOSED=8099

conf() {
	apply <<-EOT
		class add bulk priority 6 rate 1/second burst 1 excess reset max-wait none $@
		match add source 10.200.0.0/16 class bulk
		match add source 10.3.0.0/16 class bulk
		match add source fd00:f::/32 class bulk
		match add source fd00:3::/32 class bulk
		listener add port $PORT
	EOT
}

# answer PORT OPTION...: $got is the answer to one SYN, the token of the class being
# gone; from another port each time
answer() {
	local port=$1
	shift
	next=$((next + 2))
	"$PEER" segment -N "$CLI" -p $next "${ends[@]}" $PORT >/dev/null
	got=$("$PEER" segment -N "$CLI" -p $((next + 1)) -w 150 "$@" \
		"${ends[@]}" "$port" | sed -n 's/^answer [0-9]* //p')
}

# like_closed NAME OPTION...
like_closed() {
	local name=$1 wanted
	shift
	answer $CLOSED "$@"
	wanted=$got
	for _ in 1 2 3; do
		answer $PORT "$@"
		case $got in *flags=SA*) ;; *) break ;; esac
	done
	is "$name: reset like a closed port" "$got" "$wanted"
	note "$got"
}

load_synq
conf
"$PEER" plain -N "$SRV" veth0 || die "no ethtool"
server "$TMP/server" -a :: -m none $PORT
served=$LAST
manage
next=2000
for family in 4 6; do
	ends=(-s 10.200.0.1 "$V4")
	[ $family = 4 ] || ends=(-s fd00:f::1 "$V6")
	like_closed "IPv$family"
	like_closed "IPv$family, with data" -d 100
	like_closed "IPv$family, with options" -o mss=1460,sack,ts=1000,ws=7
	like_closed "IPv$family, ECN and TOS" -f SEC -t 0x48
done
like_closed "IPv6, behind extension headers" -X d
like_closed "IPv6, in a fragment that is whole" -X df

# --- a client ---
# gives_up FAMILY
gives_up() {
	local source=10.3.0.1 to=$V4 before
	[ "$1" = 4 ] || source=fd00:3::1 to=$V6
	before=$(counter bulk excess_reset)
	begun=$(ms)
	client "$TMP/c" -n 10 -c 10 -s $source -A -w 30000 "$to" $PORT
	must_come 40 has "$TMP/c" ^done
	within "IPv$1: all but one or two fail" "$(field "$TMP/c" failed)" 8 10
	within "IPv$1: at once" $(($(ms) - begun)) 0 10000
	check "IPv$1: because they are refused" \
		has "$TMP/c" 'failed .* Connection refused' 8
	is "IPv$1: counted" $(($(counter bulk excess_reset) - before)) \
		"$(field "$TMP/c" failed)"
}
gives_up 4
gives_up 6
adds_up "resets"
sq why 10.3.0.1 >"$TMP/why"
check "why: knows of it" has "$TMP/why" 'excess-reset: over rate 1/second$'

# --- not ---
# unanswered NAME N OPTION...: 2 tests; N of the two SYNs are judged
unanswered() {
	local name=$1 n=$2 before
	shift 2
	before=$(counter bulk seen)
	answer $PORT "$@"
	is "$name: no answer" "$got" ""
	is "$name: nor judged" $(($(counter bulk seen) - before)) "$n"
}

ends=(-s 10.200.0.1 "$V4")
unanswered "wrong checksum" 1 -W
conf enforce off
answer $PORT
is "enforce off: let in" "$(grep -o flags=SA <<<"$got")" flags=SA

# --- nor what the listener would drop ---
conf
stop "$served"
server "$TMP/server" -a :: -m none -O 0,21,200 $PORT
manage
unanswered "fewer hops than the listener wants" 0 -T 100
