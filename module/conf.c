// SPDX-License-Identifier: GPL-2.0
/*
 * The snapshot: an immutable configuration of one network namespace.
 *
 * draft.c edits a private one and finish.c completes it.  This file publishes it by RCU and
 * frees the old one.  Packets and socket callbacks read it under rcu_read_lock().
 *
 * A change may require hooks to be registered, or sockets to be left.  Observers do that:
 * this file knows neither.
 *
 * The old one is freed by a worker after the grace period, not by the RCU callback: two
 * million prefixes are in some 30,000 pieces of memory.
 *
 * All of it runs in process context under &synq_net.lock, except
 * synq_conf_free(), which needs no lock.
 */
#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/netlink.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "attribute.h"
#include "chunks.h"
#include "compat.h"
#include "conf.h"
#include "expire.h"
#include "policer.h"

static BLOCKING_NOTIFIER_HEAD(observers);
static atomic64_t serial;	/* of the last snapshot published */

/**
 * synq_conf_observe() - be called on every change of a configuration
 * @nb: called with an enum synq_conf_event and a struct synq_conf_change,
 *	under &synq_net.lock
 *
 * Context: process
 * Return: 0
 */
int synq_conf_observe(struct notifier_block *nb)
{
	return blocking_notifier_chain_register(&observers, nb);
}

/**
 * synq_conf_ignore() - undo synq_conf_observe()
 * @nb: not called any more on return
 *
 * Context: process
 */
void synq_conf_ignore(struct notifier_block *nb)
{
	blocking_notifier_chain_unregister(&observers, nb);
}

static void init_builtin(struct synq_conf *conf, u8 slot, const char *name)
{
	struct synq_class *class = &conf->class[slot];

	strscpy(class->name, name, sizeof(class->name));
	synq_attr_init(&synq_class_attrs, class);
}

/**
 * synq_conf_alloc() - an empty configuration, not published
 *
 * Context: process
 * Return: NULL without memory; else to be given to synq_conf_free() or
 * synq_conf_publish()
 */
struct synq_conf *synq_conf_alloc(void)
{
	struct synq_conf *conf = kvzalloc(sizeof(*conf), GFP_KERNEL_ACCOUNT);
	u8 slot;

	if (!conf)
		return NULL;
	conf->payer = get_mem_cgroup_from_mm(current->mm);
	synq_lpm_init(&conf->lpm[0], 32);
	synq_lpm_init(&conf->lpm[1], 128);
	for (slot = 0; slot < SYNQ_SLOTS; slot++)
		conf->class[slot].slot = slot;
	init_builtin(conf, SYNQ_SLOT_LOCAL, "local");
	init_builtin(conf, SYNQ_SLOT_DEFAULT, "default");
	return conf;
}

/* If it fails, @copy is freed with its tables so far: none of @conf's may be among them. */
static int share_services(struct synq_conf *copy, const struct synq_conf *conf)
{
	int err = 0;
	u8 i;

	for (i = 0; !err && i < conf->n_services; i++) {
		struct synq_service *to = &copy->service[i];
		const struct synq_service *from = &conf->service[i];

		synq_lpm_init(&to->lpm[1], 128);
		copy->n_services++;
		err = synq_chunks_share(&to->lpm[0], &from->lpm[0]) ?:
		      synq_chunks_share(&to->lpm[1], &from->lpm[1]);
	}
	return err;
}

/**
 * synq_conf_gfp() - how to allocate what belongs to a configuration
 *
 * It is charged to the control group of the process that asks for the change.  A worker that
 * takes out matches tries again later, so the OOM killer must not run for it.
 *
 * Context: process
 * Return: flags
 */
gfp_t synq_conf_gfp(void)
{
	return current->flags & PF_WQ_WORKER ?
	       GFP_KERNEL_ACCOUNT | __GFP_NOWARN | __GFP_NORETRY : GFP_KERNEL_ACCOUNT;
}

/**
 * synq_conf_copy() - a private copy to be edited
 * @conf: the snapshot, or NULL for an empty one
 *
 * Context: process
 * Return: NULL without memory
 */
struct synq_conf *synq_conf_copy(const struct synq_conf *conf)
{
	struct synq_conf *copy;
	unsigned int i;

	if (!conf)
		return synq_conf_alloc();
	copy = kvmalloc(sizeof(*copy), synq_conf_gfp());
	if (!copy)
		return NULL;
	*copy = *conf;
	copy->payer = get_mem_cgroup_from_mm(current->mm);
	synq_lpm_init(&copy->lpm[0], 32);
	synq_lpm_init(&copy->lpm[1], 128);
	for (i = 0; i < SYNQ_SLOTS; i++) {
		copy->class[i].aggregates = NULL;
		copy->class[i].networks = NULL;
	}
	for (i = 0; i < copy->n_listeners; i++)
		synq_port_get(copy->listener[i].port);
	if (copy->forwarded.port)
		synq_port_get(copy->forwarded.port);
	copy->n_services = 0;
	if (synq_chunks_share(&copy->lpm[0], &conf->lpm[0]) ||
	    synq_chunks_share(&copy->lpm[1], &conf->lpm[1]) ||
	    share_services(copy, conf)) {
		synq_conf_free(copy);
		return NULL;
	}
	return copy;
}

/**
 * synq_conf_free() - free a configuration that no reader can see
 * @conf: may be NULL
 *
 * Context: process
 */
void synq_conf_free(struct synq_conf *conf)
{
	unsigned int i;

	if (!conf)
		return;
	for (i = 0; i < conf->n_listeners; i++)
		synq_port_put(conf->listener[i].port);
	if (conf->forwarded.port)
		synq_port_put(conf->forwarded.port);
	for (i = 0; i < SYNQ_SLOTS; i++) {
		synq_aggregate_put(conf->class[i].aggregates);
		synq_aggregate_put(conf->class[i].networks);
	}
	synq_chunks_drop(&conf->lpm[0]);
	synq_chunks_drop(&conf->lpm[1]);
	for (i = 0; i < conf->n_services; i++) {
		synq_chunks_drop(&conf->service[i].lpm[0]);
		synq_chunks_drop(&conf->service[i].lpm[1]);
	}
	mem_cgroup_put(conf->payer);
	kvfree(conf);
}

static void free_late(struct work_struct *work)
{
	synq_conf_free(container_of(to_rcu_work(work), struct synq_conf, free));
}

/**
 * synq_conf_is_empty() - is there nothing that was configured?
 * @conf: not NULL
 *
 * "enforce off" alone is a configuration: an administrator may set it before adding the
 * first class, and it must stay.
 *
 * Return: true if so
 */
bool synq_conf_is_empty(const struct synq_conf *conf)
{
	return !synq_conf_classes(conf) && !synq_conf_judges(conf) &&
	       !synq_conf_matches(conf) && !conf->mark_mask && !conf->observe;
}

/**
 * synq_conf_classes() - number of configured classes, without the built-in
 * @conf: not NULL
 *
 * Return: 0..SYNQ_CLASSES_MAX
 */
u32 synq_conf_classes(const struct synq_conf *conf)
{
	u32 n = 0;
	u8 slot;

	for (slot = SYNQ_SLOT_FIRST; slot < SYNQ_SLOTS; slot++)
		n += conf->class[slot].name[0] != '\0';
	return n;
}

/**
 * synq_conf_matches() - number of matches, of services included
 * @conf: not NULL
 *
 * Return: 0..SYNQ_MATCHES_MAX
 */
u32 synq_conf_matches(const struct synq_conf *conf)
{
	u32 n = conf->lpm[0].prefixes + conf->lpm[1].prefixes;
	u8 i;

	for (i = 0; i < conf->n_services; i++)
		n += conf->service[i].lpm[0].prefixes +
		     conf->service[i].lpm[1].prefixes;
	return n;
}

/**
 * synq_conf_class_by_name() - a class, built-in ones included
 * @conf: not NULL
 * @name: of the class
 *
 * Return: NULL if there is none
 */
struct synq_class *synq_conf_class_by_name(struct synq_conf *conf,
					   const char *name)
{
	u8 slot;

	if (!*name)
		return NULL;
	for (slot = 0; slot < SYNQ_SLOTS; slot++)
		if (!strcmp(conf->class[slot].name, name))
			return &conf->class[slot];
	return NULL;
}

/*
 * A slot has had its class since generation @since; if that is another class than before, its
 * counters begin at zero.  Packets that still see the old snapshot may add a few to it.
 */
static void give(struct synq_port *port, u8 slot, u32 since)
{
	struct synq_counters __percpu *counters = READ_ONCE(port->counters);
	int cpu;

	if (port->since[slot] == since)
		return;
	/* Pairs with READ_ONCE in synq_acceptq_count(); no order needed. */
	WRITE_ONCE(port->since[slot], since);
	/* If a socket brings them at this moment they are zero, or nearly so. */
	if (!counters)
		return;
	for_each_possible_cpu(cpu)
		memset(per_cpu_ptr(counters, cpu)->n[slot], 0,
		       sizeof(counters->n[slot]));
}

/*
 * A slot whose class has another name than before is reset: its bucket is full and its
 * counters are zero.  A bucket is also reset if its rate changes, since its state has a
 * meaning at the old rate only.  Returns the slots with another class, as bits.
 */
static u32 reset_slots(struct synq_net *sn, const struct synq_conf *old,
		       struct synq_conf *conf)
{
	unsigned int i;
	u32 fresh = 0;
	u8 slot;

	for (slot = SYNQ_SLOT_FIRST; slot < SYNQ_SLOTS; slot++) {
		const struct synq_class *was = old ? &old->class[slot] : NULL;
		struct synq_class *is = &conf->class[slot];
		bool same = was && !strcmp(was->name, is->name);

		if (!same || was->bucket_rate != is->bucket_rate ||
		    was->bucket_per != is->bucket_per)
			atomic64_set(&sn->tat[slot], 0);
		is->since = same ? was->since : conf->generation;
		if (!same)
			fresh |= BIT(slot);
		for (i = 0; i < conf->n_listeners; i++)
			give(conf->listener[i].port, slot, is->since);
		if (conf->forwarded.port)
			give(conf->forwarded.port, slot, is->since);
	}
	return fresh;
}

/* Readers see @conf, or NULL, from now on; indexes are made after a delay. */
static void replace(struct synq_net *sn, struct synq_conf *conf, unsigned long delay)
{
	struct synq_conf *old = rcu_dereference_protected(sn->conf,
							  lockdep_is_held(&sn->lock));

	if (conf)
		conf->serial = atomic64_inc_return(&serial);
	/* Pairs with READ_ONCE in synq_edit_expire(). */
	WRITE_ONCE(sn->serial, conf ? conf->serial : 0);
	rcu_assign_pointer(sn->conf, conf);
	if (conf) {
		synq_index_later(sn, delay);
		synq_expire_later(sn);
	}
	if (!old)
		return;
	INIT_RCU_WORK(&old->free, free_late);
	queue_rcu_work(synq_workqueue, &old->free);
}

/**
 * synq_conf_publish() - make a configuration the one in force
 * @sn: network namespace
 * @conf: finished, and the caller's to free on failure; NULL or empty: back
 *	to the stock kernel
 *
 * Context: process, &synq_net.lock held
 * Return: 0, or what an observer returned to SYNQ_CONF_PREPARE: nothing has
 * changed
 */
int synq_conf_publish(struct synq_net *sn, struct synq_conf *conf)
{
	struct synq_conf_change change = { .sn = sn };
	struct synq_conf *old;
	int err;

	lockdep_assert_held(&sn->lock);
	change.conf = conf && !synq_conf_is_empty(conf) ? conf : NULL;
	err = blocking_notifier_call_chain(&observers, SYNQ_CONF_PREPARE,
					   &change);
	err = notifier_to_errno(err);
	if (err)
		return err;

	/* No failure allowed after this point. */
	old = rcu_dereference_protected(sn->conf, lockdep_is_held(&sn->lock));
	if (conf) {
		conf->generation = ++sn->generation;
		change.fresh = reset_slots(sn, old, conf);
	}
	/* Another commit may follow at once. */
	replace(sn, change.conf ? conf : NULL, HZ);
	blocking_notifier_call_chain(&observers, SYNQ_CONF_PUBLISHED, &change);
	if (conf && !change.conf)
		synq_conf_free(conf);
	return 0;
}

/**
 * synq_conf_renew() - replace the configuration by a copy with fewer matches
 * @sn: network namespace
 * @conf: copied from the one in force
 *
 * The generation stays, since this is no change by an administrator.
 *
 * Context: process, &synq_net.lock held
 */
void synq_conf_renew(struct synq_net *sn, struct synq_conf *conf)
{
	lockdep_assert_held(&sn->lock);
	/* Matches may end each second, and lookups need the indexes between. */
	replace(sn, conf, 0);
}

/**
 * synq_conf_exit() - the namespace or the module goes away
 * @sn: network namespace
 *
 * main.c waits for the workqueue before the module's text goes.
 *
 * Context: process
 */
void synq_conf_exit(struct synq_net *sn)
{
	mutex_lock(&sn->lock);
	synq_conf_publish(sn, NULL);
	mutex_unlock(&sn->lock);
}

/**
 * synq_conf_set_bypass() - switch synq off or on, keeping its configuration
 * @sn: network namespace
 * @bypass: off
 *
 * While switched off, SYNs pass unjudged, every connection is promoted, and the accept
 * queue is not reordered.  What was queued meanwhile is an unplaced tail like any other
 * when synq is switched on again.
 *
 * Context: process
 */
void synq_conf_set_bypass(struct synq_net *sn, bool bypass)
{
	struct synq_conf_change change = { .sn = sn };

	mutex_lock(&sn->lock);
	/* Pairs with READ_ONCE in synq_conf_active(). */
	WRITE_ONCE(sn->bypass, bypass);
	change.conf = rcu_dereference_protected(sn->conf,
						lockdep_is_held(&sn->lock));
	blocking_notifier_call_chain(&observers, SYNQ_CONF_SWITCHED, &change);
	mutex_unlock(&sn->lock);
}
