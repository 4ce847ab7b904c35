// SPDX-License-Identifier: GPL-2.0
/*
 * tcp_peer bpf [OPTION...] WHAT PID: takes the first listening socket of process
 * PID, does something to it with BPF, prints "attached", and stays until the file
 * of -E exists or it is killed; then all is as before.
 *
 *   lookup	SYNs to port -p of the namespace of -N find this socket (sk_lookup)
 *   sockmap	the socket is in a sockmap
 *   verdict	the same, and the map has a verdict program, which takes over what
 *		wakes the socket
 *
 * The programs are assembled by hand: a guest has neither compiler nor libbpf.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <linux/bpf.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tcp_peer.h"

#define FD_MAX	64

#define OP(c, d, s, o, i) \
	((struct bpf_insn) { .code = c, .dst_reg = d, .src_reg = s, \
			     .off = o, .imm = i })
#define MOV(d, s)	OP(BPF_ALU64 | BPF_MOV | BPF_X, d, s, 0, 0)
#define MOV_IMM(d, i)	OP(BPF_ALU64 | BPF_MOV | BPF_K, d, 0, 0, i)
#define ADD_IMM(d, i)	OP(BPF_ALU64 | BPF_ADD | BPF_K, d, 0, 0, i)
#define LOAD32(d, s, o)	OP(BPF_LDX | BPF_MEM | BPF_W, d, s, o, 0)
#define STORE32(d, o, i)	OP(BPF_ST | BPF_MEM | BPF_W, d, 0, o, i)
#define JUMP_NE(d, i, o)	OP(BPF_JMP | BPF_JNE | BPF_K, d, 0, o, i)
#define JUMP_EQ(d, i, o)	OP(BPF_JMP | BPF_JEQ | BPF_K, d, 0, o, i)
#define CALL(f)		OP(BPF_JMP | BPF_CALL, 0, 0, 0, f)
#define EXIT()		OP(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)
/* Takes two, of which the second is empty. */
#define MAP(d, fd)	OP(BPF_LD | BPF_DW | BPF_IMM, d, BPF_PSEUDO_MAP_FD, 0, fd)
#define MAP_REST()	OP(0, 0, 0, 0, 0)

static char log_text[4096];

static int bpf(int command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof(*attr));
}

static int load(int type, int attach_type, const struct bpf_insn *insns,
		int n)
{
	union bpf_attr attr = {
		.prog_type = type,
		.expected_attach_type = attach_type,
		.insns = (uintptr_t)insns,
		.insn_cnt = n,
		.license = (uintptr_t)"GPL",
		.log_buf = (uintptr_t)log_text,
		.log_size = sizeof(log_text),
		.log_level = 1,
	};
	int fd = bpf(BPF_PROG_LOAD, &attr);

	if (fd < 0 && errno == EINVAL && !*log_text)
		skip("bpf program");
	if (fd < 0)
		die("BPF_PROG_LOAD: %s\n%s", strerror(errno), log_text);
	return fd;
}

static int socket_of(int pid)
{
	int pidfd = syscall(SYS_pidfd_open, pid, 0), fd, theirs, listens;
	socklen_t len = sizeof(listens);

	if (pidfd < 0)
		die("pidfd_open: %s", strerror(errno));
	for (theirs = 0; theirs < FD_MAX; theirs++) {
		fd = syscall(SYS_pidfd_getfd, pidfd, theirs, 0);
		if (fd < 0)
			continue;
		if (!getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens,
				&len) && listens)
			return fd;
		close(fd);
	}
	die("%d has no listening socket", pid);
}

static int open_map(void)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_SOCKMAP,
		.key_size = 4,
		.value_size = 8,
		.max_entries = 1,
	};
	int map = bpf(BPF_MAP_CREATE, &attr);

	if (map < 0)
		skip("sockmap");
	return map;
}

/* The map holds the socket until it is closed or the map goes. */
static void put_socket(int map, int fd)
{
	uint32_t key = 0;
	uint64_t value = fd;
	union bpf_attr attr = {
		.map_fd = map,
		.key = (uintptr_t)&key,
		.value = (uintptr_t)&value,
	};

	if (bpf(BPF_MAP_UPDATE_ELEM, &attr))
		die("BPF_MAP_UPDATE_ELEM: %s", strerror(errno));
	close(fd);
}

static void steer(int map, unsigned int port)
{
	const struct bpf_insn insns[] = {
		MOV(6, 1),
		LOAD32(2, 1, offsetof(struct bpf_sk_lookup, local_port)),
		JUMP_NE(2, port, 14),
		STORE32(10, -4, 0),
		MAP(1, map),
		MAP_REST(),
		MOV(2, 10),
		ADD_IMM(2, -4),
		CALL(BPF_FUNC_map_lookup_elem),
		JUMP_EQ(0, 0, 7),
		MOV(7, 0),
		MOV(1, 6),
		MOV(2, 7),
		MOV_IMM(3, 0),
		CALL(BPF_FUNC_sk_assign),
		MOV(1, 7),
		CALL(BPF_FUNC_sk_release),
		MOV_IMM(0, SK_PASS),
		EXIT(),
	};
	union bpf_attr attr = {
		.link_create = {
			.prog_fd = load(BPF_PROG_TYPE_SK_LOOKUP, BPF_SK_LOOKUP,
					insns, sizeof(insns) / sizeof(*insns)),
			.target_fd = open("/proc/self/ns/net", O_RDONLY),
			.attach_type = BPF_SK_LOOKUP,
		},
	};

	if (bpf(BPF_LINK_CREATE, &attr) < 0)
		die("BPF_LINK_CREATE: %s", strerror(errno));
}

static void add_verdict(int map)
{
	const struct bpf_insn insns[] = { MOV_IMM(0, SK_PASS), EXIT() };
	union bpf_attr attr = {
		.target_fd = map,
		.attach_bpf_fd = load(BPF_PROG_TYPE_SK_SKB,
				      BPF_SK_SKB_STREAM_VERDICT, insns, 2),
		.attach_type = BPF_SK_SKB_STREAM_VERDICT,
	};

	if (bpf(BPF_PROG_ATTACH, &attr))
		die("BPF_PROG_ATTACH: %s", strerror(errno));
}

int bpf_main(int argc, char **argv)
{
	const char *end = NULL, *what;
	unsigned int port = 0;
	int c, fd, map;

	while ((c = getopt(argc, argv, "N:E:p:")) != -1) {
		switch (c) {
		case 'N': enter_netns(optarg); break;
		case 'E': end = optarg; break;
		case 'p': port = number(optarg, 1, 65535); break;
		default: die("bpf: a wrong option");
		}
	}
	if (optind + 2 != argc)
		die("bpf: what and process are missing");
	what = argv[optind];
	fd = socket_of(number(argv[optind + 1], 1, 1 << 30));
	map = open_map();
	if (!strcmp(what, "verdict"))
		add_verdict(map);
	else if (strcmp(what, "lookup") && strcmp(what, "sockmap"))
		die("%s: lookup, sockmap or verdict", what);
	put_socket(map, fd);
	if (!strcmp(what, "lookup"))
		steer(map, port);
	puts("attached");
	if (end)
		wait_for_file(end);
	else
		pause();
	return 0;
}
