// SPDX-License-Identifier: GPL-2.0
/*
 * Edits of a configuration that is not published: services of other hosts, to
 * which this one forwards.  What they mean to a SYN is in arrival.c and judge.c.
 *
 * One set of counters is for all of them, and stays as long as there is one.
 *
 * Process context, under &synq_net.lock.
 */
#include <linux/netlink.h>
#include <linux/string.h>
#include "edit.h"

/* Where a forward stands, or would stand. */
static bool find_forward(const struct synq_conf *conf,
			 const struct synq_service_key *key, unsigned int *at)
{
	int order = 1;

	for (*at = 0; *at < conf->n_forwards; ++*at) {
		order = synq_service_order(&conf->forward[*at], key);
		if (order >= 0)
			break;
	}
	return !order;
}

static struct synq_port *alloc_forwarded(struct synq_net *sn)
{
	struct synq_port *port = synq_port_alloc(0);

	if (!port || synq_port_begin(sn, port, GFP_KERNEL_ACCOUNT))
		return port;
	synq_port_put(port);
	return NULL;
}

/* Those that are in force keep their counters. */
static int provide_forwarded(struct synq_net *sn, struct synq_conf *conf)
{
	const struct synq_conf *now =
		rcu_dereference_protected(sn->conf, lockdep_is_held(&sn->lock));
	struct synq_port *port = now ? now->forwarded.port : NULL;

	if (conf->forwarded.port)
		return 0;
	if (port)
		synq_port_get(port);
	else
		port = alloc_forwarded(sn);
	conf->forwarded.port = port;
	return port ? 0 : -ENOMEM;
}

/**
 * synq_forward_add() - police SYNs for other hosts, too
 * @sn: network namespace
 * @conf: not published
 * @key: their destinations
 * @extack: says why not
 *
 * Context: &synq_net.lock held
 * Return: 0, -EEXIST, -EINVAL, -ENOSPC or -ENOMEM
 */
int synq_forward_add(struct synq_net *sn, struct synq_conf *conf,
		     const struct synq_service_key *key,
		     struct netlink_ext_ack *extack)
{
	unsigned int at;
	int err;

	if (!synq_service_is_valid(key) || !key->first) {
		NL_SET_ERR_MSG(extack, "not a service: bad port or prefix, or higher port first");
		return -EINVAL;
	}
	if (find_forward(conf, key, &at)) {
		NL_SET_ERR_MSG(extack, "there is such a service");
		return -EEXIST;
	}
	if (conf->n_forwards == SYNQ_FORWARDS_MAX) {
		NL_SET_ERR_MSG(extack, "there are 64 services already");
		return -ENOSPC;
	}
	err = provide_forwarded(sn, conf);
	if (err)
		return err;
	memmove(&conf->forward[at + 1], &conf->forward[at],
		(conf->n_forwards - at) * sizeof(*key));
	conf->forward[at] = *key;
	conf->n_forwards++;
	return 0;
}

/**
 * synq_forward_del() - leave SYNs for other hosts alone again
 * @conf: not published
 * @key: their destinations
 * @extack: says why not
 *
 * Context: &synq_net.lock held
 * Return: 0 or -ENOENT
 */
int synq_forward_del(struct synq_conf *conf,
		     const struct synq_service_key *key,
		     struct netlink_ext_ack *extack)
{
	unsigned int at;

	if (!find_forward(conf, key, &at)) {
		NL_SET_ERR_MSG(extack, "there is no such service");
		return -ENOENT;
	}
	conf->n_forwards--;
	memmove(&conf->forward[at], &conf->forward[at + 1],
		(conf->n_forwards - at) * sizeof(*key));
	if (conf->n_forwards)
		return 0;
	synq_port_put(conf->forwarded.port);
	conf->forwarded.port = NULL;
	return 0;
}
