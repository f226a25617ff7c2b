// SPDX-License-Identifier: GPL-2.0
/* The explorer of all interleavings: see explore.h. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <perfclock/order.h>
#include <perfclock/policy.h>

#include "explore.h"
#include "order/round.h"

#define STEPS_MAX	256
#define CUT_OFF		(-ECANCELED)	/* this schedule goes no further */

struct record {
	uint64_t stamp;
	bool reserved;
	bool delivered;
};

struct writer {
	struct record rec[EXPLORE_RECORDS];
	unsigned int started;			/* records stamped */
	unsigned int stack[EXPLORE_RECORDS];	/* at work, outermost first */
	unsigned int depth;
	unsigned int slot[EXPLORE_RECORDS];	/* the ring: record numbers */
	unsigned int reserved, published;	/* slots */
	unsigned int head, read;		/* the reader's */
	bool waited_for;			/* by the grace period */
	bool acted_last;			/* nobody acted since it did */
};

/* The world in one schedule. */
struct world {
	const struct explore_params *p;
	struct writer w[EXPLORE_RINGS];
	uint64_t clock_reads;
	bool gp_runs;
	unsigned int gps;			/* begun */
	uint64_t gp_time, watermark;
	/* The reader. */
	struct perfclock_order *order;
	struct perfclock_policy *policy;
	struct round loop;
	unsigned int round, reader_step, held;
	bool loads_watermark;			/* is what it does next */
	uint64_t reader_w;
	bool any_delivered;
	uint64_t last_stamp;			/* delivered, ... */
	unsigned int last_ring, last_slot;
	bool broken;
};

/* The search. */
struct search {
	struct world world;
	unsigned int choice[STEPS_MAX], choices[STEPS_MAX];
	unsigned int pos, len;			/* of the schedule */
	bool random;
	uint64_t seed;
	uint64_t *seen;				/* hashes of states; 0: free */
	size_t seen_room, seen_nr;
	bool tell;				/* write the story */
	struct explore_result *result;
};

static struct search *S;

static void __attribute__((format(printf, 1, 2))) story(const char *fmt, ...)
{
	struct explore_result *r = S->result;
	size_t at = strlen(r->story);
	va_list ap;

	if (!S->tell)
		return;
	va_start(ap, fmt);
	vsnprintf(r->story + at, sizeof(r->story) - at, fmt, ap);
	va_end(ap);
}

/* Three reads in a row may show the same time: equal stamps are normal. */
static uint64_t clock_shows(const struct world *x)
{
	return 10 + x->clock_reads / 3;
}

static uint64_t read_clock(struct world *x)
{
	const uint64_t time = clock_shows(x);

	x->clock_reads++;
	return time;
}

/* The steps of writers and of the grace period. */

enum action_kind { WRITER_STAMP, WRITER_GO_ON, GP_BEGIN, GP_END, READER };

struct action {
	enum action_kind kind;
	unsigned int ring;
};

/*
 * Two steps that don't touch what others see need not be tried everywhere:
 *
 * - Reserving. Only interrupts of the same ring can tell when it happens. So
 *   it follows the ring's step before it at once, or an interrupt comes first.
 * - The end of a grace period. Only a load of the watermark and the next
 *   beginning can tell. So it comes right before one of these, or later.
 */
static bool may_reserve_now(const struct world *x, const struct writer *w)
{
	return w->acted_last || w->started == x->p->records ||
	       w->depth == x->p->nesting;
}

static void list_writer(const struct world *x, unsigned int ring,
			struct action *a, unsigned int *n)
{
	const struct writer *w = &x->w[ring];

	if (w->depth && (w->rec[w->stack[w->depth - 1]].reserved ||
			 may_reserve_now(x, w)))
		a[(*n)++] = (struct action){ WRITER_GO_ON, ring };
	if (w->started < x->p->records && w->depth < x->p->nesting)
		a[(*n)++] = (struct action){ WRITER_STAMP, ring };
}

/* A ring that must reserve before anybody else acts. */
static int forced_ring(const struct world *x)
{
	unsigned int i;

	for (i = 0; i < x->p->rings; i++) {
		const struct writer *w = &x->w[i];

		if (w->depth && !w->rec[w->stack[w->depth - 1]].reserved &&
		    (w->started == x->p->records || w->depth == x->p->nesting))
			return i;
	}
	return -1;
}

static unsigned int list_actions(const struct world *x, struct action *a)
{
	const int forced = forced_ring(x);
	unsigned int n = 0, i;
	bool waits = false;

	if (forced >= 0) {
		a[0] = (struct action){ WRITER_GO_ON, forced };
		return 1;
	}
	/* The reader first: shallow schedules come early. */
	if (x->round < x->p->rounds)
		a[n++] = (struct action){ READER, 0 };
	for (i = 0; i < x->p->rings; i++) {
		list_writer(x, i, a, &n);
		waits |= x->w[i].waited_for;
	}
	if (x->gp_runs && !waits && x->loads_watermark)
		a[n++] = (struct action){ GP_END, 0 };
	if (x->gps < x->p->grace_periods && (!x->gp_runs || !waits))
		a[n++] = (struct action){ GP_BEGIN, 0 };
	return n;
}

static void writer_stamp(struct world *x, unsigned int ring)
{
	struct writer *w = &x->w[ring];
	unsigned int rec = w->started++;

	w->rec[rec].stamp = read_clock(x);
	w->stack[w->depth++] = rec;
	story("ring %u: %s stamps %llu\n", ring, w->depth > 1 ? "an interrupt" :
	      "the writer", (unsigned long long)w->rec[rec].stamp);
}

/* Does an outer writer stand between its reserving and its publishing? */
static bool outer_has_room(const struct writer *w)
{
	unsigned int i;

	for (i = 0; i < w->depth; i++)
		if (w->rec[w->stack[i]].reserved)
			return true;
	return false;
}

static void writer_go_on(struct world *x, unsigned int ring)
{
	struct writer *w = &x->w[ring];
	struct record *rec = &w->rec[w->stack[w->depth - 1]];

	if (!rec->reserved) {
		rec->reserved = true;
		w->slot[w->reserved++] = w->stack[w->depth - 1];
		story("ring %u: %llu reserves place %u\n", ring,
		      (unsigned long long)rec->stamp, w->reserved - 1);
		return;
	}
	w->depth--;
	if (outer_has_room(w)) {
		story("ring %u: the interrupt ends\n", ring);
		return;
	}
	w->published = w->reserved;
	story("ring %u: publishes up to place %u\n", ring, w->published);
	if (!w->depth)
		w->waited_for = false;
}

static void gp_end(struct world *x)
{
	x->gp_runs = false;
	x->watermark = x->gp_time;
	story("it ends: watermark %llu\n", (unsigned long long)x->watermark);
}

static void take_action(struct world *x, struct action a)
{
	const bool writer = a.kind == WRITER_STAMP || a.kind == WRITER_GO_ON;
	unsigned int i;

	for (i = 0; i < x->p->rings; i++)
		x->w[i].acted_last = writer && i == a.ring;
	switch (a.kind) {
	case WRITER_STAMP:
		writer_stamp(x, a.ring);
		break;
	case WRITER_GO_ON:
		writer_go_on(x, a.ring);
		break;
	case GP_BEGIN:
		if (x->gp_runs)
			gp_end(x);
		x->gp_runs = true;
		x->gps++;
		x->gp_time = read_clock(x);
		for (i = 0; i < x->p->rings; i++)
			x->w[i].waited_for = x->w[i].depth > 0;
		story("a grace period begins at %llu\n",
		      (unsigned long long)x->gp_time);
		break;
	case GP_END:
		gp_end(x);
		break;
	case READER:
		break;
	}
}

/* States that were seen. */

struct hash {
	uint64_t h;
};

static void mix(struct hash *h, uint64_t v)
{
	h->h = (h->h ^ v) * 0x9e3779b97f4a7c15ull;
	h->h ^= h->h >> 29;
}

/* Times matter by their order only: each becomes its rank among all. */
struct ranks {
	uint64_t time[EXPLORE_RINGS * EXPLORE_RECORDS + 8];
	unsigned int n;
};

static void rank_add(struct ranks *r, uint64_t time)
{
	unsigned int i;

	for (i = r->n; i && r->time[i - 1] > time; i--)
		;
	if (i && r->time[i - 1] == time)
		return;
	memmove(&r->time[i + 1], &r->time[i], (r->n - i) * sizeof(time));
	r->time[i] = time;
	r->n++;
}

static unsigned int rank(const struct ranks *r, uint64_t time)
{
	unsigned int i;

	for (i = 0; i < r->n && r->time[i] != time; i++)
		;
	return i;
}

/* The watermark of the round that is open. */
static uint64_t reader_w(const struct world *x)
{
	return x->reader_step || x->loop.open ? x->reader_w : 0;
}

/* All times that the future depends on: of what was delivered, the last. */
static void rank_all(const struct world *x, struct ranks *r)
{
	unsigned int i, j;

	r->n = 0;
	rank_add(r, x->last_stamp);
	rank_add(r, x->watermark);
	rank_add(r, x->gp_runs ? x->gp_time : 0);
	rank_add(r, reader_w(x));
	rank_add(r, x->loop.proven);
	rank_add(r, clock_shows(x));
	for (i = 0; i < x->p->rings; i++)
		for (j = 0; j < x->w[i].started; j++)
			if (!x->w[i].rec[j].delivered)
				rank_add(r, x->w[i].rec[j].stamp);
}

static void mix_record(struct hash *h, const struct ranks *r,
		       const struct record *rec)
{
	mix(h, rec->delivered ? ~0ull :
	    rank(r, rec->stamp) << 1 | rec->reserved);
}

static void mix_writer(struct hash *h, const struct ranks *r,
		       const struct world *x, const struct writer *w)
{
	const bool may_wait = w->depth && !may_reserve_now(x, w);
	unsigned int i;

	mix(h, w->started | w->depth << 4 | w->reserved << 8 |
	    w->published << 12 | w->head << 16 | w->read << 20 |
	    (unsigned int)w->waited_for << 24 | (unsigned int)may_wait << 25);
	for (i = 0; i < w->reserved; i++)
		mix_record(h, r, &w->rec[w->slot[i]]);
	for (i = 0; i < w->depth; i++)
		mix_record(h, r, &w->rec[w->stack[i]]);
}

/* Whose place the last delivered one had matters to equal stamps only. */
static bool last_may_be_met_again(const struct world *x)
{
	unsigned int i, j;

	if (x->last_stamp >= clock_shows(x))
		return true;
	for (i = 0; i < x->p->rings; i++)
		for (j = 0; j < x->w[i].started; j++)
			if (!x->w[i].rec[j].delivered &&
			    x->w[i].rec[j].stamp == x->last_stamp)
				return true;
	return false;
}

static uint64_t hash_state(const struct world *x)
{
	struct hash h = { 0x243f6a8885a308d3ull };
	struct ranks r;
	unsigned int i;

	rank_all(x, &r);
	for (i = 0; i < x->p->rings; i++)
		mix_writer(&h, &r, x, &x->w[i]);
	mix(&h, rank(&r, clock_shows(x)) << 2 | x->clock_reads % 3);
	mix(&h, x->gps << 1 | x->gp_runs);
	mix(&h, rank(&r, x->gp_runs ? x->gp_time : 0));
	mix(&h, rank(&r, x->watermark));
	mix(&h, x->round << 8 | x->reader_step);
	mix(&h, rank(&r, reader_w(x)));
	mix(&h, rank(&r, x->loop.proven));
	mix(&h, x->loop.open | x->loop.first << 4 | x->loop.at << 8);
	mix(&h, rank(&r, x->last_stamp));
	mix(&h, last_may_be_met_again(x) ? x->last_ring << 8 | x->last_slot :
	    ~0ull);
	return h.h ? h.h : 1;
}

static bool put_seen(uint64_t *seen, size_t room, uint64_t h)
{
	size_t i = h & (room - 1);

	while (seen[i] && seen[i] != h)
		i = (i + 1) & (room - 1);
	if (seen[i])
		return false;
	seen[i] = h;
	return true;
}

/* True if the state is new. */
static bool see(uint64_t h)
{
	size_t room = S->seen_room ? S->seen_room * 2 : 1 << 16, i;
	uint64_t *seen;

	if (S->seen_nr * 2 >= S->seen_room) {
		seen = calloc(room, sizeof(*seen));
		if (!seen)
			abort();
		for (i = 0; i < S->seen_room; i++)
			if (S->seen[i])
				put_seen(seen, room, S->seen[i]);
		free(S->seen);
		S->seen = seen;
		S->seen_room = room;
	}
	if (!put_seen(S->seen, S->seen_room, h))
		return false;
	S->seen_nr++;
	return true;
}

static unsigned int roll(unsigned int n)
{
	S->seed ^= S->seed << 13;
	S->seed ^= S->seed >> 7;
	S->seed ^= S->seed << 17;
	return S->seed % n;
}

/* Which of n? From the schedule, or the first (or any) where it ends. */
static int choose(unsigned int n)
{
	if (S->random)
		return roll(n);
	if (S->pos == S->len) {
		if (!see(hash_state(&S->world)))
			return CUT_OFF;
		if (S->len == STEPS_MAX)
			abort();
		S->choice[S->len] = 0;
		S->choices[S->len++] = n;
	}
	return S->choice[S->pos++];
}

/* Let the others run until it is the reader's turn. 0, or CUT_OFF. */
static int others_run(struct world *x)
{
	struct action a[2 * EXPLORE_RINGS + 3];
	unsigned int n;
	int i;

	for (;;) {
		n = list_actions(x, a);
		if (!n)
			return 0;
		/* All that was delivered is past: the rest in any order. */
		i = x->round == x->p->rounds &&
		    x->last_stamp < clock_shows(x) ? 0 : choose(n);
		if (i < 0)
			return i;
		S->result->steps++;
		take_action(x, a[i]);
		if (a[i].kind == READER)
			return 0;
		/* Having ended, it is the reader who comes next. */
		if (a[i].kind == GP_END)
			return 0;
	}
}

/* The reader's steps. */

static int load_watermark(void *ctx, uint64_t *w)
{
	struct world *x = ctx;
	int err;

	x->loads_watermark = true;
	err = others_run(x);
	x->loads_watermark = false;
	if (err)
		return err;
	*w = x->reader_w = x->watermark;
	x->reader_step++;
	story("the reader loads watermark %llu\n", (unsigned long long)*w);
	return 0;
}

static int load_head(void *ctx, unsigned int ring)
{
	struct world *x = ctx;
	int err = others_run(x);

	if (err)
		return err;
	x->w[ring].head = x->w[ring].published;
	x->reader_step++;
	story("the reader loads the head of ring %u: %u\n", ring,
	      x->w[ring].head);
	return 0;
}

static int drain(void *ctx, unsigned int ring)
{
	struct world *x = ctx;
	struct writer *w = &x->w[ring];
	unsigned int n = 0;
	uint64_t stamp;

	for (; w->read < w->head; w->read++) {
		if (x->p->budget && n++ == x->p->budget)
			return ROUND_CUT;
		if (x->p->room && x->held == x->p->room)
			return -ENOBUFS;
		stamp = w->rec[w->slot[w->read]].stamp;
		if (perfclock_order_push(x->order, ring, stamp, "", 0, w->read,
					 0))
			abort();
		if (x->policy)
			perfclock_policy_read(x->policy, ring, stamp);
		x->held++;
	}
	return 0;
}

static int stalled(void *ctx, uint64_t wm, uint64_t *least)
{
	struct world *x = ctx;
	unsigned int i, j;

	*least = wm;
	for (i = 0; i < x->p->rings; i++)
		for (j = x->w[i].read; j < x->w[i].head; j++)
			if (x->w[i].rec[x->w[i].slot[j]].stamp < *least)
				*least = x->w[i].rec[x->w[i].slot[j]].stamp;
	story("  memory is full; nothing unread is below %llu\n",
	      (unsigned long long)*least);
	return 0;
}

static const struct round_ops ops = { load_watermark, load_head, drain,
				      stalled };

/* In order is: by (stamp, ring, place in ring). */
static bool in_order(const struct world *x, const struct perfclock_record *r)
{
	if (!x->any_delivered || r->stamp != x->last_stamp)
		return !x->any_delivered || r->stamp > x->last_stamp;
	if (r->ring != x->last_ring)
		return r->ring > x->last_ring;
	return r->tag > x->last_slot;
}

static int deliver(const struct perfclock_record *r, void *ctx)
{
	struct world *x = ctx;
	struct writer *w = &x->w[r->ring];

	story("  delivers %llu of ring %u\n", (unsigned long long)r->stamp,
	      r->ring);
	if (!in_order(x, r))
		x->broken = true;
	x->any_delivered = true;
	S->result->early += x->round < x->p->rounds;
	x->last_stamp = r->stamp;
	x->last_ring = r->ring;
	x->last_slot = r->tag;
	w->rec[w->slot[r->tag]].delivered = true;
	x->held--;
	return 0;
}

/* A round as a policy's users run it. */
static int policy_round(struct world *x)
{
	unsigned int i;
	uint64_t limit;
	int err;

	err = others_run(x);
	if (err)
		return err;
	x->reader_w = read_clock(x);
	x->reader_step++;
	story("the reader reads the clock: %llu\n",
	      (unsigned long long)x->reader_w);
	perfclock_policy_round_begin(x->policy, x->reader_w, 0);
	for (i = 0; i < x->p->rings; i++) {
		err = load_head(x, i);
		if (err)
			return err;
		drain(x, i);
	}
	perfclock_policy_round_end(x->policy, &limit);
	perfclock_order_flush(x->order, limit, deliver, x);
	return 0;
}

/* All is quiet: read what is left, deliver everything. */
static void finish(struct world *x)
{
	static const struct explore_params roomy;
	const struct explore_params *p = x->p;
	unsigned int i, j;

	/* This is about order: let all that is left be read. */
	x->p = &roomy;
	for (i = 0; i < p->rings; i++) {
		x->w[i].head = x->w[i].published;
		drain(x, i);
	}
	story("the end\n");
	perfclock_order_end(x->order, deliver, x);
	for (i = 0; i < p->rings; i++)
		for (j = 0; j < p->records; j++)
			if (!x->w[i].rec[j].delivered)
				x->broken = true;
}

/* One schedule, from the beginning. False: it was cut off. */
static bool run_schedule(const struct explore_params *p)
{
	struct world *x = &S->world;
	long err = 0;

	memset(x, 0, sizeof(*x));
	x->p = p;
	S->pos = 0;
	if (perfclock_order_new(&x->order, p->rings, NULL))
		abort();
	if (p->policy && perfclock_policy_new(&x->policy, p->policy, p->rings))
		abort();
	round_init(&x->loop, &ops, x, x->order);
	while (!err && x->round < p->rounds) {
		x->reader_step = 0;
		if (p->policy)
			err = policy_round(x);
		else
			err = round_run(&x->loop, p->rings, deliver, x);
		if (err > 0)
			err = 0;
		x->round++;
		if (x->broken)
			break;
	}
	if (!err && !x->broken)
		err = others_run(x);
	if (!err && !x->broken)
		finish(x);
	perfclock_order_free(x->order);
	perfclock_policy_free(x->policy);
	S->result->schedules++;
	return !err;
}

/* The next schedule in depth-first order; false: there is none. */
static bool next_schedule(void)
{
	while (S->len && S->choice[S->len - 1] + 1 == S->choices[S->len - 1])
		S->len--;
	if (!S->len)
		return false;
	S->choice[S->len - 1]++;
	return true;
}

static struct search *new_search(struct explore_result *r)
{
	struct search *s = calloc(1, sizeof(*s));

	if (!s)
		abort();
	memset(r, 0, sizeof(*r));
	s->result = r;
	return s;
}

static void end_search(void)
{
	S->result->states = S->seen_nr;
	free(S->seen);
	free(S);
	S = NULL;
}

/* Run the schedule that broke the order once more, and write it down. */
static void tell(const struct explore_params *p)
{
	S->result->broken = true;
	S->tell = true;
	S->len = S->pos;
	run_schedule(p);
}

void explore_all(const struct explore_params *p, struct explore_result *r)
{
	S = new_search(r);
	do {
		run_schedule(p);
		if (S->world.broken) {
			tell(p);
			break;
		}
	} while (next_schedule());
	end_search();
}

void explore_random(const struct explore_params *p, uint64_t seed,
		    unsigned long long schedules, struct explore_result *r)
{
	uint64_t before;

	S = new_search(r);
	S->random = true;
	S->seed = seed * 2 + 1;
	while (schedules--) {
		before = S->seed;
		run_schedule(p);
		if (S->world.broken) {
			S->seed = before;
			tell(p);
			break;
		}
	}
	end_search();
}
