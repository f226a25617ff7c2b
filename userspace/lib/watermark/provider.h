/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * Internal: providers. A provider moves the watermark of one clock.
 *
 *	provider	why no record below W can still turn up	clock needed
 *	module		the kernel kept t and its grace period	any (own)
 *	membarrier	t; a grace period; then W = t		any source
 *	cpu-visit	each CPU ran us, after what it stamped	any source
 *	backoff=NS	unproven: nothing takes longer than NS	none
 *
 * The sources that "any source" joins with are all sound: what differs is how
 * t is made "not above what any CPU's clock shows" (see bound.c).
 */
#ifndef PERFCLOCK_WATERMARK_PROVIDER_H
#define PERFCLOCK_WATERMARK_PROVIDER_H

#include <perfclock/clock.h>

#include "clock/source.h"

struct provider;

struct provider_ops {
	const char *name;
	bool proven;
	bool expedites;		/* knows PERFCLOCK_OPEN_EXPEDITED */
	bool takes_arg;		/* "NAME=ARG" */
	const char *remark;	/* about its choice, or NULL */
	/*
	 * arg: what follows "NAME=", or NULL; always NULL without takes_arg.
	 * -errno as perfclock_open(), explained in o->error.
	 */
	int (*open)(struct provider *p, const struct perfclock_open_opts *o,
		    const char *arg);
	void (*close)(struct provider *p);
	int (*watermark)(struct provider *p, uint64_t *ns);
	int (*wait)(struct provider *p, uint64_t stamp, int64_t timeout_ns);
	int (*fd)(struct provider *p);
	int (*ack)(struct provider *p);
	void (*observe)(struct provider *p, uint64_t stamp);	/* or NULL */
	void (*info)(struct provider *p, struct perfclock_info *info);
};

struct provider {
	const struct provider_ops *ops;	/* NULL: none (NO_WATERMARK) */
	enum perfclock_clockid clock;
	const char *source;		/* name of the source to read t from */
	void *priv;
};

/* Best first. NULL past the end. */
const struct provider_ops *provider_ops_at(unsigned int i);

/*
 * Open by o->provider: named, or the best that is proven here. src: the
 * handle's source; a thread that needs its own opens the same kind.
 */
int provider_open(struct provider *p, const struct source *src,
		  const struct perfclock_open_opts *o);
void provider_close(struct provider *p);

extern const struct provider_ops provider_backoff;
extern const struct provider_ops provider_cpu_visit;
extern const struct provider_ops provider_membarrier;
extern const struct provider_ops provider_module;

#endif /* PERFCLOCK_WATERMARK_PROVIDER_H */
