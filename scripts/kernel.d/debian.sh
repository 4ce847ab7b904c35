# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Part of scripts/kernel: Debian's kernels and kernel sources.  Image, modules,
# headers and kbuild of one kernel become one tree, relocated to where it lies.

# suite VER: selects the archive suites that carry it.
suite() {
	local host
	host=$(os_codename)
	case $1 in
	6.1) apt_area bookworm bookworm-security ;;
	6.12)
		[ "$host" = bookworm ] || host=trixie
		apt_area "$host" "$host-security"
		# Debian 12 has it as a security update; also, later, as a backport.
		[ -n "$(newest_release 6.12)" ] || apt_area bookworm-backports ;;
	*) apt_area sid experimental ;;
	esac
}

tree() {
	echo "$SYNQ_CACHE/kernel/$1"
}

# newest_release VER: the newest release of the plain amd64 flavour.  While a new one is being
# published its headers are there some time before its image, which has to be signed.
newest_release() {
	local v=${1//./\\.} rel
	apt_names "linux-headers-$v([.+~][0-9a-z.+~]*(-[0-9]+)?)?-amd64" |
		sed 's/^linux-headers-//' | tac |
		while read -r rel; do
			[ -z "$(apt_version "linux-image-$rel")" ] || { echo "$rel" && break; }
		done
}

# relocate TREE FINAL RELEASE: make unpacked headers usable where they are.
# Debian's header makefiles and links name /usr/src and /usr/lib; the tree will
# be called FINAL when it is complete.
relocate() {
	local t=$1 final=$2 rel=$3 f l
	if [ ! -e "$t/lib" ] && [ -d "$t/usr/lib/modules" ]; then
		ln -s usr/lib "$t/lib"
	fi
	f=$t/usr/src/linux-headers-$rel/Makefile
	sed -i "s#\([ =]\)/usr/src/#\1$final/usr/src/#g" "$f"
	find "$t/usr/src" -type l -lname '/usr/*' | while read -r l; do
		ln -sfn "$final$(readlink "$l")" "$l"
	done
	depmod -b "$t" "$rel"
	ln -sfn "../../../usr/src/linux-headers-$rel" "$t/lib/modules/$rel/build"
}

# put_in_place NEW FINAL LINK: FINAL gets its name, LINK points to it, what LINK
# pointed to before goes.
put_in_place() {
	local old=
	[ ! -e "$3" ] || old=$(readlink -f "$3")
	rm -rf "$2"
	mv "$1" "$2"
	ln -sfn "$(basename "$2")" "$3.new"
	mv -T "$3.new" "$3"
	if [ -n "$old" ] && [ "$old" != "$2" ]; then
		rm -rf "$old"
	fi
}

fetch_debian() (
	ver=$1 update=$2
	[ -e "$(tree "$ver")/release" ] && [ -z "$update" ] && return
	need dpkg-deb depmod xz
	lock "kernel-$ver"
	[ -e "$(tree "$ver")/release" ] && [ -z "$update" ] && return
	suite "$ver"
	rel=$(newest_release "$ver")
	if [ -z "$rel" ]; then
		say "no kernel $ver in the archive now (${APT_AREA##*/})"
		exit "$SYNQ_EX_ABSENT"
	fi
	vsn=$(apt_version "linux-headers-$rel")
	[ "$(cat "$(tree "$ver")/version" 2>/dev/null)" = "$vsn" ] && return

	scratch "kernel-$ver"
	final=$SYNQ_CACHE/kernel/$rel
	mkdir -p "$SYNQ_CACHE/kernel"
	only='linux-(image|binary|modules|base|headers|kbuild)-[0-9].*'
	# shellcheck disable=SC2046
	apt_unpack "$scratch/t" $(apt_closure "$only" "linux-image-$rel" \
		"linux-headers-$rel" | grep -v -e '-unsigned$')
	relocate "$scratch/t" "$final" "$rel"
	expand_image "$scratch/t" "$rel"
	apt_closure 'gcc-[0-9]+(-for-host)?' "linux-headers-$rel" \
		>"$scratch/t/compiler"
	echo "$vsn" >"$scratch/t/version"
	echo "$rel" >"$scratch/t/release"
	put_in_place "$scratch/t" "$final" "$(tree "$ver")"
	say "kernel $ver is $rel ($vsn)"
)

# expand_image TREE RELEASE: the ELF image out of the bzImage, for loaders that
# can start it (PVH): under emulation the kernel's own unpacking takes seconds.
expand_image() {
	local bz at len cat
	bz=$(image_in "$1" "$2")
	at=$(le32 "$bz" 0x248)
	at=$((($(od -An -tu1 -j $((0x1f1)) -N 1 "$bz") + 1) * 512 + at))
	len=$(le32 "$bz" 0x24c)
	case $(od -An -tx1 -j "$at" -N 4 "$bz") in
	' fd 37 7a 58') cat='xz -dc' ;;
	' 28 b5 2f fd') cat='zstd -dc' ;;
	' 1f 8b'*) cat='gzip -dc' ;;
	*) return 0 ;;
	esac
	# The last 4 bytes are the size, which the decompressors do not know.
	head -c $((at + len - 4)) "$bz" | tail -c +$((at + 1)) | $cat >"$1/vmlinux"
}

le32() {
	od -An -tu4 -j $(($2)) -N 4 "$1" | tr -d ' '
}

image_in() {
	local f
	for f in "$1/boot/vmlinuz-$2" "$1/usr/lib/modules/$2/vmlinuz"; do
		[ -e "$f" ] && echo "$f" && return
	done
	die "kernel $2 has no image"
}

image_of() {
	local t
	t=$(readlink -f "$(tree "$1")")
	image_in "$t" "$(cat "$t/release")"
}

elf_of() {
	local t
	t=$(readlink -f "$(tree "$1")")
	if [ -e "$t/vmlinux" ]; then
		echo "$t/vmlinux"
	else
		image_of "$1"
	fi
}

dir_of() {
	local t
	t=$(readlink -f "$(tree "$1")")
	echo "$t/usr/src/linux-headers-$(cat "$t/release")"
}

fetch_source() (
	ver=$1
	dir=$SYNQ_CACHE/src/linux-source-$ver
	[ -e "$dir.version" ] && return
	lock "source-$ver"
	[ -e "$dir.version" ] && return
	suite "$ver"
	vsn=$(apt_version "linux-source-$ver")
	if [ -z "$vsn" ]; then
		say "no linux-source-$ver in the archive now"
		exit "$SYNQ_EX_ABSENT"
	fi
	scratch "source-$ver"
	apt_unpack "$scratch" "linux-source-$ver"
	say "unpacking linux-source-$ver"
	tar -C "$scratch" -xf "$scratch/usr/src/linux-source-$ver.tar.xz"
	rm -rf "$dir"
	mkdir -p "${dir%/*}"
	mv "$scratch/linux-source-$ver" "$dir"
	echo "$vsn" >"$dir.version"
)
