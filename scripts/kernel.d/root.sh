# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Part of scripts/kernel: an unpacked sid root to build in, for the kernels whose
# headers want a newer compiler and C library than a stable host has.

ROOT_PACKAGES='base-files bash dash coreutils diffutils findutils gawk grep make
sed perl-base pahole libelf1t64 libssl3t64 zlib1g libzstd1 kmod xz-utils sparse'

# root_for VER: an unpacked root with the compiler that the kernel's headers ask
# for, when the host is too old for it; prints nothing when the host will do.
root_for() {
	local cc
	case $1 in 6.* | uml | plain | debug) return ;; esac
	cc=$(cat "$(tree "$1")/compiler")
	echo "$SYNQ_CACHE/root/$cc-$(echo "$ROOT_PACKAGES" | hash_of)"
}

# have_root VER: makes it, if it is wanted and missing.
have_root() {
	local root
	root=$(root_for "$1")
	[ -z "$root" ] || [ -e "$root/ready" ] ||
		make_root "$root" "$(cat "$(tree "$1")/compiler")" "$1" >&2
}

make_root() (
	root=$1
	need dpkg-deb
	lock root
	[ -e "$root/ready" ] && return
	suite "$3"
	scratch root
	say "unpacking a sid root with $2"
	mkdir -p "$scratch/deb/partial"
	# shellcheck disable=SC2086
	quietly "$scratch/log" apt_private apt-get -q -y --download-only \
		-o Dir::Cache::archives="$scratch/deb" install \
		$ROOT_PACKAGES "$2"
	root_unpack "$scratch/t" "$scratch"/deb
	touch "$scratch/t/ready"
	rm -rf "${root%-*}"-*
	mkdir -p "${root%/*}"
	mv "$scratch/t" "$root"
)

# base-files first: it brings /bin and /lib as links into /usr.
root_unpack() {
	local root=$1
	mkdir "$root"
	deb_into "$root" "$2"/base-files_*.deb "$2"/*.deb
	ln -sf gawk "$root/usr/bin/awk"
	ln -sf dash "$root/usr/bin/sh"
	mkdir -p "$root/proc" "$root/dev" "$root$SYNQ_CACHE"
}

# in_root ROOT COMMAND...: run it there, with the cache at its own path.
in_root() {
	local root=$1 map=()
	shift
	[ "$(id -u)" = 0 ] || map=(--map-root-user)
	# shellcheck disable=SC2016
	unshare "${map[@]}" --mount -- bash -euc '
		root=$1 cache=$2
		shift 2
		mount --rbind /proc "$root/proc"
		mount --rbind /dev "$root/dev"
		mkdir -p "$root$cache"
		mount --rbind "$cache" "$root$cache"
		exec chroot "$root" "$@"' in_root "$root" "$SYNQ_CACHE" "$@"
}
