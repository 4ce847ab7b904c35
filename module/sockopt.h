/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An application's say in the order of its listening sockets.  See sockopt.c.
 */
#ifndef _SYNQ_SOCKOPT_H
#define _SYNQ_SOCKOPT_H

int synq_sockopt_init(void);
void synq_sockopt_exit(void);

#endif /* _SYNQ_SOCKOPT_H */
