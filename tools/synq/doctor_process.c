// SPDX-License-Identifier: GPL-2.0
/*
 * Which process has a socket, as far as /proc may be read.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "doctor.h"

static void read_name(const char *pid, char *name)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%.20s/comm", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	n = read(fd, name, DOCTOR_NAME - 1);
	close(fd);
	name[n > 0 ? n : 0] = '\0';
	name[strcspn(name, "\n")] = '\0';
}

/* The parent of a process; 0: unknown. */
static __u32 parent(__u32 pid)
{
	unsigned int number = 0;
	char path[64];
	char line[512];
	FILE *file;
	char *end;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	/* Its name may have blanks and parentheses. */
	end = fgets(line, sizeof(line), file) ? strrchr(line, ')') : NULL;
	if (!end || sscanf(end + 1, " %*c %u", &number) != 1)
		number = 0;
	fclose(file);
	return number;
}

static void take_socket(struct facts *facts, const __u32 *peer, const char *pid, __u32 inode)
{
	unsigned int i;

	for (i = 0; i < facts->number; i++) {
		struct watched *watched = &facts->watched[i];

		if (inode == watched->inode && !watched->pid) {
			watched->pid = strtoul(pid, NULL, 10);
			read_name(pid, watched->process);
		}
		if (inode == peer[i] && !watched->proxy_pid) {
			watched->proxy_pid = strtoul(pid, NULL, 10);
			read_name(pid, watched->proxy);
		}
	}
}

/* Returns false if it may not be read. */
static bool take_process(struct facts *facts, const __u32 *peer, const char *pid)
{
	char path[64];
	char link[64];
	struct dirent *entry;
	DIR *directory;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%.20s/fd", pid);
	directory = opendir(path);
	if (!directory)
		return false;
	while ((entry = readdir(directory))) {
		n = readlinkat(dirfd(directory), entry->d_name, link, sizeof(link) - 1);
		if (n < 9 || memcmp(link, "socket:[", 8))
			continue;
		link[n] = '\0';
		take_socket(facts, peer, pid, strtoul(link + 8, NULL, 10));
	}
	closedir(directory);
	return true;
}

/* The port at which a proxy listens: it itself, or its master. */
static void find_port(struct facts *facts, struct watched *watched)
{
	__u32 master = parent(watched->proxy_pid);
	unsigned int i;

	for (i = 0; i < facts->number; i++) {
		const struct watched *other = &facts->watched[i];

		if (other->pid && !other->loopback && other->port != watched->port &&
		    (other->pid == watched->proxy_pid || other->pid == master))
			watched->proxy_port = other->port;
	}
}

/**
 * processes_name() - name the processes of listeners, and of their local clients
 * @facts: with listeners
 * @peer: for each, the socket of a local client, or 0
 */
void processes_name(struct facts *facts, const __u32 *peer)
{
	DIR *directory = opendir("/proc");
	struct dirent *entry;
	unsigned int i;

	if (!directory)
		return;
	while ((entry = readdir(directory))) {
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			take_process(facts, peer, entry->d_name);
	}
	closedir(directory);
	for (i = 0; i < facts->number; i++) {
		if (facts->watched[i].proxy_pid)
			find_port(facts, &facts->watched[i]);
	}
}
