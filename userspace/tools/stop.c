// SPDX-License-Identifier: GPL-2.0
/* Signals that end a run: see stop.h. */
#include <signal.h>
#include <stddef.h>

#include <perfclock/session.h>

#include "common.h"
#include "stop.h"

static struct perfclock_session *volatile running;
static volatile sig_atomic_t received;

static void on_signal(int sig)
{
	received = sig;
	if (running)
		perfclock_session_stop(running);
}

/* Only breaks a sleep, so that the end of the command is seen at once. */
static void on_child(int sig)
{
}

static void set_handler(int sig, void (*fn)(int), int flags)
{
	struct sigaction sa = { .sa_handler = fn, .sa_flags = flags }, old;

	/* What the parent made us ignore, as nohup does, stays ignored. */
	if (!sigaction(sig, NULL, &old) && old.sa_handler == SIG_IGN)
		return;
	sigaction(sig, &sa, NULL);
}

void stop_on_signals(struct perfclock_session *s)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	unsigned int i;

	running = s;
	for (i = 0; i < ARRAY_SIZE(signals); i++)
		set_handler(signals[i], s ? on_signal : SIG_DFL,
			    SA_RESETHAND);
	set_handler(SIGCHLD, s ? on_child : SIG_DFL, SA_NOCLDSTOP);
}

int stop_signal(void)
{
	return received;
}
