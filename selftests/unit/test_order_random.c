// SPDX-License-Identifier: GPL-2.0
/*
 * The order core against a model of itself: a sorted array and the words of
 * the header, nothing clever. Random rings, stamps, sizes, limits and faults;
 * everything that comes out, every byte and every counter must agree.
 * ORDER_SEED repeats a run.
 */
#include <errno.h>
#include <stdint.h>
#include <time.h>

#include <perfclock/order.h>

#include "tap.h"

#define MODEL_MAX	4000
#define RINGS_MAX	1100

/* The model. */

struct model_record {
	uint64_t key, stamp;
	uint32_t ring, flags, id, len;
	bool ref;
};

struct model {
	struct model_record held[MODEL_MAX];	/* in order */
	int nr;
	uint64_t last_key[RINGS_MAX];		/* of the ring's last; 0: none */
	uint64_t limit, greatest;
	struct perfclock_order_stats st;
	struct perfclock_order_ring_stats ring[RINGS_MAX];
};

static struct model M;
static struct perfclock_order *O;
static uint64_t rnd_state;
static unsigned char pattern[1 << 17];		/* what records are made of */

static uint64_t rnd(uint64_t n)
{
	rnd_state ^= rnd_state << 13;
	rnd_state ^= rnd_state >> 7;
	rnd_state ^= rnd_state << 17;
	return (rnd_state * 0x2545f4914f6cdd1dull >> 16) % n;
}

/* The bytes of a record are a stretch of the pattern that its id tells. */
static const unsigned char *bytes_of(uint32_t id)
{
	return pattern + id % 4096;
}

static void model_count_late(struct perfclock_order_ring_stats *ring,
			     uint64_t stamp)
{
	const uint64_t late_ns = M.greatest - stamp;

	M.st.late++;
	ring->late++;
	if (late_ns > M.st.max_late_ns)
		M.st.max_late_ns = late_ns;
	if (late_ns > ring->max_late_ns)
		ring->max_late_ns = late_ns;
}

static void model_push(struct model_record r)
{
	struct perfclock_order_ring_stats *ring = &M.ring[r.ring];
	int i;

	if (r.stamp == 0 || r.stamp == UINT64_MAX)
		r.flags |= PERFCLOCK_RECORD_PLACED;
	if (r.flags & PERFCLOCK_RECORD_PLACED) {
		M.st.placed++;
		r.key = M.last_key[r.ring];
	} else {
		r.key = r.stamp;
		if (r.stamp < ring->newest) {
			M.st.inversions++;
			ring->inversions++;
		} else {
			ring->newest = r.stamp;
		}
		if (r.stamp < M.greatest) {
			r.flags |= PERFCLOCK_RECORD_LATE;
			model_count_late(ring, r.stamp);
		}
	}
	M.last_key[r.ring] = r.key;
	for (i = M.nr; i && (M.held[i - 1].key > r.key ||
			     (M.held[i - 1].key == r.key &&
			      M.held[i - 1].ring > r.ring)); i--)
		;
	memmove(&M.held[i + 1], &M.held[i], (M.nr - i) * sizeof(r));
	M.held[i] = r;
	M.nr++;
	M.st.pushed++;
	ring->pushed++;
	ring->held++;
	if ((uint64_t)M.nr > M.st.held_max)
		M.st.held_max = M.nr;
}

static void model_limit(uint64_t limit)
{
	if (limit < M.limit)
		M.st.bad_limits++;
	else
		M.limit = limit;
}

/* The record that must come next; false: none may. */
static bool model_take(struct model_record *r)
{
	if (!M.nr || M.held[0].key >= M.limit)
		return false;
	*r = M.held[0];
	memmove(&M.held[0], &M.held[1], --M.nr * sizeof(*r));
	M.st.delivered++;
	M.ring[r->ring].held--;
	if (r->key > M.greatest && !(r->flags & PERFCLOCK_RECORD_PLACED))
		M.greatest = r->key;
	return true;
}

/* Comparison. */

static void compare_record(const struct perfclock_record *rec)
{
	struct model_record want;

	ASSERT(model_take(&want));
	ASSERT_EQ(rec->tag, want.id);
	ASSERT_EQ(rec->stamp, want.stamp);
	ASSERT_EQ(rec->ring, want.ring);
	ASSERT_EQ(rec->flags, want.flags);
	ASSERT_EQ(rec->len, want.len);
	ASSERT(!memcmp(rec->data, bytes_of(want.id), want.len));
	if (want.ref)
		ASSERT(rec->data == bytes_of(want.id));
}

static void compare_ring_stats(unsigned int ring)
{
	struct perfclock_order_ring_stats rs = { .sz = sizeof(rs) };
	const struct perfclock_order_ring_stats *want = &M.ring[ring];

	ASSERT_EQ(perfclock_order_get_ring_stats(O, ring, &rs), 0);
	ASSERT_EQ(rs.pushed, want->pushed);
	ASSERT_EQ(rs.held, want->held);
	ASSERT_EQ(rs.late, want->late);
	ASSERT_EQ(rs.max_late_ns, want->max_late_ns);
	ASSERT_EQ(rs.inversions, want->inversions);
	ASSERT_EQ(rs.newest, want->newest);
}

static void compare_stats(unsigned int rings)
{
	int i;
	struct perfclock_order_stats st = { .sz = sizeof(st) };

	ASSERT_EQ(perfclock_order_get_stats(O, &st), 0);
	ASSERT_EQ(st.pushed, M.st.pushed);
	ASSERT_EQ(st.delivered, M.st.delivered);
	ASSERT_EQ(st.held, M.nr);
	ASSERT_EQ(st.held_max, M.st.held_max);
	ASSERT_EQ(st.late, M.st.late);
	ASSERT_EQ(st.max_late_ns, M.st.max_late_ns);
	ASSERT_EQ(st.inversions, M.st.inversions);
	ASSERT_EQ(st.placed, M.st.placed);
	ASSERT_EQ(st.bad_limits, M.st.bad_limits);
	ASSERT_EQ(st.greatest_delivered, M.greatest);
	ASSERT_EQ(st.discarded, 0);
	for (i = 0; i < 4; i++)
		compare_ring_stats(rnd(rings));
}

struct stop {
	int after;
};

static int check(const struct perfclock_record *rec, void *ctx)
{
	struct stop *stop = ctx;

	compare_record(rec);
	return stop && !--stop->after ? -ECANCELED : 0;
}

/* What a run is like. */
struct style {
	unsigned int rings;
	unsigned int disorder;	/* of 100 records, out of order in the ring */
	unsigned int wild;	/* of 1000, with a stamp that is mad */
	unsigned int len_max;
	bool unsafe;		/* limits that make records late */
};

static uint64_t now_of[RINGS_MAX];
static uint32_t next_id;

static uint64_t mad_stamp(uint64_t near)
{
	const uint64_t day = 86400ull * 1000000000;

	switch (rnd(6)) {
	case 0: return 0;
	case 1: return UINT64_MAX;
	case 2: return UINT64_MAX - 1;
	case 3: return near + (1 + rnd(200)) * day;
	case 4: return near + day / 24;
	default: return 1 + rnd(near);
	}
}

static void random_push(const struct style *s, uint64_t time)
{
	const unsigned int ring = rnd(s->rings);
	struct model_record r = { .ring = ring, .id = next_id };

	if (now_of[ring] < time)
		now_of[ring] = time;
	now_of[ring] += rnd(4) ? rnd(50) : 0;
	r.stamp = now_of[ring];
	if (rnd(100) < s->disorder)
		r.stamp -= rnd(s->unsafe ? 2000 : r.stamp - time + 1);
	if (rnd(1000) < s->wild && (s->unsafe || rnd(2)))
		r.stamp = s->unsafe ? mad_stamp(r.stamp) :
			  r.stamp + 86400000000000ull;
	if (!rnd(M.last_key[ring] ? 50 : 2))	/* often a ring's first ones */
		r.flags = PERFCLOCK_RECORD_PLACED;
	r.len = rnd(200) ? rnd(s->len_max + 1) : rnd(sizeof(pattern) - 4096);
	r.ref = !rnd(10);
	ASSERT_EQ((r.ref ? perfclock_order_push_ref : perfclock_order_push)
		  (O, ring, r.stamp, bytes_of(r.id), r.len, r.id, r.flags), 0);
	model_push(r);
	next_id++;
}

static void random_flush(uint64_t limit)
{
	struct stop stop = { 1 + rnd(20) };
	long ret;

	if (rnd(4)) {
		model_limit(limit);
		ret = perfclock_order_flush(O, limit, check, NULL);
		ASSERT_OP(ret, >=, 0);
	} else {
		model_limit(limit);
		ret = perfclock_order_flush(O, limit, check, &stop);
		if (!stop.after) {
			ASSERT_EQ(ret, -ECANCELED);
			return;
		}
		/* It went on after it was told to stop, or never was. */
		ASSERT_OP(stop.after, >, 0);
		ASSERT_OP(ret, >=, 0);
	}
	ASSERT(!M.nr || M.held[0].key >= M.limit);
}

static void random_pull(const struct style *s, uint64_t limit)
{
	struct perfclock_record rec;
	int n = rnd(30), ret = 1;

	while (n-- && ret) {
		model_limit(limit);
		ret = perfclock_order_next(O, limit, &rec);
		if (ret)
			compare_record(&rec);
		else
			ASSERT(!M.nr || M.held[0].key >= M.limit);
		if (!rnd(10))
			compare_stats(s->rings);
		if (!rnd(10))
			random_push(s, limit);
	}
}

/* Pushed and delivered whatever it was: no byte of memory is left behind. */
static void expect_no_memory(void)
{
	struct perfclock_order_stats st = { .sz = sizeof(st) };

	ASSERT_EQ(perfclock_order_get_stats(O, &st), 0);
	ASSERT_EQ(st.memory_queued, 0);
	ASSERT_EQ(st.memory, 0);
}

static void run(const struct style *s, int rounds)
{
	struct perfclock_order_opts opts = { .sz = sizeof(opts) };
	uint64_t time = 1000000;
	int i;

	memset(&M, 0, sizeof(M));
	memset(now_of, 0, sizeof(now_of));
	next_id = 0;
	ASSERT_EQ(perfclock_order_new(&O, s->rings, &opts), 0);
	while (rounds--) {
		for (i = rnd(300); i; i--)
			random_push(s, time);
		/* All that comes later is stamped time or above: safe. */
		time += rnd(200);
		for (i = 0; i < (int)s->rings; i++)
			if (now_of[i] < time)
				now_of[i] = time;
		if (s->unsafe && !rnd(5))
			random_flush(time - 500 + rnd(2000));
		else if (rnd(3))
			random_flush(time);
		else
			random_pull(s, time);
		compare_stats(s->rings);
		if (M.nr > MODEL_MAX / 2)
			break;		/* it is slow with more */
	}
	if (!s->unsafe)
		EXPECT_EQ(M.st.late, 0);
	model_limit(UINT64_MAX);
	ASSERT_OP(perfclock_order_end(O, check, NULL), >=, 0);
	ASSERT_EQ(M.nr, 0);
	compare_stats(s->rings);
	expect_no_memory();
	perfclock_order_free(O);
	O = NULL;
}

static void seed(void)
{
	const char *given = getenv("ORDER_SEED");
	uint64_t s = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL);
	size_t i;

	printf("# ORDER_SEED=%llu\n", (unsigned long long)s);
	rnd_state = s * 2654435761u + 1;
	for (i = 0; i < sizeof(pattern); i++)
		pattern[i] = rnd(256);
}

static void many_runs(struct style s, int runs, int rounds)
{
	seed();
	while (runs--)
		run(&s, rounds);
}

static void safe_limits_sort_what_rings_give(void)
{
	many_runs((struct style){ .rings = 9, .len_max = 100 }, 8, 50);
}

static void one_ring_is_only_repaired(void)
{
	many_runs((struct style){ .rings = 1, .disorder = 30, .len_max = 80 },
		  8, 50);
}

static void inversions_are_sorted_out(void)
{
	many_runs((struct style){ .rings = 7, .disorder = 10, .wild = 3,
				  .len_max = 64 }, 8, 50);
}

static void rings_in_utter_disorder_are_sorted(void)
{
	many_runs((struct style){ .rings = 3, .disorder = 100, .len_max = 16 },
		  8, 50);
}

static void a_thousand_rings_are_merged(void)
{
	many_runs((struct style){ .rings = RINGS_MAX, .disorder = 2,
				  .wild = 1, .len_max = 64 }, 2, 20);
}

static void unsafe_limits_make_what_the_model_makes(void)
{
	many_runs((struct style){ .rings = 6, .disorder = 10, .wild = 20,
				  .len_max = 300, .unsafe = true }, 12, 50);
}

static int swallow(const struct perfclock_record *rec, void *ctx)
{
	return 0;
}

/* Whatever is pushed, memory keeps below its bound, and nothing is lost. */
static void memory_bound_is_never_passed(void)
{
	struct perfclock_order_stats st = { .sz = sizeof(st) };
	struct perfclock_order_opts opts = { .sz = sizeof(opts) };
	uint64_t stamp = 1, pushed = 0, refused = 0;
	int i, err;

	seed();
	for (i = 0; i < 60000; i++) {
		if (!(i % 10000)) {
			perfclock_order_free(O);
			opts.memory_max = 20000 + rnd(1 << 20);
			ASSERT_EQ(perfclock_order_new(&O, 20, &opts), 0);
			pushed = 0;
		}
		stamp += rnd(10);
		err = perfclock_order_push(O, rnd(20),
					   rnd(20) ? stamp : 1 + rnd(stamp),
					   pattern, rnd(400), 0, 0);
		ASSERT(!err || err == -ENOBUFS);
		pushed += !err;
		refused += err != 0;
		st.sz = sizeof(st);
		perfclock_order_get_stats(O, &st);
		ASSERT_OP(st.memory, <=, opts.memory_max);
		ASSERT_OP(st.memory_max_seen, <=, opts.memory_max);
		ASSERT_EQ(st.pushed, pushed);
		if (err || !rnd(2000))
			perfclock_order_flush(O, stamp - rnd(100), swallow,
					      NULL);
	}
	EXPECT_OP(refused, >, 10);
	perfclock_order_free(O);
	O = NULL;
}

#define T(name) { #name, name }
static const struct tap_test tests[] = {
	T(safe_limits_sort_what_rings_give),
	T(one_ring_is_only_repaired),
	T(inversions_are_sorted_out),
	T(rings_in_utter_disorder_are_sorted),
	T(a_thousand_rings_are_merged),
	T(unsafe_limits_make_what_the_model_makes),
	T(memory_bound_is_never_passed),
};

TAP_MAIN(tests)
