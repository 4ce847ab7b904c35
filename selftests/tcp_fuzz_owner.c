// SPDX-License-Identifier: GPL-2.0
/*
 * tcp_peer fuzz owners: processes without privileges that do to their sockets what an
 * owner may do (tcp_fuzz_step.c), and read and echo what they accept
 * (tcp_fuzz_connection.c).  They fork children, which have the same sockets for a moment.
 *
 * The first process, which starts them, holds the sockets that IPV6_ADDRFORM has converted
 * until nothing accepted is left, and shuts them down now and then, since no process may
 * accept from them any more.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <grp.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tcp_fuzz.h"

#define CHILDREN	2	/* of a process, at a time */
#define CHILD_MS	300	/* how long one lives */
#define CHILD_STEPS	60
#define SHUT_MS		2000	/* how often those that are held are shut down */
#define SHUT_SETTLED_MS	200
#define END_MS		60000	/* for what is left of connections */

static int me, children;
static bool is_child;
static unsigned int *settled;		/* all processes share it */

static void die_with(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
}

/*
 * The sockets of the places are its own, too; the connections are not: it would keep
 * them open.
 */
static void be_child(uint64_t who)
{
	long long end = now_ms() + CHILD_MS;
	int n;

	is_child = true;
	children = 0;
	connections_open(true);
	for (n = 0; n < CHILD_STEPS && now_ms() < end; n++) {
		step_one(who, n);
		connections_serve(1);
	}
	while (now_ms() < end)
		connections_serve(20);
	_exit(0);
}

/* Returns an error, or 0. */
int owner_fork(uint64_t who)
{
	pid_t parent = getpid(), pid;

	if (is_child || children == CHILDREN)
		return NOTHING_TO_DO;
	pid = fork();
	if (pid < 0)
		return errno;
	if (!pid) {
		die_with(parent);
		be_child(who);
	}
	children++;
	return 0;
}

/* A child that was killed has met something that it should not. */
static void reap_children(int options)
{
	int status;

	while (children && waitpid(-1, &status, options) > 0) {
		children--;
		if (!WIFEXITED(status))
			fault("owner: a child ended by signal %d",
			      WTERMSIG(status));
	}
}

static void take_what_was_passed(uint64_t n)
{
	int fd = step_receive(me);

	if (fd >= 0)
		place_put(&place[n % PLACES], fd);
}

static void run(void)
{
	/* Queues are longer where they are seen to less often. */
	unsigned int seldom = 1 << me % 3 * 2, round = 0;
	struct rng rng = rng_of(me, ~0ULL);
	uint64_t n = 0;

	if (!me)
		options_tour(&rng);
	while (!is_time_for(fuzz.settle) && !is_time_for(fuzz.end)) {
		int i;

		for (i = 0; i < 16; i++, n++) {
			step_one(me, n);
			if (n % 4 == 0)
				connections_serve(1);
			if (n % 8 == 0)
				take_what_was_passed(n);
		}
		if (++round % seldom == 0)
			steps_accept(place, PLACES, me, n);
		reap_children(WNOHANG);
		connections_look();
	}
}

/* A listener that drops data leaves those that have lost their request without a reset. */
static void make_hear(struct place *p)
{
	if (p->fd >= 0)
		options_undo(p->fd);
}

/* What is passed now must not take the place of a socket that has a queue. */
static void keep_passed(struct place *extra, int *extras, int max)
{
	int fd;

	while (*extras < max && (fd = step_receive(me)) >= 0) {
		extra[*extras].fd = fd;
		make_hear(&extra[(*extras)++]);
	}
}

/*
 * Nothing happens any more but connections and data: all that is queued is accepted,
 * each connection has a thread that blocks in recv(2).
 */
static void settle(void)
{
	struct place extra[EXTRA] = { { 0 } };
	int extras = 0, i;

	reap_children(0);
	for (i = 0; i < PLACES; i++)
		make_hear(&place[i]);
	connections_settle();
	__atomic_fetch_add(settled, 1, __ATOMIC_RELAXED);
	while (!is_time_for(fuzz.end)) {
		keep_passed(extra, &extras, EXTRA);
		steps_accept(place, PLACES, me, 0);
		steps_accept(extra, extras, me, 0);
		connections_serve(0);
		connections_look();
		pause_ms(10);
	}
}

static void be_owner(int number)
{
	int i;

	me = number;
	connections_open(false);
	run();
	if (!is_time_for(fuzz.end))
		settle();
	for (i = 0; i < PLACES; i++)
		place_put(&place[i], -1);
	_exit(0);
}

static void start(int number, pid_t *pid)
{
	pid_t parent = getpid();

	*pid = fork();
	if (*pid < 0)
		die("fork: %s", strerror(errno));
	if (*pid)
		return;
	if (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY))
		die("setuid: %s", strerror(errno));
	die_with(parent);
	setpriority(PRIO_PROCESS, 0, 10);
	be_owner(number);
}

/* --- the first process --- */

static int kept[MOST_CONVERTED], n_kept;

static void shut_kept(void)
{
	static long long next;
	int i;

	if (now_ms() < next)
		return;
	next = now_ms() + (is_time_for(fuzz.settle) ? SHUT_SETTLED_MS : SHUT_MS);
	for (i = 0; i < n_kept; i++)
		shutdown(kept[i], SHUT_RDWR);
}

/* Others may have its port. */
static void keep_converted(void)
{
	int on = 1, fd;

	while (n_kept < MOST_CONVERTED && (fd = step_receive_converted()) >= 0) {
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
		setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));
		kept[n_kept++] = fd;
	}
	shut_kept();
}

/* Of the owners' ports there are connections that more than TIME_WAIT is left of. */
static bool any_connection(void)
{
	FILE *file = fopen("/proc/self/net/tcp", "re");
	unsigned int port, state;
	bool any = false;
	char line[256];
	int i;

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, " %*d: %*8x:%x %*8x:%*x %x", &port, &state) == 2 &&
		    state != TCP_LISTEN && state != TCP_TIME_WAIT)
			for (i = 0; i < fuzz.ports; i++)
				any |= (int)port == fuzz.port[i];
	}
	if (file)
		fclose(file);
	return any;
}

static void wait_for_last(void)
{
	long long end = now_ms() + END_MS;

	keep_converted();
	while (n_kept && any_connection() && now_ms() < end) {
		keep_converted();
		pause_ms(50);
	}
}

int fuzz_owners(void)
{
	bool told = false;
	int i, left, status;
	pid_t pid;

	steps_begin();
	connections_begin();
	options_begin();
	settled = mmap(NULL, sizeof(*settled), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (settled == MAP_FAILED)
		die("mmap: %s", strerror(errno));
	for (i = 0; i < fuzz.processes; i++)
		start(i, &pid);
	printf("owning\n");
	for (left = fuzz.processes; left; pause_ms(10)) {
		keep_converted();
		if (!told && __atomic_load_n(settled, __ATOMIC_RELAXED) ==
			     (unsigned int)fuzz.processes) {
			printf("settled\n");
			told = true;
		}
		while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
			left--;
			if (!WIFEXITED(status) || WEXITSTATUS(status))
				fault("owner: ended with status 0x%x", status);
		}
	}
	wait_for_last();
	tally_report("owners");
	return 0;
}
