// SPDX-License-Identifier: GPL-2.0
/*
 * One io_uring, by its system calls alone.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/io_uring.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tcp_peer.h"

static struct {
	int fd;
	unsigned int waiting;	/* entries that the kernel has not been told of */
	unsigned int *sq_tail;
	unsigned int *sq_mask;
	unsigned int *cq_head;
	unsigned int *cq_tail;
	unsigned int *cq_mask;
	struct io_uring_sqe *sqes;
	struct io_uring_cqe *cqes;
} ring;

void ring_open(void)
{
	struct io_uring_params params = { 0 };
	uint8_t *sq, *cq;
	unsigned int i;

	/* Those that a queue holds all come at once. */
	params.flags = IORING_SETUP_CQSIZE;
	params.cq_entries = 4096;
	ring.fd = syscall(SYS_io_uring_setup, 256, &params);
	if (ring.fd < 0)
		skip("io_uring");
	sq = mmap(NULL, params.sq_off.array + params.sq_entries * 4,
		  PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring.fd,
		  IORING_OFF_SQ_RING);
	cq = mmap(NULL, params.cq_off.cqes +
		  params.cq_entries * sizeof(*ring.cqes),
		  PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring.fd,
		  IORING_OFF_CQ_RING);
	ring.sqes = mmap(NULL, params.sq_entries * sizeof(*ring.sqes),
			 PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
			 ring.fd, IORING_OFF_SQES);
	if (sq == MAP_FAILED || cq == MAP_FAILED || ring.sqes == MAP_FAILED)
		die("mmap: %s", strerror(errno));
	ring.sq_tail = (void *)(sq + params.sq_off.tail);
	ring.sq_mask = (void *)(sq + params.sq_off.ring_mask);
	for (i = 0; i < params.sq_entries; i++)
		((unsigned int *)(sq + params.sq_off.array))[i] = i;
	ring.cq_head = (void *)(cq + params.cq_off.head);
	ring.cq_tail = (void *)(cq + params.cq_off.tail);
	ring.cq_mask = (void *)(cq + params.cq_off.ring_mask);
	ring.cqes = (void *)(cq + params.cq_off.cqes);
}

void ring_add(const struct io_uring_sqe *sqe)
{
	ring.sqes[*ring.sq_tail & *ring.sq_mask] = *sqe;
	__atomic_store_n(ring.sq_tail, *ring.sq_tail + 1, __ATOMIC_RELEASE);
	ring.waiting++;
}

/* Waits for the next thing that has happened. */
void ring_take(struct io_uring_cqe *cqe)
{
	while (*ring.cq_head == __atomic_load_n(ring.cq_tail, __ATOMIC_ACQUIRE)) {
		if (syscall(SYS_io_uring_enter, ring.fd, ring.waiting, 1,
			    IORING_ENTER_GETEVENTS, NULL, 0) < 0) {
			if (errno != EINTR)
				die("io_uring_enter: %s", strerror(errno));
			continue;
		}
		ring.waiting = 0;
	}
	*cqe = ring.cqes[*ring.cq_head & *ring.cq_mask];
	__atomic_store_n(ring.cq_head, *ring.cq_head + 1, __ATOMIC_RELEASE);
}
