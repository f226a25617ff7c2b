// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * The rules by which tools choose what to deliver. Each is a few lines over
 * the same four facts: the clock and the watermark at the round's start, the
 * first stamp of each ring in this round, and the greatest stamp of each ring.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <perfclock/policy.h>

struct policy_ring {
	uint64_t greatest;	/* 0: nothing seen */
	uint64_t seen_in;	/* round of its newest record */
};

struct perfclock_policy;

struct rule {
	const char *name;
	bool needs_clock, at_once;
	uint64_t (*limit)(struct perfclock_policy *p);
};

struct perfclock_policy {
	const struct rule *rule;
	char name[32];
	uint64_t backoff;
	uint64_t round;
	uint64_t now, safe;	/* at this round's start */
	uint64_t first_min;	/* of the rings' first stamps, this round */
	uint64_t greatest;	/* of all stamps */
	uint64_t greatest_before; /* when this round began */
	struct policy_ring *rings;
	unsigned int nr_rings;	/* declared or seen */
	unsigned int room;
};

/* "Up to and including stamp", as a limit. */
static uint64_t including(uint64_t stamp)
{
	return stamp + 1;	/* never ~0: that stamp says nothing */
}

static uint64_t limit_none(struct perfclock_policy *p)
{
	return UINT64_MAX;
}

static uint64_t limit_pass_max(struct perfclock_policy *p)
{
	return p->greatest_before ? including(p->greatest_before) : 0;
}

static uint64_t limit_min_max(struct perfclock_policy *p)
{
	uint64_t least = UINT64_MAX;
	unsigned int i;

	for (i = 0; i < p->nr_rings; i++)
		if (p->rings[i].greatest < least)
			least = p->rings[i].greatest;
	return least && least != UINT64_MAX ? including(least) : 0;
}

static uint64_t limit_first_min(struct perfclock_policy *p)
{
	return p->first_min != UINT64_MAX ? including(p->first_min) : 0;
}

static uint64_t limit_backoff(struct perfclock_policy *p)
{
	return p->greatest > p->backoff ?
	       including(p->greatest - p->backoff) : 0;
}

static uint64_t limit_round_start(struct perfclock_policy *p)
{
	return p->now && p->now != UINT64_MAX ? including(p->now) : p->now;
}

static uint64_t limit_watermark(struct perfclock_policy *p)
{
	return p->safe;
}

static const struct rule rules[] = {
	{ "none", false, true, limit_none },
	{ "pass-max", false, false, limit_pass_max },
	{ "min-max", false, false, limit_min_max },
	{ "first-min", false, false, limit_first_min },
	{ "backoff", false, false, limit_backoff },
	{ "round-start", true, false, limit_round_start },
	{ "watermark", true, false, limit_watermark },
};

static const char *const shown[] = {
	"none", "pass-max", "min-max", "first-min", "backoff=1000",
	"backoff=1000000", "backoff=10000000", "round-start", "watermark",
};

const char *perfclock_policy_list(unsigned int i)
{
	return i < sizeof(shown) / sizeof(shown[0]) ? shown[i] : NULL;
}

/* The B of "backoff=B": decimal digits, and no more than fit. */
static int parse_backoff(const char *s, uint64_t *ns)
{
	uint64_t value = 0;

	if (!*s)
		return -EINVAL;
	for (; *s; s++) {
		if (*s < '0' || *s > '9' ||
		    __builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, *s - '0', &value))
			return -EINVAL;
	}
	*ns = value;
	return 0;
}

static const struct rule *find_rule(const char *name, uint64_t *backoff)
{
	const size_t len = strcspn(name, "=");
	const bool has_arg = name[len] == '=';
	const struct rule *r;

	for (r = rules; r < rules + sizeof(rules) / sizeof(rules[0]); r++) {
		if (strlen(r->name) != len || strncmp(r->name, name, len))
			continue;
		if (has_arg != (r->limit == limit_backoff))
			return NULL;
		if (has_arg && parse_backoff(name + len + 1, backoff))
			return NULL;
		return r;
	}
	return NULL;
}

static int need_rings(struct perfclock_policy *p, unsigned int nr)
{
	struct policy_ring *rings;
	unsigned int room = p->room ? p->room : 8;

	if (nr > PERFCLOCK_ORDER_MAX_RINGS)
		return -EINVAL;
	while (room < nr)
		room *= 2;
	if (room > p->room) {
		rings = realloc(p->rings, room * sizeof(*rings));
		if (!rings)
			return -ENOMEM;
		memset(rings + p->room, 0, (room - p->room) * sizeof(*rings));
		p->rings = rings;
		p->room = room;
	}
	if (nr > p->nr_rings)
		p->nr_rings = nr;
	return 0;
}

int perfclock_policy_new(struct perfclock_policy **pp, const char *name,
			 unsigned int nr_rings)
{
	struct perfclock_policy *p;
	const struct rule *rule;
	uint64_t backoff = 0;
	int err;

	*pp = NULL;
	if (!name || strlen(name) >= sizeof(p->name))
		return -EINVAL;
	rule = find_rule(name, &backoff);
	if (!rule)
		return -EINVAL;
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->rule = rule;
	strcpy(p->name, name);
	p->backoff = backoff;
	p->first_min = UINT64_MAX;
	err = need_rings(p, nr_rings);
	if (err) {
		perfclock_policy_free(p);
		return err;
	}
	*pp = p;
	return 0;
}

void perfclock_policy_free(struct perfclock_policy *p)
{
	if (!p)
		return;
	free(p->rings);
	free(p);
}

const char *perfclock_policy_name(const struct perfclock_policy *p)
{
	return p->name;
}

bool perfclock_policy_needs_clock(const struct perfclock_policy *p)
{
	return p->rule->needs_clock;
}

bool perfclock_policy_at_once(const struct perfclock_policy *p)
{
	return p->rule->at_once;
}

void perfclock_policy_round_begin(struct perfclock_policy *p, uint64_t now,
				  uint64_t safe)
{
	p->round++;
	p->now = now;
	p->safe = safe;
	p->first_min = UINT64_MAX;
	p->greatest_before = p->greatest;
}

int perfclock_policy_read(struct perfclock_policy *p, unsigned int ring,
			  uint64_t stamp)
{
	struct policy_ring *r;
	int err;

	if (ring >= p->nr_rings) {
		if (ring >= PERFCLOCK_ORDER_MAX_RINGS)
			return -EINVAL;
		err = need_rings(p, ring + 1);
		if (err)
			return err;
	}
	if (stamp + 1 <= 1)
		return 0;
	r = &p->rings[ring];
	if (r->seen_in != p->round) {
		r->seen_in = p->round;
		if (stamp < p->first_min)
			p->first_min = stamp;
	}
	if (stamp > r->greatest)
		r->greatest = stamp;
	if (stamp > p->greatest)
		p->greatest = stamp;
	return 0;
}

void perfclock_policy_round_end(struct perfclock_policy *p, uint64_t *limit)
{
	*limit = p->rule->limit(p);
}
