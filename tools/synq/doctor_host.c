// SPDX-License-Identifier: GPL-2.0
/*
 * What of the host matters: sysctls, counters, devices, and the rules that nft, iptables
 * and ip print.  What is not there, or may not be read, is left out, and is no error.
 *
 * With a root (of a test) files are read below it, and programs are files there.
 */
#include <errno.h>
#include <fcntl.h>
#include <libmnl/libmnl.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "doctor.h"

#define TEXT_MAX	(256 << 20)
#define ROOM		32768
#define BLANKS		"\n "

static const char * const sysctls[] = {
	[SYSCTL_TCP_ABORT_ON_OVERFLOW] = "net/ipv4/tcp_abort_on_overflow",
	[SYSCTL_TCP_TIMESTAMPS] = "net/ipv4/tcp_timestamps",
	[SYSCTL_TCP_SYNCOOKIES] = "net/ipv4/tcp_syncookies",
	[SYSCTL_TCP_FWMARK_ACCEPT] = "net/ipv4/tcp_fwmark_accept",
	[SYSCTL_TCP_MAX_SYN_BACKLOG] = "net/ipv4/tcp_max_syn_backlog",
	[SYSCTL_TCP_L3MDEV_ACCEPT] = "net/ipv4/tcp_l3mdev_accept",
	[SYSCTL_SOMAXCONN] = "net/core/somaxconn",
	[SYSCTL_CONNTRACK_COUNT] = "net/netfilter/nf_conntrack_count",
	[SYSCTL_CONNTRACK_MAX] = "net/netfilter/nf_conntrack_max",
	[SYSCTL_BRIDGE_IPTABLES] = "net/bridge/bridge-nf-call-iptables",
};

/**
 * struct program - a program that prints rules
 * @argv: it, and its words
 * @file: with its output, below the root of a test
 * @what: it prints
 */
static const struct program {
	const char *argv[6];
	const char *file;
	const char *what;
} programs[] = {
	{ { "iptables-save" }, "iptables-save", "iptables" },
	{ { "ip6tables-save" }, "ip6tables-save", "ip6tables" },
	{ { "nft", "-j", "-t", "list", "ruleset" }, "nft.json", "nft" },
	{ { "ip", "-j", "rule" }, "rule.json", "ip rule" },
	{ { "ip", "-6", "-j", "rule" }, "rule6.json", "ip -6 rule" },
};

/* All that can be read; NULL: nothing can. */
static char *read_all(int fd)
{
	size_t length = 0, room = 65536;
	char *text = allocate(NULL, room, 1);
	ssize_t n;

	for (;;) {
		n = read(fd, text + length, room - length - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0 || length > TEXT_MAX)
			break;
		length += n;
		if (room - length < 4096) {
			room *= 2;
			text = allocate(text, room, 1);
		}
	}
	text[length] = '\0';
	return text;
}

static char *read_file(const char *root, const char *directory, const char *name)
{
	char path[512];
	char *text;
	int fd;

	snprintf(path, sizeof(path), "%s%s%s", root, directory, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	text = read_all(fd);
	close(fd);
	return text;
}

static void run(const struct program *program, int out)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	const char *old = getenv("PATH");
	char path[4096];

	snprintf(path, sizeof(path), "%s%s/usr/sbin:/sbin:/usr/bin:/bin", old ?: "",
		 old ? ":" : "");
	setenv("PATH", path, 1);
	setenv("LC_ALL", "C", 1);
	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDERR_FILENO);
	}
	dup2(out, STDOUT_FILENO);
	execvp(program->argv[0], (char * const *)program->argv);
	_exit(127);
}

/* NULL: it is @absent, or has failed. */
static char *read_program(const struct program *program, bool *absent)
{
	char *text = NULL;
	int status = -1;
	int pipes[2];
	pid_t pid;

	if (pipe2(pipes, O_CLOEXEC))
		return NULL;
	fflush(NULL);
	pid = fork();
	if (!pid)
		run(program, pipes[1]);
	close(pipes[1]);
	if (pid > 0) {
		text = read_all(pipes[0]);
		close(pipes[0]);
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	} else {
		close(pipes[0]);
	}
	*absent = WIFEXITED(status) && WEXITSTATUS(status) == 127;
	if (status) {
		free(text);
		return NULL;
	}
	return text;
}

static void unseen(struct facts *facts, const char *what)
{
	size_t length = strlen(facts->unseen);

	snprintf(facts->unseen + length, sizeof(facts->unseen) - length, "%s%s",
		 length ? ", " : "", what);
}

/**
 * host_rules() - read the rules of nft, iptables and routing
 * @facts: where to
 * @root: of a test, or empty
 */
void host_rules(struct facts *facts, const char *root)
{
	char *text[5];
	bool absent;
	unsigned int i;

	for (i = 0; i < 5; i++) {
		absent = true;
		text[i] = *root ? read_file(root, "/", programs[i].file) :
			  read_program(&programs[i], &absent);
		/* Without iptables there are no rules of its own, mostly. */
		if (!text[i] && (!absent || i >= 2))
			unseen(facts, programs[i].what);
		if (!text[i])
			continue;
		if (i < 2)
			iptables_rules(&facts->rules, text[i], i);
		else if (i == 2)
			nft_rules(&facts->rules, text[i]);
		else
			routing_rules(&facts->rules, text[i], i == 4);
	}
	for (i = 0; i < 5; i++)
		free(text[i]);
}

/**
 * host_sysctls() - read the sysctls that matter
 * @facts: where to
 * @root: of a test, or empty
 */
void host_sysctls(struct facts *facts, const char *root)
{
	char *text, *end;
	unsigned int i;

	for (i = 0; i < SYSCTLS; i++) {
		facts->sysctl[i] = NO_SYSCTL;
		text = read_file(root, "/proc/sys/", sysctls[i]);
		if (!text)
			continue;
		facts->sysctl[i] = strtoll(text, &end, 10);
		if (end == text)
			facts->sysctl[i] = NO_SYSCTL;
		free(text);
	}
}

/* The number at place @place, from 0, of a line. */
static bool nth(const char *line, unsigned int place, __u64 *value)
{
	const char *end = strchrnul(line, '\n');

	while (line < end) {
		line += strspn(line, " ");
		if (!place--) {
			*value = strtoull(line, NULL, 10);
			return line < end;
		}
		line += strcspn(line, BLANKS);
	}
	return false;
}

/**
 * host_counter() - find a counter in /proc/net/netstat or /proc/net/snmp
 * @text: the file: of each table a line of names, and one of numbers
 * @table: name of the table
 * @name: name of the counter
 * @value: the counter
 *
 * Return: false if there is none.
 */
bool host_counter(const char *text, const char *table, const char *name, __u64 *value)
{
	size_t length = strlen(table);
	const char *line, *next;

	for (line = text; *line; line = *next ? next + 1 : next) {
		const char *at = line + length + 1;
		unsigned int place = 0;

		next = strchrnul(line, '\n');
		if (strncmp(line, table, length) || line[length] != ':')
			continue;
		while (at < next) {
			size_t word;

			at += strspn(at, " ");
			word = strcspn(at, BLANKS);
			if (word == strlen(name) && !strncmp(at, name, word))
				return *next && !strncmp(next + 1, table, length) &&
				       nth(next + 1 + length + 1, place, value);
			at += word;
			place++;
		}
		/* Behind the names come the numbers. */
		next = *next ? strchrnul(next + 1, '\n') : next;
	}
	return false;
}

/**
 * host_counters() - read the counters that matter
 * @facts: where to
 * @root: of a test, or empty
 * @again: only what has been added meanwhile
 */
void host_counters(struct facts *facts, const char *root, bool again)
{
	char *text = read_file(root, "/proc/net/", "netstat");
	__u64 value = 0;

	if (text) {
		host_counter(text, "TcpExt", "ListenOverflows", &value);
		if (again)
			facts->overflows_new = value - facts->overflows;
		facts->overflows = value;
		host_counter(text, "TcpExt", "ListenDrops", &facts->drops);
	}
	free(text);
	text = read_file(root, "/proc/net/", "snmp");
	if (text)
		host_counter(text, "Tcp", "PassiveOpens", &facts->opens);
	free(text);
}

/**
 * struct link - what of a device counts
 * @name: its name
 * @kind: of device, or NULL
 */
struct link {
	const char *name;
	const char *kind;
};

static int take_info(const struct nlattr *attr, void *arg)
{
	struct link *link = arg;

	if (mnl_attr_get_type(attr) == IFLA_INFO_KIND &&
	    mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) >= 0)
		link->kind = mnl_attr_get_str(attr);
	return MNL_CB_OK;
}

static int take_attribute(const struct nlattr *attr, void *arg)
{
	struct link *link = arg;

	if (mnl_attr_get_type(attr) == IFLA_IFNAME &&
	    mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) >= 0)
		link->name = mnl_attr_get_str(attr);
	if (mnl_attr_get_type(attr) == IFLA_LINKINFO)
		return mnl_attr_parse_nested(attr, take_info, link);
	return MNL_CB_OK;
}

static int take_link(const struct nlmsghdr *nlh, void *arg)
{
	struct link link = { .name = "" };
	struct facts *facts = arg;

	if (mnl_attr_parse(nlh, sizeof(struct ifinfomsg), take_attribute, &link) < 0)
		return MNL_CB_ERROR;
	if (link.kind && !strcmp(link.kind, "bridge"))
		snprintf(facts->bridge, sizeof(facts->bridge), "%s", link.name);
	if (link.kind && !strcmp(link.kind, "vrf"))
		snprintf(facts->vrf, sizeof(facts->vrf), "%s", link.name);
	return MNL_CB_OK;
}

/**
 * host_links() - look for bridges and VRFs
 * @facts: where to
 */
void host_links(struct facts *facts)
{
	struct mnl_socket *sk = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
	char buffer[ROOM];
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buffer);
	struct ifinfomsg *header;
	ssize_t length;

	if (!sk)
		return;
	nlh->nlmsg_type = RTM_GETLINK;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	nlh->nlmsg_seq = 1;
	header = mnl_nlmsg_put_extra_header(nlh, sizeof(*header));
	header->ifi_family = AF_UNSPEC;
	if (mnl_socket_bind(sk, 0, MNL_SOCKET_AUTOPID) >= 0 &&
	    mnl_socket_sendto(sk, nlh, nlh->nlmsg_len) >= 0) {
		do {
			length = mnl_socket_recvfrom(sk, buffer, sizeof(buffer));
		} while (length > 0 &&
			 mnl_cb_run(buffer, length, 1, mnl_socket_get_portid(sk),
				    take_link, facts) > MNL_CB_STOP);
	}
	mnl_socket_close(sk);
}
