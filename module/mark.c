// SPDX-License-Identifier: GPL-2.0
/*
 * Marks by the names of their classes: all that another module (xt_synq.c) may ask
 * of this one.
 *
 * Mask, classes and marks are those of the moment: whoever asks holds nothing of a
 * configuration, so none is kept for it, and a new one is in force at once.  Without
 * a configuration, a mask, such a class, or a mark of the class, there is nothing to
 * find and nothing to set.  While synq is switched off its marks stay what they are:
 * other rules go on matching them.
 *
 * DOC: why the state of the namespace is there
 *
 * Packets still pass while their namespace is taken down.  Its state is freed after
 * the .exit of everybody, that is when neither devices nor rules are left (net/core/
 * net_namespace.c); from .pre_exit on there is no configuration in it.  The other
 * way to lose it is to unload this module, which its users' need of these symbols
 * prevents.
 *
 * Any context, under rcu_read_lock().
 */
#include <linux/export.h>
#include <linux/rcupdate.h>
#include "compat.h"
#include "conf.h"
#include "mark.h"

/* 0 if there is no such class, or if it has no mark. */
static u32 bits_of(struct synq_conf *conf, const char *name)
{
	const struct synq_class *class = synq_conf_class_by_name(conf, name);

	return class ? class->mark_bits : 0;
}

/**
 * synq_mark_is() - does a mark say that a packet is of a class?
 * @net: network namespace of the packet
 * @mark: of the packet
 * @name: of the class
 *
 * Context: any, rcu_read_lock()
 * Return: true if so
 */
bool synq_mark_is(const struct net *net, u32 mark, const char *name)
{
	struct synq_conf *conf = rcu_dereference(synq_net(net)->conf);
	u32 bits;

	if (!conf)
		return false;
	bits = mark & conf->mark_mask;
	return bits && bits == bits_of(conf, name);
}
EXPORT_SYMBOL_NS_GPL(synq_mark_is, SYNQ_NAMESPACE);

/**
 * synq_mark_set() - a mark that says that a packet is of a class
 * @net: network namespace of the packet
 * @mark: of the packet
 * @name: of the class
 *
 * Context: any, rcu_read_lock()
 * Return: @mark with the value of the class in the bits of the mask; as it was if
 * the class has none
 */
u32 synq_mark_set(const struct net *net, u32 mark, const char *name)
{
	struct synq_conf *conf = rcu_dereference(synq_net(net)->conf);
	u32 bits;

	if (!conf)
		return mark;
	bits = bits_of(conf, name);
	return bits ? (mark & ~conf->mark_mask) | bits : mark;
}
EXPORT_SYMBOL_NS_GPL(synq_mark_set, SYNQ_NAMESPACE);
