/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What stands in for functions of the command, by the linker's --wrap.
 */
#ifndef SYNQ_TESTS_WRAP_H
#define SYNQ_TESTS_WRAP_H

#include "../command.h"
#include "../counters.h"

int __wrap_nl_open(struct nl *nl);
void __wrap_nl_close(struct nl *nl);
int __wrap_stats_fetch(struct nl *nl, struct stats *stats);

#endif /* SYNQ_TESTS_WRAP_H */
