# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154,SC2034
#
# The host way of scripts/vm: the qemu way's machine on the host's own root, so
# that installed servers and tools are there.  The guest sees it read only; what
# it writes there stays in its memory.  The result directory is shared for writing.

# shellcheck source=/dev/null
. "$SYNQ_TOP/scripts/vm.d/qemu.sh"

boot_layer() {
	GUEST_MODULES='virtio_pci 9pnet_virtio 9p overlay' \
		DEFAULT_MODULES='' modules='' modules_layer "$@"
}

prepare_host() {
	local tools base mods
	prepare_machine
	mods=$(layer "boot-$kernel" "$release $base" \
		boot_layer "$base" "$release")
	cat >>"$stage/conf" <<-EOF
		RELEASE=$release MODBASE=$base DIR=${dir:+1}
	EOF
	mkdir -p "$scratch/run/run/synq"
	cp "$stage/conf" "$scratch/run/run/synq/"
	cp "$SYNQ_TOP/scripts/vm.d/hostroot" "$scratch/run/run/synq/guest"
	pack "$scratch/run" | cat "$tools" "$mods" - >"$scratch/initrd"
}

fstab_host() {
	fstab_common
	cat <<-'EOF'
		tmp /tmp tmpfs
		vartmp /var/tmp tmpfs
		cgroup /sys/fs/cgroup cgroup2
	EOF
}

# host_share NAME PATH OPTIONS
host_share() {
	qemu+=(-fsdev "local,id=$1,path=$2,security_model=none,multidevs=remap$3"
		-device "virtio-9p-pci,fsdev=$1,mount_tag=$1")
}

run_host() {
	qemu_command "${smp:-2}" "$scratch/initrd" "$append"
	host_share root / ,readonly=on
	host_share stage "$stage" ''
	[ -z "$dir" ] || host_share dir "$dir" ,readonly=on
	qemu_run
}
