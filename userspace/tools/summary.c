// SPDX-License-Identifier: GPL-2.0
/* The figures of a live run: see live.h. */
#include <stdio.h>
#include <string.h>

#include "common.h"
#include "live.h"

const char *format_ns(char *buf, size_t size, uint64_t ns)
{
	static const struct {
		uint64_t unit;
		const char *name;
	} units[] = {
		{ NSEC_PER_SEC, "s" }, { 1000000, "ms" }, { 1000, "us" },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(units); i++) {
		/* Three digits that mean something. */
		uint64_t whole = ns / units[i].unit;
		uint64_t part = ns % units[i].unit * 100 / units[i].unit;

		if (!whole)
			continue;
		if (whole >= 100)
			snprintf(buf, size, "%llu %s",
				 (unsigned long long)whole, units[i].name);
		else if (whole >= 10)
			snprintf(buf, size, "%llu.%llu %s",
				 (unsigned long long)whole,
				 (unsigned long long)part / 10, units[i].name);
		else
			snprintf(buf, size, "%llu.%02llu %s",
				 (unsigned long long)whole,
				 (unsigned long long)part, units[i].name);
		return buf;
	}
	snprintf(buf, size, "%llu ns", (unsigned long long)ns);
	return buf;
}

void live_summary(struct live *l, struct live_summary *s)
{
	memset(s, 0, sizeof(*s));
	s->stats.sz = sizeof(s->stats);
	s->info.sz = sizeof(s->info);
	perfclock_session_get_stats(l->session, &s->stats);
	perfclock_get_info(perfclock_session_clock(l->session), &s->info);
	s->duration_ns = l->ended - l->started;
	if (s->stats.samples)
		s->cpu_ns_per_event = l->cpu_used / s->stats.samples;
}

void live_summary_json(const struct live_summary *s, struct json *j)
{
	const struct perfclock_session_stats *st = &s->stats;

	json_u64(j, "events", st->samples);
	json_u64(j, "lost", st->lost);
	json_u64(j, "late", st->late);
	json_u64(j, "max_late_ns", st->max_late_ns);
	json_string(j, "provider", s->info.provider);
	json_bool(j, "proven", st->proven);
	if (!st->proven)
		json_string(j, "unproven_reason", st->unproven_reason);
	json_string(j, "clock", perfclock_clock_name(s->info.clock));
	json_string(j, "source", s->info.source);
	json_u64(j, "rounds", st->rounds);
	json_u64(j, "rings", st->rings_max);
	json_object_begin(j, "lag_ns");
	json_u64(j, "p50", st->lag_p50_ns);
	json_u64(j, "p99", st->lag_p99_ns);
	json_u64(j, "max", st->lag_max_ns);
	json_object_end(j);
	json_u64(j, "held_max", st->held_max);
	json_u64(j, "inversions", st->inversions);
	json_u64(j, "dropped", st->dropped);
	json_u64(j, "truncated", st->truncated);
	json_u64(j, "throttled", st->throttled);
	json_u64(j, "stalls", st->stalls);
	json_u64(j, "cpu_ns_per_event", s->cpu_ns_per_event);
	json_u64(j, "duration_ns", s->duration_ns);
}

void live_summary_line(const struct live_summary *s)
{
	const struct perfclock_session_stats *st = &s->stats;
	char time[32], p50[32], p99[32], late[64] = "", proof[192];

	if (st->late) {
		char worst[32];

		snprintf(late, sizeof(late), " (by up to %s)",
			 format_ns(worst, sizeof(worst), st->max_late_ns));
	}
	if (st->proven)
		snprintf(proof, sizeof(proof), "proven by %s",
			 s->info.provider);
	else
		snprintf(proof, sizeof(proof), "NOT proven (%s)",
			 st->unproven_reason);
	tool_note("%llu events of %u rings in %s; %llu lost, %llu late%s, "
		  "order %s; lag %s, at most %s in 99%%",
		  (unsigned long long)st->samples, st->rings_max,
		  format_ns(time, sizeof(time), s->duration_ns),
		  (unsigned long long)st->lost, (unsigned long long)st->late,
		  late, proof,
		  format_ns(p50, sizeof(p50), st->lag_p50_ns),
		  format_ns(p99, sizeof(p99), st->lag_p99_ns));
}

int live_strict(const struct live *l, const struct live_summary *s, int status)
{
	if (status == TOOL_DONE && l->options->strict &&
	    (s->stats.late || s->stats.lost))
		return TOOL_PARTIAL;
	return status;
}
