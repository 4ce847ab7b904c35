// SPDX-License-Identifier: GPL-2.0
/*
 * Two socket options of SOL_IP, by which an application chooses for its own listening
 * socket, IPv4 or IPv6, where the administrator allows it:
 *
 * SYNQ_SO_ORDER	the order (enum synq_order) in which it accepts, with
 *			"app-order on";
 * SYNQ_SO_COOKIES	when SYNs are answered by cookies (enum synq_cookies), with
 *			"app-cookies on"; classes that have a policy of their own
 *			keep it.
 *
 * It gets no slot, no rate and no other socket by that, so that no privilege is
 * asked for.
 *
 * A choice belongs to the socket and is kept in its record: as long as the
 * port stays configured, through changes of the configuration, and to no effect
 * while it is not allowed.  A socket that is not managed yet becomes so here, as
 * by its first SYN.
 *
 * The kernel calls without the socket's lock, and none is needed: the state of
 * the socket is read as by any packet, and a choice that comes while it closes
 * goes with its record.  A run over the queue that is under way may still bring
 * the old order back; the next one corrects it.
 *
 * A socket of MPTCP, SCTP or UDP does not come here, or is told that there is
 * no such option.
 *
 * Process context, may sleep.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/netfilter.h>
#include <linux/rcupdate.h>
#include <linux/sockptr.h>
#include <linux/uaccess.h>
#include <net/inet_sock.h>
#include <net/tcp.h>
#include "listener.h"
#include "record.h"
#include "sockopt.h"

#define TRIES	8

/*
 * May an option be asked for, or set?  Fills in what is configured.  -ENOPROTOOPT
 * for what synq has nothing to do with, as if it were not there.
 */
static int check_socket(const struct sock *sk, struct synq_listener *listener)
{
	const struct synq_listener *found = NULL;
	const struct synq_conf *conf;

	if (sk->sk_type != SOCK_STREAM || sk->sk_protocol != IPPROTO_TCP)
		return -ENOPROTOOPT;
	rcu_read_lock();
	conf = rcu_dereference(synq_net(sock_net(sk))->conf);
	if (conf)
		found = synq_conf_listener(conf, inet_sk(sk)->inet_num);
	if (found)
		*listener = *found;
	rcu_read_unlock();
	if (!conf)
		return -ENOPROTOOPT;
	if (inet_sk_state_load(sk) != TCP_LISTEN)
		return -ENOTCONN;
	return found ? 0 : -ENOPROTOOPT;
}

static bool is_allowed(const struct synq_listener *listener, int option)
{
	return option == SYNQ_SO_COOKIES ? listener->app_cookies : listener->app_order;
}

static bool is_valid(int option, int value)
{
	if (option == SYNQ_SO_COOKIES)
		return value >= SYNQ_COOKIES_INHERIT && value <= SYNQ_COOKIES_NEVER;
	return value >= SYNQ_ORDER_STRICT && value <= SYNQ_ORDER_WEIGHTED;
}

static bool choose(const struct sock *sk, int option, u8 value)
{
	struct synq_record *record;

	rcu_read_lock();
	record = synq_record_find(sk);
	if (record && READ_ONCE(record->leaving))
		record = NULL;
	if (record && option == SYNQ_SO_COOKIES)
		WRITE_ONCE(record->app_cookies, value);
	else if (record)
		WRITE_ONCE(record->app_order, value + 1);
	rcu_read_unlock();
	return record;
}

/* As a packet does. */
static void have_managed(struct sock *sk)
{
	struct synq_net *sn = synq_net(sock_net(sk));
	const struct synq_conf *conf;

	rcu_read_lock();
	conf = rcu_dereference(sn->conf);
	if (conf)
		synq_listener_attach(sn, conf, sk);
	rcu_read_unlock();
}

static int set(struct sock *sk, int option, sockptr_t arg, unsigned int len)
{
	struct synq_listener listener;
	unsigned int tries;
	int value, err;

	err = check_socket(sk, &listener);
	if (err)
		return err;
	/* First: while it copies, which may take as long as the caller wants, the module stays. */
	if (!is_allowed(&listener, option))
		return -EPERM;
	if (len < sizeof(value))
		return -EINVAL;
	if (copy_from_sockptr(&value, arg, sizeof(value)))
		return -EFAULT;
	if (!is_valid(option, value))
		return -EINVAL;
	for (tries = 0; !choose(sk, option, value); tries++) {
		if (tries == TRIES)
			return -EBUSY;
		/* Another thread may have the lock of the socket for a moment. */
		if (tries)
			usleep_range(200, 1000);
		have_managed(sk);
	}
	if (option == SYNQ_SO_ORDER)
		synq_record_sort(sk);
	return 0;
}

static int get(struct sock *sk, int option, void __user *user, int *len)
{
	const struct synq_record *record;
	struct synq_listener listener, own;
	int value, err;

	err = check_socket(sk, &listener);
	if (err)
		return err;
	if (*len < (int)sizeof(value))
		return -EINVAL;
	own = listener;
	rcu_read_lock();
	record = synq_record_find(sk);
	if (record)
		synq_record_listener(record, &listener, &own);
	rcu_read_unlock();
	value = option == SYNQ_SO_COOKIES ?
		own.cookies ?: SYNQ_COOKIES_AUTO : own.order;
	*len = sizeof(value);
	return copy_to_user(user, &value, sizeof(value)) ? -EFAULT : 0;
}

static struct nf_sockopt_ops sockopt_ops = {
	.pf		= PF_INET,
	.set_optmin	= SYNQ_SO_ORDER,
	.set_optmax	= SYNQ_SO_COOKIES + 1,
	.set		= set,
	.get_optmin	= SYNQ_SO_ORDER,
	.get_optmax	= SYNQ_SO_COOKIES + 1,
	.get		= get,
	.owner		= THIS_MODULE,
};

/**
 * synq_sockopt_init() - from now on applications are heard
 *
 * Context: process, after the pernet state is there
 * Return: 0, or -EBUSY if another module has one of the numbers
 */
int synq_sockopt_init(void)
{
	return nf_register_sockopt(&sockopt_ops);
}

/**
 * synq_sockopt_exit() - undo synq_sockopt_init(); no call is in progress, since the
 * kernel holds the module during each
 *
 * Context: process
 */
void synq_sockopt_exit(void)
{
	nf_unregister_sockopt(&sockopt_ops);
}
