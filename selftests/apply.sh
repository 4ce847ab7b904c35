#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A configuration is replaced as a whole or not at all: 5,000 matches in one
# transaction; a bad file changes nothing, and the generation tells; under load no
# SYN meets a mixture; of several writers at once each wins whole or is refused.
#
# Must fail if: edits showed before the commit, a refused one left
# something behind, or two writers' work were mixed.

. "${BASH_SOURCE[0]%/*}/lib.sh"
plan 15

generation() {
	conf_counter generation
}

# big CLASS N: so many matches for it
big() {
	three_classes
	awk -v class="$1" -v n="$2" 'BEGIN {
		for (i = 0; i < n; i++)
			printf "match add source 11.%d.%d.0/24 class %s\n",
				i / 250, i % 250, class
	}'
}

load_synq
is "nothing is configured at first" "$(sq save | grep -vc '^#')" 0

# --- many matches ---
before=$(generation)
big gold 5000 | apply
is "5,000 matches are one generation" "$(generation)" $((before + 1))
is "all of them are there" "$(sq match show -j | grep -c '"source": *"11')" 5000
is "they count" "$(sq classify -j 11.3.4.5 | sed 's/.*"class": *"\([a-z]*\)".*/\1/')" \
	gold

# --- refused: nothing changes ---
sq save >"$TMP/before"
before=$(generation)
# unchanged NAME LINE [N]: 500 matches, or N, and then this line: refused, and all is
# as it was
unchanged() {
	{
		big bulk "${3-500}"
		echo "$2"
	} >"$TMP/file"
	if sq apply "$TMP/file" 2>"$TMP/why"; then
		not_ok "$1 is refused"
		return
	fi
	sed 's/^.*file:/# /; q' "$TMP/why"
	sq save >"$TMP/after"
	check "$1 is refused, nothing has changed" \
		cmp "$TMP/before" "$TMP/after"
}

unchanged "a class that is not there" "match add source 1.2.3.4/32 class none"
unchanged "a second priority 0" "class add other priority 0"
unchanged "a line that is no command" "class gold"
unchanged "port 0" "listener add port 0"
set_sysctl "$SRV" net.ipv4.tcp_fwmark_accept 0
# This one only the kernel refuses, at the commit.
unchanged "mark without its sysctl" "mark mask 0xf0000" 5000
is "a refused file is no generation" "$(generation)" "$before"

# --- under load no SYN sees a mixture ---
# 10.1/16 has a class of its own in both, so no client is ever in the default.
# What else it has differs in every respect, so that a mixture would show.
other() {
	echo "class add extra priority 1 max-wait 2s weight 3 min-share 10% cap 90%"
	three_classes | sed 's/10.1.0.0\/16 class gold/10.1.0.0\/16 class extra/'
}
sq flush
three_classes | apply
server "$TMP/server" -m none $PORT
served=$LAST
background "$TMP/sent" "$PEER" segment -N "$CLI" -s 10.1.0.1 -S 60000 -r 2500 \
	-E "$TMP/end" $V4 $PORT
must_come 10 counter_from gold seen 100
before=$(generation)
for _ in {1..20}; do
	other | apply
	three_classes | apply
done
is "replaced 40 times" "$(generation)" $((before + 40))
touch "$TMP/end"
must_come 20 has "$TMP/sent" ^sent
is "no SYN was judged by a mixture" "$(counter default seen)" 0
check "they were judged" test "$(counter gold seen)" -gt 100
stop "$served"

# --- several writers ---
writer() {
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		if "$1" | sq apply - 2>>"$TMP/refused"; then
			echo won
		fi
	done >>"$TMP/wins.$1"
}
sq flush
before=$(generation)
writer three_classes &
one=$!
writer other &
two=$!
wait $one $two
wins=$(cat "$TMP"/wins.* | wc -l)
note "$wins of 20 won"
is "each win is one generation" "$(generation)" $((before + wins))
sq save >"$TMP/after"
for file in three_classes other; do
	$file | apply
	sq save >"$TMP/save.$file"
done
check "the result is one of the two" sh -c \
	"cmp -s $TMP/after $TMP/save.other || cmp -s $TMP/after $TMP/save.three_classes"
