// SPDX-License-Identifier: GPL-2.0
/*
 * What can be given of a class and of a listener: a row for each attribute.
 *
 * netlink_edit.c reads messages by these tables, edit.c checks and applies what they
 * give, finish.c checks the result, and netlink_dump.c shows it.  The spec has the ranges
 * (Documentation/netlink/specs/synq.yaml), from which the netlink policy is generated;
 * here is what a range cannot express.
 *
 * Process context, under &synq_net.lock.
 */
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/netlink.h>
#include "attribute.h"
#include "conf.h"

static bool is_max_wait(u32 ms)
{
	return ms == SYNQ_WAIT_NONE || (ms && ms <= SYNQ_MAX_WAIT_MAX);
}

static bool is_period(u32 seconds)
{
	return seconds == 1 || seconds == 60 || seconds == 3600 ||
	       seconds == SYNQ_RATE_PER_MAX;
}

static bool is_inside(u32 limit)
{
	return limit <= SYNQ_INSIDE_MAX || limit == SYNQ_INSIDE_AUTO;
}

/* How it is sent and where it is kept. */
#define CLASS_ATTR(name, field)					\
	.id = SYNQ_A_CLASS_##name,				\
	.size = sizeof_field(struct synq_class, field),		\
	.at = offsetof(struct synq_class, field)
#define LISTENER_ATTR(name, field)				\
	.id = SYNQ_A_LISTENER_##name,				\
	.size = sizeof_field(struct synq_listener, field),	\
	.at = offsetof(struct synq_listener, field)

#define PERIOD							\
	.unset = 1, .is_valid = is_period, .range = "rate-per is 1, 60, 3600 or 86400", \
	.alone = "rate-per without rate"
#define OF_SOURCE_RATE						\
	.of = SYNQ_A_CLASS_SOURCE_RATE,				\
	.alone = "source-burst or source-len without source-rate"
#define OF_NET_RATE						\
	.of = SYNQ_A_CLASS_NET_RATE,				\
	.alone = "net-burst or net-len without net-rate"

/* finish.c knows the exceptions: the first class waits, and has a reserve. */
static const struct synq_attr class_rows[] = {
	{ CLASS_ATTR(PRIORITY, priority), .show = SYNQ_SHOW_GIVEN },
	{ CLASS_ATTR(DEFAULT, is_default) },
	{ CLASS_ATTR(MARK, mark), .show = SYNQ_SHOW_SET },
	{ CLASS_ATTR(RESERVE, reserve), .show = SYNQ_SHOW_GIVEN, .unset = 0 },
	{ CLASS_ATTR(MAX_WAIT, max_wait), .show = SYNQ_SHOW_GIVEN, .unset = 300 /* ms */,
	  .is_valid = is_max_wait,
	  .range = "max-wait is 1..3600000 ms, or 0xffffffff for none" },
	{ CLASS_ATTR(RATE, rate), .show = SYNQ_SHOW_SET },
	{ CLASS_ATTR(RATE_PER, rate_per), PERIOD, .with = SYNQ_A_CLASS_RATE },
	{ CLASS_ATTR(BURST, burst), .show = SYNQ_SHOW_GIVEN,
	  .of = SYNQ_A_CLASS_RATE, .alone = "burst without rate" },
	{ CLASS_ATTR(SOURCE_RATE, source_rate), .show = SYNQ_SHOW_SET },
	{ CLASS_ATTR(SOURCE_RATE_PER, source_rate_per), PERIOD,
	  .with = SYNQ_A_CLASS_SOURCE_RATE },
	{ CLASS_ATTR(SOURCE_BURST, source_burst), .show = SYNQ_SHOW_GIVEN, OF_SOURCE_RATE },
	{ CLASS_ATTR(SOURCE_LEN_V4, source_len[0]), .show = SYNQ_SHOW_GIVEN,
	  .unset = 32 /* bits */, OF_SOURCE_RATE },
	{ CLASS_ATTR(SOURCE_LEN_V6, source_len[1]), .show = SYNQ_SHOW_GIVEN,
	  .unset = 64 /* bits */, OF_SOURCE_RATE },
	{ CLASS_ATTR(NET_RATE, net_rate), .show = SYNQ_SHOW_SET,
	  .of = SYNQ_A_CLASS_SOURCE_RATE, .alone = "net-rate without source-rate" },
	{ CLASS_ATTR(NET_RATE_PER, net_rate_per), PERIOD, .with = SYNQ_A_CLASS_NET_RATE },
	{ CLASS_ATTR(NET_BURST, net_burst), .show = SYNQ_SHOW_GIVEN, OF_NET_RATE },
	{ CLASS_ATTR(NET_LEN_V4, net_len[0]), .show = SYNQ_SHOW_GIVEN,
	  .unset = 24 /* bits */, OF_NET_RATE },
	{ CLASS_ATTR(NET_LEN_V6, net_len[1]), .show = SYNQ_SHOW_GIVEN,
	  .unset = 48 /* bits */, OF_NET_RATE },
	{ CLASS_ATTR(EXCESS, excess), .unset = SYNQ_EXCESS_DROP },
	{ CLASS_ATTR(CAP, cap), .show = SYNQ_SHOW_SET },
	{ CLASS_ATTR(WEIGHT, weight), .unset = 1 },
	{ CLASS_ATTR(MIN_SHARE, min_share), .show = SYNQ_SHOW_SET },
	{ CLASS_ATTR(ENFORCE, observe), .inverted = true, .unset = 1 },
	{ CLASS_ATTR(COOKIES, cookies), .show = SYNQ_SHOW_SET, .unset = SYNQ_COOKIES_INHERIT },
	{ CLASS_ATTR(RESERVE_EFFECTIVE, reserve_effective), .show = SYNQ_SHOW_ONLY },
	{ CLASS_ATTR(BURST_EFFECTIVE, burst_effective), .show = SYNQ_SHOW_ONLY },
	{ CLASS_ATTR(SOURCE_BURST_EFFECTIVE, source_burst_effective), .show = SYNQ_SHOW_ONLY },
	{ CLASS_ATTR(NET_BURST_EFFECTIVE, net_burst_effective), .show = SYNQ_SHOW_ONLY },
	{ CLASS_ATTR(MAX_WAIT_EFFECTIVE, max_wait_effective), .show = SYNQ_SHOW_ONLY },
	{ CLASS_ATTR(MATCHES, matches), .show = SYNQ_SHOW_ONLY },
};

const struct synq_attrs synq_class_attrs = {
	.row = class_rows,
	.n = ARRAY_SIZE(class_rows),
	.given = offsetof(struct synq_class, given),
};

static const struct synq_attr listener_rows[] = {
	{ LISTENER_ATTR(ORDER, order), .unset = SYNQ_ORDER_STRICT },
	{ LISTENER_ATTR(ENFORCE, observe), .inverted = true, .unset = 1 },
	{ LISTENER_ATTR(APP_ORDER, app_order) },
	{ LISTENER_ATTR(SYNACK_RETRIES, synack_retries), .show = SYNQ_SHOW_SET },
	{ LISTENER_ATTR(COOKIES, cookies), .show = SYNQ_SHOW_SET,
	  .unset = SYNQ_COOKIES_INHERIT },
	{ LISTENER_ATTR(APP_COOKIES, app_cookies) },
	{ LISTENER_ATTR(INSIDE, inside), .show = SYNQ_SHOW_SET,
	  .is_valid = is_inside, .range = "inside is at most 65535" },
	{ LISTENER_ATTR(REQUESTS, requests), .show = SYNQ_SHOW_SET },
};

const struct synq_attrs synq_listener_attrs = {
	.row = listener_rows,
	.n = ARRAY_SIZE(listener_rows),
	.given = offsetof(struct synq_listener, given),
};

static_assert(SYNQ_A_CLASS_MAX < SYNQ_ATTRS && SYNQ_A_LISTENER_MAX < SYNQ_ATTRS);

static int refuse(struct netlink_ext_ack *extack, const char *why)
{
	if (extack)
		extack->_msg = why;
	return -EINVAL;
}

static bool has(const struct synq_edit *edit, u8 id)
{
	return edit->has & BIT_ULL(id);
}

/**
 * synq_attr_check() - can this be given?
 * @attrs: of a class or listener
 * @edit: what is given
 * @extack: says why not
 *
 * Return: 0 or -EINVAL
 */
int synq_attr_check(const struct synq_attrs *attrs, const struct synq_edit *edit,
		    struct netlink_ext_ack *extack)
{
	unsigned int i;

	for (i = 0; i < attrs->n; i++) {
		const struct synq_attr *attr = &attrs->row[i];

		if (!has(edit, attr->id))
			continue;
		if (attr->is_valid && !attr->is_valid(edit->value[attr->id]))
			return refuse(extack, attr->range);
		if (attr->with && !has(edit, attr->with))
			return refuse(extack, attr->alone);
	}
	return 0;
}

static void put(const struct synq_attr *attr, void *object, u32 value)
{
	void *to = object + attr->at;

	if (attr->inverted)
		value = !value;
	if (attr->size == sizeof(u32))
		*(u32 *)to = value;
	else if (attr->size == sizeof(u16))
		*(u16 *)to = value;
	else
		*(u8 *)to = value;
}

/**
 * synq_attr_get() - the value of an attribute, as a message has it
 * @attr: its row
 * @object: a class or listener
 */
u32 synq_attr_get(const struct synq_attr *attr, const void *object)
{
	const void *from = object + attr->at;
	u32 value = attr->size == sizeof(u32) ? *(u32 *)from :
		    attr->size == sizeof(u16) ? *(u16 *)from : *(u8 *)from;

	return attr->inverted ? !value : value;
}

static u64 *given_of(const struct synq_attrs *attrs, const void *object)
{
	return (u64 *)(object + attrs->given);
}

/**
 * synq_attr_init() - nothing is given
 * @attrs: of a class or listener
 * @object: all zero, or with another life behind it
 */
void synq_attr_init(const struct synq_attrs *attrs, void *object)
{
	unsigned int i;

	*given_of(attrs, object) = 0;
	for (i = 0; i < attrs->n; i++)
		put(&attrs->row[i], object, attrs->row[i].unset);
}

static const struct synq_attr *find(const struct synq_attrs *attrs, u8 id)
{
	unsigned int i;

	for (i = 0; i < attrs->n; i++)
		if (attrs->row[i].id == id)
			return &attrs->row[i];
	return NULL;
}

/*
 * Goes with another attribute, whose new value is @edit's, or which goes itself.  A chain is
 * as long as the table says.
 */
static bool is_unset(const struct synq_attrs *attrs, const struct synq_attr *attr,
		     const struct synq_edit *edit)
{
	if (attr->with && has(edit, attr->with))
		return true;
	for (; attr->of; attr = find(attrs, attr->of))
		if (has(edit, attr->of))
			return !edit->value[attr->of];
	return false;
}

/**
 * synq_attr_apply() - change what is given
 * @attrs: of a class or listener
 * @object: the class or listener
 * @edit: checked by synq_attr_check()
 */
void synq_attr_apply(const struct synq_attrs *attrs, void *object,
		     const struct synq_edit *edit)
{
	u64 *given = given_of(attrs, object);
	unsigned int i;

	for (i = 0; i < attrs->n; i++) {
		const struct synq_attr *attr = &attrs->row[i];

		if (has(edit, attr->id)) {
			put(attr, object, edit->value[attr->id]);
			*given |= BIT_ULL(attr->id);
		} else if (is_unset(attrs, attr, edit)) {
			put(attr, object, attr->unset);
			*given &= ~BIT_ULL(attr->id);
		}
	}
}

/* The attribute that this one depends on is 0. */
static bool is_idle(const struct synq_attrs *attrs, u8 id, const void *object)
{
	return id && !synq_attr_get(find(attrs, id), object);
}

/**
 * synq_attr_check_whole() - is what was given one after the other consistent?
 * @attrs: of a class or listener
 * @object: the class or listener
 * @extack: says why not
 *
 * Return: 0 or -EINVAL
 */
int synq_attr_check_whole(const struct synq_attrs *attrs, const void *object,
			  struct netlink_ext_ack *extack)
{
	unsigned int i;

	for (i = 0; i < attrs->n; i++) {
		const struct synq_attr *attr = &attrs->row[i];

		if (*given_of(attrs, object) & BIT_ULL(attr->id) &&
		    is_idle(attrs, attr->of, object))
			return refuse(extack, attr->alone);
	}
	return 0;
}

/**
 * synq_attr_is_shown() - does a dump tell this attribute?
 * @attrs: of a class or listener
 * @attr: row of @attrs
 * @object: the class or listener
 */
bool synq_attr_is_shown(const struct synq_attrs *attrs, const struct synq_attr *attr,
			const void *object)
{
	if (is_idle(attrs, attr->with, object))
		return false;
	if (attr->show == SYNQ_SHOW_GIVEN)
		return *given_of(attrs, object) & BIT_ULL(attr->id);
	return attr->show != SYNQ_SHOW_SET || synq_attr_get(attr, object);
}
