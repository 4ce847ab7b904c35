#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Settings that change the kernel's answer to a full queue change the gate.
# tcp_abort_on_overflow=1 would turn waiting into a reset, so the gate lets everything
# pass, says so, and resets no connection.  With TCP_DEFER_ACCEPT only the client's data is
# retransmitted; connections wait at the gate and complete.
#
# Must fail if: the gate ignored the sysctl (resets), read it only once (it changes at run
# time), or lost waiting connections with TCP_DEFER_ACCEPT.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/gate_lib.sh"
plan 15

# --- stock kernel: it resets connections without room ---
set_sysctl "$SRV" net.ipv4.tcp_abort_on_overflow 1
hold
overfill
check "stock kernel, abort_on_overflow: resets" \
	wait_for 30 has "$TMP/late" '^(reset|failed)' $LATE
stop "$held" "${fillers[@]}"

load_synq
two_classes
hold
manage
overfill
check "abort_on_overflow: the gate lets pass" \
	wait_for 30 counter_from bulk gate_bypassed 5
is "abort_on_overflow: nothing is held" "$(counter bulk held)" 0
touch "$TMP/go"
is "abort_on_overflow: all are served" "$(served answered)" $((LATE + BULK))
is "abort_on_overflow: no connection is reset" "$(served reset)" 0
stop "$held"

# The sysctl changes at run time: back to waiting at once.
sq flush
two_classes
hold
manage
set_sysctl "$SRV" net.ipv4.tcp_abort_on_overflow 0
overfill
all_held
ok "back at 0: held"
is "back at 0: nothing is let pass" "$(counter bulk gate_bypassed)" 0
touch "$TMP/go"
is "back at 0: all are served" "$(served answered)" $((LATE + BULK))
stop "$held"

# --- TCP_DEFER_ACCEPT ---
sq flush
two_classes
hold -D 5
manage
overfill
all_held
ok "TCP_DEFER_ACCEPT: held"
must_come 10 full_to $((BACKLOG - RESERVE - 4))
gold
is "TCP_DEFER_ACCEPT: the preferred get in" "$(field "$TMP/gold" acked)" $RESERVE
check "TCP_DEFER_ACCEPT: not more than its part" \
	test "$(counter bulk promoted)" -le $((BACKLOG - RESERVE))
touch "$TMP/go"
is "TCP_DEFER_ACCEPT: all are served" "$(served answered)" $((LATE + BULK))
is "TCP_DEFER_ACCEPT: no connection is reset" "$(served reset)" 0
is "TCP_DEFER_ACCEPT: held have completed" \
	"$(went_on bulk)" "$(counter bulk held)"
is "TCP_DEFER_ACCEPT: the account adds up" "$(account bulk)" 0
stop "$held"
