#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Insertion: what it costs to put a preferred connection before the ordinary ones
# that are queued, by the length of the queue.
#
# Set-up.  A server that does not accept; ordinary clients fill their part of its accept
# queue; preferred ones arrive.  The guest is an emulated CPU whose clock counts
# instructions, and ftrace times the one function: exact, the same in every run,
# and the tracer's own instructions are in it.
#
# Source.  Voigt et al., USENIX 2001, keep a pointer to the last request of each
# class for this.
#
# Expected result.  Flat: at a backlog of 65535 at most 1.1 times the instructions
# that it takes at 128.
#
# Writes out/bench/insertion.jsonl.  FAST=1: 8192 instead of 65535.

set -euo pipefail
. "$(dirname "$0")/../lib.sh"

kernel=${KERNEL:-6.1}
long=65535
[ -z "${FAST:-}" ] || long=8192
raw=$top/out/bench/insertion.txt
rows=$top/out/bench/insertion.jsonl

mkdir -p "$top/out/bench"
make -s -C "$top/tools/synq"
make -s -C "$top/selftests"
"$top/scripts/vm" --way qemu --exact --kernel "$kernel" --mem 6G --timeout 1500 \
	--module "$("$top/scripts/kernel" build "$kernel")" \
	--dir "$top/selftests" --file "$top/bench/insertion-guest" \
	--file "$top/tools/synq/synq" -- \
	bash insertion-guest 128 "$long" >"$raw" || { cat "$raw"; exit 1; }

awk -v kernel="$("$top/scripts/kernel" release "$kernel")" -v rows="$rows" '
	BEGIN { printf "" >rows }
	$1 == "cost" {
		printf "backlog %5d, %5d queued: %d instructions (p99 %d, %d insertions)\n",
			$2, $3, $5, $6, $4
		row = "{\"experiment\": \"insertion\", \"system\": \"synq\", " \
			"\"kernel\": \"%s\", \"group\": \"preferred\", " \
			"\"parameter\": {\"backlog\": %d, \"queued\": %d}, " \
			"\"metric\": \"insert_instructions\", \"value\": %d, " \
			"\"unit\": \"1\"}\n"
		printf row, kernel, $2, $3, $5 >>rows
		cost[++n] = $5
	}
	END {
		if (n < 2 || !cost[1])
			exit 1
		ratio = cost[n] / cost[1]
		printf "%-7s %.3f times (at most 1.1)\n",
			ratio <= 1.1 ? "holds" : "FAILS", ratio
		exit ratio > 1.1
	}' "$raw"
