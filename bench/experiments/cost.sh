#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Cost: what it costs to refuse a SYN, in instructions.
#
# Set-up.  The same trace of SYNs, through a packet socket and a veth, refused in many
# ways.  X is the cost of a SYN of the trace, less its cost if it is dropped at netdev
# ingress: sending and receiving it is not counted; answering it is, up to the client's
# netdev ingress.  The guest is an emulated CPU whose clock counts instructions exactly,
# including background work of its kernel, which differs between runs (README.md).
#
# Once for IPv4 and once for IPv6, in a guest each.
#
# null-hook is a netfilter hook at the place of synq's, which drops everything.  synq's
# class has 100,000 prefixes, of which a SYN matches one; nft and hashlimit have
# none to ask.  65,536 sources, /24s or /40s, have each used up their rate within the
# last second.  Then again with single addresses or /48s, of which a thousand to a
# million have sent something.
#
# Source.  The rivals are what an operator has today for per-source rates.  The
# waypoints of AVES (Ng, Stoica, Zhang, USENIX 2001) cost the more the larger a
# packet is: synq's refusal must not.
#
# Expected result.  synq's X is at most that of nft's meter and of hashlimit; above
# the empty hook it costs at most half of what the meter does; flat within 10 % from a
# thousand to a million sources, and within 5 % from 0 to 1400 bytes of data.  No memory
# is taken when they come.
#
# Writes out/bench/cost.jsonl, and the table to out/bench/cost.table.  FAST=1: fewer
# SYNs, and at most 65,536 sources.

set -euo pipefail
. "$(dirname "$0")/../lib.sh"

kernel=${KERNEL:-6.1}
number=20000
sweep='1024 65536 1048576'
[ -z "${FAST:-}" ] || number=5000 sweep='1024 65536'
raw=$top/out/bench/cost.txt
hook=$build/null_hook-$kernel

mkdir -p "$top/out/bench" "$hook"
make -s -C "$top/tools/synq"
make -s -C "$top/selftests"
build_c syn_trace
cp "$top"/bench/null_hook/{Kbuild,null_hook.c} "$hook/"
"$top/scripts/kernel" make "$kernel" M="$hook" CONFIG_DEBUG_INFO_BTF_MODULES= \
	modules >"$hook/build.log" 2>&1 || { cat "$hook/build.log"; exit 1; }
for family in 4 6; do
	# shellcheck disable=SC2086
	"$top/scripts/vm" --way qemu --exact --kernel "$kernel" --mem 2G \
		--timeout 1500 \
		--module "$("$top/scripts/kernel" build "$kernel")" \
		--module "$hook/null_hook.ko" \
		--dir "$top/selftests" --file "$top/bench/cost-guest" \
		--file "$top/bench/cost_lib.sh" \
		--file "$build/syn_trace" --file "$top/tools/synq/synq" -- \
		bash cost-guest $family "$number" $sweep >"$raw.$family" ||
		{ cat "$raw.$family"; exit 1; }
done

"$top/bench/cost.py" "$("$top/scripts/kernel" release "$kernel")" \
	"$top/out/bench/cost.jsonl" < <(cat "$raw".[46]) | tee "$top/out/bench/cost.table"
