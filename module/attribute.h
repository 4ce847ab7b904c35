/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Attributes of classes and of listeners, a row for each.  See attribute.c.
 */
#ifndef _SYNQ_ATTRIBUTE_H
#define _SYNQ_ATTRIBUTE_H

#include <linux/types.h>

struct netlink_ext_ack;

#define SYNQ_ATTRS	64

/* In a dump: */
enum synq_attr_show {
	SYNQ_SHOW_ALWAYS,
	SYNQ_SHOW_GIVEN,	/* if it was given */
	SYNQ_SHOW_SET,		/* if it is not 0 */
	SYNQ_SHOW_ONLY,		/* always; it cannot be given */
};

/**
 * struct synq_attr - one attribute
 * @id: its netlink number, below SYNQ_ATTRS
 * @size: bytes, in a message as in the structure that keeps it
 * @at: offset in that structure
 * @inverted: the structure keeps whether it is 0
 * @show: enum synq_attr_show
 * @unset: value while it is not given
 * @is_valid: tests what its range in the spec cannot express, or NULL
 * @range: the message if @is_valid fails
 * @with: netlink number of the attribute that it must be given with.  If only the other
 *	is given, this one is @unset.  It is not shown while the other is 0.
 * @of: netlink number of the attribute without which it makes no sense.  If the other
 *	becomes 0, this one is @unset.
 * @alone: the message if it is given without @with or @of
 */
struct synq_attr {
	u8 id;
	u8 size;
	u16 at;
	bool inverted;
	u8 show;
	u32 unset;
	bool (*is_valid)(u32 value);
	const char *range;
	u8 with;
	u8 of;
	const char *alone;
};

/**
 * struct synq_attrs - the attributes of one structure
 * @row: an attribute comes after those that it depends on
 * @n: number of rows
 * @given: offset of a u64 with BIT_ULL() of each number that was given
 */
struct synq_attrs {
	const struct synq_attr *row;
	unsigned int n;
	u16 given;
};

/**
 * struct synq_edit - the attributes that a message gives
 * @has: BIT_ULL() of each number
 * @value: by number; within the ranges of the netlink policy
 */
struct synq_edit {
	u64 has;
	u32 value[SYNQ_ATTRS];
};

extern const struct synq_attrs synq_class_attrs;
extern const struct synq_attrs synq_listener_attrs;

int synq_attr_check(const struct synq_attrs *attrs, const struct synq_edit *edit,
		    struct netlink_ext_ack *extack);
void synq_attr_init(const struct synq_attrs *attrs, void *object);
void synq_attr_apply(const struct synq_attrs *attrs, void *object,
		     const struct synq_edit *edit);
int synq_attr_check_whole(const struct synq_attrs *attrs, const void *object,
			  struct netlink_ext_ack *extack);
bool synq_attr_is_shown(const struct synq_attrs *attrs, const struct synq_attr *attr,
			const void *object);
u32 synq_attr_get(const struct synq_attr *attr, const void *object);

#endif /* _SYNQ_ATTRIBUTE_H */
