// SPDX-License-Identifier: GPL-2.0
/*
 * Routing rules (ip rule) that test bits of the packet mark which a configuration
 * gives to classes.  The class of a SYN then decides its route, and the route of
 * the replies.  That may be intended, or two programs use the same bits, so it is
 * a remark and not an error.
 *
 * If the rules cannot be read there is no remark.
 */
#include <libmnl/libmnl.h>
#include <linux/fib_rules.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include "report.h"
#include "rules.h"

#define ROOM		32768	/* the most that the kernel puts into one message of a dump */

/**
 * struct rule - what of a rule counts
 * @family: AF_*
 * @priority: of the rule
 * @mark: that it wants
 * @mask: the bits of it that it looks at, 0: none
 */
struct rule {
	unsigned char family;
	__u32 priority;
	__u32 mark;
	__u32 mask;
};

/**
 * struct found - rules that look at our bits
 * @ours: the bits
 * @first: one of them
 * @number: how many
 */
struct found {
	__u32 ours;
	struct rule first;
	unsigned int number;
};

static int take_attribute(const struct nlattr *attr, void *arg)
{
	struct rule *rule = arg;
	__u32 *to;

	switch (mnl_attr_get_type(attr)) {
	case FRA_PRIORITY:
		to = &rule->priority;
		break;
	case FRA_FWMARK:
		to = &rule->mark;
		break;
	case FRA_FWMASK:
		to = &rule->mask;
		break;
	default:
		return MNL_CB_OK;
	}
	if (mnl_attr_validate(attr, MNL_TYPE_U32) < 0)
		return MNL_CB_ERROR;
	*to = mnl_attr_get_u32(attr);
	return MNL_CB_OK;
}

static int take_rule(const struct nlmsghdr *nlh, void *arg)
{
	const struct fib_rule_hdr *header = mnl_nlmsg_get_payload(nlh);
	struct found *found = arg;
	struct rule rule = { 0 };

	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(*header))
		return MNL_CB_ERROR;
	rule.family = header->family;
	if (mnl_attr_parse(nlh, sizeof(*header), take_attribute, &rule) < 0)
		return MNL_CB_ERROR;
	if ((rule.mask & found->ours) && !found->number++)
		found->first = rule;
	return MNL_CB_OK;
}

static void dump(struct mnl_socket *sk, struct found *found)
{
	char buffer[ROOM];
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buffer);
	struct fib_rule_hdr *header;
	ssize_t length;

	nlh->nlmsg_type = RTM_GETRULE;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	nlh->nlmsg_seq = 1;
	header = mnl_nlmsg_put_extra_header(nlh, sizeof(*header));
	header->family = AF_UNSPEC;
	if (mnl_socket_bind(sk, 0, MNL_SOCKET_AUTOPID) < 0 ||
	    mnl_socket_sendto(sk, nlh, nlh->nlmsg_len) < 0)
		return;
	do {
		length = mnl_socket_recvfrom(sk, buffer, sizeof(buffer));
	} while (length > 0 &&
		 mnl_cb_run(buffer, length, 1, mnl_socket_get_portid(sk),
			    take_rule, found) > MNL_CB_STOP);
}

/**
 * rules_note() - a remark if routing rules look at bits of the packet mark
 * @mask: the bits
 */
void rules_note(__u32 mask)
{
	struct found found = { .ours = mask };
	const struct rule *rule = &found.first;
	struct mnl_socket *sk;

	if (!mask)
		return;
	sk = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
	if (!sk)
		return;
	dump(sk, &found);
	mnl_socket_close(sk);
	if (found.number)
		remark("ip%s rule %u tests bits of the mark, 0x%x/0x%x: SYNs are routed by class%s",
		       rule->family == AF_INET6 ? " -6" : "", rule->priority,
		       rule->mark, rule->mask,
		       found.number > 1 ? " (other rules, too)" : "");
}
