/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * The order core: merges N nearly sorted streams ("rings") of stamped bytes
 * into one stream in stamp order. It knows ring numbers, stamps and bytes,
 * and nothing of perf.
 *
 * Use: push what each ring gives, in ring order; then flush with a limit W
 * that the caller knows to be safe. Delivered is everything stamped strictly
 * below W, ordered by (stamp, ring, place in ring).
 *
 * A record is *late* if its stamp is below the greatest stamp already
 * delivered. It is not lost and not re-stamped: it leaves with the next
 * delivery, whatever its limit, flagged and counted.
 *
 * Wild stamps poison nothing. 0 and ~0 say nothing: such a record is taken as
 * pushed with PERFCLOCK_RECORD_PLACED. A stamp days ahead waits until the
 * limit passes it, or for the end; what follows it in its ring overtakes it.
 * A stamp days behind is late, and moves nothing. (A stamp days ahead that the
 * caller's limit lets out makes late what comes after: no record can be put
 * before one that has left.)
 *
 * One order handle is used by one thread at a time, and not from inside its
 * own callback: there only _get_stats() and _get_ring_stats() work, _free() is
 * forbidden, and all others give -EBUSY.
 */
#ifndef PERFCLOCK_ORDER_H
#define PERFCLOCK_ORDER_H

#include <perfclock/types.h>

PERFCLOCK_BEGIN_DECLS

struct perfclock_order;

#define PERFCLOCK_ORDER_MAX_RINGS	4096

/* What to do with a late record. */
enum perfclock_late {
	PERFCLOCK_LATE_DELIVER,	/* with the next delivery, flagged (default) */
	PERFCLOCK_LATE_DISCARD,	/* count and drop */
	PERFCLOCK_LATE_FAIL	/* push fails with -EILSEQ, record dropped */
};

struct perfclock_order_opts {
	size_t sz;
	/*
	 * Bound for the memory in which records wait, bytes, with its chunks
	 * and what is kept of them for reuse; 0: 256 MiB. What a handle needs
	 * for each ring (some 200 bytes) is not part of it, nor what rounding
	 * up to whole blocks of 2 MiB adds; below 64 KiB there are no blocks.
	 */
	size_t memory_max;
	enum perfclock_late late;
	unsigned int flags;		/* 0 */
};

/* perfclock_record.flags and the flags of push */
#define PERFCLOCK_RECORD_LATE	(1u << 0) /* delivered: came too late */
/*
 * push: the stamp says nothing (LOST, stamp 0 or ~0 or none): the record
 * keeps its place in the ring, takes the place in the order of the record
 * before it in the ring, and moves nothing.
 */
#define PERFCLOCK_RECORD_PLACED	(1u << 1)

struct perfclock_record {
	uint64_t stamp;			/* as pushed, never changed */
	const void *data;		/* valid until the next call with this
					 * order handle (copied records) */
	uint32_t len;
	uint32_t ring;
	uint32_t flags;			/* PERFCLOCK_RECORD_* */
	uint32_t tag;			/* as pushed; free for the caller */
};

/*
 * Delivery. 0: go on. Not 0: stop; the record counts as delivered, the rest
 * stays queued, and the flush returns that value.
 */
typedef int (*perfclock_order_fn)(const struct perfclock_record *rec,
				  void *ctx);

/*
 * Rings 0..nr_rings-1 exist from the start; 0: none yet. -EINVAL, -E2BIG (bad
 * opts, or more than PERFCLOCK_ORDER_MAX_RINGS), -ENOMEM; *op is NULL then.
 */
int perfclock_order_new(struct perfclock_order **op, unsigned int nr_rings,
			const struct perfclock_order_opts *opts);
void perfclock_order_free(struct perfclock_order *o);

/*
 * Append a record to a ring; the bytes are copied (_push) or stay with the
 * caller until delivered (_push_ref). tag comes back in the record; flags:
 * PERFCLOCK_RECORD_PLACED or 0. Returns 0, or -EINVAL (no such ring, ended
 * ring, unknown flag, 128 MiB or more), -ENOBUFS (memory bound: deliver first,
 * then push again), -ENOMEM, -EILSEQ (late, with PERFCLOCK_LATE_FAIL), -EPIPE
 * (after _end()), -EBUSY. On any error but -EILSEQ the queue is as before.
 */
int perfclock_order_push(struct perfclock_order *o, unsigned int ring,
			 uint64_t stamp, const void *data, size_t len,
			 uint32_t tag, unsigned int flags);
int perfclock_order_push_ref(struct perfclock_order *o, unsigned int ring,
			     uint64_t stamp, const void *data, size_t len,
			     uint32_t tag, unsigned int flags);

/*
 * Deliver all that is stamped strictly below limit, in order. A limit below
 * the last one is ignored and counted (late records still leave). Returns the
 * number delivered, the callback's value (which should be negative), or
 * -EBUSY.
 */
long perfclock_order_flush(struct perfclock_order *o, uint64_t limit,
			   perfclock_order_fn fn, void *ctx);

/*
 * Pull: 1 and *rec, 0 if nothing below limit is left, or -EBUSY. Push what
 * there is, then pull it all: a push between two pulls starts the merge anew.
 */
int perfclock_order_next(struct perfclock_order *o, uint64_t limit,
			 struct perfclock_record *rec);

/*
 * The input has ended: deliver everything. Returns as _flush(); a delivery that
 * the callback stopped goes on with another _end() or _next(). Pushes and new
 * rings then fail with -EPIPE.
 */
long perfclock_order_end(struct perfclock_order *o, perfclock_order_fn fn,
			 void *ctx);

/*
 * A new ring; returns its number. -ENOSPC at PERFCLOCK_ORDER_MAX_RINGS, -ENOMEM,
 * -EPIPE (after _end()), -EBUSY.
 */
int perfclock_order_ring_add(struct perfclock_order *o);
/*
 * No more input from this ring; what is queued is delivered in its turn, then
 * the number may be handed out again. -EINVAL: no such ring, or ended before;
 * -EBUSY.
 */
int perfclock_order_ring_end(struct perfclock_order *o, unsigned int ring);

struct perfclock_order_stats {
	size_t sz;			/* in */
	uint64_t pushed;		/* records accepted */
	uint64_t delivered;
	uint64_t held;			/* queued now */
	uint64_t held_max;
	uint64_t late;
	uint64_t max_late_ns;
	uint64_t discarded;		/* late and dropped */
	uint64_t inversions;		/* out of order inside one ring */
	uint64_t placed;		/* pushed with RECORD_PLACED */
	uint64_t bad_limits;		/* limits that went backwards */
	uint64_t greatest_delivered;	/* stamp, ns */
	uint64_t memory;		/* bytes in use */
	uint64_t memory_max_seen;
	uint64_t memory_queued;		/* of memory, holding records; the
					 * rest is kept for the next ones */
};

/* 0, or -EINVAL (st->sz). */
int perfclock_order_get_stats(const struct perfclock_order *o,
			      struct perfclock_order_stats *st);

struct perfclock_order_ring_stats {
	size_t sz;			/* in */
	uint64_t pushed;
	uint64_t held;
	uint64_t late;
	uint64_t max_late_ns;
	uint64_t inversions;
	uint64_t newest;		/* greatest stamp pushed */
};

/* 0, or -EINVAL (no such ring, or st->sz). */
int perfclock_order_get_ring_stats(const struct perfclock_order *o,
				   unsigned int ring,
				   struct perfclock_order_ring_stats *st);

PERFCLOCK_END_DECLS

#endif /* PERFCLOCK_ORDER_H */
