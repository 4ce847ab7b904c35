#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# SYNs from very many forged sources, in a class with a source-rate: memory does not grow
# with them, none of them gets more than its rate, the clients of the same class are
# served, by SYN cookies, and preferred ones without.
#
# source_test.c has a million of them, and an attack on one set of the table: the set of a
# source cannot be chosen from outside.
#
# Must fail if: a source that is refused, or seen once, took memory, or so many sources
# together were without a limit.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/flood_lib.sh"
plan 10

# As many as need more memory than the test allows for if each needs any: of UML with
# its sanitizers a CPU second makes no more than 5000 SYNs, of an emulated one 40,000.
SOURCES=20000

# conf [OPTION...]: of the class that has a rate for each source
conf() {
	flood_conf_anew rate 50/second burst 50 source-rate 2/second \
		source-burst 2 source-len 32,128 "$@"
}

# memory: what the kernel has for its own, kB
memory() {
	awk '/^(SUnreclaim|VmallocUsed|Percpu):/ { sum += $2 } END { print sum }' \
		/proc/meminfo
}

# send FROM [OPTION...]: two SYNs for each of SOURCES
send() {
	local from=$1 to
	shift
	towards "$from"
	"$PEER" segment -N "$CLI" -s "$from" -n $((2 * SOURCES)) "$@" "$to" $PORT \
		>"$TMP/sent" || die "cannot send"
	read -r _ _ took <"$TMP/sent"
}

# many NAME FROM: three tests
many() {
	local before most
	conf
	send "$2"	# one source: what else takes memory has it then
	before=$(memory)
	send "${2%1}2" -S $SOURCES
	# 64 bytes for each, the least that they could take, are 1280 kB.
	within "$1, $SOURCES sources: memory, kB" $(($(memory) - before)) \
		-100000 $((SOURCES / 20))
	most=$((102 + 102 * 51 * took / 100000))
	within "$1: the class's rate" "$(counter bulk admitted)" 50 \
		$((most + 52))
	# A slow server's queue may be full besides.
	within "$1: remembered are no more than conformed" \
		"$(sq stats -j sources | grep -c '"source"')" 1 \
		$(($(counter bulk seen) - $(counter bulk excess_dropped)))
}

load_synq
server "$TMP/server" -a :: -m epoll $PORT
conf
manage
many IPv4 10.200.0.1
many IPv6 fd00:f::1

conf excess cookie
flood -S $SOURCES -s 10.220.0.1 $V4
"$PEER" client -N "$CLI" -n $PREFERRED -c 4 -s 10.3.0.1 -S 4 -w 30000 $V4 $PORT \
	>"$TMP/same"
preferred "among forged sources"
calm
is "clients of the same class are served" "$(field "$TMP/same" answered)" $PREFERRED
within "each SYN was judged" "$(counter bulk seen)" $((sent + PREFERRED)) \
	$((sent + 10 * PREFERRED))
adds_up "among forged sources"
