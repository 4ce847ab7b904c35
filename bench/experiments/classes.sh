#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Classes: tables of ten to a million prefixes, in synq, nft and ipset.
#
# Set-up.  Prefixes of IPv4 and IPv6, a quarter of them inside others.  nft has interval
# maps without the nested ones, which they cannot hold; ipset has sets of hash:net with a
# mark for each.  Four parts (CELLS=A,B: these only):
#
# times         half a million loaded, replaced, one more, many changed, and what they
#               take of memory, in User Mode Linux without the sanitizers, which
#               runs at the speed of the machine.  Times are those of the whole
#               command, as an operator sees it; "nothing" is a command that does
#               nothing
# emulated      the same of synq in an emulated machine, where all else was measured
# instructions  what it costs to classify a SYN, by number of prefixes, on an
#               emulated CPU whose clock counts instructions.  The same trace of SYNs is
#               dropped by its class, or without a look at its source
# snapshots     selftests/snapshot.sh with 20,000 transactions
#
# Source.  An addition to a map of half a million took nft 41 s.
#
# Expected result.  One more prefix in 10 ms, less the time of a command that does nothing;
# all replaced in 2 s, 200 bytes a prefix, 200 MB for the command, 100,000 changes in a
# second in one batch.  A SYN at a million prefixes takes at most 1.5 times the
# instructions of one at 10, and to classify it fewer than nft's map, at every number.
# Every SYN under load is judged by one whole configuration.
#
# Writes out/bench/classes.jsonl, and the tables to out/bench/classes.table.  FAST=1: a
# tenth of all that, for instructions a hundredth.

set -euo pipefail
. "$(dirname "$0")/../lib.sh"

kernel=${KERNEL:-6.1}
number=500000 transactions=20000 syns=20000
sizes='10 1000 10000 100000 1000000'
[ -z "${FAST:-}" ] ||
	number=50000 transactions=2000 syns=5000 sizes='10 1000 10000'
raw=$top/out/bench/classes
lists=$build/prefixes
ipset=$(PATH=$PATH:/usr/sbin:/sbin command -v ipset) ||
	{ echo "classes: 'ipset' is missing: run scripts/setup bench" >&2; exit 1; }

# part NAME COMMAND...: its output is what the report reads
part() {
	local file=$raw/$1.txt
	[ -z "${CELLS:-}" ] || [[ ,$CELLS, == *,$1,* ]] || return 0
	echo "classes: $1"
	shift
	"$@" >"$file.new" || { cat "$file.new"; exit 1; }
	mv "$file.new" "$file"
}

# tables WAY KERNEL SYSTEM...
tables() {
	local way=$1 kernel=$2
	shift 2
	# shellcheck disable=SC2086
	"$top/scripts/vm" --way $way --mem 4G --timeout 3000 \
		--module "$("$top/scripts/kernel" build "$kernel")" \
		--file "$top/bench/classes-guest" --file "$top/bench/prefixes.py" \
		--file "$top/tools/synq/synq" -- \
		python3 /run/synq/bin/classes-guest "$number" "$@"
}

# Each in a machine of its own: nft's memory comes back only after a while.
all_times() {
	local system
	for system in synq "$nft" "$("$top/scripts/nft")" ipset; do
		tables 'uml --plain' plain "$system" || return
	done
}

instructions() {
	# shellcheck disable=SC2086
	"$top/scripts/vm" --way qemu --exact --kernel "$kernel" --mem 6G \
		--timeout 7200 \
		--module "$("$top/scripts/kernel" build "$kernel")" \
		--dir "$top/selftests" --file "$top/bench/classify-guest" \
		--file "$top/bench/cost_lib.sh" --file "$build/syn_trace" \
		--file "$top/tools/synq/synq" --file "$ipset" --file "$lists" -- \
		bash classify-guest "$lists" "$syns" $sizes
}

snapshots() {
	"$top/scripts/vm" --way uml --plain --timeout 3000 \
		--module "$("$top/scripts/kernel" build plain)" \
		--dir "$top/selftests" --file "$top/tools/synq/synq" \
		--env SYNQ_STRICT=1 --env TRANSACTIONS="$transactions" -- \
		bash ./snapshot.sh
}

[ -n "${CELLS:-}" ] || rm -rf "$raw"
rm -rf "$lists"
mkdir -p "$raw" "$lists"
# shellcheck disable=SC2086
"$top/bench/prefixes.py" "$lists" $sizes
build_c syn_trace
make -s -C "$top/tools/synq"
make -s -C "$top/selftests"
nft=$(PATH=$PATH:/usr/sbin:/sbin command -v nft)
part times all_times
part emulated tables "host --kernel $kernel" "$kernel" synq
part instructions instructions
part snapshots snapshots

"$top/bench/classes.py" "$number" "$("$top/scripts/kernel" release plain)" \
	"$("$top/scripts/kernel" release "$kernel")" "$raw" \
	"$top/out/bench/classes.jsonl" | tee "$top/out/bench/classes.table"
