// SPDX-License-Identifier: GPL-2.0
/*
 * Edits of a configuration that is not published: classes, matches, listeners.
 *
 * Each checks what concerns it alone, and changes nothing if it refuses; what
 * concerns all classes together (priorities, reserves, shares, marks) is checked
 * by synq_conf_finish() at the end.  Whose configuration it is, draft.c knows.
 *
 * Process context, under &synq_net.lock.
 */
#include <linux/ctype.h>
#include <linux/netlink.h>
#include <linux/string.h>
#include <linux/stringify.h>
#include "attribute.h"
#include "chunks.h"
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
	if (class->matches) {
		NL_SET_ERR_MSG(extack, "matches still use this class");
		return -EBUSY;
	}
	*class = (struct synq_class){ .slot = class->slot };
	return 0;
}

/* A table for each family; NULL: there is no such service. */
static struct synq_lpm *find_sources(struct synq_conf *conf,
				     const struct synq_service_key *key)
{
	unsigned int at;

	if (synq_service_is_all(key))
		return conf->lpm;
	at = synq_service_place(conf->service, conf->n_services, key);
	if (at < conf->n_services &&
	    !synq_service_order(&conf->service[at].key, key))
		return conf->service[at].lpm;
	return NULL;
}

static int check_service(const struct synq_prefix *prefix,
			 const struct synq_service_key *key,
			 struct netlink_ext_ack *extack)
{
	const bool is_v6 = key->family == SYNQ_SERVICE_V6;

	if (!synq_service_is_valid(key)) {
		NL_SET_ERR_MSG(extack, "not a destination: bad prefix, or the higher port first");
		return -EINVAL;
	}
	if (key->family != SYNQ_SERVICE_ANY && is_v6 != prefix->is_v6) {
		NL_SET_ERR_MSG(extack, "source and destination are of different families");
		return -EINVAL;
	}
	return 0;
}

static int add_service(struct synq_conf *conf,
		       const struct synq_service_key *key,
		       struct netlink_ext_ack *extack)
{
	unsigned int at = synq_service_place(conf->service, conf->n_services,
					     key);
	struct synq_service *service = &conf->service[at];
	unsigned int i;

	for (i = 0; i < conf->n_services; i++) {
		if (!synq_service_crosses(&conf->service[i].key, key))
			continue;
		NL_SET_ERR_MSG(extack, "the ports partly overlap a match to the same addresses");
		return -EINVAL;
	}
	if (conf->n_services == SYNQ_SERVICES_MAX) {
		NL_SET_ERR_MSG(extack, "matches have 64 different destinations already");
		return -ENOSPC;
	}
	memmove(service + 1, service,
		(conf->n_services - at) * sizeof(*service));
	service->key = *key;
	synq_lpm_init(&service->lpm[0], 32);
	synq_lpm_init(&service->lpm[1], 128);
	conf->n_services++;
	return 0;
}

/* Goes with its last match. */
static void tidy_service(struct synq_conf *conf,
			 const struct synq_service_key *key)
{
	struct synq_lpm *lpm = find_sources(conf, key);
	struct synq_service *service;

	if (!lpm || lpm == conf->lpm || lpm[0].prefixes || lpm[1].prefixes)
		return;
	service = container_of(lpm, struct synq_service, lpm[0]);
	synq_chunks_drop(&service->lpm[0]);
	synq_chunks_drop(&service->lpm[1]);
	conf->n_services--;
	memmove(service, service + 1,
		(&conf->service[conf->n_services] - service) *
		sizeof(*service));
}

static int insert(struct synq_conf *conf, const struct synq_prefix *prefix,
		  const struct synq_service_key *service, u16 value, u32 end,
		  bool exists, struct netlink_ext_ack *extack)
{
	struct synq_lpm *lpm = &find_sources(conf, service)[prefix->is_v6];
	int err = synq_chunks_own(lpm, prefix->addr, prefix->len, true);

	if (!err)
		err = synq_lpm_insert(lpm, prefix->addr, prefix->len, value,
				      exists);
	if (!err)
		synq_lpm_find(lpm, prefix->addr, prefix->len)->end = end;
	if (err == -EEXIST)
		NL_SET_ERR_MSG(extack, "there is a match for this prefix");
	if (err == -EINVAL)
		NL_SET_ERR_MSG(extack, "not a prefix: too long, or host bits are set");
	return err;
}

/**
 * synq_edit_put_match() - give a prefix a class
 * @conf: not published
 * @prefix: of the source
 * @service: where it has the class
 * @class: name
 * @how: what class the prefix must have there already
 * @timeout: seconds, after which the match goes; 0: never
 * @extack: says why not
 *
 * Context: &synq_net.lock held
 * Return: 0, -ENOENT, -EEXIST, -EINVAL, -ENOSPC or -ENOMEM
 */
int synq_edit_put_match(struct synq_conf *conf,
			const struct synq_prefix *prefix,
			const struct synq_service_key *service,
			const char *class, enum synq_match_edit how,
			u32 timeout, struct netlink_ext_ack *extack)
{
	struct synq_class *c = find_class(conf, class, extack);
	const u32 now = synq_expire_now();
	const u32 end = synq_expire_end(timeout, now);
	const struct synq_lpm_node *node;
	struct synq_lpm *lpm;
	u16 was, is = 0;
	int err;

	if (!c)
		return -ENOENT;
	err = check_service(prefix, service, extack);
	if (err)
		return err;
	lpm = find_sources(conf, service);
	node = lpm ? synq_lpm_find(&lpm[prefix->is_v6], prefix->addr,
				   prefix->len) : NULL;
	was = node ? node->value : 0;
	/* What is over need not have gone yet. */
	if (node && !synq_expire_is_over(node->end, now))
		is = was;
	if (how == SYNQ_MATCH_EXIST && is == c->slot + 1 && node->end == end)
		return 0;
	if (how == SYNQ_MATCH_EXIST && is && is != c->slot + 1) {
		NL_SET_ERR_MSG(extack, "there is a match of another class for this prefix");
		return -EEXIST;
	}
	if (how == SYNQ_MATCH_SET && !is) {
		NL_SET_ERR_MSG(extack, "there is no match for this prefix");
		return -ENOENT;
	}
	if (!was && synq_conf_matches(conf) >= SYNQ_MATCHES_MAX) {
		NL_SET_ERR_MSG(extack, "there are too many matches");
		return -ENOSPC;
	}
	if (!lpm)
		err = add_service(conf, service, extack);
	if (err)
		return err;
	err = insert(conf, prefix, service, c->slot + 1, end,
		     how != SYNQ_MATCH_ADD || !is, extack);
	if (err) {
		tidy_service(conf, service);
		return err;
	}
	conf->first_end = synq_expire_first(conf->first_end, end);
	c->matches++;
	if (was)
		conf->class[was - 1].matches--;
	return 0;
}

static int take_out(struct synq_conf *conf, struct synq_lpm *lpm,
		    const struct synq_lpm_node *node)
{
	const struct synq_lpm_node was = *node;
	int err;

	/* @node may be in a copy afterwards, or not be any more. */
	err = synq_chunks_own(lpm, was.key, was.len, false);
	if (!err)
		err = synq_lpm_remove(lpm, was.key, was.len);
	if (!err)
		conf->class[was.value - 1].matches--;
	return err;
}

/**
 * synq_edit_del_match() - take a match out
 * @conf: not published
 * @prefix: of the source
 * @service: where it has a class
 * @exist: it is no error if it has none
 * @extack: says why not
 *
 * Context: &synq_net.lock held
 * Return: 0, -ENOENT or -ENOMEM
 */
int synq_edit_del_match(struct synq_conf *conf,
			const struct synq_prefix *prefix,
			const struct synq_service_key *service, bool exist,
			struct netlink_ext_ack *extack)
{
	struct synq_lpm *lpm = find_sources(conf, service);
	const struct synq_lpm_node *node = NULL;
	int err;

	if (lpm) {
		lpm += prefix->is_v6;
		node = synq_lpm_find(lpm, prefix->addr, prefix->len);
	}
	if (node && synq_expire_is_over(node->end, synq_expire_now()))
		node = NULL;
	if (!node && exist)
		return 0;
	if (!node) {
		NL_SET_ERR_MSG(extack, "there is no match for this prefix");
		return -ENOENT;
	}
	err = take_out(conf, lpm, node);
	if (err)
		return err;
	/* Else the memory of all that ever were stays, to no purpose. */
	if (!lpm->prefixes)
		synq_chunks_drop(lpm);
	tidy_service(conf, service);
	return 0;
}

static int expire(struct synq_conf *conf, struct synq_lpm *lpm, u32 now)
{
	const struct synq_lpm_node *node;
	u32 cursor = 0;
	int err = 0;

	while (!err && (cursor = synq_lpm_walk(lpm, cursor, &node))) {
		if (synq_expire_is_over(node->end, now))
			err = take_out(conf, lpm, node);
		else
			conf->first_end = synq_expire_first(conf->first_end,
							    node->end);
	}
	if (!lpm->prefixes)
		synq_chunks_drop(lpm);
	return err;
}

/**
 * synq_edit_expire() - take out the matches whose time is over
 * @conf: not published; of no use after an error
 * @now: from synq_expire_now()
 *
 * Context: &synq_net.lock held
 * Return: 0 or -ENOMEM
 */
int synq_edit_expire(struct synq_conf *conf, u32 now)
{
	struct synq_service_key key;
	unsigned int i;
	int err;

	conf->first_end = 0;
	err = expire(conf, &conf->lpm[0], now) ?:
	      expire(conf, &conf->lpm[1], now);
	/* From the last on: one that goes moves those behind it. */
	for (i = conf->n_services; i-- && !err;) {
		struct synq_service *service = &conf->service[i];

		err = expire(conf, &service->lpm[0], now) ?:
		      expire(conf, &service->lpm[1], now);
		key = service->key;
		tidy_service(conf, &key);
	}
	return err;
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
