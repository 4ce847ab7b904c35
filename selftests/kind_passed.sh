#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Socket activation: a listening socket is passed to another process, which accepts from
# it, and the process that opened it has closed it.
#
# Must fail if: anything depended on the process that called listen(2).

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/kind_lib.sh"
plan $KIND_TESTS

listen='-a 0.0.0.0 -X'
kind "passed on"
