# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Part of scripts/kernel: the build of User Mode Linux.  It is done once for a
# source version, compiler, configuration and patch.

UML_SOURCE=6.12
UML_PATCH=$SYNQ_TOP/scripts/uml-xstate.patch

uml_key() {
	{
		cat "$SYNQ_CACHE/src/linux-source-$UML_SOURCE.version"
		gcc --version | sed -n 1p
		grep -E '^(CONFIG|# CONFIG)' "$SYNQ_TOP/scripts/uml.config" | sort
		cat "$UML_PATCH"
	} | hash_of
}

fetch_uml() (
	fetch_source "$UML_SOURCE"
	final=$SYNQ_CACHE/uml/$(uml_key)
	[ -e "$final/release" ] && return
	need gcc make flex bison bc
	lock uml
	[ -e "$final/release" ] && return
	mkdir -p "$SYNQ_CACHE/uml"
	scratch uml
	uml_patch_source
	say "building User Mode Linux, 5 to 10 minutes"
	set -- make -C "$SYNQ_CACHE/src/linux-source-$UML_SOURCE" \
		O="$scratch/t" ARCH=um
	mkdir "$scratch/t"
	quietly "$scratch/log" "$@" \
		KCONFIG_ALLCONFIG="$SYNQ_TOP/scripts/uml.config" allnoconfig
	uml_check_config "$scratch/t/.config"
	quietly "$scratch/log" "$@" -j"$(nproc)" linux modules
	cp "$scratch/t/include/config/kernel.release" "$scratch/t/release"
	mv "$scratch/t" "$final"
	find "$SYNQ_CACHE/uml" -mindepth 1 -maxdepth 1 -printf '%T@ %p\n' |
		sort -rn | sed -n '3,$s/^[^ ]* //p' | xargs -r rm -rf
)

# The source tree is shared with everybody who only reads it, so it is patched
# once, and anew when the patch changes.
uml_patch_source() {
	local src=$SYNQ_CACHE/src/linux-source-$UML_SOURCE
	cmp -s "$UML_PATCH" "$src.patch" && return
	if [ -e "$src.patch" ]; then
		patch -s -R -d "$src" -p1 <"$src.patch"
		rm "$src.patch"
	fi
	patch -s -d "$src" -p1 <"$UML_PATCH"
	cp "$UML_PATCH" "$src.patch"
}

# uml_check_config CONFIG: an option that kconfig did not take is an error, or a
# sanitizer could disappear without anybody's noticing.
uml_check_config() {
	local lost
	lost=$(grep '^CONFIG_' "$SYNQ_TOP/scripts/uml.config" |
		grep -vxFf "$1" || true)
	[ -z "$lost" ] || die "kconfig dropped: $lost"
}

uml_dir() {
	echo "$SYNQ_CACHE/uml/$(uml_key)"
}
