/* SPDX-License-Identifier: GPL-2.0 */
/* SIGINT, SIGTERM and SIGHUP end a run in good order; a second one at once. */
#ifndef TOOLS_STOP_H
#define TOOLS_STOP_H

#include <stdbool.h>

struct perfclock_session;

/* From here on signals stop that session. NULL: back to the default. */
void stop_on_signals(struct perfclock_session *s);
/* The signal that came, or 0. */
int stop_signal(void);

#endif /* TOOLS_STOP_H */
