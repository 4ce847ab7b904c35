#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Malformed segments of each kind: judged where the stack might take it for a SYN, else
# counted as malformed, or by the stack itself.  Then floods of SYNs with a few bytes
# changed, whatever the excess action: preferred clients are served, and the sum is right.
#
# Must fail if: a truncated header were read, charged to its class, or refused without a
# count.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/flood_lib.sh"
N=40
plan $((2 * 22 + 2 * 8 + 3 + 2 * 6 + 5 + 6 * 2))

four=(-s 10.200.0.1 "$V4") six=(-s fd00:f::1 "$V6")

# value COUNTER: of synq, or of the stack
value() {
	case $1 in
	seen) counter bulk seen ;;
	malformed | fragments) conf_counter "$1" ;;
	Ip6*) mib6 "$1" ;;
	*) mib "$1" ;;
	esac
}

has_reached() {
	[ "$(value "$1")" -ge "$2" ]
}

# send OPTION...: N segments, to one of the ends
send() {
	"$PEER" segment -N "$CLI" -n $N -p $((next += N)) "$@" $PORT >/dev/null ||
		die "cannot send"
}

# of_synq: sets own, what synq has counted, and total, the sum
declare -A own
of_synq() {
	local stats name
	stats=$(told stats -j)
	counter_in "$stats" bulk seen
	own[seen]=$found
	for name in malformed fragments; do
		number "$stats" "^\{\"conf\":\{[^}]*\"$name\":" || die "no $name"
		own[$name]=$found
	done
	total=$((own[seen] + own[malformed] + own[fragments]))
}

# counted COUNTER NAME OPTION...: by it, and by no other of synq
counted() {
	local what=$1 name=$2 before sum
	shift 2
	of_synq
	before=${own[$what]-$(value "$what")} sum=$total
	send "$@"
	of_synq
	is "$name: $what" $((${own[$what]-$(value "$what")} - before)) $N
	sum=$((total - sum))
	case $what in
	seen | malformed | fragments) is "$name: and nothing else" $sum $N ;;
	*) is "$name: and nothing of synq" $sum 0 ;;
	esac
}

# broken FAMILY END...
broken() {
	local family=$1 len
	shift
	for len in 0 1 4 13 19; do
		counted malformed "IPv$family, $len bytes of TCP" -c $len "$@"
	done
	counted malformed "IPv$family, header of no words" -D 0 "$@"
	counted malformed "IPv$family, header of 4 words" -D 4 "$@"
	counted malformed "IPv$family, header beyond the end" -D 15 "$@"
	counted malformed "IPv$family, SYN and FIN" -f SF "$@"
	counted malformed "IPv$family, SYN and RST" -f SR "$@"
	counted malformed "IPv$family, SYN and all but ACK" -f SFRPUEC "$@"
}

# odd FAMILY END...: options that the stack reads over
odd() {
	local family=$1 hex all=0101010101010101010101010101010101010101
	shift
	for hex in 0200 22ff 0402010108 $all$all; do
		counted seen "IPv$family, options $hex" -o "hex=$hex" "$@"
	done
}

# lost COUNTER NAME OPTION...: fragments that make nothing; the stack counts it, some
# of them when it has waited for the rest
lost() {
	local what=$1 name=$2 before admitted
	shift 2
	before=$(value "$what")
	send "$@"
	check "$name: $what" wait_for 30 has_reached "$what" $((before + N))
}

load_synq
server "$TMP/server" -a :: -m epoll $PORT
flood_conf
manage
srv sh -c 'echo 1 >/proc/sys/net/ipv4/ipfrag_time
	echo 1 >/proc/sys/net/ipv6/ip6frag_time'
next=2000
broken 4 "${four[@]}"
broken 6 "${six[@]}"
odd 4 "${four[@]}"
odd 6 "${six[@]}"

# Nothing has verified the checksum before the stack does.
before=$(value Tcp.InCsumErrors)
send -W "${four[@]}"
send -W "${six[@]}"
is "wrong checksum: counted by the stack" \
	$(($(value Tcp.InCsumErrors) - before)) $((2 * N))
is "and taken for no SYN: half open are those before" "$(half_open)" $((8 * N))
adds_up "wrong checksum"

# --- IPv6 extension headers ---
counted seen "16 extension headers" -X dddddddddddddddd "${six[@]}"
counted seen "routing, options, whole fragment" -X rdfd "${six[@]}"
counted Ip6InHdrErrors "options beyond the end" -X l "${six[@]}"
counted Ip6InUnknownProtos "unknown header" -X u "${six[@]}"
counted fragments "whole fragment, 10 bytes of TCP" -X f -c 10 "${six[@]}"
counted fragments "first fragment of 8 bytes" -F 1 -M "${six[@]}"

# --- fragments ---
before=$(value seen)
lost Ip.ReasmFails "IPv4, overlapping" -F 3 -Y 1 -d 100 "${four[@]}"
lost Ip.ReasmFails "IPv4, the last missing" -F 1 -M -d 100 "${four[@]}"
is "IPv4: none is judged" $(($(value seen) - before)) 0
lost Ip6ReasmFails "IPv6, overlapping" -F 3 -Y 1 -d 100 "${six[@]}"
lost Ip6ReasmFails "IPv6, the last missing" -F 3 -M -d 100 "${six[@]}"

# --- floods ---
# mutants NAME FROM: two tests
mutants() {
	under_flood "$@" -Z -S 1000 -p $((next += 100)) -d 40 \
		-o mss=1460,sack,ts=1000,ws=7,hex=1e0300
	adds_up "$1"
}

for excess in drop reset cookie; do
	flood_conf rate 10/second burst 10 excess $excess
	mutants "IPv4 SYNs with other bytes, $excess" 10.200.0.1
	mutants "IPv6 SYNs with other bytes, $excess" fd00:f::1
done
