/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Routing rules that look at the packet mark.  See rules.c.
 */
#ifndef SYNQ_RULES_H
#define SYNQ_RULES_H

#include <linux/types.h>

void rules_note(__u32 mask);

#endif /* SYNQ_RULES_H */
