#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A server in a container: the host rewrites the destination and forwards, and synq is
# configured inside the container's network namespace.  A listener of the host on the same
# port, configured too, gets none of it.
#
# Must fail if: the container took the SYN for rewritten and judged it twice or not at all.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/kind_lib.sh"
need nft
plan $((KIND_TESTS + 4))

BOX=$SRV-box HOST=$SRV
new_ns "$BOX"
ip -n "$HOST" link add veth1 type veth peer name veth1 netns "$BOX"
ip -n "$HOST" -batch - <<-EOT
	link set veth1 up
	address add 172.16.0.1/24 dev veth1
EOT
ip -n "$BOX" -batch - <<-EOT
	link set veth1 up
	address add 172.16.0.2/24 dev veth1
	route add default via 172.16.0.1
EOT
set_sysctl "$HOST" net.ipv4.ip_forward 1
set_sysctl "$BOX" net.core.somaxconn 4096
srv nft -f - <<-EOT || die "no NAT"
	table ip synq_test {
		chain in {
			type nat hook prerouting priority dstnat
			tcp dport { 80, $PORT } dnat to 172.16.0.2:$PORT
		}
	}
EOT

SRV=$BOX dial=80
kind "in a container"

load_synq
three_classes | SPACE=$HOST apply
three_classes | apply
SRV=$HOST
server "$TMP/host" -m none $PORT
SRV=$BOX
dial=$PORT
queue_up synq
by_class "$TMP/list" >"$TMP/expected"
same "host and container: class, then arrival" "$TMP/server" "$TMP/expected"
once "host and container"
SPACE=$HOST
is "the host has promoted and placed none" "$(totals promoted placed)" "0 0"
is "and manages no socket, since nothing came to its own" "$(conf_counter sockets)" 0
