// SPDX-License-Identifier: GPL-2.0
/*
 * Every allocation in turn fails once: whatever the library was doing, it says
 * -ENOMEM (or another error of its own), leaks nothing, and can be used again
 * with a good end. Recordings: test_perfdata_nomem.c.
 */
#include <stdint.h>

#include "alloc_faults.h"
#include "sim_session.h"

static uint64_t last, in_order;

static int ordered(const struct perfclock_record *rec, void *ctx)
{
	EXPECT(rec->stamp >= last);
	last = rec->stamp;
	in_order++;
	return 0;
}

/* What was accepted is delivered, in order, whatever failed between. */
static int use_order(void)
{
	struct perfclock_order_opts opts = { .sz = sizeof(opts) };
	struct perfclock_order *o;
	uint64_t accepted = 0;
	char bytes[300] = { 0 };
	int err, first = 0, i;

	err = perfclock_order_new(&o, 3, &opts);
	if (err)
		return err;
	last = in_order = 0;
	for (i = 0; i < 3000; i++) {
		err = perfclock_order_push(o, i % 3, 1000 + i - i % 7 * 5,
					   bytes, i % 300, 0, 0);
		accepted += !err;
		if (err && !first)
			first = err;
	}
	err = perfclock_order_ring_add(o);
	if (err < 0 && !first)
		first = err;
	err = perfclock_order_end(o, ordered, NULL);
	if (err < 0 && !first)
		first = err;
	/* The push that failed left the queue as it was. */
	if (err >= 0)
		EXPECT_EQ(in_order, accepted);
	perfclock_order_free(o);
	return first;
}

static void order_survives_each_failure(void)
{
	fail_each(use_order);
}

static int use_policies(void)
{
	static const char *const names[] = {
		"none", "pass-max", "min-max", "first-min", "backoff=1000",
		"round-start", "watermark",
	};
	struct perfclock_policy *p;
	uint64_t limit;
	int err, first = 0;
	size_t i, ring;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		err = perfclock_policy_new(&p, names[i], 2);
		if (err) {
			first = first ? first : err;
			continue;
		}
		perfclock_policy_round_begin(p, 5, 5);
		for (ring = 0; ring < 200; ring++) {
			err = perfclock_policy_read(p, ring, ring);
			first = first ? first : err;
		}
		perfclock_policy_round_end(p, &limit);
		perfclock_policy_free(p);
	}
	return first;
}

static void policies_survive_each_failure(void)
{
	fail_each(use_policies);
}

static struct sim_ring sims[2];

static int count(const struct perfclock_event *ev, void *ctx)
{
	EXPECT(ev->stamp >= last);
	last = ev->stamp;
	in_order++;
	return 0;
}

/* Nothing of what the rings held is lost if a round fails and is repeated. */
static int run_session(struct perfclock_session *session)
{
	int i, err, first = 0, tries;

	for (i = 0; i < 2; i++) {
		struct perfclock_adopt_opts ao = {
			.sz = sizeof(ao), .fd = -1, .cpu = i, .attr = &attr,
			.base = sims[i].page, .size = sims[i].bytes,
		};

		err = perfclock_session_adopt(session, &ao);
		if (err < 0)
			return err;
	}
	err = perfclock_session_start(session);
	if (err)
		return err;
	sim_publish(&sims[0]);
	sim_publish(&sims[1]);
	sim_watermark = 1000;
	last = in_order = 0;
	for (tries = 0; tries < 3; tries++) {
		err = perfclock_session_poll(session, 0, count, NULL);
		if (err < 0 && !first)
			first = err;
	}
	err = perfclock_session_finish(session, count, NULL);
	if (err < 0 && !first)
		first = err;
	EXPECT_EQ(in_order, 20);
	return first;
}

static int use_session(void)
{
	struct perfclock_session_opts o = { .sz = sizeof(o) };
	struct perfclock_session *session;
	int err, i;

	sim_now = sim_watermark = 0;
	for (i = 0; i < 2; i++)
		sims[i].page->data_head = sims[i].page->data_tail = 0;
	err = perfclock_session_new(&session, &o);
	if (err)
		return err;
	err = run_session(session);
	perfclock_session_free(session);
	return err;
}

static void session_survives_each_failure(void)
{
	int i;

	attr = sim_attr();
	for (i = 0; i < 2; i++)
		sim_ring_init(&sims[i], 1);
	/* Written once, with an allocator that works; published each time. */
	for (i = 0; i < 20; i++)
		sim_sample(&sims[i % 2], 100 + i, i, 5);
	fail_each(use_session);
	for (i = 0; i < 2; i++)
		sim_ring_free(&sims[i]);
}

static const struct tap_test tests[] = {
	{ "order_survives_each_failure", order_survives_each_failure },
	{ "policies_survive_each_failure", policies_survive_each_failure },
	{ "session_survives_each_failure", session_survives_each_failure },
};

TAP_MAIN(tests)
