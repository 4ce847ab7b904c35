/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parts of "show".  See show.c.
 */
#ifndef SYNQ_SHOW_H
#define SYNQ_SHOW_H

#include "conf.h"
#include "grammar.h"

int show_matches(struct words *words, unsigned int flags, struct conf *conf);
int show_services(unsigned int flags, struct conf *conf);

#endif /* SYNQ_SHOW_H */
