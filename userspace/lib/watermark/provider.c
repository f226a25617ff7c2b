// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* The providers, best first, and the choice among them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "clock/fail.h"
#include "watermark/provider.h"

static const struct provider_ops *const providers[] = {
	&provider_module,
	&provider_membarrier,
	&provider_cpu_visit,
	&provider_backoff,
};

#define NR_PROVIDERS	(sizeof(providers) / sizeof(providers[0]))

const struct provider_ops *provider_ops_at(unsigned int i)
{
	return i < NR_PROVIDERS ? providers[i] : NULL;
}

static int provider_try(struct provider *p, const struct provider_ops *ops,
			const struct source *src,
			const struct perfclock_open_opts *o, const char *arg)
{
	int err;

	/* Nobody who asked for haste shall get less without a word. */
	if (o->flags & PERFCLOCK_OPEN_EXPEDITED && !ops->expedites)
		return clock_fail(o, -EOPNOTSUPP,
				  "provider '%s' has no expedited grace periods, only the module has",
				  ops->name);
	if (arg && !ops->takes_arg)
		return clock_fail(o, -EINVAL, "provider '%s' takes no '=%s'",
				  ops->name, arg);
	p->clock = o->clock;
	p->source = src->ops->name;
	p->priv = NULL;
	err = ops->open(p, o, arg);
	p->ops = err ? NULL : ops;
	return err;
}

/* The best that is proven here; what each refused with is the error. */
static int provider_open_auto(struct provider *p, const struct source *src,
			      const struct perfclock_open_opts *o)
{
	struct perfclock_open_opts try = *o;
	char reason[192], all[600];
	int err = -ENODEV, len = 0;
	unsigned int i;

	try.error = reason;
	try.error_size = sizeof(reason);
	all[0] = '\0';
	for (i = 0; i < NR_PROVIDERS; i++) {
		if (!providers[i]->proven ||
		    (o->flags & PERFCLOCK_OPEN_EXPEDITED &&
		     !providers[i]->expedites))
			continue;
		reason[0] = '\0';
		err = provider_try(p, providers[i], src, &try, NULL);
		if (!err)
			return 0;
		if (err == -ENOMEM || err == -EMFILE)
			return clock_fail(o, err, "%s", reason);
		if (len < (int)sizeof(all))
			len += snprintf(all + len, sizeof(all) - len,
					"; %s: %s", providers[i]->name,
					reason);
	}
	return clock_fail(o, err,
			  "no provider can prove a watermark of the %s clock here%s",
			  perfclock_clock_name(o->clock), all);
}

int provider_open(struct provider *p, const struct source *src,
		  const struct perfclock_open_opts *o)
{
	const char *arg;
	size_t len;
	unsigned int i;

	p->ops = NULL;
	if (!o->provider || !strcmp(o->provider, "auto"))
		return provider_open_auto(p, src, o);
	arg = strchr(o->provider, '=');
	len = arg ? (size_t)(arg - o->provider) : strlen(o->provider);
	for (i = 0; i < NR_PROVIDERS; i++)
		if (strlen(providers[i]->name) == len &&
		    !strncmp(providers[i]->name, o->provider, len))
			return provider_try(p, providers[i], src, o,
					    arg ? arg + 1 : NULL);
	return clock_fail(o, -EINVAL, "no provider is called '%s'",
			  o->provider);
}

void provider_close(struct provider *p)
{
	if (p->ops)
		p->ops->close(p);
	p->ops = NULL;
}
