# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154,SC2034
#
# The uml way of scripts/vm.  UML is an ordinary process: no root, no terminal.
# The first console carries the kernel log, the second the command's output.  Any
# splat is a panic, which ends UML with status 134.  Arguments with spaces would
# be lost on its command line, so the guest reads them from a file.

prepare_uml() {
	uml=$("$SYNQ_TOP/scripts/kernel" image "${plain:-uml}")
	release=$(<"${uml%/*}/release")
	accel=host
	case $stage in *[[:space:]]*) die "the cache's path has a space" ;; esac
	chmod +x "$stage/guest"
}

fstab_uml() {
	fstab_common
	cat <<-EOF
		tmp /tmp tmpfs
		vartmp /var/tmp tmpfs
		run /run tmpfs
		stage /run/synq hostfs $stage,X-mount.mkdir
	EOF
	fstab_dir hostfs "$dir"
}

# The guest's memory is a file in /dev/shm; where that is small (containers), it
# goes to the cache.
memory_place() {
	local avail
	avail=$(df --output=avail -B 1 /dev/shm 2>/dev/null | sed -n 2p)
	if [ "${avail:-0}" -lt "$(numfmt --from=iec "$mem")" ]; then
		export TMPDIR=$scratch
	fi
}

# take_cpu: sets cpu, one that no other guest has taken, if there is one.  What a guest consists
# of are processes that wait for each other: on one CPU they need three quarters of the time that
# they need on two.
take_cpu() {
	local range ranges cpus=() fd
	IFS=, read -ra ranges < <(taskset -cp $BASHPID | sed 's/.*: //')
	for range in "${ranges[@]}"; do
		mapfile -t -O ${#cpus[@]} cpus < <(seq "${range%-*}" "${range#*-}")
	done
	mkdir -p "$SYNQ_CACHE/lock"
	for cpu in "${cpus[@]}"; do
		exec {fd}>"$SYNQ_CACHE/lock/cpu-$cpu"
		flock -n "$fd" && return
		exec {fd}>&-
	done
	cpu=${cpus[RANDOM % ${#cpus[@]}]}
}

run_uml() {
	local cpu
	memory_place
	take_cpu
	# shellcheck disable=SC2086
	guarded taskset -c "$cpu" "$uml" mem="$mem" uml_dir="$scratch/" umid=uml \
		root=/dev/root rootfstype=hostfs rootflags=/ ro \
		init="$stage/guest" console=tty0 con0=null,fd:1 con1=null,fd:3 \
		con=null ssl=null dummy.numdummies=0 panic_on_warn=1 ${leap:+time-travel} $append
}
