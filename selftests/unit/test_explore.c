// SPDX-License-Identifier: GPL-2.0
/*
 * The watermark rule, driven through all interleavings of writers, grace
 * periods and the reader, and the guessing rules, for each of which the same
 * search finds an interleaving that breaks the order.
 */
#include <stdlib.h>
#include <time.h>

#include "explore.h"
#include "tap.h"

static struct explore_result res;

static void say(const char *what)
{
	printf("# %s: %llu schedules, %llu states, %llu steps, %llu early\n",
	       what, res.schedules, res.states, res.steps, res.early);
}

static void say_story(void)
{
	char *line, *rest = res.story;

	while ((line = strsep(&rest, "\n")) && *line)
		printf("#   %s\n", line);
}

static void never_broken(struct explore_params p)
{
	explore_all(&p, &res);
	say("all");
	EXPECT(!res.broken);
	if (res.broken)
		say_story();
	EXPECT_OP(res.states, >, 10000);
	/* At the end all is in order, whatever the rule. */
	EXPECT_OP(res.early, >, 1000);
}

static void found_broken(const char *policy)
{
	const struct explore_params p = {
		.rings = 2, .records = 2, .nesting = 2, .rounds = 2,
		.policy = policy,
	};

	explore_all(&p, &res);
	say(policy);
	EXPECT(res.broken);
	say_story();
}

static void watermark_2_rings_of_3_records_never_out_of_order(void)
{
	never_broken((struct explore_params){
		.rings = 2, .records = 3, .nesting = 2, .grace_periods = 1,
		.rounds = 2 });
}

static void watermark_3_rings_of_2_records_never_out_of_order(void)
{
	never_broken((struct explore_params){
		.rings = 3, .records = 2, .nesting = 2, .grace_periods = 1,
		.rounds = 2 });
}

static void watermark_interrupts_three_deep_never_out_of_order(void)
{
	never_broken((struct explore_params){
		.rings = 2, .records = 3, .nesting = 3, .grace_periods = 1,
		.rounds = 2 });
}

static void watermark_rounds_cut_short_never_out_of_order(void)
{
	never_broken((struct explore_params){
		.rings = 2, .records = 3, .nesting = 1, .grace_periods = 1,
		.rounds = 4, .budget = 1 });
}

static void watermark_full_memory_never_out_of_order(void)
{
	never_broken((struct explore_params){
		.rings = 2, .records = 3, .nesting = 1, .grace_periods = 1,
		.rounds = 3, .room = 3 });
}

static void round_start_can_be_out_of_order(void)
{
	found_broken("round-start");
}

static void first_min_can_be_out_of_order(void)
{
	found_broken("first-min");
}

static void min_max_can_be_out_of_order(void)
{
	found_broken("min-max");
}

static void pass_max_can_be_out_of_order(void)
{
	const struct explore_params p = {
		.rings = 2, .records = 2, .nesting = 2, .rounds = 3,
		.policy = "pass-max",
	};

	explore_all(&p, &res);
	say("pass-max");
	EXPECT(res.broken);
	say_story();
}

static void backoff_can_be_out_of_order(void)
{
	found_broken("backoff=1");
}

static void none_can_be_out_of_order(void)
{
	found_broken("none");
}

/* Beyond what can be exhausted. EXPLORE_SEED repeats a search. */
static void watermark_4_rings_of_8_records_at_random(void)
{
	const struct explore_params p = {
		.rings = 4, .records = 8, .nesting = 3, .grace_periods = 8,
		.rounds = 8,
	};
	const char *given = getenv("EXPLORE_SEED");
	uint64_t seed = given ? strtoull(given, NULL, 0) :
				(uint64_t)time(NULL);

	printf("# EXPLORE_SEED=%llu\n", (unsigned long long)seed);
	explore_random(&p, seed, 20000, &res);
	say("random");
	EXPECT(!res.broken);
	EXPECT_OP(res.early, >, 10000);
	if (res.broken)
		say_story();
}

/* The search by dice must be able to find something too. */
static void round_start_at_random_is_found_out(void)
{
	const struct explore_params p = {
		.rings = 4, .records = 8, .nesting = 3, .rounds = 8,
		.policy = "round-start",
	};

	explore_random(&p, 1, 20000, &res);
	say("random round-start");
	EXPECT(res.broken);
}

#define T(name) { #name, name }
static const struct tap_test tests[] = {
	T(watermark_2_rings_of_3_records_never_out_of_order),
	T(watermark_3_rings_of_2_records_never_out_of_order),
	T(watermark_interrupts_three_deep_never_out_of_order),
	T(watermark_rounds_cut_short_never_out_of_order),
	T(watermark_full_memory_never_out_of_order),
	T(round_start_can_be_out_of_order),
	T(first_min_can_be_out_of_order),
	T(min_max_can_be_out_of_order),
	T(pass_max_can_be_out_of_order),
	T(backoff_can_be_out_of_order),
	T(none_can_be_out_of_order),
	T(watermark_4_rings_of_8_records_at_random),
	T(round_start_at_random_is_found_out),
};

TAP_MAIN(tests)
