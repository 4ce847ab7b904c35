// SPDX-License-Identifier: GPL-2.0
/*
 * tcp_peer hammer [OPTION...] ADDRESS PORT: -c connections at a time for -T
 * seconds, from -S addresses from each -s on.  Each sends a unique id of 8 bytes
 * (-u makes several hammers unique); every other one waits for its echo, the
 * rest close at once.  -E ends when a file exists, -z is the nice value.  Then
 * waits up to -w ms for what is under way and prints
 *
 *   hammer connected=N answered=N fired=N failed=N reset=N late=N sum=HEX
 *
 * connected = answered + fired + reset + late; sum is over the ids of all that
 * connected.  The server ("-m count") has the same number of ids and the same
 * sum exactly if no connection was lost, and none came twice.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tcp_peer.h"

#define SOURCES_MAX	16
#define RETRY_MS	20

struct slot {
	int fd;
	uint64_t id;
	bool connected;
	long long not_before;	/* ms, after a failure */
};

static struct {
	struct address to;
	struct address source[SOURCES_MAX];
	int sources;
	int step;
	int slots;
	int seconds;
	int wait_ms;
	int unique;
	int nice;
	const char *end;
} opt = { .step = 1, .slots = 16, .seconds = 1, .wait_ms = 20000 };

static struct slot *slots;
static int epoll_fd, open_slots;
static uint64_t sequence, sum;
static unsigned long connected, answered, fired, failed, resets;

static void finish(struct slot *slot)
{
	close(slot->fd);
	slot->fd = -1;
	open_slots--;
}

/* Without a listener an attempt costs next to nothing: limit their number. */
static void fail(struct slot *slot)
{
	failed++;
	slot->not_before = now_ms() + RETRY_MS;
	finish(slot);
}

static void start(struct slot *slot)
{
	struct epoll_event event = {
		.events = EPOLLIN | EPOLLOUT | EPOLLET,
		.data.ptr = slot,
	};
	struct address source;

	slot->id = (uint64_t)opt.unique << 40 | sequence++;
	slot->connected = false;
	slot->fd = open_socket(opt.to.sa.sa_family, false);
	open_slots++;
	if (fcntl(slot->fd, F_SETFL, O_NONBLOCK))
		die("fcntl: %s", strerror(errno));
	if (opt.sources) {
		source = opt.source[slot->id % opt.sources];
		address_step(&source, slot->id / opt.sources % opt.step);
		bind_source(slot->fd, source);
	}
	if (connect(slot->fd, &opt.to.sa, opt.to.len) && errno != EINPROGRESS) {
		fail(slot);
		return;
	}
	if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, slot->fd, &event))
		die("epoll_ctl: %s", strerror(errno));
}

/* Returns false when the slot is free again. */
static bool say_id(struct slot *slot)
{
	slot->connected = true;
	connected++;
	sum += mix(slot->id);
	if (send(slot->fd, &slot->id, sizeof(slot->id), MSG_NOSIGNAL) !=
	    sizeof(slot->id)) {
		resets++;
		finish(slot);
		return false;
	}
	if (slot->id & 1) {
		fired++;
		finish(slot);
		return false;
	}
	return true;
}

static void on_event(struct slot *slot, uint32_t events)
{
	socklen_t len = sizeof(int);
	uint64_t echo;
	int error = 0;
	int n;

	if (slot->fd < 0)
		return;
	if (!slot->connected) {
		getsockopt(slot->fd, SOL_SOCKET, SO_ERROR, &error, &len);
		if (error) {
			fail(slot);
			return;
		}
		if (!(events & EPOLLOUT) || !say_id(slot))
			return;
	}
	n = recv(slot->fd, &echo, sizeof(echo), 0);
	if (n < 0 && errno == EAGAIN)
		return;
	if (n == sizeof(echo) && echo == slot->id)
		answered++;
	else
		resets++;
	finish(slot);
}

static void turn(void)
{
	struct epoll_event event[64];
	int i, n;

	n = epoll_wait(epoll_fd, event, 64, 10);
	for (i = 0; i < n; i++)
		on_event(event[i].data.ptr, event[i].events);
}

static void run(void)
{
	long long end = now_ms() + opt.seconds * 1000LL;
	int i;

	while (now_ms() < end && (!opt.end || !exists(opt.end))) {
		for (i = 0; i < opt.slots; i++)
			if (slots[i].fd < 0 && slots[i].not_before <= now_ms())
				start(&slots[i]);
		turn();
	}
	end = now_ms() + opt.wait_ms;
	while (open_slots && now_ms() < end)
		turn();
}

static unsigned long late(void)
{
	unsigned long n = 0;
	int i;

	for (i = 0; i < opt.slots; i++) {
		if (slots[i].fd < 0)
			continue;
		if (slots[i].connected)
			n++;
		else
			failed++;
	}
	return n;
}

static void parse(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "N:s:S:c:T:w:u:E:z:")) != -1) {
		switch (c) {
		case 'N': enter_netns(optarg); break;
		case 's':
			if (opt.sources == SOURCES_MAX)
				die("too many sources");
			address_parse(&opt.source[opt.sources++], optarg);
			break;
		case 'S': opt.step = number(optarg, 1, 1 << 24); break;
		case 'c': opt.slots = number(optarg, 1, 1 << 16); break;
		case 'T': opt.seconds = number(optarg, 1, 1 << 20); break;
		case 'w': opt.wait_ms = number(optarg, 1, 1 << 30); break;
		case 'u': opt.unique = number(optarg, 0, 1 << 20); break;
		case 'E': opt.end = optarg; break;
		case 'z': opt.nice = number(optarg, 0, 19); break;
		default: die("hammer: a wrong option");
		}
	}
	if (optind + 2 != argc)
		die("hammer: address and port are missing");
	address_parse(&opt.to, argv[optind]);
	address_set_port(&opt.to, number(argv[optind + 1], 1, 65535));
}

int hammer_main(int argc, char **argv)
{
	unsigned long left;
	int i;

	parse(argc, argv);
	slots = calloc(opt.slots, sizeof(*slots));
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (!slots || epoll_fd < 0)
		die("no memory");
	for (i = 0; i < opt.slots; i++)
		slots[i].fd = -1;
	setpriority(PRIO_PROCESS, 0, opt.nice);
	puts("hammering");
	run();
	left = late();
	printf("hammer connected=%lu answered=%lu fired=%lu failed=%lu reset=%lu late=%lu sum=%016llx\n",
	       connected, answered, fired, failed, resets, left,
	       (unsigned long long)sum);
	return 0;
}
