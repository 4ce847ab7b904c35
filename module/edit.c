// SPDX-License-Identifier: GPL-2.0
/*
 * Edits of a configuration that is not published: classes, listeners, and services of
 * other hosts; matches are in match.c.
 *
 * Each edit checks what concerns it alone, and changes nothing if it refuses.  What
 * concerns all classes together (priorities, reserves, shares, marks) is checked
 * by synq_conf_finish() at the end.  The caller is draft.c.
 *
 * Process context, under &synq_net.lock.
 */
#include <linux/ctype.h>
#include <linux/netlink.h>
#include <linux/string.h>
#include <linux/stringify.h>
#include "attribute.h"
#include "edit.h"
#include "expire.h"

static const struct synq_conf *current_conf(struct synq_net *sn)
{
	return rcu_dereference_protected(sn->conf, lockdep_is_held(&sn->lock));
}

static bool name_is_valid(const char *name)
{
	const char *c;

	if (!isalpha(*name))
		return false;
	for (c = name; *c; c++)
		if (!isalnum(*c) && *c != '_' && *c != '-')
			return false;
	return true;
}

/*
 * A class that is in force keeps its slot, and with it its bucket and its
 * counters; a new one takes a slot that is not in use, rather one that is not
 * in force either.
 */
static u8 slot_for(const struct synq_conf *now, const struct synq_conf *conf,
		   const char *name)
{
	u8 slot, found = 0;

	for (slot = SYNQ_SLOT_FIRST; slot < SYNQ_SLOTS; slot++) {
		const char *was = now ? now->class[slot].name : "";

		if (conf->class[slot].name[0])
			continue;
		if (!strcmp(was, name))
			return slot;
		if (!found || (now && now->class[found].name[0] && !*was))
			found = slot;
	}
	return found;
}

/**
 * synq_edit_add_class() - add a class
 * @sn: network namespace
 * @conf: not published
 * @name: of the class
 * @edit: what is given of it
 * @extack: says why not
 *
 * Context: &synq_net.lock held
 * Return: 0, -EINVAL, -EEXIST, or -ENOSPC
 */
int synq_edit_add_class(struct synq_net *sn, struct synq_conf *conf,
			const char *name, const struct synq_edit *edit,
			struct netlink_ext_ack *extack)
{
	struct synq_class *class;
	u8 slot;
	int err;

	if (!name_is_valid(name)) {
		NL_SET_ERR_MSG(extack, "not a class name: a letter, then letters, digits, - and _");
		return -EINVAL;
	}
	if (!(edit->has & BIT_ULL(SYNQ_A_CLASS_PRIORITY))) {
		NL_SET_ERR_MSG(extack, "a class needs a priority");
		return -EINVAL;
	}
	err = synq_attr_check(&synq_class_attrs, edit, extack);
	if (err)
		return err;
	if (synq_conf_class_by_name(conf, name)) {
		NL_SET_ERR_MSG(extack, "there is a class of this name");
		return -EEXIST;
	}
	slot = slot_for(current_conf(sn), conf, name);
	if (!slot) {
		NL_SET_ERR_MSG(extack, "there are 16 classes already");
		return -ENOSPC;
	}
	class = &conf->class[slot];
	*class = (struct synq_class){ .slot = slot };
	strscpy(class->name, name, sizeof(class->name));
	synq_attr_init(&synq_class_attrs, class);
	synq_attr_apply(&synq_class_attrs, class, edit);
	return 0;
}

static struct synq_class *find_class(struct synq_conf *conf, const char *name,
				     struct netlink_ext_ack *extack)
{
	struct synq_class *class = synq_conf_class_by_name(conf, name);

	if (!class)
		NL_SET_ERR_MSG(extack, "there is no class of this name");
	return class;
}

/**
 * synq_edit_set_class() - change what is given of a class
 * @conf: not published
 * @name: of the class
 * @edit: what is given
 * @extack: says why not
 *
 * Context: &synq_net.lock held
 * Return: 0, -ENOENT, or -EINVAL: a built-in class, or a bad value
 */
int synq_edit_set_class(struct synq_conf *conf, const char *name,
			const struct synq_edit *edit,
			struct netlink_ext_ack *extack)
{
	struct synq_class *class = find_class(conf, name, extack);
	int err;

	if (!class)
		return -ENOENT;
	if (class->slot < SYNQ_SLOT_FIRST) {
		NL_SET_ERR_MSG(extack, "a built-in class cannot be changed");
		return -EINVAL;
	}
	err = synq_attr_check(&synq_class_attrs, edit, extack);
	if (err)
		return err;
	synq_attr_apply(&synq_class_attrs, class, edit);
	return 0;
}

/**
 * synq_edit_del_class() - take a class out
 * @conf: not published
 * @name: of the class
 * @extack: says why not
 *
 * Context: &synq_net.lock held
 * Return: 0, -ENOENT, -EINVAL for a built-in class, or -EBUSY
 */
int synq_edit_del_class(struct synq_conf *conf, const char *name,
			struct netlink_ext_ack *extack)
{
	struct synq_class *class = find_class(conf, name, extack);

	if (!class)
		return -ENOENT;
	if (class->slot < SYNQ_SLOT_FIRST) {
		NL_SET_ERR_MSG(extack, "a built-in class cannot be deleted");
		return -EINVAL;
	}
	if (class->matches && synq_edit_expire(conf, synq_expire_now(), NULL))
		return -ENOMEM;
	if (class->matches) {
		NL_SET_ERR_MSG(extack, "matches still use this class");
		return -EBUSY;
	}
	*class = (struct synq_class){ .slot = class->slot };
	return 0;
}

static struct synq_listener *find_listener(struct synq_conf *conf, u16 port,
					   struct netlink_ext_ack *extack)
{
	const struct synq_listener *listener = synq_conf_listener(conf, port);

	if (!listener)
		NL_SET_ERR_MSG(extack, "there is no listener for this port");
	return (struct synq_listener *)listener;
}

/**
 * synq_edit_add_listener() - add a listener
 * @sn: network namespace
 * @conf: not published
 * @port: host byte order
 * @edit: what is given of it
 * @extack: says why not
 *
 * A listener that is in force keeps its counters.
 *
 * Context: &synq_net.lock held
 * Return: 0, -EINVAL, -EEXIST, -ENOSPC or -ENOMEM
 */
int synq_edit_add_listener(struct synq_net *sn, struct synq_conf *conf, u16 port,
			   const struct synq_edit *edit,
			   struct netlink_ext_ack *extack)
{
	const struct synq_conf *now = current_conf(sn);
	struct synq_listener listener = { };
	struct synq_port *p;
	unsigned int i;
	int err = synq_attr_check(&synq_listener_attrs, edit, extack);

	if (err)
		return err;
	if (synq_conf_port(conf, port)) {
		NL_SET_ERR_MSG(extack, "there is a listener for this port");
		return -EEXIST;
	}
	if (conf->n_listeners == SYNQ_LISTENERS_MAX) {
		NL_SET_ERR_MSG(extack, "there are " __stringify(SYNQ_LISTENERS_MAX)
			       " listeners already");
		return -ENOSPC;
	}
	p = now ? synq_conf_port(now, port) : NULL;
	if (p)
		synq_port_get(p);
	else
		p = synq_port_alloc(port);
	if (!p)
		return -ENOMEM;
	for (i = conf->n_listeners; i && conf->listener[i - 1].port->port > port; i--)
		conf->listener[i] = conf->listener[i - 1];
	synq_attr_init(&synq_listener_attrs, &listener);
	synq_attr_apply(&synq_listener_attrs, &listener, edit);
	listener.port = p;
	conf->listener[i] = listener;
	conf->n_listeners++;
	return 0;
}

/**
 * synq_edit_set_listener() - change what is given of a listener
 * @conf: not published
 * @port: host byte order
 * @edit: what is given
 * @extack: says why not
 *
 * Context: &synq_net.lock held
 * Return: 0, -ENOENT or -EINVAL
 */
int synq_edit_set_listener(struct synq_conf *conf, u16 port,
			   const struct synq_edit *edit,
			   struct netlink_ext_ack *extack)
{
	struct synq_listener *listener = find_listener(conf, port, extack);
	int err;

	if (!listener)
		return -ENOENT;
	err = synq_attr_check(&synq_listener_attrs, edit, extack);
	if (!err)
		synq_attr_apply(&synq_listener_attrs, listener, edit);
	return err;
}

/**
 * synq_edit_del_listener() - take a listener out
 * @conf: not published
 * @port: host byte order
 * @extack: says why not
 *
 * Context: &synq_net.lock held
 * Return: 0 or -ENOENT
 */
int synq_edit_del_listener(struct synq_conf *conf, u16 port,
			   struct netlink_ext_ack *extack)
{
	struct synq_listener *listener = find_listener(conf, port, extack);

	if (!listener)
		return -ENOENT;
	synq_port_put(listener->port);
	conf->n_listeners--;
	memmove(listener, listener + 1,
		(conf->listener + conf->n_listeners - listener) *
		sizeof(*listener));
	return 0;
}

/*
 * Edits of a configuration that is not published: services of other hosts, to
 * which this one forwards.  What they mean to a SYN is in hook.c and judge.c.
 *
 * One set of counters is for all of them, and stays as long as there is one.
 *
 * Process context, under &synq_net.lock.
 */

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
