// SPDX-License-Identifier: GPL-2.0
/*
 * tcp_peer hold -m fuse|uffd -H FILE -E FILE [-N NAME] [-t FILE] ADDRESS PORT: listens, as
 * the user nobody, and prints "listening".  When the file of -H is there it holds the
 * lock of its listening socket, as any owner can: setsockopt(2) with IP_OPTIONS reads
 * memory of the user under the lock, and that is
 *
 *   fuse	of a file on a FUSE file system, whose server is here, mounted over the
 *		file of -t in a user namespace;
 *   uffd	watched by userfaultfd, which is opened with privileges, since without
 *		them it may be told of the user's own faults only.
 *
 * Prints "holding" when the kernel waits for that memory, and gives it when the file of
 * -E is there, or after 20 s: "let go MS".
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <linux/fuse.h>
#include <linux/userfaultfd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tcp_peer.h"

#define HOLD_MS		20000
#define PAGE		4096
#define REQUEST_MAX	(FUSE_MIN_READ_BUFFER + PAGE)
#define OPTIONS		4	/* bytes of IP options: none, all zero */

static const char *end;
static int listener;

/* Called when the kernel wants the page. */
static void hold(void)
{
	long long begun = now_ms();

	puts("holding");
	while (!exists(end) && now_ms() - begun < HOLD_MS)
		pause_ms(10);
	printf("let go %lld\n", now_ms() - begun);
}

static void *set_options(void *page)
{
	if (setsockopt(listener, IPPROTO_IP, IP_OPTIONS, page, OPTIONS))
		die("IP_OPTIONS: %s", strerror(errno));
	return NULL;
}

/* --- FUSE --- */

/* All that a process needs to mount: to be root in a namespace of its own. */
static void enter_user_namespace(void)
{
	char users[32], groups[32];

	snprintf(users, sizeof(users), "0 %d 1", getuid());
	snprintf(groups, sizeof(groups), "0 %d 1", getgid());
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS))
		skip("user namespace");
	/* Which setuid(2) has forbidden. */
	if (prctl(PR_SET_DUMPABLE, 1))
		die("PR_SET_DUMPABLE: %s", strerror(errno));
	write_text("/proc/self/uid_map", users);
	write_text("/proc/self/setgroups", "deny");
	write_text("/proc/self/gid_map", groups);
}

static int mount_fuse(const char *target)
{
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	char options[64];

	if (fd < 0)
		skip("/dev/fuse");
	/* The root of it is a file. */
	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=100444,user_id=0,group_id=0", fd);
	if (mount("hold", target, "fuse", MS_NOSUID | MS_NODEV, options))
		skip("fuse");
	return fd;
}

static void reply(int fd, const struct fuse_in_header *to, int error,
		  const void *body, size_t len)
{
	uint8_t message[sizeof(struct fuse_out_header) + PAGE];
	struct fuse_out_header header = {
		.len = sizeof(header) + len,
		.error = -error,
		.unique = to->unique,
	};

	memcpy(message, &header, sizeof(header));
	memcpy(message + sizeof(header), body, len);
	if (write(fd, message, header.len) != (ssize_t)header.len)
		die("fuse: %s", strerror(errno));
}

static void serve(int fd, const struct fuse_in_header *request)
{
	static const uint8_t page[PAGE];
	const struct fuse_init_out init = {
		.major = FUSE_KERNEL_VERSION,
		.minor = FUSE_KERNEL_MINOR_VERSION,
		.max_write = PAGE,
	};
	const struct fuse_attr_out attributes = {
		.attr = {
			.ino = FUSE_ROOT_ID, .size = PAGE, .nlink = 1,
			.mode = S_IFREG | 0444,
		},
	};
	const struct fuse_open_out opened = { 0 };

	switch (request->opcode) {
	case FUSE_INIT:
		reply(fd, request, 0, &init, sizeof(init));
		break;
	case FUSE_GETATTR:
		reply(fd, request, 0, &attributes, sizeof(attributes));
		break;
	case FUSE_OPEN:
		reply(fd, request, 0, &opened, sizeof(opened));
		break;
	case FUSE_READ:
		hold();
		reply(fd, request, 0, page, PAGE);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
		break;
	default:
		reply(fd, request, EOPNOTSUPP, "", 0);
	}
}

/* In another process: when one ends, it asks the server once more. */
static void serve_all(int fd)
{
	static uint8_t request[REQUEST_MAX] __attribute__((aligned(8)));

	if (!fork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(listener);
		while (read(fd, request, sizeof(request)) > 0)
			serve(fd, (const void *)request);
		_exit(0);
	}
	close(fd);
}

static void *map_file(const char *name)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	struct stat size;	/* which the kernel does not know before */
	void *page;

	if (fd < 0 || fstat(fd, &size))
		die("%s: %s", name, strerror(errno));
	page = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
	if (page == MAP_FAILED)
		die("mmap: %s", strerror(errno));
	return page;
}

/* --- userfaultfd --- */

static int open_uffd(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd < 0)
		skip("userfaultfd");
	if (ioctl(fd, UFFDIO_API, &api))
		die("UFFDIO_API: %s", strerror(errno));
	return fd;
}

static void *watched_page(int fd)
{
	struct uffdio_register watch = {
		.range.len = PAGE,
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	watch.range.start = (uintptr_t)page;
	if (page == MAP_FAILED || ioctl(fd, UFFDIO_REGISTER, &watch))
		die("UFFDIO_REGISTER: %s", strerror(errno));
	return page;
}

static void hold_by_uffd(int fd)
{
	void *page = watched_page(fd);
	struct uffdio_zeropage zero = {
		.range = { .start = (uintptr_t)page, .len = PAGE },
	};
	struct uffd_msg fault;
	pthread_t thread;

	if (pthread_create(&thread, NULL, set_options, page))
		die("no thread");
	if (read(fd, &fault, sizeof(fault)) != sizeof(fault))
		die("userfaultfd: %s", strerror(errno));
	hold();
	if (ioctl(fd, UFFDIO_ZEROPAGE, &zero))
		die("UFFDIO_ZEROPAGE: %s", strerror(errno));
}

/* --- */

static void open_listener(const struct address *at)
{
	listener = open_socket(at->sa.sa_family, false);
	set_option(listener, SOL_SOCKET, SO_REUSEADDR, 1, "SO_REUSEADDR");
	if (bind(listener, &at->sa, at->len) || listen(listener, 64))
		die("listen: %s", strerror(errno));
	puts("listening");
}

int hold_main(int argc, char **argv)
{
	const char *begin = NULL, *target = NULL, *mode = NULL;
	struct address at;
	bool fuse;
	int c, fd;

	while ((c = getopt(argc, argv, "N:m:H:E:t:")) != -1) {
		switch (c) {
		case 'N': enter_netns(optarg); break;
		case 'm': mode = optarg; break;
		case 'H': begin = optarg; break;
		case 'E': end = optarg; break;
		case 't': target = optarg; break;
		default: die("see the top of tcp_hold.c");
		}
	}
	fuse = mode && !strcmp(mode, "fuse");
	if (argc - optind != 2 || !begin || !end || fuse != !!target)
		die("see the top of tcp_hold.c");
	address_parse(&at, argv[optind]);
	address_set_port(&at, number(argv[optind + 1], 1, 65535));

	if (!fuse)
		fd = open_uffd();
	become_nobody();
	if (fuse) {
		enter_user_namespace();
		fd = mount_fuse(target);
	}
	open_listener(&at);
	wait_for_file(begin);
	if (fuse) {
		serve_all(fd);
		set_options(map_file(target));
	} else {
		hold_by_uffd(fd);
	}
	pause();
	return 0;
}
