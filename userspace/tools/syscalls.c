// SPDX-License-Identifier: GPL-2.0
/* Names of system calls: see syscalls.h. The table is made by tools.mk. */
#include <stddef.h>

#include "common.h"
#include "syscalls.h"

static const char *const names[] = {
#include "syscall_names.h"
};

const char *syscall_name(uint64_t nr)
{
	return nr < ARRAY_SIZE(names) ? names[nr] : NULL;
}
