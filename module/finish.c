// SPDX-License-Identifier: GPL-2.0
/*
 * Completes and validates an edited configuration: the order of service, defaults, and the
 * rules that concern the whole, which only have to hold after the last edit
 * (tools/synq/check.c has the same).
 *
 * Process context, under &synq_net.lock.
 */
#include <linux/bitops.h>
#include <linux/netlink.h>
#include <linux/string.h>
#include "attribute.h"
#include "compat.h"
#include "conf.h"
#include "judge.h"
#include "policer.h"

#define RESERVE_FIRST	25	/* per cent, for the first class */
#define BURST_MIN	8	/* a browser opens 6 connections at once */

/*
 * In a class without a rate, its strays together get the rate of so many sources.  When
 * half of the table is in use, about so many sources of 32768 find their set full.
 */
#define STRAYS		256

/* Order of service: the host itself, then the classes by priority, then the rest. */
static void put_in_order(struct synq_conf *conf)
{
	u8 n = 0, priority, slot;

	conf->default_slot = SYNQ_SLOT_DEFAULT;
	conf->order[n++] = SYNQ_SLOT_LOCAL;
	for (priority = 0; priority <= SYNQ_PRIORITY_MAX; priority++) {
		for (slot = SYNQ_SLOT_FIRST; slot < SYNQ_SLOTS; slot++) {
			const struct synq_class *class = &conf->class[slot];

			if (!class->name[0] || class->priority != priority)
				continue;
			conf->order[n++] = slot;
			if (class->is_default)
				conf->default_slot = slot;
		}
	}
	/* In use even beside a configured default: a match may name it. */
	conf->order[n++] = SYNQ_SLOT_DEFAULT;
	conf->class[SYNQ_SLOT_DEFAULT].is_default =
		conf->default_slot == SYNQ_SLOT_DEFAULT;
	conf->n_positions = n;
	while (n--)
		conf->class[conf->order[n]].position = n;
}

static bool is_given(const struct synq_class *class, u8 attr)
{
	return class->given & BIT_ULL(attr);
}

static int give_reserves(struct synq_conf *conf, struct netlink_ext_ack *extack)
{
	unsigned int sum = 0;
	u8 i;

	for (i = 0; i < conf->n_positions; i++) {
		struct synq_class *class = &conf->class[conf->order[i]];

		class->reserve_effective = class->reserve;
		if (i == 1 && class->slot >= SYNQ_SLOT_FIRST &&
		    !is_given(class, SYNQ_A_CLASS_RESERVE))
			class->reserve_effective = RESERVE_FIRST;
		class->reserve_before = min_t(unsigned int, sum, 100);
		sum += class->reserve_effective;
	}
	if (sum > SYNQ_RESERVE_MAX) {
		NL_SET_ERR_MSG(extack, "the reserves of all classes exceed 75 %");
		return -EINVAL;
	}
	return 0;
}

/*
 * By default the first class has no maximum wait.  If it takes the unmatched it has one: an
 * unknown client never comes first.
 */
static void give_waits(struct synq_conf *conf)
{
	unsigned int j;
	u8 i;

	conf->weights = 0;
	conf->n_sharing = 0;
	conf->min_shares = false;
	conf->inside = 0;
	for (j = 0; j < conf->n_listeners; j++)
		if (conf->listener[j].inside)
			conf->inside |= BIT_ULL(conf->listener[j].port->port % 64);
	for (i = 0; i < conf->n_positions; i++) {
		struct synq_class *class = &conf->class[conf->order[i]];
		bool first = class->slot == SYNQ_SLOT_LOCAL ||
			     (i == 1 && class->slot != conf->default_slot);

		class->max_wait_effective = class->max_wait;
		if (first && !is_given(class, SYNQ_A_CLASS_MAX_WAIT))
			class->max_wait_effective = SYNQ_WAIT_NONE;
		conf->min_shares |= class->min_share;
		if (!synq_conf_shares(conf, class))
			continue;
		conf->weights += class->weight;
		conf->n_sharing++;
	}
}

static int check_shares(const struct synq_conf *conf,
			struct netlink_ext_ack *extack)
{
	unsigned int sum = 0;
	u8 slot;

	for (slot = SYNQ_SLOT_FIRST; slot < SYNQ_SLOTS; slot++)
		sum += conf->class[slot].min_share;
	if (sum > SYNQ_MIN_SHARES_MAX) {
		NL_SET_ERR_MSG(extack, "the minimum shares of all classes exceed 75 %");
		return -EINVAL;
	}
	return 0;
}

static int check_marks(struct synq_conf *conf, const struct net *net,
		       struct netlink_ext_ack *extack)
{
	u32 mask = conf->mark_mask;
	unsigned int shift = mask ? __ffs(mask) : 0;
	u8 i, j;

	if (mask && !READ_ONCE(net->ipv4.sysctl_tcp_fwmark_accept)) {
		/* Otherwise the connection does not keep the mark of its SYN. */
		NL_SET_ERR_MSG(extack, "mark needs net.ipv4.tcp_fwmark_accept=1");
		return -EINVAL;
	}
	for (i = SYNQ_SLOT_FIRST; i < SYNQ_SLOTS; i++) {
		struct synq_class *class = &conf->class[i];

		class->mark_bits = 0;
		if (!class->name[0] || !class->mark)
			continue;
		if (class->mark > mask >> shift) {
			NL_SET_ERR_MSG(extack, "a class has a mark outside the mark mask");
			return -EINVAL;
		}
		class->mark_bits = class->mark << shift;
		for (j = SYNQ_SLOT_FIRST; j < i; j++)
			if (conf->class[j].mark_bits == class->mark_bits) {
				NL_SET_ERR_MSG(extack, "two classes have the same mark");
				return -EINVAL;
			}
	}
	return 0;
}

/* A bucket that takes longer to fill than the clock has units for: see source.h. */
static bool fills(u32 rate, u32 per, u32 burst)
{
	return !rate || burst <= (u64)(SYNQ_TBF_FILL_MAX / per) * rate;
}

static int check_classes(const struct synq_conf *conf,
			 struct netlink_ext_ack *extack)
{
	u32 priorities = 0;
	bool have_default = false;
	int err;
	u8 slot;

	for (slot = SYNQ_SLOT_FIRST; slot < SYNQ_SLOTS; slot++) {
		const struct synq_class *class = &conf->class[slot];

		if (!class->name[0])
			continue;
		if (priorities & BIT(class->priority)) {
			NL_SET_ERR_MSG(extack, "two classes have the same priority");
			return -EINVAL;
		}
		priorities |= BIT(class->priority);
		if (class->is_default && have_default) {
			NL_SET_ERR_MSG(extack, "two classes are the default");
			return -EINVAL;
		}
		have_default |= class->is_default;
		err = synq_attr_check_whole(&synq_class_attrs, class, extack);
		if (err)
			return err;
		if (class->net_rate && (class->net_len[0] > class->source_len[0] ||
					class->net_len[1] > class->source_len[1])) {
			NL_SET_ERR_MSG(extack, "net-len is longer than source-len");
			return -EINVAL;
		}
		if (!fills(class->rate, class->rate_per, class->burst) ||
		    !fills(class->source_rate, class->source_rate_per,
			   class->source_burst) ||
		    !fills(class->net_rate, class->net_rate_per,
			   class->net_burst)) {
			NL_SET_ERR_MSG(extack, "at this rate the burst takes more than 24000 days");
			return -EINVAL;
		}
	}
	return 0;
}

/* By default, what arrives in half a second. */
static u32 burst_of(u32 rate, u32 per, u32 given)
{
	if (!rate)
		return 0;
	return given ?: clamp_t(u32, rate / (2 * per), BURST_MIN,
				SYNQ_BURST_MAX);
}

static void set_bucket(struct synq_class *class)
{
	class->burst_effective = burst_of(class->rate, class->rate_per,
					  class->burst);
	class->bucket_rate = class->rate;
	class->bucket_per = class->rate_per;
	if (class->rate)
		synq_tbf_init(&class->tbf, class->rate, class->rate_per,
			      class->burst_effective);
}

/* Strays get the upper half of the class's bucket, or a bucket of their own. */
static void set_source_buckets(struct synq_class *class)
{
	u32 strays = DIV_ROUND_UP(class->burst_effective, 2);

	class->source_burst_effective = burst_of(class->source_rate,
						 class->source_rate_per,
						 class->source_burst);
	class->net_burst_effective = burst_of(class->net_rate,
					      class->net_rate_per,
					      class->net_burst);
	if (!class->source_rate)
		return;
	synq_source_init(&class->source_tbf, class->source_rate,
			 class->source_rate_per, class->source_burst_effective);
	if (class->net_rate)
		synq_source_init(&class->net_tbf, class->net_rate,
				 class->net_rate_per, class->net_burst_effective);
	if (!class->rate) {
		class->bucket_rate = min_t(u32, STRAYS * class->source_rate,
					   SYNQ_RATE_MAX);
		class->bucket_per = class->source_rate_per;
		strays = min_t(u32, STRAYS * class->source_burst_effective,
			       SYNQ_BURST_MAX);
	}
	synq_tbf_init(&class->stray_tbf, class->bucket_rate, class->bucket_per,
		      strays);
}

static void set_drops(struct synq_conf *conf, struct synq_class *class)
{
	class->refuses = synq_excess_row[class->excess].always;
	class->drops = (class->rate || class->source_rate || class->refuses) &&
		       synq_excess_row[class->excess].over_rate == SYNQ_VERDICT_EXCESS_DROP &&
		       !conf->observe && !class->observe;
	conf->drops |= class->drops;
}

/* The cookie policies in use, as BIT()s. */
static u32 policies(const struct synq_conf *conf)
{
	u32 given = 0;
	unsigned int i;

	for (i = SYNQ_SLOT_FIRST; i < SYNQ_SLOTS; i++)
		given |= BIT(conf->class[i].cookies);
	for (i = 0; i < conf->n_listeners; i++)
		given |= BIT(conf->listener[i].cookies);
	return given;
}

/*
 * A cookie is of no use if tcp_syncookies=0 has the kernel ignore it; with tcp_syncookies=2
 * the kernel sends its own without asking.
 */
static void check_cookies(struct synq_conf *conf, const struct net *net,
			  struct netlink_ext_ack *extack)
{
	u8 syncookies = READ_ONCE(net->ipv4.sysctl_tcp_syncookies);
	u32 given = policies(conf);
	bool excess = false, answers = false;
	u8 slot;

	for (slot = SYNQ_SLOT_FIRST; slot < SYNQ_SLOTS; slot++) {
		excess |= conf->class[slot].excess == SYNQ_EXCESS_COOKIE;
		answers |= conf->class[slot].excess == SYNQ_EXCESS_RESET;
	}
	answers |= excess;
	if (answers && conf->n_forwards)
		NL_SET_ERR_MSG(extack, "forwarded SYNs are not answered: reset and cookie drop");
	else if (excess && !syncookies)
		NL_SET_ERR_MSG(extack, "excess cookie drops while net.ipv4.tcp_syncookies is 0");
	else if (given & BIT(SYNQ_COOKIES_ALWAYS) && !syncookies)
		NL_SET_ERR_MSG(extack, "no cookies are sent while net.ipv4.tcp_syncookies is 0");
	else if (conf->n_listeners && syncookies == 2)
		NL_SET_ERR_MSG(extack, "every SYN gets a cookie: net.ipv4.tcp_syncookies is 2");
}

/**
 * synq_conf_finish() - validate an edited configuration and fill in the rest
 * @conf: not published
 * @net: network namespace that it is for
 * @extack: says why not, or warns
 *
 * Context: process
 * Return: 0, or -EINVAL: the configuration is of no use
 */
int synq_conf_finish(struct synq_conf *conf, const struct net *net,
		     struct netlink_ext_ack *extack)
{
	u8 slot;
	int err;

	err = check_classes(conf, extack);
	if (err)
		return err;
	put_in_order(conf);
	err = give_reserves(conf, extack);
	if (err)
		return err;
	err = check_shares(conf, extack);
	if (err)
		return err;
	give_waits(conf);
	err = check_marks(conf, net, extack);
	if (err)
		return err;
	conf->drops = false;
	for (slot = SYNQ_SLOT_FIRST; slot < SYNQ_SLOTS; slot++) {
		set_bucket(&conf->class[slot]);
		set_source_buckets(&conf->class[slot]);
		set_drops(conf, &conf->class[slot]);
	}
	check_cookies(conf, net, extack);
	return 0;
}
