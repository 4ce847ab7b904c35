/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Remarks on what surrounds a configuration.  See notes.c.
 */
#ifndef SYNQ_NOTES_H
#define SYNQ_NOTES_H

#include "conf.h"
#include "nl.h"

void notes_host(const struct conf *conf);
void notes_unseen(const bool *unseen);
void notes_sources(struct nl *nl);

#endif /* SYNQ_NOTES_H */
