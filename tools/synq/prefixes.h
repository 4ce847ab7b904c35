/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A file of prefixes, each of which is a match.
 */
#ifndef SYNQ_PREFIXES_H
#define SYNQ_PREFIXES_H

#include "edit.h"

/**
 * typedef take_edit - takes the edit for one prefix
 * @edit: the edit; the file's name in its origin ends with the reading
 * @arg: the caller's
 *
 * Return: DONE, or REFUSED, which ends it.
 */
typedef int take_edit(const struct edit *edit, void *arg);

int prefixes_read(const struct edit *edit, take_edit *take, void *arg);

#endif /* SYNQ_PREFIXES_H */
