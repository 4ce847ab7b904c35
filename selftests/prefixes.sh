#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A table of prefixes that is being changed shares memory with the one in force.  Edits of
# a transaction are not visible before its commit, and never if it is refused, neither to
# lookups nor in the list.  No client changes class while other prefixes are added and
# removed under load.
#
# Must fail if: a transaction wrote to memory that lookups read.

. "${BASH_SOURCE[0]%/*}/lib.sh"
plan 11

# nested FROM TO: prefixes inside each other and beside each other
nested() {
	awk -v from="$1" -v to="$2" 'BEGIN {
		for (i = from; i < to; i++) {
			printf "11.%d.%d.0/24\n", i / 250, i % 250
			printf "11.%d.%d.%d/30\n", i / 250, i % 250, i * 4 % 256
			printf "fd00:%x::/48\n", i + 256
		}
	}'
}

# What lookups say of some addresses.
looked_up() {
	local address
	for address in 11.0.0.1 11.0.7.28 11.0.7.29 11.3.9.200 11.3.9.1 11.7.0.1 \
		12.0.0.1 fd00:100::1 fd00:200::1 fd00:8ff::1; do
		sq classify "$address"
	done
}

# unchanged NAME: what is in force is what it was
unchanged() {
	sq match show >"$TMP/now"
	check "$1: the list is the same" cmp "$TMP/list" "$TMP/now"
	is "$1: lookups are the same" "$(looked_up)" "$looked_up"
}

load_synq
{
	three_classes
	echo "match add source 11.0.0.0/8 class silver"
} | apply
nested 0 700 >"$TMP/gold"
check "2,100 more in one transaction" sq match add source-file "$TMP/gold" class gold
sq match show >"$TMP/list"
looked_up=$(looked_up)

# Each ends in a line that is refused, when all others have been done.
{
	nested 0 600
	echo 192.0.2.0/24
} >"$TMP/file"
check "taken out and refused" eval "! sq match del source-file $TMP/file 2>/dev/null"
unchanged "taken out and refused"
{
	nested 700 1400
	echo 11.0.0.0/8
} >"$TMP/file"
check "added and refused" eval "! sq match add source-file $TMP/file class bulk 2>/dev/null"
unchanged "added and refused"
{
	nested 100 700
	echo 192.0.2.0/24
} >"$TMP/file"
sq match set source-file "$TMP/file" class bulk 2>/dev/null
unchanged "changed and refused"

# --- under load: the neighbours of gold come and go ---
server "$TMP/server" -m none $PORT
background "$TMP/sent" "$PEER" segment -N "$CLI" -s 10.1.0.1 -S 60000 -r 2500 \
	-E "$TMP/end" $V4 $PORT
for ((n = 0; n < 4; n++)); do
	for ((i = 0; i < 60; i++)); do
		echo "10.1.$((i * 4 + n)).0/24"
	done >"$TMP/near.$n"
done
must_come 10 counter_from gold seen 100
before=$(conf_counter generation)
for _ in {1..10}; do
	for ((n = 0; n < 4; n++)); do
		sq match add source-file "$TMP/near.$n" class gold
	done
	for ((n = 0; n < 4; n++)); do
		sq match del source-file "$TMP/near.$n"
	done
done
note "$(($(conf_counter generation) - before)) changes"
touch "$TMP/end"
must_come 20 has "$TMP/sent" ^sent
is "no client is in another class" \
	"$(counter default seen) $(counter silver seen) $(counter bulk seen)" "0 0 0"
check "all were judged" test "$(counter gold seen)" -gt 100
