#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A listening socket that was passed to another process, which accepts from it,
# while the process that opened it has closed it: socket activation.
#
# Would miss its mark if: anything hung on the process that listens.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/kind_lib.sh"
plan $KIND_TESTS

listen='-a 0.0.0.0 -X'
kind "passed on"
