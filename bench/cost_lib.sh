# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# What the guests have in common that count instructions per SYN (cost-guest,
# classify-guest): a trace of SYNs is refused in some way, how long it took is
# printed, and whether all were refused in the way that is named is a test.
#
# Comes after lib.sh; the caller sets N, and for IPv6 the other three.

KIND=cost FROM=10.0.0.0 TO=$V4
VIA=(veth0 02:00:00:00:00:01)	# the server's
TIMES=1		# that a trace is sent

# indexed NUMBER: so many matches are found by an index
indexed() {
	[ "$(conf_counter indexed)" = "$1" ]
}

rules() {
	srv nft -f - || die "nft refuses the rules"
}

# What conforms and is not to reach the stack ends behind the hook of synq and the
# raw chains, and is counted.
sink() {
	rules <<<"table inet sink { chain c { type filter hook prerouting priority -250; tcp dport $PORT counter drop; }; }"
}

sunk() {
	srv nft list table inet sink 2>/dev/null |
		sed -n 's/.*counter packets \([0-9]*\).*/\1/p'
}

# A client that is answered sends nothing.
deaf() {
	cli nft -f - <<<"table netdev deaf { chain c { type filter hook ingress device veth0 priority 0; policy drop; }; }" ||
		die "nft refuses the rules"
}

# At netdev ingress, which is what all else is compared with.
drop_at_ingress() {
	rules <<<"table netdev t { chain c { type filter hook ingress device veth0 priority 0; policy drop; }; }"
}

# refused_by WHAT: SYNs refused in that way, or "-": all that are in no sink
refused_by() {
	case $1 in
	-) sunk ;;
	bulk.*) counter bulk "${1#*.}" ;;
	*) mib "$1" ;;
	esac
}

# measure SYSTEM REFUSAL COUNTER STEP WARM PREFIXES PAYLOAD: one test; prints
# "$KIND SYSTEM REFUSAL WARM PREFIXES PAYLOAD NUMBER NS"
measure() {
	local before after ns refused sent=$((TIMES * N))
	# What a first SYN has to make is not the cost of another.
	[ "$5" != 0 ] ||
		cli syn_trace "${VIA[@]}" "$FROM" "$4" 0 1000 "$7" "$TO" "$PORT" >/dev/null
	before=$(refused_by "$3")
	ns=$(cli syn_trace "${VIA[@]}" "$FROM" "$4" "$5" "$N" "$7" "$TO" "$PORT" $TIMES) ||
		die "cannot send"
	after=$(refused_by "$3")
	echo "$KIND $1 $2 $5 $6 $7 $N $ns"
	refused=$((after - before))
	[ "$3" != - ] || refused=$((sent + $5 - refused))
	within "$1, $2, $5 aggregates, $6 prefixes, $7 bytes" "$refused" \
		$((sent * 99 / 100)) $((sent + $5))
}
