#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Two rates of the sources of a class: of each, and of the network that it is in.  A SYN
# conforms to both, and to the rate of the class, or takes no token of any.  Who refused it
# is counted, and said by why.
#
# Must fail if: a network had no limit, or all of them had one together, or a SYN that was
# refused cost its source, its network or its class a token.

. "${BASH_SOURCE[0]%/*}/lib.sh"
plan 31

# conf BULK: options of the class
conf() {
	apply <<-EOT
		class add gold priority 0
		class add bulk priority 6 max-wait none $1
		match add source 10.200.0.0/16 class bulk
		match add source fd00:f::/32 class bulk
		listener add port $PORT
	EOT
}

fresh() {
	sq flush
	conf "$1"
}

# send FROM N [OPTION...]: SYNs that nobody answers; took: how long, ms
send() {
	local from=$1 to=$V4
	case $from in *:*) to=$V6 ;; esac
	"$PEER" segment -N "$CLI" -s "$from" -n "$2" -p $((next += 200)) "${@:3}" \
		"$to" $PORT >"$TMP/sent" || die "cannot send"
	read -r _ _ took <"$TMP/sent"
}
next=10000

# got COMMAND...: SYNs of bulk that it has let in
got() {
	local before
	before=$(counter bulk admitted)
	"$@"
	got=$(($(counter bulk admitted) - before))
}

counters() {
	local name
	for name; do counter bulk "$name"; done | xargs
}

load_synq
server "$TMP/server" -b 4096 -a :: -m none $PORT

# --- each has its part ---
two='source-rate 1/minute source-burst 5 source-rate 1/minute source-burst 12'
fresh "$two"
is "the class has both" "$(sq save | grep -o 'source-rate.*')" \
	"source-rate 1/minute source-burst 5 net-rate 1/minute net-burst 12"
is "show has what is in force" "$(sq class show -j bulk | grep -oE '"net_[a-z0-9_]*": ?[0-9]+' | tr -d ' ' | xargs)" \
	"net_rate:1 net_rate_per:60 net_burst:12 net_burst_effective:12"
got send 10.200.1.1 10
is "a source has its burst" "$got" 5
got send 10.200.1.2 10
is "another of its network, too" "$got" 5
got send 10.200.1.3 10
is "a third one has what its network leaves" "$got" 2
got send 10.200.1.4 10
is "and a fourth nothing" "$got" 0
got send 10.200.2.1 10
is "another network is another" "$got" 5
is "counted by who refused" "$(counters excess_dropped source_exceeded net_exceeded)" "33 33 18"
adds_up "networks"
sq why 10.200.1.4 >"$TMP/why"
check "why names it" has "$TMP/why" 'over net-rate 1/minute'
sq why 10.200.1.1 >"$TMP/why"
check "why says which" has "$TMP/why" 'over source-rate 1/minute'
sq stats sources >"$TMP/sources"
is "networks are listed with their length" "$(awk '$1 ~ "/24$" { print $1, $3 }' "$TMP/sources" | sort | xargs)" \
	"10.200.1.0/24 12 10.200.2.0/24 5"
is "and told from sources" "$(sq stats -j sources | grep -cE '"net": ?true')" 2

# --- IPv6 ---
got send fd00:f:1:1::1 10
is "IPv6: a /64" "$got" 5
got send fd00:f:1:2::1 10
is "IPv6: another one of the /48" "$got" 5
got send fd00:f:1:3::1 10
is "IPv6: the /48" "$got" 2
got send fd00:f:2:3::1 10
is "IPv6: another /48" "$got" 5

# --- what stays ---
sq save >"$TMP/saved"
sq apply "$TMP/saved"
got send 10.200.1.5 10
is "a new configuration does not fill networks" "$got" 0
sq class set bulk source-rate 2/minute
got send 10.200.2.1 10
is "another source-rate fills sources only" "$got" 5
got send 10.200.2.2 10
is "of a network that has two left" "$got" 2
sq class set bulk net-rate none
is "net-rate none takes what is its" "$(sq save | grep -o 'source-rate.*')" "source-rate 2/minute source-burst 5"
got send 10.200.1.6 10
is "and limits no more" "$got" 5

# --- a network is no part of a source ---
for len in 32,49 33,48 28,48; do
	check "net-len $len, with source-len 24,48" eval "! sq class set bulk source-rate 5/minute \
		source-len 24,48 net-rate 9/minute net-len $len 2>$TMP/err"
done
check "says why" has "$TMP/err" "net-len.* longer than .*source-len"

# --- what is refused costs nothing ---
fresh "rate 1/minute burst 20 $two"
send 10.200.1.1 50
send 10.200.1.2 50
send 10.200.1.3 50
send 10.200.1.3 50
send 10.200.2.1 50
got send 10.200.3.1 50
is "the class has lost none" "$got $(counters admitted)" "3 20"
sq class set bulk rate none
got send 10.200.3.1 50
is "nor the source by the class" "$got" 2
got send 10.200.3.2 50
is "nor its network" "$got" 5

# --- a rate ---
fresh 'source-rate 1000/second net-rate 100/second net-burst 100 net-len 16,32'
send 10.200.1.1 1200 -r 400
want=$((100 + took / 10))
within "a network's rate" "$(counter bulk admitted)" $((want * 98 / 100)) $((want * 102 / 100 + 1))
is "all by the network" "$(counters source_exceeded)" "$(counters net_exceeded)"
