// SPDX-License-Identifier: GPL-2.0
/*
 * Edits of the matches of a configuration that is not published: which source has which
 * class, for all destinations or for a service, and until when.
 *
 * An edit that is refused changes nothing.  The callers are draft.c, and expire.c, which
 * takes out expired matches.
 *
 * Process context.  Nobody else may have the configuration meanwhile.
 */
#include <linux/netlink.h>
#include <linux/string.h>
#include <linux/stringify.h>
#include "chunks.h"
#include "edit.h"
#include "expire.h"

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

/* A service is removed with its last match. */
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
	struct synq_class *c = synq_conf_class_by_name(conf, class);
	const u32 now = synq_expire_now();
	const u32 end = synq_expire_end(timeout, now);
	const struct synq_lpm_node *node;
	struct synq_lpm *lpm;
	u16 was, is = 0;
	int err;

	if (!c) {
		NL_SET_ERR_MSG(extack, "there is no class of this name");
		return -ENOENT;
	}
	err = check_service(prefix, service, extack);
	if (err)
		return err;
	lpm = find_sources(conf, service);
	node = lpm ? synq_lpm_find(&lpm[prefix->is_v6], prefix->addr,
				   prefix->len) : NULL;
	was = node ? node->value : 0;
	/* An expired match may still be there. */
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

	/* @node may be in a copy afterwards, or have been freed. */
	err = synq_chunks_own(lpm, was.key, was.len, false);
	if (!err)
		err = synq_lpm_remove(lpm, was.key, was.len);
	if (!err)
		conf->class[was.value - 1].matches--;
	return err;
}

/**
 * synq_edit_del_match() - remove a match
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
	/* Otherwise memory for the largest size ever would stay allocated. */
	if (!lpm->prefixes)
		synq_chunks_drop(lpm);
	tidy_service(conf, service);
	return 0;
}

static int expire(struct synq_conf *conf, struct synq_lpm *lpm, u32 now, const u64 *serial)
{
	const struct synq_lpm_node *node;
	u32 cursor = 0;
	int err = 0;

	while (!err && (cursor = synq_lpm_walk(lpm, cursor, &node))) {
		if (serial && READ_ONCE(*serial) != conf->serial)
			err = -ECANCELED;
		else if (synq_expire_is_over(node->end, now))
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
 * synq_edit_expire() - remove the matches that have expired
 * @conf: not published; of no use after an error
 * @now: from synq_expire_now()
 * @serial: of what is in force; ends when that is not the one that @conf was copied from; or NULL
 *
 * Context: process; nobody else has @conf
 * Return: 0, -ENOMEM or -ECANCELED
 */
int synq_edit_expire(struct synq_conf *conf, u32 now, const u64 *serial)
{
	struct synq_service_key key;
	unsigned int i;
	int err;

	if (!synq_expire_is_over(conf->first_end, now))
		return 0;
	conf->first_end = 0;
	err = expire(conf, &conf->lpm[0], now, serial) ?:
	      expire(conf, &conf->lpm[1], now, serial);
	/* Backwards, since removing a service moves those behind it. */
	for (i = conf->n_services; i-- && !err;) {
		struct synq_service *service = &conf->service[i];

		err = expire(conf, &service->lpm[0], now, serial) ?:
		      expire(conf, &service->lpm[1], now, serial);
		key = service->key;
		tidy_service(conf, &key);
	}
	return err;
}
