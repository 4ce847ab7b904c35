#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Classes: a table of half a million prefixes, in synq and in nft.
#
# Set-up.  Prefixes of IPv4 and IPv6, a quarter of them inside others, in three
# classes, in User Mode Linux without the sanitizers, which runs at the speed of
# the machine.  nft has interval maps without those inside, which they cannot hold.
# Times are those of the whole command, as an operator sees it; "nothing" is a command
# that does nothing.
#
# Source.  An addition to a map of half a million took nft 41 s.
#
# Expected shape.  One prefix more in 10 ms, all replaced in 2 s, 200 bytes a prefix,
# 200 MB for the command, 100,000 changes in a second in one batch.
#
# Writes out/bench/classes.jsonl.  FAST=1: 50,000.

set -euo pipefail
. "$(dirname "$0")/../lib.sh"

number=500000
[ -z "${FAST:-}" ] || number=50000
raw=$top/out/bench/classes.txt

mkdir -p "$top/out/bench"
make -s -C "$top/tools/synq"
"$top/scripts/vm" --way uml --plain --mem 4G --timeout 1800 \
	--module "$("$top/scripts/kernel" build plain)" \
	--file "$top/bench/classes-guest" --file "$top/tools/synq/synq" -- \
	python3 /run/synq/bin/classes-guest "$number" >"$raw" || { cat "$raw"; exit 1; }

awk -v number="$number" -v rows="$top/out/bench/classes.jsonl" \
	-v kernel="$("$top/scripts/kernel" release plain)" '
	BEGIN {
		printf "" >rows
		most["one_more_s"] = .01
		most["replace_s"] = 2
		most["prefix_bytes"] = 200
		most["command_bytes"] = 200e6
		least["changes_per_s"] = 100000
	}
	NF == 3 && $1 != "#" {
		printf "{\"experiment\": \"classes\", \"system\": \"%s\", " \
			"\"kernel\": \"%s\", \"parameter\": {\"prefixes\": %d}, " \
			"\"metric\": \"%s\", \"value\": %s}\n", \
			$1, kernel, number, $2, $3 >>rows
		said = ""
		if ($1 == "synq" && $2 in most)
			said = sprintf("%s (at most %g)", $3 <= most[$2] ? "holds" : "FAILS", most[$2])
		if ($1 == "synq" && $2 in least)
			said = sprintf("%s (at least %g)", $3 >= least[$2] ? "holds" : "FAILS", least[$2])
		failed += said ~ /FAILS/
		printf "%-5s %-15s %12s  %s\n", $1, $2, $3, said
		next
	}
	{ print }
	END { exit failed > 0 }' "$raw"
