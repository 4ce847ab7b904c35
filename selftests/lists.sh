#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Lists of prefixes as they are published, and as ipset and nft print them, in the kernel:
# each client has the class that the list says.  Lists that contradict each other, and
# lists that cannot be understood, change nothing.
#
# The forms themselves are tested with the command (tools/synq/tests).
#
# Must fail if: a list were refused for a comment, a header or a prefix that another
# list has, or half of a bad one took effect.

. "${BASH_SOURCE[0]%/*}/lib.sh"
plan 19

# class ADDRESS: its class
class() {
	sq classify "$1" | sed 's/.* -> \([a-z]*\) .*/\1/'
}

load_synq
mkdir "$TMP/lists"
printf '\xef\xbb\xbfPrefix,Country\r\n# comment\r\n11.1.0.0/16,DE\r\n2001:DB8:11::/48,NL ; more\r\n' \
	>"$TMP/lists/cloud.csv"
printf '{"prefixes": [{"ipv4Prefix": "11.2.0.0/16"}, {"ipv6Prefix": "2001:db8:12::/48"}]}' \
	>"$TMP/lists/search.json"
cat >"$TMP/lists/tor" <<-EOT
	ExitNode 0011BD2485AD45D984EC4159C88FC066E5E3300E
	ExitAddress 11.3.0.1 2026-01-04 16:11:51
EOT
cat >"$TMP/lists/ipset" <<-EOT
	create x hash:net family inet hashsize 1024 maxelem 65536
	add x 11.4.0.0/16
EOT
cat >"$TMP/lists/nft" <<-EOT
	table inet filter {
	        set x {
	                type ipv4_addr
	                elements = { 11.5.0.0/16,
	                             11.6.0.250-11.6.1.5 }
	        }
	}
EOT
printf '11.7.0.9/24\n::ffff:11.8.0.1\n' >"$TMP/lists/bits"
printf '; nothing\n' >"$TMP/lists/empty"
{
	three_classes | grep -v '^match'
	for list in cloud.csv search.json tor ipset nft bits empty search.json; do
		echo "match add source-file $list class gold"
	done
} >"$TMP/lists/synq.conf"
check "lists load as they are" sq apply "$TMP/lists/synq.conf" 2>"$TMP/err"
is "with a remark on each peculiarity" "$(grep -c '^synq: note: ' "$TMP/err")" 3
is "a client of each list has its class" "$(for address in 11.1.2.3 2001:db8:11::1 \
	11.2.0.1 2001:db8:12::1 11.3.0.1 11.4.5.6 11.5.0.1 11.6.0.250 11.6.1.5 11.7.0.1 \
	11.8.0.1 ::ffff:11.8.0.1; do class $address; done | sort | uniq -c | tr -s ' ')" \
	" 12 gold"
is "and none beside them" "$(for address in 11.3.0.2 11.6.0.249 11.6.1.6 11.8.0.2 \
	2001:db8:13::1; do class $address; done | sort -u)" default
sq save >"$TMP/before"
sq apply "$TMP/before"
check "what is saved is the same" sh -c "synq save | cmp - $TMP/before"

unchanged() {
	sq save >"$TMP/after"
	check "$1: nothing has changed" cmp "$TMP/before" "$TMP/after"
}
before=$(conf_counter generation)
check "strict: an empty list is refused" \
	eval "! sq apply --strict $TMP/lists/synq.conf 2>/dev/null"
{
	cat "$TMP/lists/synq.conf"
	echo "match add source-file ipset class bulk"
} >"$TMP/lists/two.conf"
check "a prefix in two classes is refused" \
	eval "! sq apply $TMP/lists/two.conf 2>$TMP/err"
is "in one line" "$(sed "s|$TMP/||g" "$TMP/err")" \
	'synq: lists/ipset:2: "11.4.0.0/16": class bulk here, but class gold at lists/ipset:2 (prefer says which)'
unchanged "two classes"
printf '11.9.0.0/16\n11.10.0.0/16\n<html>\n' >"$TMP/lists/broken"
check "a list that breaks off is refused" \
	eval "! sq match add source-file $TMP/lists/broken class gold 2>/dev/null"
unchanged "a broken list"
sq match add source-file "$TMP/lists/empty" class gold 2>/dev/null
is "nor is an empty one a change" "$(conf_counter generation)" "$before"

# --- on the command line ---
check "a range" sq match add source 12.0.0.1-12.0.0.6 class bulk
is "is the prefixes that it needs" "$(sq match show bulk | grep -c '^12')" 4
check "and can be taken out again" sq match del source 12.0.0.1-12.0.0.6
check "mapped addresses are those of IPv4" sq match add source ::ffff:12.0.0.0/120 class bulk
is "in the configuration, too" "$(sq match show bulk | grep ^12)" "12.0.0.0/24  bulk"

# --- a large list ---
awk 'BEGIN {
	for (i = 0; i < 100000; i++)
		printf "%d.%d.%d.0/24 ; %d\r\n", 16 + i / 65536, i / 256 % 256, i % 256, i
}' >"$TMP/lists/large"
{
	three_classes | grep -v '^match'
	echo "match add source-file large class gold"
} >"$TMP/lists/large.conf"
began=$(ms)
sq apply "$TMP/lists/large.conf"
took=$(($(ms) - began))
# 0.6 s in User Mode Linux without the sanitizers, up to 1.1 s with them.
note "a list of 100,000: $took ms"
check_prompt "a list of 100,000, at most 10 s" test $took -le 10000
is "all of them" "$(sq match show | grep -c gold)" 100000
