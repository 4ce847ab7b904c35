# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034
#
# A server that talks first, and a client that loses the ACK that ends its handshake:
# with full state the SYN-ACK comes again after a second, with a cookie nothing does.

talks_first() {
	server "$TMP/server" -b 64 -m list -r 0 -B "hello" "$PORT"
	serving=$LAST
}

# Clients from 10.1.9.9 lose the first ACK.
lose_one() {
	cli nft -f - <<-EOT || die "nft refuses the rules"
		table ip lose
		delete table ip lose
		table ip lose {
			chain output {
				type filter hook output priority 0;
				ip saddr 10.1.9.9 tcp flags & (syn|rst|fin|ack) == ack quota until 60 bytes drop
			}
		}
	EOT
}

# banner: one client of a server that talks first loses its ACK; sets answered, and
# after how many ms
banner() {
	lose_one
	client "$TMP/c" -q -s 10.1.9.9 -w 6000 -p 6000 "$V4" "$PORT"
	must_come 20 has "$TMP/c" ^done
	answered=$(field "$TMP/c" answered)
	after=$(sed -n 's/^answered [^ ]* \([0-9]*\).*/\1/p' "$TMP/c")
}

# recovers NAME: two tests
recovers() {
	banner
	is "$1: the client is served" "$answered" 1
	within "$1: as soon as the SYN-ACK is sent again (ms)" "$after" 800 4000
}
