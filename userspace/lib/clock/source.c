// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* The sources, cheapest first, and the choice among them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "clock/fail.h"
#include "clock/futex.h"
#include "clock/source.h"

static const struct source_ops *const sources[] = {
	&source_perf_page,
	&source_clockid_ops,
	&source_module,
	&source_comm_record,
};

#define NR_SOURCES	(sizeof(sources) / sizeof(sources[0]))

const struct source_ops *source_ops_at(unsigned int i,
				       enum perfclock_clockid clock)
{
	unsigned int k;

	for (k = 0; k < NR_SOURCES; k++)
		if (sources[k]->clocks & SOURCE_CLOCK(clock) && !i--)
			return sources[k];
	return NULL;
}

const struct source_ops *source_ops_by_name(const char *name)
{
	unsigned int k;

	for (k = 0; k < NR_SOURCES; k++)
		if (!strcmp(sources[k]->name, name))
			return sources[k];
	return NULL;
}

int source_open_ops(struct source *s, const struct source_ops *ops,
		    const struct perfclock_open_opts *o)
{
	int err;

	s->ops = ops;
	s->clock = o->clock;
	s->priv = NULL;
	s->resolution = 0;
	if (!(ops->clocks & SOURCE_CLOCK(o->clock)))
		err = clock_fail(o, -EOPNOTSUPP,
				 "source %s does not read the %s clock",
				 ops->name, perfclock_clock_name(o->clock));
	else
		err = ops->open(s, o);
	if (err)
		s->ops = NULL;
	return err;
}

/* Try all; what each said is the error if none opens. */
static int source_open_auto(struct source *s,
			    const struct perfclock_open_opts *o)
{
	const struct source_ops *ops;
	struct perfclock_open_opts try = *o;
	char reason[192], all[512];
	int err = -ENODEV, len = 0;
	unsigned int i;

	try.error = reason;
	try.error_size = sizeof(reason);
	all[0] = '\0';
	for (i = 0; (ops = source_ops_at(i, o->clock)); i++) {
		reason[0] = '\0';
		err = source_open_ops(s, ops, &try);
		if (!err || err == -ENOMEM || err == -EMFILE)
			break;
		if (len < (int)sizeof(all))
			len += snprintf(all + len, sizeof(all) - len,
					"; %s: %s", ops->name, reason);
	}
	if (!err)
		return 0;
	return clock_fail(o, err, "no source reads the %s clock here%s",
			  perfclock_clock_name(o->clock), all);
}

int source_open(struct source *s, const struct perfclock_open_opts *o)
{
	const struct source_ops *ops;

	if (!o->source || !strcmp(o->source, "auto"))
		return source_open_auto(s, o);
	ops = source_ops_by_name(o->source);
	if (!ops) {
		s->ops = NULL;
		return clock_fail(o, -EINVAL, "no source is called '%s'",
				  o->source);
	}
	return source_open_ops(s, ops, o);
}

void source_close(struct source *s)
{
	if (s->ops)
		s->ops->close(s);
	s->ops = NULL;
}

uint64_t source_cost(struct source *s)
{
	uint64_t best = UINT64_MAX, begin, took, ns;
	int i, k;

	for (i = 0; i < 8; i++) {
		begin = mono_ns();
		for (k = 0; k < 16; k++)
			if (source_read(s, &ns))
				return 0;
		took = (mono_ns() - begin) / 16;
		if (took < best)
			best = took;
	}
	return best;
}
