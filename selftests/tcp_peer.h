/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the parts of tcp_peer share: addresses, time, sums of ids, files that
 * a script makes to say "go on".  See tcp_peer.c.
 */
#ifndef _TCP_PEER_H
#define _TCP_PEER_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#define NOBODY		65534	/* has no privilege */
#define EXIT_SKIP	4	/* kselftest: this kernel cannot do that */

#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP	262
#endif

#define ID_MAX		64	/* an id on the wire, with its newline */

/* What a record of TLS begins with: its type, a version and two bytes of length. */
#define TLS_HEADER	5
#define TLS_CIPHER	20
#define TLS_HANDSHAKE	22
#define TLS_DATA	23

struct address {
	union {
		struct sockaddr sa;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	};
	socklen_t len;
};

/* tcp_peer.c */
void die(const char *format, ...)
	__attribute__((noreturn, format(printf, 1, 2)));
void skip(const char *what) __attribute__((noreturn));
long number(const char *text, long min, long max);
void enter_netns(const char *name);
void become_nobody(void);
void address_parse(struct address *address, const char *text);
void address_set_port(struct address *address, unsigned int port);
unsigned int address_port(const struct address *address);
void address_step(struct address *address, uint32_t by);
const char *address_text(const struct address *address, char *text);
long long now_ms(void);
void pause_ms(long ms);
bool exists(const char *file);
void wait_for_file(const char *file);
void write_text(const char *file, const char *text);
int tls_record(char *to, int type, int first, int len);
uint64_t mix(uint64_t id);
uint32_t sum_add(uint32_t sum, const void *from, size_t len);
uint16_t sum_fold(uint32_t sum);
int open_socket(int family, bool mptcp);
void bind_source(int fd, struct address source);
void set_option(int fd, int level, int option, int value, const char *name);
void set_nonblocking(int fd);

/* tcp_kinds.c */
typedef void serve_fn(int fd, const struct address *peer);
int open_smc(int family);
int pass_on(int (*open_listener)(void));
void run_uring(int listener, serve_fn *serve);
void run_syncnt(int listener);
void run_exclusive(int listener, int processes, serve_fn *serve);

/* tcp_ring.c */
struct io_uring_sqe;
struct io_uring_cqe;
void ring_open(void);
void ring_add(const struct io_uring_sqe *sqe);
void ring_take(struct io_uring_cqe *cqe);

/* tcp_ahead.c */
void send_ahead(int fd);

/* tcp_key.c */
void add_key(int fd, const char *text);

/* one for each command */
int server_main(int argc, char **argv);		/* tcp_server.c */
int client_main(int argc, char **argv);		/* tcp_client.c */
int hammer_main(int argc, char **argv);		/* tcp_hammer.c */
int segment_main(int argc, char **argv);	/* tcp_segment.c */
int bpf_main(int argc, char **argv);		/* tcp_bpf.c */
int option_main(int argc, char **argv);		/* tcp_option.c */
int plain_main(int argc, char **argv);		/* tcp_answer.c */
int lists_main(int argc, char **argv);		/* tcp_answer.c */
int queue_main(int argc, char **argv);		/* tcp_queue.c */
int twin_main(int argc, char **argv);		/* tcp_twin.c */
int blink_main(int argc, char **argv);		/* tcp_blink.c */
int unload_main(int argc, char **argv);		/* tcp_blink.c */
int fuzz_main(int argc, char **argv);		/* tcp_fuzz.c */
int owner_main(int argc, char **argv);		/* tcp_owner.c */
int destroy_main(int argc, char **argv);	/* tcp_owner.c */
int hold_main(int argc, char **argv);		/* tcp_hold.c */
int eager_main(int argc, char **argv);		/* tcp_eager.c */
int reader_main(int argc, char **argv);		/* tcp_reader.c */

/* What was sent: @number segments to @to, from @port on, beginning with @seq. */
struct question {
	struct address to;
	int port;
	int number;
	uint32_t seq;
};

/* tcp_answer.c */
size_t options_make(uint8_t *to, const char *list);
int answers_open(void);
int answers_print(int fd, long ms, const struct question *to);

#endif /* _TCP_PEER_H */
