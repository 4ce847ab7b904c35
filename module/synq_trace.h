/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints for what is decided about each SYN and each connection.  Switched off, one
 * costs a single no-op.  Documentation/reference.rst describes their fields; the meaning
 * of a field does not change.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM synq

#if !defined(_SYNQ_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _SYNQ_TRACE_H

#include <linux/tracepoint.h>
#include "synq.h"

#define SYNQ_TRACE_VERDICTS						\
	{ 0, "admitted" }, { 1, "passed" }, { 2, "dropped" },		\
	{ 3, "reset" }, { 4, "cookie" }

#define SYNQ_TRACE_REASONS						\
	{ 0, "none" }, { 1, "rate" }, { 2, "queue" }, { 3, "wait" },	\
	{ 4, "share" }

#define SYNQ_TRACE_ENDS							\
	{ 0, "released" }, { 1, "gone" }, { 2, "flushed" }

/* A SYN has been judged. */
TRACE_EVENT(synq_syn,
	TP_PROTO(u16 port, const char *class, enum synq_verdict verdict,
		 const void *source, bool is_v6, bool enforce),
	TP_ARGS(port, class, verdict, source, is_v6, enforce),
	TP_STRUCT__entry(
		__field(__u16, port)
		__field(__u8, verdict)
		__field(__u8, reason)
		__field(__u8, enforce)
		__array(char, class, SYNQ_NAME_MAX + 1)
		__array(__u8, source, 16)
	),
	TP_fast_assign(
		__entry->port = port;
		__entry->verdict = synq_trace_verdict(verdict);
		__entry->reason = synq_trace_reason(verdict);
		__entry->enforce = enforce;
		synq_trace_class(__entry->class, class);
		synq_trace_source(__entry->source, source, is_v6);
	),
	TP_printk("port=%u class=%s verdict=%s reason=%s enforce=%u source=%pI6c",
		  __entry->port, __entry->class,
		  __print_symbolic(__entry->verdict, SYNQ_TRACE_VERDICTS),
		  __print_symbolic(__entry->reason, SYNQ_TRACE_REASONS),
		  __entry->enforce, __entry->source)
);

/* A connection has been promoted; if it was held, synq_release follows. */
TRACE_EVENT(synq_promote,
	TP_PROTO(u16 port, const char *class, bool held),
	TP_ARGS(port, class, held),
	TP_STRUCT__entry(
		__field(__u16, port)
		__field(__u8, held)
		__array(char, class, SYNQ_NAME_MAX + 1)
	),
	TP_fast_assign(
		__entry->port = port;
		__entry->held = held;
		synq_trace_class(__entry->class, class);
	),
	TP_printk("port=%u class=%s held=%u", __entry->port, __entry->class,
		  __entry->held)
);

/* A connection begins to be held. */
TRACE_EVENT(synq_hold,
	TP_PROTO(u16 port, const char *class, u32 held),
	TP_ARGS(port, class, held),
	TP_STRUCT__entry(
		__field(__u16, port)
		__field(__u32, held)
		__array(char, class, SYNQ_NAME_MAX + 1)
	),
	TP_fast_assign(
		__entry->port = port;
		__entry->held = held;
		synq_trace_class(__entry->class, class);
	),
	TP_printk("port=%u class=%s held=%u", __entry->port, __entry->class,
		  __entry->held)
);

/* A connection is not held any more. */
TRACE_EVENT(synq_release,
	TP_PROTO(u16 port, const char *class, enum synq_counter counter, u64 held_ns),
	TP_ARGS(port, class, counter, held_ns),
	TP_STRUCT__entry(
		__field(__u16, port)
		__field(__u8, end)
		__field(__u64, held_ns)
		__array(char, class, SYNQ_NAME_MAX + 1)
	),
	TP_fast_assign(
		__entry->port = port;
		__entry->end = synq_trace_end(counter);
		__entry->held_ns = held_ns;
		synq_trace_class(__entry->class, class);
	),
	TP_printk("port=%u class=%s end=%s held_ns=%llu", __entry->port,
		  __entry->class, __print_symbolic(__entry->end, SYNQ_TRACE_ENDS),
		  __entry->held_ns)
);

/* The limit of connections inside has changed. */
TRACE_EVENT(synq_inside_limit,
	TP_PROTO(u16 port, u32 before, u32 limit),
	TP_ARGS(port, before, limit),
	TP_STRUCT__entry(
		__field(__u16, port)
		__field(__u32, before)
		__field(__u32, limit)
	),
	TP_fast_assign(
		__entry->port = port;
		__entry->before = before;
		__entry->limit = limit;
	),
	TP_printk("port=%u before=%u limit=%u", __entry->port, __entry->before,
		  __entry->limit)
);

#endif /* _SYNQ_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE synq_trace
#include <trace/define_trace.h>
