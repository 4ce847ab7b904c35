# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Helpers shared by the scripts in this directory; source it, do not run it.
#
# Everything that is downloaded or built outside the checkout lives in one cache
# directory, $SYNQ_CACHE.  Two rules keep it consistent: a script that fills a part
# of it holds that part's lock, and nothing gets its final name before it is complete.
# Packages come through a private apt configuration: the host's package lists and
# its set of installed packages are neither read nor changed.

# A script that stops without a word is a riddle: say where.
set -E
shopt -s inherit_errexit
trap '[ $? = 77 ] || say "stopped at ${BASH_SOURCE[0]##*/}:$LINENO"' ERR

# shellcheck disable=SC2034
SYNQ_TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
SYNQ_CACHE=$(realpath -m "${SYNQ_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/synq}")
# shellcheck disable=SC2034
SYNQ_KERNELS="6.1 6.12 7.2 7.3"

# Exit status of "that kernel is not in the archive today".
# shellcheck disable=SC2034
SYNQ_EX_ABSENT=77

case $PATH in */sbin*) ;; *) PATH=$PATH:/usr/sbin:/sbin ;; esac

say() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
}

die() {
	say "$*"
	exit 1
}

# need COMMAND...: stop with advice when a command is missing.
need() {
	local c
	for c in "$@"; do
		command -v "$c" >/dev/null || die "'$c' is missing: run scripts/setup"
	done
}

# lock NAME: hold the lock of one part of the cache until the (sub)shell ends.
lock() {
	local fd
	mkdir -p "$SYNQ_CACHE/lock"
	exec {fd}>"$SYNQ_CACHE/lock/$1"
	flock -n "$fd" && return
	say "waiting for another run that prepares $1"
	flock "$fd"
}

# scratch NAME: a fresh directory beside the final places, removed when the
# shell that asked for it ends.  Sets $scratch; leftovers of dead runs go too.
scratch() {
	local old
	mkdir -p "$SYNQ_CACHE/tmp"
	for old in "$SYNQ_CACHE/tmp"/*.pid[0-9]*; do
		[ -e "$old" ] && ! kill -0 "${old##*.pid}" 2>/dev/null &&
			rm -rf --one-file-system "$old"
	done
	scratch=$SYNQ_CACHE/tmp/$1.$RANDOM.pid$BASHPID
	mkdir "$scratch"
	# shellcheck disable=SC2064
	trap "rm -rf --one-file-system '$scratch'" EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
}

# quietly LOG COMMAND...: run it, show its output only when it fails.
quietly() {
	local log=$1
	shift
	"$@" >"$log" 2>&1 </dev/null && return
	tail -n 40 "$log" >&2
	die "failed: $*"
}

hash_of() {
	sha256sum | cut -c1-16
}

os_codename() {
	# shellcheck disable=SC1091
	(. /etc/os-release && echo "${VERSION_CODENAME:-sid}")
}

# archive_uri main|security: where this machine itself gets Debian from.
archive_uri() {
	local want
	case $1 in
	main) want='^[a-z]+$' ;;
	security) want='-security$' ;;
	esac
	# shellcheck disable=SC2016
	apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(ORIGIN)' |
		awk -v want="$want" '$2 ~ want && ($3 == "Debian" || $3 ~ /^\$/) &&
			!seen++ { print $1 }'
}

# security_guess: where security updates may lie if apt has no source of them: beside the
# main archive, as at Debian's own servers.
security_guess() {
	local uri
	uri=$(archive_uri main)
	[ -z "$uri" ] || echo "${uri%/}-security"
}

# apt_area SUITE...: choose the suites that the apt_* functions below look at.
# The lists are refreshed when they are older than half a day.  Security suites are left
# out if neither apt has a source of them nor the guess is right.
apt_area() {
	APT_AREA=$SYNQ_CACHE/apt/$1
	(
		lock "apt-$1"
		apt_area_refresh "$@"
	)
}

apt_area_refresh() {
	mkdir -p "$APT_AREA"/lists/partial "$APT_AREA"/cache/archives/partial
	: >"$APT_AREA/status"
	apt_conf >"$APT_AREA/apt.conf.new"
	mv "$APT_AREA/apt.conf.new" "$APT_AREA/apt.conf"
	apt_sources "$@" >"$APT_AREA/sources.new"
	if cmp -s "$APT_AREA/sources.new" "$APT_AREA/sources.asked" &&
	   [ -n "$(find "$APT_AREA/updated" -mmin -720 2>/dev/null)" ]; then
		return
	fi
	rm -f "$APT_AREA/updated"
	cp "$APT_AREA/sources.new" "$APT_AREA/sources.list"
	if ! apt_update >"$APT_AREA/update.log" 2>&1 </dev/null; then
		if [ -z "$(archive_uri security)" ]; then
			sed -i '/-security main$/d' "$APT_AREA/sources.list"
			say "apt has no source of security updates: going on without"
		fi
		quietly "$APT_AREA/update.log" apt_update
	fi
	mv "$APT_AREA/sources.new" "$APT_AREA/sources.asked"
	touch "$APT_AREA/updated"
}

apt_update() {
	apt_private apt-get -q update -o APT::Update::Error-Mode=any
}

apt_sources() {
	local suite uri
	local key=/usr/share/keyrings/debian-archive-keyring.gpg
	for suite in "$@"; do
		case $suite in
		*-security)
			uri=$(archive_uri security)
			uri=${uri:-$(security_guess)} ;;
		*) uri=$(archive_uri main) ;;
		esac
		[ -n "$uri" ] || die "no Debian archive for $suite in apt's sources"
		echo "deb [signed-by=$key] $uri $suite main"
	done
}

apt_conf() {
	cat <<-EOF
		Dir::Etc::sourcelist "$APT_AREA/sources.list";
		Dir::Etc::sourceparts "/dev/null";
		Dir::Etc::preferences "/dev/null";
		Dir::Etc::preferencesparts "/dev/null";
		Dir::State::lists "$APT_AREA/lists";
		Dir::State::status "$APT_AREA/status";
		Dir::Cache "$APT_AREA/cache";
		APT::Architecture "amd64";
		APT::Architectures { "amd64"; };
		APT::Install-Recommends "false";
		APT::Sandbox::User "$(id -un)";
		Acquire::Languages "none";
		Acquire::Check-Valid-Until "false";
		Acquire::Retries "3";
		Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled "false";
		Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
	EOF
}

apt_private() {
	APT_CONFIG=$APT_AREA/apt.conf "$@"
}

# apt_version PACKAGE: the version that would be downloaded; empty when absent.
apt_version() {
	apt_private apt-cache policy "$1" |
		awk '$1 == "Candidate:" && $2 != "(none)" { print $2 }'
}

# apt_names REGEX: package names, oldest version number first.
apt_names() {
	apt_private apt-cache pkgnames | grep -E "^($1)\$" | sort -V || true
}

# apt_closure REGEX PACKAGE...: the packages and their dependencies, as far as
# the names match.
apt_closure() {
	local only=$1
	shift
	apt_private apt-cache depends --recurse --no-recommends --no-suggests \
		--no-conflicts --no-breaks --no-replaces --no-enhances "$@" |
		grep -E "^($only)\$" | sort -u
}

# apt_debs DIR PACKAGE...: download into a new directory.
apt_debs() {
	local dir=$1
	shift
	mkdir -p "$dir"
	say "downloading $*"
	(cd "$dir" && quietly download.log apt_private apt-get -q download "$@" &&
		rm download.log)
}

# apt_unpack DIR PACKAGE...: download and unpack, no maintainer script is run.
apt_unpack() {
	local dir=$1 deb
	shift
	apt_debs "$dir/.deb" "$@"
	for deb in "$dir"/.deb/*.deb; do
		dpkg-deb -x "$deb" "$dir"
	done
	rm -rf "$dir/.deb"
}

# deb_into ROOT DEB...: unpack into a root, whose /lib may be a link.
deb_into() {
	local root=$1 deb
	shift
	for deb in "$@"; do
		dpkg-deb --fsys-tarfile "$deb" |
			tar -C "$root" --keep-directory-symlink -xf -
	done
}

# own_mounts SCRIPT ARGUMENT...: start that again where its mounts are nobody else's, and
# end with it, however it ends: nothing that is mounted below $scratch is ever met by an
# rm of another run.
own_mounts() {
	[ -z "${SYNQ_OWN_MOUNTS-}" ] || return 0
	SYNQ_OWN_MOUNTS=1 exec unshare --mount --propagation private "$@"
}

# overlay_root IMAGE: mounts a root whose changes are in memory, at $scratch/mnt/root, with
# devices of its own: those of the host are not within reach.  After own_mounts.
overlay_root() {
	local mnt=$scratch/mnt root=$scratch/mnt/root name
	[ -n "${SYNQ_OWN_MOUNTS-}" ] || die "overlay_root: own_mounts first"
	mkdir -p "$mnt"
	mount -t tmpfs upper "$mnt"
	mkdir "$mnt"/{lower,data,work,root}
	mount -o loop,ro,noload "$1" "$mnt/lower"
	mount -t overlay -o "lowerdir=$mnt/lower,upperdir=$mnt/data,workdir=$mnt/work" \
		root "$root"
	mount -t proc proc "$root/proc"
	mount -t tmpfs dev "$root/dev"
	for name in null:3 zero:5 full:7 random:8 urandom:9; do
		mknod -m 666 "$root/dev/${name%:*}" c 1 "${name#*:}"
	done
	ln -s /proc/self/fd "$root/dev/fd"
}
