/* SPDX-License-Identifier: GPL-2.0 */
/* Names of system calls by number, of the machine this was built for. */
#ifndef TOOLS_SYSCALLS_H
#define TOOLS_SYSCALLS_H

#include <stdint.h>

/* NULL: no such call. Numbers of 32-bit programs are others. */
const char *syscall_name(uint64_t nr);

#endif /* TOOLS_SYSCALLS_H */
