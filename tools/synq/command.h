/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The commands, as main.c calls them.  Each takes the words behind its name
 * and returns the exit status of the program.
 */
#ifndef SYNQ_COMMAND_H
#define SYNQ_COMMAND_H

#include <jansson.h>

#include "tx.h"

#define FLAG_JSON	0x1
#define FLAG_CHECK	0x2
#define FLAG_PRINT	0x4
#define FLAG_CONFIRM	0x8
#define FLAG_STRICT	0x10
#define FLAG_WATCH	0x20
#define FLAG_PROMETHEUS	0x40
#define FLAG_FOLLOW	0x80

/* whole.c: the configuration as a whole */
int command_apply(struct words *words, unsigned int flags);
int command_diff(struct words *words, unsigned int flags);
int command_save(struct words *words, unsigned int flags);
int command_flush(struct words *words, unsigned int flags);
int command_on(struct words *words, unsigned int flags);
int command_off(struct words *words, unsigned int flags);
int command_confirm(struct words *words, unsigned int flags);

/* monitor.c */
int command_monitor(struct words *words, unsigned int flags);

/* change.c */
int command_change(struct words *words);
int command_batch(struct words *words, unsigned int flags);

/* show.c */
int command_show(struct words *words, unsigned int flags, enum object object);
int command_classify(struct words *words, unsigned int flags);

/* export.c */
int command_export(struct words *words, unsigned int flags);

/* why.c */
int command_why(struct words *words, unsigned int flags);

/* stats.c */
int command_stats(struct words *words, unsigned int flags);

/* doctor.c */
int command_doctor(struct words *words, unsigned int flags);

/* top.c */
int command_top(struct words *words, unsigned int flags);

/* sources.c */
int command_sources(struct words *words, unsigned int flags);

/* json.c */
void json_array_begin(void);
void json_array_put(json_t *element);
void json_array_end(void);
void json_print(json_t *value);

#endif /* SYNQ_COMMAND_H */
