// SPDX-License-Identifier: GPL-2.0
/* A line on the terminal: see status.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common.h"
#include "live.h"
#include "status.h"

#define FIRST_AFTER	(2 * NSEC_PER_SEC)

void status_line_init(struct status_line *s, bool wanted)
{
	const char *term;

	memset(s, 0, sizeof(*s));
	term = getenv("TERM");
	s->on = wanted && isatty(STDERR_FILENO) && term &&
		strcmp(term, "dumb");
}

static unsigned int columns(void)
{
	struct winsize w;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &w) || !w.ws_col)
		return 80;
	return w.ws_col;
}

void status_line_update(struct status_line *s, struct live *l, uint64_t now)
{
	struct perfclock_session_stats st = { .sz = sizeof(st) };
	char line[256], lag[32];
	uint64_t rate;
	int n;

	if (!s->on)
		return;
	if (!s->next) {
		s->last = now;
		s->next = now + FIRST_AFTER;
	}
	if (now < s->next)
		return;
	perfclock_session_get_stats(l->session, &st);
	rate = (st.samples - s->last_events) * NSEC_PER_SEC / (now - s->last);
	n = snprintf(line, sizeof(line),
		     "%llu s: %llu events/s, %llu held, lag %s, %llu lost, "
		     "%llu late",
		     (unsigned long long)((now - l->started) / NSEC_PER_SEC),
		     (unsigned long long)rate, (unsigned long long)st.held,
		     format_ns(lag, sizeof(lag), st.lag_p50_ns),
		     (unsigned long long)st.lost, (unsigned long long)st.late);
	if ((unsigned int)n >= columns())
		n = columns() - 1;
	fprintf(stderr, "\r%.*s\033[K", n, line);
	s->shown = true;
	s->last = now;
	s->last_events = st.samples;
	s->next = now + NSEC_PER_SEC;
}

void status_line_end(struct status_line *s)
{
	if (s->shown)
		fprintf(stderr, "\r\033[K");
	s->shown = false;
}
