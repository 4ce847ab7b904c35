# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Host side of what measures in a virtual machine (demo, run): builds the
# generator, starts the guest and shows its progress.

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$top/out/build

# need_programs GROUP PROGRAM...: stop with advice when one is missing.
need_programs() {
	local group=$1 f
	shift
	for f in "$@"; do
		PATH=$PATH:/usr/sbin:/sbin command -v "$f" >/dev/null && continue
		echo "${0##*/}: '$f' is missing: run scripts/setup $group" >&2
		exit 1
	done
}

# build_c NAME [LIBRARY...]: bench/NAME.c, and NAME_*.c if it has parts, to $build/NAME.
build_c() {
	local name=$1
	shift
	mkdir -p "$build"
	"${CC:-cc}" -O2 -Wall -Wextra -o "$build/$name" "$top/bench/$name"*.c -lm "$@"
}

# build_synq KERNEL: sets synq_options, what scripts/vm has to be told.
build_synq() {
	local ko
	ko=$("$top/scripts/kernel" build "$1" "$build/$1")
	[ -x "$top/tools/synq/synq" ] || make -s -C "$top/tools/synq" >&2
	# shellcheck disable=SC2034
	synq_options=(--module "$ko" --file "$top/tools/synq/synq")
}

# show: the guest's progress as one moving line on a terminal, as a line now and
# then elsewhere; everything else as it comes.  The guest says how far it is by its own
# clock, which may be one that counts instructions; what is shown are seconds of ours.
show() {
	local line word elapsed total text last='' shown=-100 began=''
	while IFS= read -r line; do
		read -r word elapsed total text <<<"$line"
		if [ "$word" != @progress ]; then
			[ ! -t 1 ] || printf '\r\033[K'
			printf '%s\n' "$line"
			continue
		fi
		: "${began:=$SECONDS}"
		if [ "$total" != '?' ] && ((elapsed > 0 && SECONDS > began)); then
			total=$(((SECONDS - began) * total / elapsed))
		else
			total='?'
		fi
		elapsed=$((SECONDS - began))
		if [ -t 1 ]; then
			printf '\r\033[K%4s of %s s  %s' "$elapsed" "$total" "$text"
		elif [ "$text" != "$last" ] || ((elapsed >= shown + 30)); then
			printf '%4s of %s s  %s\n' "$elapsed" "$total" "$text"
			last=$text shown=$elapsed
		fi
	done
	[ ! -t 1 ] || printf '\r\033[K'
}

# measure KERNEL RAW SECONDS "GUEST ARGS" [OPTION...]: run bench/GUEST in a virtual
# machine of at most that many seconds; what it measures goes to RAW.  EXACT=1: one whose
# clock counts instructions; EXACT=emulated: unless KVM works.
measure() {
	local kernel=$1 raw=$2 seconds=$3 guest=$4 machine=(--smp 2 --parallel)
	shift 4
	case ${EXACT:-0} in
	0) ;;
	emulated) machine+=(--exact-emulated) ;;
	*) machine=(--exact) ;;
	esac
	rm -rf "$raw"
	mkdir -p "$raw"
	echo "starting a virtual machine with kernel $kernel"
	"$top/scripts/vm" --way host --kernel "$kernel" "${machine[@]}" \
		--mem 2G --env "FAST=${FAST:-}" --out "$raw" \
		--log "$raw/kernel.log" --timeout "$seconds" --dir "$top/bench" \
		--file "$build/openload" --file "$top/nft/limit-others.nft" \
		--file "$top/nft/limit-sources.nft" "$@" -- bash -c "./$guest" | show
}
