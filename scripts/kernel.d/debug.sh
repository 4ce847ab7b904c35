# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Part of scripts/kernel: the x86 kernel "debug" with the sanitizers, built once for a
# source version, compiler and configuration.

DEBUG_SOURCE=6.12

# debug_config: what is not in it is off.
debug_config() {
	awk '/^(# )?CONFIG_/ {
			name = $0
			gsub(/^# |[ =].*/, "", name)
			if (NR == FNR) own[name]
			else if (!common || name in own) next
			print
		}
		/^# --- what user space expects/ { common = 1 }' \
		"$SYNQ_TOP"/scripts/{debug,uml}.config | sort
}

debug_key() {
	{
		cat "$SYNQ_CACHE/src/linux-source-$DEBUG_SOURCE.version"
		gcc --version | sed -n 1p
		debug_config
	} | hash_of
}

debug_dir() {
	echo "$SYNQ_CACHE/debug/$(debug_key)"
}

fetch_debug() (
	fetch_source "$DEBUG_SOURCE"
	final=$(debug_dir)
	[ -e "$final/release" ] && return
	need gcc make flex bison bc
	lock debug
	[ -e "$final/release" ] && return
	mkdir -p "${final%/*}"
	scratch debug
	say "building the x86 kernel with the sanitizers, 6 to 15 minutes"
	debug_config >"$scratch/config"
	set -- make -C "$SYNQ_CACHE/src/linux-source-$DEBUG_SOURCE" \
		O="$scratch/t" ARCH=x86
	mkdir "$scratch/t"
	quietly "$scratch/log" "$@" \
		KCONFIG_ALLCONFIG="$scratch/config" allnoconfig
	check_config "$scratch/config" "$scratch/t/.config"
	quietly "$scratch/log" "$@" -j"$(nproc)" vmlinux modules
	quietly "$scratch/log" "$@" INSTALL_MOD_PATH="$scratch/t/modbase" \
		modules_install
	cp "$scratch/t/include/config/kernel.release" "$scratch/t/release"
	mv "$scratch/t" "$final"
	find "${final%/*}" -mindepth 1 -maxdepth 1 -printf '%T@ %p\n' |
		sort -rn | sed -n '3,$s/^[^ ]* //p' | xargs -r rm -rf
)
