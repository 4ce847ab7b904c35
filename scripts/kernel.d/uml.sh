# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Part of scripts/kernel: the builds of User Mode Linux, "uml" with the sanitizers
# and "plain" without.  Each is done once for a source version, compiler,
# configuration and patch.

UML_SOURCE=6.12
UML_PATCHES=("$SYNQ_TOP"/scripts/uml-*.patch)

# uml_config VER: what is not in the configuration is off.
uml_config() {
	local text
	text=$(cat "$SYNQ_TOP/scripts/uml.config")
	if [ "$1" = plain ]; then
		text=${text%%# --- what we run it for*}
		text=${text/synq-uml/synq-plain}
		text+=$'CONFIG_DEBUG_KERNEL=y\nCONFIG_DEBUG_INFO_NONE=y\n'
	fi
	grep -E '^(CONFIG|# CONFIG)' <<<"$text" | sort
}

uml_key() {
	{
		cat "$SYNQ_CACHE/src/linux-source-$UML_SOURCE.version"
		gcc --version | sed -n 1p
		uml_config "$1"
		cat "${UML_PATCHES[@]}"
	} | hash_of
}

fetch_uml() (
	fetch_source "$UML_SOURCE"
	final=$SYNQ_CACHE/uml/$(uml_key "$1")
	[ -e "$final/release" ] && return
	need gcc make flex bison bc
	lock uml
	[ -e "$final/release" ] && return
	mkdir -p "$SYNQ_CACHE/uml"
	scratch uml
	uml_patch_source
	say "building User Mode Linux ($1), 3 to 10 minutes"
	uml_config "$1" >"$scratch/config"
	set -- make -C "$SYNQ_CACHE/src/linux-source-$UML_SOURCE" \
		O="$scratch/t" ARCH=um
	mkdir "$scratch/t"
	quietly "$scratch/log" "$@" \
		KCONFIG_ALLCONFIG="$scratch/config" allnoconfig
	check_config "$scratch/config" "$scratch/t/.config"
	quietly "$scratch/log" "$@" -j"$(nproc)" linux modules
	cp "$scratch/t/include/config/kernel.release" "$scratch/t/release"
	mv "$scratch/t" "$final"
	find "$SYNQ_CACHE/uml" -mindepth 1 -maxdepth 1 -printf '%T@ %p\n' |
		sort -rn | sed -n '5,$s/^[^ ]* //p' | xargs -r rm -rf
)

# The source tree is shared with all readers, so it is patched
# once, and anew when a patch changes.  No two patches are about the same file.
uml_patch_source() {
	local src=$SYNQ_CACHE/src/linux-source-$UML_SOURCE
	cat "${UML_PATCHES[@]}" >"$scratch/patch"
	cmp -s "$scratch/patch" "$src.patch" && return
	if [ -e "$src.patch" ]; then
		patch -s -R -d "$src" -p1 <"$src.patch"
		rm "$src.patch"
	fi
	patch -s -d "$src" -p1 <"$scratch/patch"
	cp "$scratch/patch" "$src.patch"
}

# check_config WANTED CONFIG: an option that kconfig did not take is an error, or
# a sanitizer could disappear unnoticed.
check_config() {
	local lost
	lost=$(grep '^CONFIG_' "$1" | grep -vxFf "$2" || true)
	[ -z "$lost" ] || die "kconfig dropped: $lost"
}

uml_dir() {
	echo "$SYNQ_CACHE/uml/$(uml_key "$1")"
}
