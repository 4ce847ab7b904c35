# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034
#
# Floods of segments, for scripts that check that preferred clients are served meanwhile,
# that every segment was counted, or that no more SYNs reach the listener than the rate
# of their class.

FLOOD=600		# at least so many,
FLOOD_RATE=1500		# in a second
PREFERRED=20

# flood OPTION... ADDRESS: segments until "calm"
flood() {
	rm -f "$TMP/calm"
	background "$TMP/flood" "$PEER" segment -N "$CLI" -n $FLOOD \
		-r $FLOOD_RATE -E "$TMP/calm" "$@" "$PORT"
}

# calm: ends the flood; sets sent, how many came
calm() {
	touch "$TMP/calm"
	must_come 60 has "$TMP/flood" ^sent
	read -r _ sent _ <"$TMP/flood"
}

# preferred NAME [ADDRESS]: while there is a flood; one test
preferred() {
	local from=10.1.0.1 to=${2:-$V4}
	case $to in *:*) from=fd00:1::1 ;; esac
	"$PEER" client -N "$CLI" -n $PREFERRED -c 4 -s $from -S 4 -w 30000 \
		"$to" "$PORT" >"$TMP/preferred"
	is "$1: preferred clients are served" \
		"$(field "$TMP/preferred" answered)" $PREFERRED
}

# towards FROM: sets to, the server's address of the same family
towards() {
	to=$V4
	case $1 in *:*) to=$V6 ;; esac
}

# under_flood NAME FROM [OPTION...]: a flood, and preferred clients meanwhile; one test;
# sets sent, and took, ms
under_flood() {
	local name=$1 from=$2 to begun
	shift 2
	towards "$from"
	begun=$(ms)
	flood -s "$from" "$@" "$to"
	preferred "$name" "$to"
	calm
	took=$(($(ms) - begun))
}

# flood_conf [OPTION...]: of the class bulk, that of forged sources (10.192/10,
# fd00:f::/32) and of 10.3/16; $marks, if set, is the line that lets classes have them
flood_conf() {
	apply <<-EOT
		${marks-}
		class add gold priority 0 ${marks:+mark 1}
		class add bulk priority 6 ${marks:+mark 2} max-wait none $@
		match add source 10.1.0.0/16 class gold
		match add source fd00:1::/32 class gold
		match add source 10.3.0.0/16 class bulk
		match add source 10.192.0.0/10 class bulk
		match add source fd00:f::/32 class bulk
		listener add port $PORT
	EOT
}

# flood_conf_anew [OPTION...]: with all counters 0
flood_conf_anew() {
	sq flush
	flood_conf "$@"
}

RATE=20 BURST=10

# police [OPTION...]: the class bulk of forged sources, and of 10.3/16 and fd00:3::/32,
# has a rate
police() {
	sq flush
	apply <<-EOT
		class add bulk priority 6 rate $RATE/second burst $BURST max-wait none $@
		match add source 10.3.0.0/16 class bulk
		match add source 10.200.0.0/16 class bulk
		match add source fd00:3::/32 class bulk
		match add source fd00:f::/32 class bulk
		listener add port $PORT
	EOT
}

# allowed MS: sets most, how many SYNs conform in that time
allowed() {
	most=$((BURST + RATE * ($1 + 50) / 1000 + 1))
}

# ten_times OPTION...: SYNs from different ports in a second, and what is answered;
# sets answered, how many of them were, and most
ten_times() {
	"$PEER" segment -N "$CLI" -p $((next += 300)) -n 100 -r $((10 * RATE)) \
		-w 300 "$@" "$PORT" >"$TMP/sent"
	allowed "$(sed -n 's/^sent [0-9]* //p' "$TMP/sent")"
	answered=$(awk '/^answer [0-9]/ { print $2 }' "$TMP/sent" | sort -u | wc -l)
}

# limited NAME OPTION...: who gets a SYN-ACK has reached the listener; two tests
limited() {
	local name=$1 before
	shift
	before=$(counter bulk admitted)
	ten_times "$@"
	within "$name, ten times the rate: reach the listener" "$answered" 1 $most
	is "$name: as many as were admitted" "$answered" \
		$(($(counter bulk admitted) - before))
}

# limited_cookies NAME OPTION...: where the excess gets SYN cookies, who is half open
# has; three tests
limited_cookies() {
	local name=$1 before reached admitted
	shift
	before=$(half_open)
	admitted=$(counter bulk admitted)
	cookies=$(counter bulk excess_cookie)
	ten_times "$@"
	reached=$(($(half_open) - before))
	within "$name, ten times the rate: reach the listener" $reached 1 $most
	is "$name: as many as were admitted" $reached \
		$(($(counter bulk admitted) - admitted))
	is "$name: the others get SYN cookies" \
		$(($(counter bulk excess_cookie) - cookies)) $((100 - reached))
}
