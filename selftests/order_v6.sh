#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# As order_v4.sh, over IPv6: another address family's operations, the long
# addresses of requests.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/order_lib.sh"

to=$V6 listen='-a :: -V' sources='fd00:1:: fd00:2:: fd00:3::'
order_tests
