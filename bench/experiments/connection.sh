#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Connection: what a connection costs that is let in, in instructions, and how much of that
# is synq's.
#
# Set-up.  One process connects, accepts and closes, from one network namespace into another,
# over a veth: handshake and reset, no data.  The guest is an emulated CPU whose clock counts
# instructions.  "other-port" has the hooks, and its listener is not managed.
#
# Expected result.  Some per cent of what the kernel needs for it; a report, nothing is claimed.
#
# Writes out/bench/connection.jsonl.

set -euo pipefail
. "$(dirname "$0")/../lib.sh"

kernel=${KERNEL:-6.1}
raw=$top/out/bench/connection.txt
rows=$top/out/bench/connection.jsonl

mkdir -p "$top/out/bench"
make -s -C "$top/tools/synq"
make -s -C "$top/selftests"
build_c connect_cost -static
"$top/scripts/vm" --way qemu --exact --kernel "$kernel" --mem 2G --timeout 1500 \
	--module "$("$top/scripts/kernel" build "$kernel")" \
	--dir "$top/selftests" --file "$top/bench/connection-guest" \
	--file "$build/connect_cost" --file "$top/tools/synq/synq" -- \
	bash connection-guest >"$raw" || { cat "$raw"; exit 1; }

awk -v kernel="$("$top/scripts/kernel" release "$kernel")" -v rows="$rows" '
	BEGIN { printf "" >rows }
	$1 == "connection" {
		stock = $2 == "stock" ? $3 : stock
		printf "%-12s %6d instructions, synq %5d (%.1f %%)\n", $2, $3, $3 - stock,
			100 * ($3 - stock) / stock
		printf "{\"experiment\": \"connection\", \"system\": \"%s\", " \
			"\"kernel\": \"%s\", \"group\": \"preferred\", \"parameter\": {}, " \
			"\"metric\": \"instructions_per_connection\", \"value\": %d, " \
			"\"unit\": \"1\"}\n", $2, kernel, $3 >>rows
	}' "$raw"
