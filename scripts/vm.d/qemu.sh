# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154,SC2034
#
# The qemu way of scripts/vm: a Debian kernel straight on an initramfs, which is
# three archives one after the other, none compressed: unpacking is slow under
# emulation.  The tools and the kernel's modules change seldom and are kept in the
# cache; the third holds the run.  The first serial port carries the kernel log,
# the second the command's output.

# What the guest has besides busybox: where the real program differs from the
# applet in what tests rely on.
GUEST_TOOLS='bash dash mount kmod ip ss tc bridge nft nstat conntrack grep sed
timeout date stty switch_root iptables-legacy xtables-legacy-multi xtables-nft-multi'
GUEST_TREES='/etc/iproute2 /usr/share/iproute2 /etc/protocols /etc/services
/etc/nsswitch.conf /usr/lib/x86_64-linux-gnu/xtables'

# Modules that are there to be loaded on demand, besides those loaded first.
GUEST_MODULES='nfnetlink_hook nfnetlink_queue ip_set_hash_net af_packet tls ifb tun bridge br_netfilter vrf macvlan ip_gre ip_tables
ip6_tables iptable_filter iptable_mangle iptable_raw ip6table_filter ip6table_mangle
ip6table_raw nf_conntrack_netlink tcp_dctcp
nf_log_syslog nf_nat nf_synproxy_core nft_chain_nat nft_connlimit nft_dynset
nft_fib_inet nft_hash nft_log nft_masq nft_meta_bridge nft_nat nft_numgen nft_objref nft_queue
nft_quota nft_redir nft_reject nft_socket nft_synproxy nft_tproxy xt_comment xt_CT
xt_LOG xt_NFQUEUE xt_SYNPROXY xt_bpf xt_connlimit xt_conntrack xt_hashlimit xt_limit
xt_mark xt_connmark xt_multiport xt_owner xt_recent xt_set xt_socket xt_state xt_statistic
xt_tcpmss xt_tcpudp xt_u32 ipt_REJECT ipt_SYNPROXY ip6t_SYNPROXY ip6t_REJECT
unix_diag mptcp_diag af_packet_diag netlink_diag sch_fq sch_fq_codel sch_tbf sch_prio
sch_ingress cls_bpf cls_u32 cls_matchall act_bpf act_mirred act_gact act_police
smc smc_diag rds_tcp fuse xfrm_user esp4 esp6 authenc crypto_null'

# libraries FILE: what a program is linked to; nothing for scripts and the like.
libraries() {
	ldd "$1" 2>/dev/null | grep -oE '/[^ )]+' || true
}

# add_program ROOT FILE: with its libraries.
add_program() {
	local lib
	add_file "$1" "$2"
	for lib in $(libraries "$2"); do
		add_file "$1" "$lib"
	done
}

add_file() {
	local to=$2
	case $to in /bin/* | /sbin/* | /lib/* | /lib64/*) to=/usr$to ;; esac
	[ -e "$1$to" ] && return
	mkdir -p "$1$(dirname "$to")"
	cp -rL "$2" "$1$to"
}

# pack DIR: everything belongs to root, or the kernel would not follow the links in
# the guest's sticky root directory.
pack() {
	(cd "$1" && find . -mindepth 1 | sort |
		cpio -o -H newc -R +0:+0 --quiet)
}

# tools_layer ROOT: /bin, /sbin and /lib are links, as on the host.
tools_layer() {
	local root=$1 t f
	mkdir -p "$root"/{usr/bin,usr/sbin,usr/lib,usr/lib64,proc,sys,dev,run}
	mkdir -p "$root"/{tmp,etc,root,var/tmp}
	ln -s usr/bin usr/sbin usr/lib usr/lib64 "$root/"
	ln -s ../run "$root/var/run"
	add_program "$root" /usr/bin/busybox
	for t in $(busybox --list | grep -vx busybox); do
		ln -s busybox "$root/usr/bin/$t"
	done
	for t in $GUEST_TOOLS; do
		f=$(command -v "$t") || continue
		rm -f "$root/usr/bin/$t"
		add_program "$root" "/usr/${f#/usr}"
	done
	for t in modprobe insmod rmmod lsmod; do
		rm -f "$root/usr/bin/$t"
		ln -s ../bin/kmod "$root/usr/sbin/$t"
	done
	ln -sf dash "$root/usr/bin/sh"
	for t in iptables iptables-save iptables-restore; do
		ln -sf xtables-nft-multi "$root/usr/sbin/$t"
	done
	for f in $GUEST_TREES; do
		[ ! -e "$f" ] || add_file "$root" "$f"
	done
	echo 'root:x:0:0:root:/root:/bin/bash' >"$root/etc/passwd"
	echo 'root:x:0:' >"$root/etc/group"
	echo '127.0.0.1 localhost' >"$root/etc/hosts"
	mkdir "$root/etc/modprobe.d"
	echo 'options dummy numdummies=0' >"$root/etc/modprobe.d/guest.conf"
	echo 'options ifb numifbs=0' >>"$root/etc/modprobe.d/guest.conf"
	ln -s usr/sbin/guest-init "$root/init"
	guest_init >"$root/usr/sbin/guest-init"
	chmod +x "$root/usr/sbin/guest-init"
}

# The first process: hands over to the staged guest script, or, where there is
# none, shows that user space can be reached at all (see kvm_probe).
guest_init() {
	cat <<-'EOF'
		#!/bin/bash
		[ ! -e /run/synq/guest ] || exec /bin/bash /run/synq/guest
		mount -t proc proc /proc
		echo "vm: user space reached" >/dev/kmsg
		echo o >/proc/sysrq-trigger
		sleep 30
	EOF
}

# module_files BASE RELEASE MODULE...: them and what they need.
module_files() {
	local base=$1 rel=$2
	shift 2
	modprobe -d "$base" -S "$rel" -a --show-depends "$@" 2>/dev/null |
		awk '$1 == "insmod" && !seen[$2]++ { print $2 }' || true
}

modules_layer() {
	local root=$1 base=$2 rel=$3 f to
	to=$root/usr/lib/modules/$rel
	mkdir -p "$to/kernel"
	# shellcheck disable=SC2046,SC2086
	for f in $(module_files "$base" "$rel" $DEFAULT_MODULES $modules \
		   $GUEST_MODULES); do
		case $f in
		*.xz) xz -dc "$f" >"$to/kernel/$(basename "$f" .xz)" ;;
		*.zst) zstd -qdc "$f" >"$to/kernel/$(basename "$f" .zst)" ;;
		*) cp "$f" "$to/kernel/" ;;
		esac
	done
	cp "$base/lib/modules/$rel"/modules.{order,builtin,builtin.modinfo} "$to/"
	ln -s usr/lib "$root/lib"
	depmod -b "$root" "$rel"
	rm "$root/lib"
}

# layer NAME KEY COMMAND...: a cached archive; COMMAND fills the root it is given.
layer() {
	local name=$1 file
	file=$SYNQ_CACHE/initrd/$1-$(echo "$2" | hash_of)
	shift 2
	if [ ! -e "$file" ]; then
		mkdir -p "$SYNQ_CACHE/initrd" "$scratch/$name"
		"$1" "$scratch/$name" "${@:2}" >&2
		pack "$scratch/$name" >"$scratch/$name.cpio"
		rm -rf "${scratch:?}/$name"
		find "$SYNQ_CACHE/initrd" -name "$name-*" -mtime +1 -delete
		mv "$scratch/$name.cpio" "$file"
	fi
	echo "$file"
}

tools_key() {
	# shellcheck disable=SC2046,SC2086
	stat -L -c '%n %s %Y' "$SYNQ_TOP/scripts/vm.d/qemu.sh" \
		$(command -v busybox $GUEST_TOOLS) || true
}

# tree_libraries ROOT DIR: the same for a tree that was shipped.
tree_libraries() {
	local f lib
	find "$2" -type f -perm -u+x -size +4k | while read -r f; do
		libraries "$f"
	done | sort -u | while read -r lib; do
		add_file "$1" "$lib"
	done
}

run_layer() {
	local root=$1 f
	mkdir -p "$root/run"
	cp -r "$stage" "$root/run/synq"
	if [ -n "$dir" ]; then
		tar -C "$dir" --exclude=.git -c . |
			tar -C "$root/run/synq/dir" -x
		tree_libraries "$root" "$root/run/synq/dir"
	fi
	for f in "${files[@]}"; do
		add_program "$root" "$f"
	done
}

# qemu_command CPUS INITRD ARGUMENTS: the machine, without the options of the run.  What is
# emulated is dear: a processor of few features, but with a source of randomness;
# and programs at the same address each time, since QEMU translates them for one.  On the
# host's root memory is not cleared whenever it is handed out: a tenth of what the guest
# executes there.
# Whether the timer works is not checked: one that the host holds up at that moment
# would be found broken, and the guest would not boot.
# A CPU that is stuck for two minutes ends the guest: once both were, for ever, at a static
# branch that had been changed (QEMU 7.2, thread=multi).
qemu_command() {
	local how=tcg,thread=single cpu=Nehalem,+rdrand cheap=norandmaps
	[ "$way" = qemu ] || cpu=max cheap+=' init_on_alloc=0'
	[ -z "$parallel" ] || how=tcg,thread=multi
	[ "$accel" != kvm ] || how=kvm cpu=host cheap=''
	[ -z "$exact" ] || how=tcg cpu=max cheap=''
	qemu=(qemu-system-x86_64 -machine q35 -accel "$how" -cpu "$cpu"
		-smp "$1" -m "$mem" -nodefaults -no-user-config -no-reboot
		-display none -vga none -net none
		-kernel "$image" -initrd "$2"
		-chardev "file,id=log,path=$scratch/log,append=on"
		-serial chardev:log -serial stdio
		-append "console=ttyS0 loglevel=5 panic=-1 oops=panic
			mitigations=off nokaslr tsc=reliable no_timer_check
			watchdog_thresh=60 softlockup_panic=1
			$cheap $3")
	[ -z "$exact" ] || qemu+=(-icount "shift=0,sleep=off" -seed 1
		-rtc "base=2026-01-01T00:00:00,clock=vm")
	[ -z "$leap" ] || qemu=(nice -n 19 "${qemu[@]}"
		-icount "shift=1,sleep=off" -rtc "clock=vm")
}

# kvm_probe: sets accel.  A device node does not mean that guests run: boot one,
# and remember the answer until the host boots again.
kvm_probe() {
	local known exact='' leap=''
	known=$SYNQ_CACHE/accel-$(</proc/sys/kernel/random/boot_id)
	if [ ! -e "$known" ]; then
		accel=tcg
		if [ -r /dev/kvm ] && [ -w /dev/kvm ]; then
			say "trying whether KVM works"
			accel=kvm
			qemu_command 1 "$1" ''
			{ timeout -s KILL 10 "${qemu[@]}" </dev/null ||
				true; } >/dev/null 2>&1
			grep -q 'user space reached' "$scratch/log" || accel=tcg
			rm -f "$scratch/log"
		fi
		rm -f "$SYNQ_CACHE"/accel-*
		echo $accel >"$known"
	fi
	accel=$(<"$known")
}

# prepare_machine: what every guest under qemu needs; sets image, release, base,
# tools and accel.
prepare_machine() {
	need qemu-system-x86_64 busybox cpio modprobe ip nft
	image=$("$SYNQ_TOP/scripts/kernel" elf "$kernel")
	release=$("$SYNQ_TOP/scripts/kernel" release "$kernel")
	base=$("$SYNQ_TOP/scripts/kernel" modbase "$kernel")
	tools=$(layer tools "$(tools_key)" tools_layer)
	kvm_probe "$tools"
	if [ "$accel" = kvm ]; then
		leap='' exact=${exact#emulated}
	fi
	# With instructions counted QEMU 7.2 lets a second CPU starve.
	[ -z "$exact$leap" ] || smp=1
}

prepare_qemu() {
	local base tools mods
	prepare_machine
	mods=$(layer "modules-$kernel" "$release $base $modules $GUEST_MODULES" \
		modules_layer "$base" "$release")
	run_layer "$scratch/run"
	pack "$scratch/run" | cat "$tools" "$mods" - >"$scratch/initrd"
}

fstab_qemu() {
	fstab_common
}

qemu_run() {
	# shellcheck disable=SC2016
	guarded bash -c 'exec "$@" >&3 3>&-' bash "${qemu[@]}"
}

run_qemu() {
	qemu_command "${smp:-2}" "$scratch/initrd" "$append"
	qemu_run
}
