/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the parts of "tcp_peer fuzz" share: random numbers that a seed repeats, the
 * count of what was done, and what client and owner say to each other.  See
 * tcp_fuzz.c.
 */
#ifndef _TCP_FUZZ_H
#define _TCP_FUZZ_H

#include <stdbool.h>
#include <stdint.h>

#include "tcp_peer.h"

#define PORTS_MAX	16
#ifndef AF_SMC
#define AF_SMC		43
#endif

#define ADDRESSES_MAX	16

struct fuzz {
	uint64_t seed;
	const char *settle;	/* files that say what is next */
	const char *final;
	const char *end;
	const char *skip;	/* names, between commas */
	int processes;
	int patience_ms;	/* for an answer from who has answered before */
	long long limit;	/* ms: nothing goes on after that */
	struct address source[ADDRESSES_MAX];
	int sources;
	struct address to[ADDRESSES_MAX];
	int tos;
	int port[PORTS_MAX];
	int ports;
};

extern struct fuzz fuzz;

/* tcp_fuzz.c */
struct rng {
	uint64_t state;
};

struct rng rng_of(uint64_t who, uint64_t step);
uint64_t rng_next(struct rng *rng);
unsigned int rng_below(struct rng *rng, unsigned int n);
bool rng_one_in(struct rng *rng, unsigned int n);
int rng_port(struct rng *rng);

/* What has to have happened in the end for a kind of step. */
enum wants {
	WANT_OK,	/* has succeeded */
	WANT_REFUSED,	/* has been refused, and never succeeded */
	WANT_ANY,
};

unsigned int tally_kind(const char *name, enum wants wants);
void tally_lacks(unsigned int kind, int error);
void tally_add(unsigned int kind, int error);
void tally_report(const char *role);
void fault(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool is_left_out(const char *name);
bool is_time_for(const char *file);

/*
 * On the wire: the client's number and the port that it has connected to; back come
 * both, and the port of the listener that the owner has accepted it from, 0 if the
 * owner cannot tell.
 */
#define QUESTION	"%016llx %05u\n"
#define QUESTION_LEN	23
#define ANSWER		"%016llx %05u %05u\n"
#define ANSWER_LEN	29

/* tcp_fuzz_option.c */
void options_begin(void);
void options_tour(struct rng *rng);
int option_step(int fd, struct rng *rng);
int option_random(int fd, struct rng *rng);
int option_get(int fd, struct rng *rng);
void options_undo(int fd);
bool is_mptcp(int fd);
bool is_smc(int fd);

/* tcp_fuzz_connection.c */
#define NOTHING_TO_DO	(-1)	/* neither an error nor done */

void connections_begin(void);
void connections_open(bool child);
void connection_keep(int fd, int listener, int port, struct rng *rng);
void connections_make_room(struct rng *rng);
void connections_serve(int wait_ms);
void connections_look(void);
void connections_settle(void);
int connections_hang_up(struct rng *rng);
int connections_tls(struct rng *rng);

/* tcp_fuzz_step.c */
#define PLACES		20	/* sockets of a process */
#define EXTRA		256	/* that were passed and not yet taken, at the end */
#define MOST_CONVERTED	8192	/* by IPV6_ADDRFORM */

struct place {
	int fd;				/* -1: none */
	const unsigned char *plan;	/* the steps that come next */
};

extern struct place place[PLACES];

void steps_begin(void);
void step_one(uint64_t who, uint64_t n);
void steps_accept(struct place *p, int places, uint64_t who, uint64_t n);
void place_put(struct place *p, int fd);
int step_receive(int number);
int step_receive_converted(void);

/* tcp_fuzz_owner.c */
int owner_fork(uint64_t who);

/* one for each role */
int fuzz_owners(void);		/* tcp_fuzz_owner.c */
int fuzz_clients(void);		/* tcp_fuzz_client.c */
int fuzz_destroy(void);		/* tcp_fuzz_destroy.c */

#endif /* _TCP_FUZZ_H */
