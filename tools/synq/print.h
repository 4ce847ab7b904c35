/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A configuration as text.
 */
#ifndef SYNQ_PRINT_H
#define SYNQ_PRINT_H

#include "conf.h"

/* Room for any line of a configuration. */
#define LINE_ROOM	400
#define INSIDE_ROOM	11

/* print.c */
const char *class_line(const struct class_spec *spec, char *text);
const char *match_line(const struct conf *conf, const struct match *match,
		       char *text);
const char *inside_name(__u32 inside, char *text);
const char *listener_line(const struct listener_spec *spec, char *text);
const char *service_line(const struct service *service, char *text);
const char *mark_line(const struct conf *conf, char *text);
const char *set_line(const struct conf *conf, char *text);
void conf_print(struct conf *conf);
bool conf_diff(struct conf *old, struct conf *new);

/* columns.c */
struct columns;
struct columns *columns_new(unsigned int left);
__printf(2, 3)
void columns_cell(struct columns *columns, const char *format, ...);
void columns_row(struct columns *columns);
void columns_print(struct columns *columns);

#endif /* SYNQ_PRINT_H */
