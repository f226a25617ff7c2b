// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Provider "backoff=NS": the greatest stamp observed, minus NS. It proves
 * nothing: a record that takes longer than NS from its stamp to its ring is
 * late. It is here because tools do so, and for where nothing else works.
 */
#include <errno.h>
#include <stdlib.h>

#include "clock/fail.h"
#include "watermark/mark.h"
#include "watermark/provider.h"

struct backoff {
	struct mark *mark;
	uint64_t ns;
};

static int parse(const char *arg, uint64_t *ns)
{
	char *end;

	if (!arg || *arg < '0' || *arg > '9')
		return -EINVAL;
	errno = 0;
	*ns = strtoull(arg, &end, 10);
	return errno || *end ? -EINVAL : 0;
}

static int backoff_open(struct provider *p, const struct perfclock_open_opts *o,
			const char *arg)
{
	struct backoff *b;
	uint64_t ns;

	if (parse(arg, &ns))
		return clock_fail(o, -EINVAL,
				  "provider 'backoff' wants a time in ns, as in backoff=1000000");
	b = malloc(sizeof(*b));
	if (b)
		b->mark = mark_new();
	if (!b || !b->mark) {
		free(b);
		return clock_fail(o, -ENOMEM, "out of memory");
	}
	b->ns = ns;
	p->priv = b;
	return 0;
}

static void backoff_close(struct provider *p)
{
	struct backoff *b = p->priv;

	mark_free(b->mark);
	free(b);
}

static int backoff_watermark(struct provider *p, uint64_t *ns)
{
	const struct backoff *b = p->priv;

	return mark_load(b->mark, ns);
}

static int backoff_wait(struct provider *p, uint64_t stamp, int64_t timeout_ns)
{
	const struct backoff *b = p->priv;

	return mark_wait(b->mark, stamp, timeout_ns);
}

/* Whoever observes knows that it moved: nobody else would wait for an fd. */
static int backoff_no_fd(struct provider *p)
{
	return -EOPNOTSUPP;
}

static void backoff_observe(struct provider *p, uint64_t stamp)
{
	const struct backoff *b = p->priv;

	if (stamp > b->ns)
		mark_publish(b->mark, stamp - b->ns);
}

static void backoff_info(struct provider *p, struct perfclock_info *info)
{
	const struct backoff *b = p->priv;

	info->moves = atomic_load(&b->mark->moves);
	info->backoff = b->ns;
}

const struct provider_ops provider_backoff = {
	.name = "backoff",
	.proven = false,
	.takes_arg = true,
	.remark = "a guess: never chosen unless asked for",
	.open = backoff_open,
	.close = backoff_close,
	.watermark = backoff_watermark,
	.wait = backoff_wait,
	.fd = backoff_no_fd,
	.ack = backoff_no_fd,
	.observe = backoff_observe,
	.info = backoff_info,
};
