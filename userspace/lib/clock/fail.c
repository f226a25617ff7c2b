// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* One line of explanation beside an error number. */
#include <stdarg.h>
#include <stdio.h>

#include "clock/fail.h"

int clock_fail(const struct perfclock_open_opts *o, int err,
	       const char *fmt, ...)
{
	va_list ap;

	if (!o->error || !o->error_size)
		return err;
	va_start(ap, fmt);
	vsnprintf(o->error, o->error_size, fmt, ap);
	va_end(ap);
	return err;
}
